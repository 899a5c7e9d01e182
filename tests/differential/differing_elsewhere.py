"""Where agents of other servers are meant to differ, and what is left of a record without that."""

from typing import Any

from tests.differential.case import Difference

Json = Any


def _events(record: Json) -> Json:
    return [
        event
        for holder in (*record["runs"], *record["sessions"].values())
        for event in holder["events"]
    ]


def _without_codes(record: Json) -> Json:
    for event in _events(record):
        for name in ("errorCode", "errorMessage"):
            event.pop(name, None)
        for name in ("a2a:error", "a2a:status_code", "a2a:request"):
            event.get("customMetadata", {}).pop(name, None)
        if not event.get("customMetadata"):
            event.pop("customMetadata", None)
    return record


def _without_thoughts(record: Json) -> Json:
    for event in _events(record):
        content = event.get("content")
        if content:
            content["parts"] = [part for part in content["parts"] if not part.get("thought")]
    return record


def _without_outputs(record: Json) -> Json:
    for event in _events(record):
        for name in ("messageAsOutput", "outputFor"):
            event["nodeInfo"].pop(name, None)
    return record


ERRORS = Difference(
    "Agents of other servers that fail",
    here="A task that failed, was rejected or cancelled, a card that cannot be had and a request"
    " that goes wrong are events with an `error_code` that begins with `A2A_`, and a message that"
    " says what to do.",
    there="A failed task looks like an answer; other errors have a message without a code.",
    why="A failure should be found by programs, and marked where it is shown.",
    without=_without_codes,
)
WHOLE = Difference(
    "Answers of other servers in pieces",
    here="What is streamed as pieces of an artifact is one event of the session when it is"
    " complete, at the latest when the task comes to its end. What a task says with its state comes"
    " along with its artifacts.",
    there="The event of the session has the last piece alone, and there is none if no piece is"
    " marked as the last. What a task says with its state is dropped if it has artifacts.",
    why="The history should hold what the user has seen.",
)
THOUGHTS = Difference(
    "Thoughts of agents of other servers",
    here="They stay beside the answer, marked as thoughts.",
    there="They are dropped where there is an answer, too.",
    why="A timeline should show them; other agents' models do not get them.",
    without=_without_thoughts,
)
OUTPUTS = Difference(
    "Outputs of agents of other servers",
    here="What they answer is the output of a node of a Workflow, and nowhere else.",
    there="It is marked as one also where an agent has handed over to them.",
    why="Nobody takes it there.",
    without=_without_outputs,
)
ROUTES_OF_CALLBACKS = Difference(
    "Routes that callbacks of an agent give",
    here="`callback_context.route = ...` is `callback_context.actions.route`, and a route by itself"
    " is told, too: the graph goes on that way.",
    there="Only `actions.route` counts; of callbacks around an agent, only if they also write state"
    " or an artifact. Else the way is lost, and the graph ends there.",
    why="A route is given to be followed.",
)
