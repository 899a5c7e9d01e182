"""Answers that the user gives once more to what has been answered (devui's own).

A client may send its message again, as after a lost connection. What has come of the answer then
stands in the history, and nothing is left to be done about it.
"""

from collections.abc import Mapping, Sequence

from google.genai import types

from devui.runtime.agents.open_calls import calls_around, is_request, subjects
from devui.runtime.events.event import Event


def repeated(
    responses: Sequence[types.FunctionResponse], asked: Mapping[str, int], history: Sequence[Event]
) -> set[str | None]:
    """The questions that have had their answers; what is said of a call for a job may change.

    `asked` tells where in the history each was asked last: an id may be used again.
    """
    questions = {each.id: asked[each.id] for each in responses if each.id and _asks(each)}
    return {each for each, index in questions.items() if _answer(each, index, history) is not None}


def has_come_of(question: str, asked: int, history: Sequence[Event]) -> bool:
    """Whether its answer has been acted on: a call has got its result, or a node has gone on."""
    answer = _answer(question, asked, history)
    if answer is None:
        return False
    asking = history[asked]
    about = set(subjects([call for call in asking.get_function_calls() if call.id == question]))
    later = [event for event in history[answer + 1 :] if event.author != "user"]
    told: set[str | None] = set()
    for event in later:
        told.update(response.id for response in event.get_function_responses())
        told.difference_update(event.actions.requested_auth_configs)  # it was no good: ask anew
    if not told.isdisjoint(about | calls_around(asking)):
        return True
    made = {call.id for event in history[:asked] for call in event.get_function_calls()}
    if not made.isdisjoint(about):
        return False
    return any(_place(event) == _place(asking) and not event.error_code for event in later)


def _asks(response: types.FunctionResponse) -> bool:
    return is_request(response.name)


def _answer(question: str, asked: int, history: Sequence[Event]) -> int | None:
    """Where in the history the question got its first answer."""
    for index in range(asked + 1, len(history)):
        event = history[index]
        if event.author == "user" and any(
            response.id == question for response in event.get_function_responses()
        ):
            return index
    return None


def _place(event: Event) -> tuple[str, str, str | None]:
    return event.author, event.node_info.path, event.branch
