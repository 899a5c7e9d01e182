"""How far a history can be summed up without tearing calls from their answers (adk-runtime 3.8)."""

from collections.abc import Collection, Sequence

from devui.runtime.agents.open_calls import REQUEST_CONFIRMATION, REQUEST_CREDENTIAL, REQUEST_INPUT
from devui.runtime.events.event import Event

_QUESTIONS = frozenset({REQUEST_CONFIRMATION, REQUEST_CREDENTIAL, REQUEST_INPUT})
"""Calls by which the runtime asks the user."""


def self_contained_prefix(events: Sequence[Event], history: Sequence[Event]) -> list[Event]:
    """The longest beginning of `events` after which no call waits for its answer.

    A call of an earlier invocation that nobody in the whole `history` answers, and that is not
    long-running, is lost and holds up nothing; nor does a question that the user has passed over.
    What was before the invocation that waits is summed up by itself.
    """
    strict = _balanced(events, frozenset())
    if strict == len(events):
        return list(events)
    if strict and events[strict - 1].invocation_id != events[strict].invocation_id:
        return list(events[:strict])
    return list(events[: max(strict, _balanced(events, _lost(history)))])


def retained_from(events: Sequence[Event], retained: int) -> int:
    """Where the newest `retained` events begin, moved back so that each response has its call."""
    if retained == 0:
        return len(events)
    split = len(events) - retained
    unmatched: set[str | None] = set()
    for index in range(len(events) - 1, -1, -1):
        unmatched |= _responses(events[index])
        unmatched -= _calls(events[index])
        if index <= split and not unmatched:
            return index
    return 0


def _balanced(events: Sequence[Event], lost: Collection[str | None]) -> int:
    """How many of the first events end with nothing open."""
    waiting: set[str | None] = set()
    length = 0
    for index, event in enumerate(events):
        waiting -= _responses(event)
        waiting |= (_calls(event) | _requests(event)) - set(lost)
        if not waiting:
            length = index + 1
    return length


def _lost(history: Sequence[Event]) -> set[str | None]:
    ids = [event.invocation_id for event in history if event.actions.compaction is None]
    newest = next(filter(None, reversed(ids)), None)
    calls: set[str | None] = set()
    safe: set[str | None] = set()
    for event in history:
        waiting: set[str | None] = set(event.long_running_tool_ids or ())
        if event.invocation_id != newest:
            calls |= _calls(event)
            waiting -= _questions(event)
        safe |= waiting | (_responses(event) - _requests(event))
    return calls - safe


def _questions(event: Event) -> set[str | None]:
    return {call.id for call in event.get_function_calls() if call.name in _QUESTIONS}


def _calls(event: Event) -> set[str | None]:
    return {call.id for call in event.get_function_calls()}


def _responses(event: Event) -> set[str | None]:
    return {response.id for response in event.get_function_responses()}


def _requests(event: Event) -> set[str | None]:
    """The calls that the event asks a human about."""
    actions = event.actions
    return {*actions.requested_tool_confirmations, *actions.requested_auth_configs}
