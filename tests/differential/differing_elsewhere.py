"""Intended differences of remote agents, and the functions that remove them from a record."""

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
    "Remote agents that fail",
    here="A task that failed, was rejected or cancelled, an unavailable card and a failed request"
    " become events with an `error_code` that begins with `A2A_` and a message that says what to"
    " do.",
    there="A failed task looks like an answer; other errors have a message without a code.",
    why="Programs and pages should recognize a failure.",
    without=_without_codes,
)
WHOLE = Difference(
    "Streamed answers of remote agents",
    here="An artifact streamed in chunks becomes one event of the session when it is complete, at"
    " the latest when the task ends. A task's status message is kept together with its artifacts.",
    there="The session's event has only the last chunk, and there is none if no chunk is marked as"
    " last. A task's status message is dropped if it has artifacts.",
    why="The history should contain what the user has seen.",
)
THOUGHTS = Difference(
    "Thoughts of remote agents",
    here="They are kept with the answer, marked as thoughts.",
    there="They are dropped if there is also an answer.",
    why="A timeline should show them; other agents' models don't get them.",
    without=_without_thoughts,
)
OUTPUTS = Difference(
    "Outputs of remote agents",
    here="Their answer is the output only of a Workflow node.",
    there="It is also marked as an output after a transfer.",
    why="Nothing uses it there.",
    without=_without_outputs,
)
ROUTES_OF_CALLBACKS = Difference(
    "Routes set by an agent's callbacks",
    here="`callback_context.route = ...` sets `callback_context.actions.route`, and a route alone"
    " is enough: the graph follows it.",
    there="Only `actions.route` counts, and in callbacks around an agent only if they also write"
    " state or an artifact. Otherwise the route is lost and the graph ends there.",
    why="A route should be followed.",
)
