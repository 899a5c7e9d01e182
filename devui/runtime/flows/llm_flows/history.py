"""A session's events as the contents of a request (adk-runtime 7.3).

A session only grows at its end, so the contents made for one request are kept,
and the next request adds what is new. The result is always the same as if it
were made from all events: whatever could change earlier contents (a rewind, a
summary, a late tool response, an unanswered call) makes them anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING

from devui.runtime.copying import altered
from devui.runtime.events.compactions import compacted, is_compacted
from devui.runtime.events.rewinds import live_events
from devui.runtime.flows.llm_flows.foreign_events import quoted
from devui.runtime.flows.llm_flows.tool_pairs import Entry, arrange, without_client_ids
from devui.runtime.flows.llm_flows.visibility import USER, View, is_common_answer, is_visible

if TYPE_CHECKING:
    from google.genai import types

    from devui.runtime.events.event import Event


_Seen = tuple["types.Content", tuple[str, ...], tuple[str, ...], bool]
"""The content, the ids of its calls and of its responses, and whether it tells of another agent:
then it holds neither. An `Entry` has more, which only arranging needs, and takes longer to make.
"""


class History:
    """The contents of one session as one view sees them."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._contents: list[types.Content] = []
        self._callers: dict[str, str] = {}
        """Which agent made each call."""
        self._named: set[str | None] = set()
        """The names of the calls that have no id: an answer is for one of them by its name."""
        self._open: tuple[str, ...] = ()
        """The calls of the last content, as long as nobody has answered."""
        self._settled = True
        """Whether one more event leaves the contents as they are."""
        self._events: Sequence[Event] = []
        """The session's list as it was given last."""
        self._count = 0
        """How many of its events have been seen."""
        self._last: Event | None = None

    def contents(self, events: Sequence[Event]) -> list[types.Content]:
        """The contents for these events, in a list of the caller's own.

        The contents themselves are the events' own objects wherever they need
        not be changed.
        """
        if not self._goes_on(events):
            self._contents, self._callers, self._named = [], {}, set()
            self._open, self._settled, self._count = (), True, 0
        for event in islice(events, self._count, None):
            if not self._append(event):
                self._make_anew(events)
                break
        self._events, self._count = events, len(events)
        self._last = events[-1] if events else None
        if self._open:  # calls nobody has answered yet: what to do with them depends on the rest
            return _arranged(self._entries(events))[0]
        return list(self._contents)

    def _goes_on(self, events: Sequence[Event]) -> bool:
        """Whether these are the events seen before, and perhaps more.

        Within a turn it is the same list, which grows. The next turn has a list of its own, and its
        service may have read the last turn's events anew: then all are compared. That is quick,
        since the comparison of lists only looks into events that are not the same objects.
        """
        if len(events) < self._count:
            return False
        if events is self._events:
            return self._count == 0 or events[self._count - 1] is self._last
        return events[: self._count] == self._events[: self._count]

    def _append(self, event: Event) -> bool:
        """Add an event at the end; False if that takes more than adding."""
        actions = event.actions
        if actions.rewind_before_invocation_id is not None or actions.compaction is not None:
            return False
        seen = self._seen(event)
        if seen is None:
            return True
        content, calls, responses, _ = seen
        if not self._settled or (self._open and responses != self._open):
            return False
        if responses and not self._open:
            return False
        self._open = calls
        self._contents.append(without_client_ids(content) if calls or responses else content)
        return True

    def _make_anew(self, events: Sequence[Event]) -> None:
        self._open = ()
        self._contents, self._settled = _arranged(self._entries(events))

    def _entries(self, events: Sequence[Event]) -> list[Entry]:
        self._callers, self._named = {}, set()
        live = [
            event
            for event in live_events(events)
            if self._view.covers(event.isolation_scope) or is_common_answer(event)
        ]
        if is_compacted(live):
            live = compacted(live, self._view.agent)
        entries = (self._entry(event) for event in live)
        return [entry for entry in entries if entry is not None]

    def _entry(self, event: Event) -> Entry | None:
        seen = self._seen(event)
        if seen is None:
            return None
        content, calls, responses, is_told = seen
        if is_told:
            return Entry(content, event.invocation_id, own=False)
        return Entry(
            content=content,
            invocation_id=event.invocation_id,
            own=event.author == self._view.agent,
            calls=calls,
            responses=responses,
            long_running=event.long_running_tool_ids or frozenset(),
            answered_by=event.author if responses and not _asks(event) else None,
        )

    def _seen(self, event: Event) -> _Seen | None:
        """What this view sees of an event; who made its calls is kept for what comes after it."""
        content, author, view = event.content, event.author, self._view
        if content is None or not is_visible(event, view):
            return None
        called, answered = event.get_function_calls(), event.get_function_responses()
        calls = tuple([call.id for call in called if call.id]) if called else ()
        responses = tuple([each.id for each in answered if each.id]) if answered else ()
        own = responses
        for call_id in calls:
            self._callers[call_id] = author
        teller = self._foreign_author(author, responses)
        if teller is not None:
            told = quoted(content, teller, thoughts=view.foreign_thoughts)
            return (told, (), (), True) if told else None
        if responses and author == USER:
            content, own = self._own_answers(content, responses)
        if len(responses) < len(answered):
            content = self._without_orphans(content)
        if not content.parts:
            return None
        if len(calls) < len(called):
            self._named.update(call.name for call in called if not call.id)
        return content, calls, own, False

    def _own_answers(
        self, content: types.Content, responses: tuple[str, ...]
    ) -> tuple[types.Content, tuple[str, ...]]:
        """What of the user's answers is for calls of the view; a message may hold others, too."""
        unknown = self._view.agent if self._view.scope is None else None
        own = [each for each in responses if self._callers.get(each, unknown) == self._view.agent]
        if len(own) == len(responses):
            return content, responses
        parts = [
            part
            for part in content.parts or []
            if not (response := part.function_response) or not response.id or response.id in own
        ]
        return altered(content, parts=parts), tuple(own)

    def _without_orphans(self, content: types.Content) -> types.Content:
        """The content without responses that have no id, and no call of their name before them."""
        parts = [
            part
            for part in content.parts or []
            if not (response := part.function_response)
            or response.id
            or response.name in self._named
        ]
        return altered(content, parts=parts)

    def _foreign_author(self, author: str, responses: tuple[str, ...]) -> str | None:
        """Which other agent an event is about; None if it is the view's own or the user's."""
        if author not in (USER, self._view.agent):
            return author
        if not responses:
            return None
        callers = {self._callers.get(call_id, self._view.agent) for call_id in responses}
        return None if self._view.agent in callers else callers.pop()


def _arranged(entries: Sequence[Entry]) -> tuple[list[types.Content], bool]:
    contents, may_change = arrange(entries)
    return [without_client_ids(content) for content in contents], not may_change


def _asks(event: Event) -> bool:
    """Whether its responses only say that a human is asked first."""
    actions = event.actions
    return bool(actions.requested_tool_confirmations or actions.requested_auth_configs)
