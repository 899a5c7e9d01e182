"""Puts each tool response right after its call, which models insist on (adk-runtime 7.3).

A response may come late: a long-running tool answers in a later turn, perhaps
after an interim response that the model has commented on already.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from google.genai import types

CLIENT_ID = "adk-"
"""How ids begin that the runtime gave to calls; the models that made them do not know them."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One event's content on its way into a request."""

    content: types.Content
    invocation_id: str
    own: bool
    """Whether the agent that is asked said it."""
    calls: tuple[str, ...] = ()
    responses: tuple[str, ...] = ()
    long_running: frozenset[str] = frozenset()


def arrange(entries: Sequence[Entry]) -> tuple[list[types.Content], bool]:
    """The contents in an order models accept, and whether one more entry may change that order.

    Of several responses to one call the last counts; a call without any is left
    out, unless it is long-running. When the conversation ends with a late
    response, nothing stands between the call and it: the model is to go on from
    there.
    """
    answers = _last_answers(entries)
    between = _before_late_response(entries)
    left_out = between | _outdated_comments(entries)
    contents: list[types.Content] = []
    for index, entry in enumerate(entries):
        if index in left_out or entry.responses:
            continue
        contents.extend(_with_answers(entry, answers) if entry.calls else [entry.content])
    return contents, bool(between)


def without_client_ids(content: types.Content) -> types.Content:
    """The content without ids that the runtime made up; itself if there are none."""
    if not any(_client_id(part) for part in content.parts or []):
        return content
    parts = [_without_client_id(part) for part in content.parts or []]
    return content.model_copy(update={"parts": parts})


def _last_answers(entries: Sequence[Entry]) -> dict[str, types.Part]:
    return {
        part.function_response.id: part
        for entry in entries
        if entry.responses
        for part in entry.content.parts or []
        if part.function_response and part.function_response.id
    }


def _before_late_response(entries: Sequence[Entry]) -> set[int]:
    """What stands between the last entry, if it is a response, and its call."""
    if not entries or not entries[-1].responses:
        return set()
    answered = set(entries[-1].responses)
    for index in range(len(entries) - 2, -1, -1):
        if not answered.isdisjoint(entries[index].calls):
            return set(range(index + 1, len(entries) - 1))
    return set()


def _outdated_comments(entries: Sequence[Entry]) -> set[int]:
    """The agent's texts between an interim response and the one that replaced it."""
    first: dict[str, int] = {}
    outdated: set[int] = set()
    for index, entry in enumerate(entries):
        for call_id in entry.responses:
            start = first.setdefault(call_id, index)
            outdated.update(
                i
                for i in range(start + 1, index)
                if entries[i].own
                and not entries[i].calls
                and entries[i].invocation_id == entries[start].invocation_id
            )
    return outdated


def _with_answers(entry: Entry, answers: dict[str, types.Part]) -> list[types.Content]:
    """A content with calls, without those that nothing answers, and the answers."""
    kept = [call for call in entry.calls if call in answers or call in entry.long_running]
    content = entry.content
    if len(kept) < len(entry.calls):
        content = _without_calls(content, set(entry.calls) - set(kept))
    contents = [content] if content.parts else []
    if responses := [answers[call] for call in kept if call in answers]:
        contents.append(types.Content(role="user", parts=responses))
    return contents


def _without_calls(content: types.Content, dropped: set[str]) -> types.Content:
    parts = [
        part
        for part in content.parts or []
        if not (part.function_call and part.function_call.id in dropped)
    ]
    return content.model_copy(update={"parts": parts})


def _client_id(part: types.Part) -> bool:
    holder = part.function_call or part.function_response
    return holder is not None and (holder.id or "").startswith(CLIENT_ID)


def _without_client_id(part: types.Part) -> types.Part:
    if not _client_id(part):
        return part
    if part.function_call:
        call = part.function_call.model_copy(update={"id": None})
        return part.model_copy(update={"function_call": call})
    if part.function_response:
        response = part.function_response.model_copy(update={"id": None})
        return part.model_copy(update={"function_response": response})
    return part
