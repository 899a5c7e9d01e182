"""Puts each tool response right after its call, which models insist on (adk-runtime 7.3).

A response may come late: a long-running tool answers in a later turn, perhaps
after an interim response that the model has commented on already.
"""

import operator
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple

from google.genai import types

from devui.runtime.copying import altered, exchanged

CLIENT_ID = "adk-"
"""How ids begin that the runtime gave to calls; the models that made them do not know them."""


class Entry(NamedTuple):
    """One event's content on its way into a request."""

    content: types.Content
    invocation_id: str
    own: bool
    """Whether the agent that is asked said it."""
    calls: tuple[str, ...] = ()
    responses: tuple[str, ...] = ()
    long_running: AbstractSet[str] = frozenset()
    answered_by: str | None = None
    """Who gave the responses; None if they only ask for a confirmation or a credential."""


class Arranged(NamedTuple):
    """The contents of entries, in an order models accept."""

    contents: list[types.Content]
    starts: list[int]
    """How many contents there are before those of each entry."""
    may_change: bool
    """Whether one more entry may change that order."""


@dataclass(frozen=True, slots=True)
class _Response:
    """One response, and where in the conversation it and its call stand."""

    part: types.Part
    call_id: str
    called_at: int
    given_at: int


def arrange(entries: Sequence[Entry]) -> Arranged:
    """The contents in an order models accept.

    Of several responses to one call the last counts; a call without any is left
    out, unless it is long-running. When the conversation ends with a late
    response, nothing stands between the call and it: the model is to go on from
    there.
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
            given = {call: answers.get((index, call)) for call in entry.calls}
            contents.extend(_with_answers(entry, given))
        else:
            contents.append(entry.content)
    return Arranged([without_client_ids(each) for each in contents], starts, bool(between))


def without_client_ids(content: types.Content) -> types.Content:
    """The content without ids that the runtime made up; itself if there are none."""
    given = content.parts or []
    parts = [_without_client_id(part) for part in given]
    if all(map(operator.is_, parts, given)):
        return content
    return exchanged(content, "parts", parts)


def _responses(entries: Sequence[Entry]) -> list[_Response]:
    """All responses in order, each to the latest call of its id; those without one do not count."""
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
    """What stands between the last entry, if it is a response, and its call."""
    last = len(entries) - 1
    calls = [each.called_at for each in responses if each.given_at == last]
    return set(range(max(calls) + 1, last)) if calls else set()


def _outdated_comments(entries: Sequence[Entry], responses: Sequence[_Response]) -> set[int]:
    """The agent's texts alone between two responses with which a tool told of its progress."""
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
    """Whether a tool has gone on by itself; what a human adds makes no comment outdated."""
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


def _with_answers(entry: Entry, given: dict[str, types.Part | None]) -> list[types.Content]:
    """A content with calls, without those that nothing answers, and the answers."""
    dropped = {call for call, answer in given.items() if answer is None} - entry.long_running
    content = _without_calls(entry.content, dropped) if dropped else entry.content
    contents = [content] if content.parts else []
    if answers := [answer for answer in given.values() if answer is not None]:
        contents.append(types.Content(role="user", parts=answers))
    return contents


def _without_calls(content: types.Content, dropped: set[str]) -> types.Content:
    parts = [
        part
        for part in content.parts or []
        if not (part.function_call and part.function_call.id in dropped)
    ]
    return altered(content, parts=parts)


def _without_client_id(part: types.Part) -> types.Part:
    call, response = part.function_call, part.function_response
    if call is not None and (call.id or "").startswith(CLIENT_ID):
        return exchanged(part, "function_call", exchanged(call, "id", None))
    if response is not None and (response.id or "").startswith(CLIENT_ID):
        return exchanged(part, "function_response", exchanged(response, "id", None))
    return part
