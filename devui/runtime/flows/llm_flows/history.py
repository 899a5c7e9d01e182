"""A session's events as the contents of a request (adk-runtime 7.3).

A session only grows at its end, so the contents made for one request are kept, and the next
request adds what is new. The result is always the same as if it were made from all events. Events
that affect earlier contents cause a rebuild: from the call on for a late tool response or an
unanswered call, and of what is left for a summary. A rewind keeps the contents before the events
that it takes back.
"""

from __future__ import annotations

import operator
from bisect import bisect_left
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from google.genai import types

from devui.runtime.agents.agent_tree import line
from devui.runtime.copying import copy_with
from devui.runtime.events.compactions import CompactedEvents, is_compacted
from devui.runtime.events.growing_events import GrowingEvents
from devui.runtime.events.rewinds import live_places, taken_back_from
from devui.runtime.flows.llm_flows.visibility import (
    USER,
    View,
    is_common_answer,
    is_visible,
    quoted,
)

if TYPE_CHECKING:
    from devui.runtime.events.event import Event


# Puts each tool response right after its call, as models require (adk-runtime 7.3).
#
# A response may come late: a long-running tool answers in a later turn, perhaps after an interim
# response on which the model has already commented.


CLIENT_ID = "adk-"
"""The prefix of ids that the runtime gave to calls; models don't know these ids."""


class Entry(NamedTuple):
    """One event's content on its way into a request."""

    content: types.Content
    invocation_id: str
    own: bool
    """Whether it is from the agent whose model is asked."""
    calls: tuple[str, ...] = ()
    responses: tuple[str, ...] = ()
    long_running: AbstractSet[str] = frozenset()
    answered_by: str | None = None
    """Who gave the responses; None if they only ask for a confirmation or a credential."""


class ArrangedContents(NamedTuple):
    """The contents of entries, in an order that models accept."""

    contents: list[types.Content]
    starts: list[int]
    """How many contents come before those of each entry."""
    may_change: bool
    """Whether one more entry may change that order."""


@dataclass(frozen=True, slots=True)
class _Response:
    """One response, and the indexes of the entries with it and with its call."""

    part: types.Part
    call_id: str
    called_at: int
    given_at: int


def arrange(entries: Sequence[Entry]) -> ArrangedContents:
    """Arrange the contents in an order that models accept.

    Of several responses to one call, the last counts. A call without a response is left out unless
    it is long-running. If the conversation ends with a late response, everything between it and
    its call is left out, so that the model continues from there.
    """
    responses = _responses(entries)
    between = _before_late_response(entries, responses)
    left_out = between | _outdated_comments(entries, responses)
    answers = {(each.called_at, each.call_id): each.part for each in responses}
    contents: list[types.Content] = []
    starts: list[int] = []
    for index, entry in enumerate(entries):
        starts.append(len(contents))
        if index in left_out or entry.responses:
            continue
        if entry.calls:
            own_answers = {call: answers.get((index, call)) for call in entry.calls}
            contents.extend(_with_answers(entry, own_answers))
        else:
            contents.append(entry.content)
    return ArrangedContents([without_client_ids(each) for each in contents], starts, bool(between))


def without_client_ids(content: types.Content) -> types.Content:
    """Return the content without ids that the runtime made up; itself if it has none."""
    originals = content.parts or []
    parts = [_without_client_id(part) for part in originals]
    if all(map(operator.is_, parts, originals)):
        return content
    return copy_with(content, parts=parts)


def _responses(entries: Sequence[Entry]) -> list[_Response]:
    """Return the responses that have a call, in order, each with the latest call of its id."""
    called_at: dict[str, int] = {}
    responses = []
    for index, entry in enumerate(entries):
        called_at.update(dict.fromkeys(entry.calls, index))
        for part in entry.content.parts or [] if entry.responses else []:
            call_id = part.function_response.id if part.function_response else None
            if call_id in called_at:
                responses.append(_Response(part, call_id, called_at[call_id], index))
    return responses


def _before_late_response(entries: Sequence[Entry], responses: Sequence[_Response]) -> set[int]:
    """Return the indexes between a final response and its call; empty without such a response."""
    last = len(entries) - 1
    calls = [each.called_at for each in responses if each.given_at == last]
    return set(range(max(calls) + 1, last)) if calls else set()


def _outdated_comments(entries: Sequence[Entry], responses: Sequence[_Response]) -> set[int]:
    """Return the indexes of comments between two progress reports of a tool, if nothing else is."""
    latest: dict[tuple[int, str], int] = {}
    outdated: set[int] = set()
    for each in responses:
        start = latest.get((each.called_at, each.call_id), each.given_at)
        latest[each.called_at, each.call_id] = each.given_at
        between = range(start + 1, each.given_at)
        if _replaces(entries[start], entries[each.given_at]) and all(
            _is_comment(entries[index], entries[start].invocation_id) for index in between
        ):
            outdated.update(between)
    return outdated


def _replaces(interim: Entry, later: Entry) -> bool:
    """Return whether a tool continued by itself; what a human adds outdates no comment."""
    return (
        interim.answered_by is not None
        and interim.answered_by == later.answered_by
        and interim.invocation_id == later.invocation_id
    )


def _is_comment(entry: Entry, invocation_id: str) -> bool:
    return (
        entry.own
        and not entry.calls
        and entry.invocation_id == invocation_id
        and any(part.text for part in entry.content.parts or [])
    )


def _with_answers(entry: Entry, results: dict[str, types.Part | None]) -> list[types.Content]:
    """Return a content and the answers to its calls, without calls that nobody answered."""
    dropped = {call for call, answer in results.items() if answer is None} - entry.long_running
    content = _without_calls(entry.content, dropped) if dropped else entry.content
    contents = [content] if content.parts else []
    if answers := [answer for answer in results.values() if answer is not None]:
        contents.append(types.Content(role="user", parts=answers))
    return contents


def _without_calls(content: types.Content, dropped: set[str]) -> types.Content:
    parts = [
        part
        for part in content.parts or []
        if not (part.function_call and part.function_call.id in dropped)
    ]
    return copy_with(content, parts=parts)


def _without_client_id(part: types.Part) -> types.Part:
    call, response = part.function_call, part.function_response
    if call is not None and (call.id or "").startswith(CLIENT_ID):
        return copy_with(part, function_call=copy_with(call, id=None))
    if response is not None and (response.id or "").startswith(CLIENT_ID):
        return copy_with(part, function_response=copy_with(response, id=None))
    return part


_NONE: frozenset[str] = frozenset()


class History:
    """The contents of one session as one view sees them."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._looked_at = GrowingEvents()
        self._summed_up: CompactedEvents | None = None
        """The events that count for this view, once summaries replace some of them."""
        self._begin()

    def _forget(self) -> None:
        self._looked_at.go_back()
        self._summed_up = None
        self._begin()

    def _begin(self) -> None:
        self._entries: list[Entry] = []
        """The visible ones of these events, oldest first."""
        self._places: list[int] = []
        """The indexes of the entries in the session, unless summaries replace some events."""
        self._rewound_at = -1
        """An index in the session after which there is no rewind."""
        self._calls_again = False
        """Whether two calls have the same id."""
        self._contents: list[types.Content] = []
        self._starts: list[int] = []
        """How many contents come before those of each entry, for the entries arranged so far."""
        self._callers: dict[str, str] = {}
        """The agent that made each call, by call id."""
        self._branches: set[str] = set()
        """The branches of the events read so far."""
        self._names_without_id: set[str | None] = set()
        """The names of calls without an id; an answer without one is matched by name."""
        self._open: tuple[str, ...] = ()
        """The calls of the last content, while they are unanswered."""
        self._is_settled = True
        """Whether one more event leaves the contents as they are."""

    def __len__(self) -> int:
        return self._looked_at.count

    def look_from(self, branch: str | None) -> None:
        """Switch to the view from another branch.

        Contents are rebuilt only if one of their events is visible from just one of the two.
        """
        old, self._view = self._view.branch, self._view._replace(branch=branch)
        if branch == old:
            return
        if not branch or not old or not self._branches.isdisjoint(line(old) ^ line(branch)):
            self._forget()

    def contents(self, events: Sequence[Event]) -> list[types.Content]:
        """Return the contents for these events, in a list that the caller may change.

        The contents are the events' own objects unless they had to be changed.
        """
        if not self._looked_at.goes_on(events):
            self._forget()
        for place in range(self._looked_at.count, len(events)):
            event = events[place]
            if not self._changes_all(event):
                self._go_on(event, place)
            elif not self._take_back(events, place):
                self._make_anew(events)
                break
        if len(self._starts) < len(self._entries):
            self._arrange()
        self._looked_at.look(events)
        if self._open:  # what becomes of unanswered calls depends on the rest
            start, arranged = self._arranged_from(len(self._entries) - 1)
            return [*self._contents[: self._starts[start]], *arranged.contents]
        return list(self._contents)

    def _changes_all(self, event: Event) -> bool:
        """Return whether the event affects more than the end of the contents."""
        actions = event.actions
        return actions.rewind_before_invocation_id is not None or (
            actions.compaction is not None and self._summed_up is None and self._counts(event)
        )

    def _take_back(self, events: Sequence[Event], rewind: int) -> bool:
        """Remove what the rewind at that index takes back; return whether that was possible."""
        is_rewind = events[rewind].actions.rewind_before_invocation_id is not None
        if self._summed_up is not None or not is_rewind:
            return False
        begin = taken_back_from(events, rewind)
        rewound_events = [event for event in events[begin:rewind] if is_visible(event, self._view)]
        calls = [call.id for event in rewound_events for call in event.get_function_calls()]
        if begin <= self._rewound_at or self._calls_again or not all(calls):
            return False
        count = bisect_left(self._places, begin)
        # Calls that the rewound events answered must be arranged again, as must the last entry.
        arranged = min(self._arranged_from(count)[0], max(count - 1, 0))
        if arranged < len(self._starts):
            del self._contents[self._starts[arranged] :], self._starts[arranged:]
        del self._entries[count:], self._places[count:]
        for call_id in calls:
            self._callers.pop(str(call_id), None)
        self._is_settled, self._open, self._rewound_at = count == 0, (), rewind
        return True

    def _go_on(self, event: Event, place: int) -> None:
        """Add an event at the end.

        If it answers a call that a summary replaced, the call is restored.
        """
        if self._summed_up is not None and self._counts(event):
            self._summed_up.append(event)
            if event.actions.compaction is not None or any(
                each.id not in self._callers for each in event.get_function_responses()
            ):
                self._tell(self._summed_up.events())
                return
        self._append(event, place)

    def _counts(self, event: Event) -> bool:
        return self._view.covers(event.isolation_scope) or is_common_answer(event)

    def _append(self, event: Event, place: int) -> None:
        """Add an event at the end, and its content unless other contents have to change."""
        entry = self._entry(event)
        if entry is None:
            return
        self._entries.append(entry)
        self._places.append(place)
        content, calls, responses = entry.content, entry.calls, entry.responses
        both = calls and responses  # an event with both is split
        if not self._is_settled or responses != self._open or both:
            self._is_settled = False
            return
        self._open = calls
        self._starts.append(len(self._contents))
        self._contents.append(without_client_ids(content) if calls or responses else content)

    def _make_anew(self, events: Sequence[Event]) -> None:
        places = [place for place in live_places(events) if self._counts(events[place])]
        live = [events[place] for place in places]
        self._summed_up = CompactedEvents(live, self._view.agent) if is_compacted(live) else None
        if self._summed_up is not None:
            self._tell(self._summed_up.events())
            return
        self._begin()
        self._rewound_at = len(events) - 1
        for place in places:
            self._append(events[place], place)

    def _tell(self, events: Sequence[Event]) -> None:
        self._begin()
        for place, event in enumerate(events):
            self._append(event, place)

    def _arrange(self) -> None:
        """Update the contents up to the last visible event."""
        first, arranged = self._arranged_from(max(len(self._starts) - 1, 0))
        start = self._starts[first] if first < len(self._starts) else len(self._contents)
        self._contents[start:] = arranged.contents
        self._starts[first:] = [start + each for each in arranged.starts]
        self._is_settled, self._open = not arranged.may_change, ()

    def _arranged_from(self, index: int) -> tuple[int, ArrangedContents]:
        """Arrange the entries from an index on, or from the first call that they answer.

        Returns:
            The index of the first arranged entry, and the arrangement. No call before that entry is
            answered later.
        """
        missing_calls: set[str] = set()
        first = len(self._entries)
        while first > 0 and (missing_calls or first > index):
            first -= 1
            missing_calls.update(self._entries[first].responses)
            missing_calls.difference_update(self._entries[first].calls)
        return first, arrange(self._entries[first:])

    def _entry(self, event: Event) -> Entry | None:
        """Return what this view sees of an event; remember who made its calls for later events."""
        content, author, view = event.content, event.author, self._view
        if event.branch:
            self._branches.add(event.branch)
        if content is None or not is_visible(event, view):
            return None
        all_calls, all_responses = event.get_function_calls(), event.get_function_responses()
        calls = tuple([call.id for call in all_calls if call.id]) if all_calls else ()
        responses = tuple([each.id for each in all_responses if each.id]) if all_responses else ()
        own = responses
        for call_id in calls:
            self._calls_again |= call_id in self._callers
            self._callers[call_id] = author
        teller = self._foreign_author(author, responses)
        if teller is not None:
            quotation = quoted(content, teller, thoughts=view.foreign_thoughts)
            return Entry(quotation, event.invocation_id, own=False) if quotation else None
        if responses and author == USER:
            content, own = self._own_answers(content, responses)
        if len(responses) < len(all_responses):
            content = self._without_orphans(content)
        if not content.parts:
            return None
        if len(calls) < len(all_calls):
            self._names_without_id.update(call.name for call in all_calls if not call.id)
        return Entry(
            content,
            event.invocation_id,
            author == view.agent,
            calls,
            own,
            event.long_running_tool_ids or _NONE,
            author if own and not _asks(event) else None,
        )

    def _own_answers(
        self, content: types.Content, responses: tuple[str, ...]
    ) -> tuple[types.Content, tuple[str, ...]]:
        """Return the user's answers to calls of this view; a message may hold others, too."""
        unknown = self._view.agent if self._view.scope is None else None
        own = [each for each in responses if self._callers.get(each, unknown) == self._view.agent]
        if len(own) == len(responses):
            return content, responses
        parts = [
            part
            for part in content.parts or []
            if not (response := part.function_response) or not response.id or response.id in own
        ]
        return copy_with(content, parts=parts), tuple(own)

    def _without_orphans(self, content: types.Content) -> types.Content:
        """Return the content without responses that have neither an id nor an earlier call."""
        parts = [
            part
            for part in content.parts or []
            if not (response := part.function_response)
            or response.id
            or response.name in self._names_without_id
        ]
        return copy_with(content, parts=parts)

    def _foreign_author(self, author: str, responses: tuple[str, ...]) -> str | None:
        """Return the other agent that an event is about; None if there is no other."""
        if author not in (USER, self._view.agent):
            return author
        caller = None
        for call_id in responses:
            caller = self._callers.get(call_id)
            if caller in (None, self._view.agent):
                return None
        return caller


def _asks(event: Event) -> bool:
    """Return whether the event's responses only say that a human is asked first."""
    actions = event.actions
    return bool(actions.requested_tool_confirmations or actions.requested_auth_configs)
