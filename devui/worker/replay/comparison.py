"""Compares a replay's requests, events and fragments with recorded ones, whose ids differ."""

import json
import re
from collections import defaultdict, deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice, zip_longest
from typing import Any

from devui.wire.excerpts import around_difference
from devui.wire.gates import EDITED
from devui.wire.recordings import FieldDifference, ModelRequest, RecordedCall, Recording
from devui.worker.engines.kit import LlmRequest
from devui.worker.instruments.recorder import Prompts

MOST = 20
"""The most differences to report."""
_VALUE = 80
"""The most characters of a value in a sentence."""


def differences(expected: Any, actual: Any) -> list[FieldDifference]:
    """Return the first fields in which the values differ, in the order of `expected`."""
    return list(islice(_differences("", expected, actual), MOST))


def _differences(path: str, expected: Any, actual: Any) -> Iterator[FieldDifference]:
    if isinstance(expected, dict) and isinstance(actual, dict):
        for name in [*expected, *(name for name in actual if name not in expected)]:
            inner = f"{path}.{name}" if path else str(name)
            yield from _differences(inner, expected.get(name), actual.get(name))
    elif isinstance(expected, list) and isinstance(actual, list):
        for place in range(max(len(expected), len(actual))):
            yield from _differences(f"{path}[{place}]", _at(expected, place), _at(actual, place))
    elif not _same(expected, actual):
        yield FieldDifference(field=path, expected=expected, actual=actual)


def _at(values: list[Any], place: int) -> Any:
    return values[place] if place < len(values) else None


def _same(expected: Any, actual: Any) -> bool:
    """Compare as JSON: 1 equals 1.0, but true doesn't equal 1."""
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    return bool(expected == actual)


def diff_text(differences: Sequence[FieldDifference]) -> str:
    """Return the first fields as the end of a sentence."""
    first = ", ".join(each.field or "value" for each in differences[:3])
    return f"{first} differ{'s' if len(differences) == 1 else ''}."


def other_result(call: RecordedCall, first: FieldDifference) -> str:
    """Return a sentence about a live tool's result and its first differing field."""
    was, now = (json.dumps(each, ensure_ascii=False) for each in (first.expected, first.actual))
    return (
        f"{call.name} returned a different result to {call.agent} than recorded:"
        f" {first.field or 'value'} was {around_difference(was, now, _VALUE)}"
        f" and is now {around_difference(now, was, _VALUE)}"
    )


_VOLATILE = ("id", "timestamp")
_DELTAS = ("stateDelta", "artifactDelta")
_TIMES = ("startTimestamp", "endTimestamp")


class Ids:
    """Maps between ids of the replay and recorded ones, learned from corresponding events."""

    def __init__(self) -> None:
        self._recorded: dict[str, str] = {}
        self._actual: dict[str, str] = {}

    def learn(self, actual: dict[str, Any], recorded: dict[str, Any]) -> None:
        """Match the ids of two corresponding events."""
        for ours, theirs in zip_longest(_ids(actual), _ids(recorded)):
            if ours and theirs and ours != theirs:
                self._recorded.setdefault(ours, theirs)
                self._actual.setdefault(theirs, ours)

    def recorded(self, text: str | None) -> str | None:
        """Replace the replay's ids in the text with recorded ones."""
        return _replace_names(text, self._recorded)

    def recorded_in(self, value: dict[str, Any]) -> dict[str, Any]:
        """Replace the replay's ids in the JSON value with recorded ones."""
        if not self._recorded:
            return value
        result: dict[str, Any] = json.loads(_replace_names(json.dumps(value), self._recorded) or "")
        return result

    def recorded_surely(self, text: str) -> str:
        """Replace ids as `recorded` does; of two that stand for one recorded id, only the first."""
        sure = {ours: theirs for theirs, ours in self._actual.items()}
        return _replace_names(text, sure) or text

    def actual(self, text: str) -> str:
        """Replace recorded ids in the text with the replay's."""
        return _replace_names(text, self._actual) or text


def comparable(event: dict[str, Any]) -> dict[str, Any]:
    """Return an event without what differs in each run: its id, its times, and a chunk's deltas.

    A chunk shares its actions with the event that it becomes part of, so their content depends on
    when they are read. They are never committed.
    """
    fields = _without(event, _VOLATILE)
    actions = fields.get("actions") or {}
    if event.get("partial"):
        actions = _without(actions, _DELTAS)
    if compaction := actions.get("compaction"):
        actions = {**actions, "compaction": _without(compaction, _TIMES)}
    return {**fields, "actions": actions}


def _without(members: dict[str, Any], names: Collection[str]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if name not in names}


def _ids(event: dict[str, Any]) -> Iterator[str | None]:
    yield event.get("id")
    yield event.get("invocationId")
    for part in (event.get("content") or {}).get("parts") or []:
        for name in ("functionCall", "functionResponse"):
            yield (part.get(name) or {}).get("id")


def _replace_names(text: str | None, names: dict[str, str]) -> str | None:
    if not text or not names:
        return text
    pattern = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.sub(pattern, lambda match: names[match[0]], text)


_PARTS = ("system", "tools", "config")


class CurrentRequest:
    """A request of the replay, in the form of a recorded one."""

    def __init__(self, request: LlmRequest, *, stream: bool) -> None:
        prompt = Prompts().of(0, request, stream=stream)
        self._texts = prompt.pieces
        self.request = ModelRequest(
            model=prompt.model,
            stream=prompt.stream,
            system=prompt.system,
            tools=prompt.tools,
            config=prompt.config,
            contents=prompt.contents,
        )

    def in_full(self, ids: Ids) -> dict[str, Any]:
        """Return the request in full, with recorded ids where they are known."""
        pieces = {name: json.loads(ids.recorded(text) or "") for name, text in self._texts.items()}
        return request_in_full(self.request, pieces)

    def other_than(
        self, expected: dict[str, Any], ids: Ids, *, with_content: bool
    ) -> dict[str, Any]:
        """Return the differences from a recorded request as `Divergence` fields; {} if none."""
        actual = self.in_full(ids)
        diffs = request_differences(expected, actual, with_content=with_content)
        return {"expected": expected, "actual": actual, "differences": diffs} if diffs else {}


def request_in_full(request: ModelRequest, pieces: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request with its pieces in place of their names."""

    def piece(name: str | None) -> Any:
        return None if name is None else pieces.get(name)

    return {
        "model": request.model,
        "stream": request.stream,
        **{part: piece(getattr(request, part)) for part in _PARTS},
        "contents": [piece(name) for name in request.contents],
    }


def request_differences(
    expected: dict[str, Any], actual: dict[str, Any], *, with_content: bool = True
) -> list[FieldDifference]:
    """Return the fields in which two requests differ.

    Without `with_content`, system instruction and contents are ignored: a live tool returned
    something else, and agents pass results on in many ways.
    """
    if not with_content:
        members = ("model", "stream", "tools", "config")
        expected, actual = ({name: each[name] for name in members} for each in (expected, actual))
    return differences(expected, actual)


def without_results(value: Any) -> Any:
    """Return the value without the content of function responses."""
    if isinstance(value, list):
        return [without_results(each) for each in value]
    if not isinstance(value, dict):
        return value
    members = {name: without_results(each) for name, each in value.items()}
    if isinstance(members.get("functionResponse"), dict):
        members["functionResponse"] = {**members["functionResponse"], "response": None}
    return members


_Source = tuple[str, str | None]
"""The author and the branch of events."""


def as_made(recording: Recording) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the events with their places as the code made them, before people's edits and drops."""
    edits = [edit for edit in recording.edits if edit.gate == "before_commit"]
    for place in range(len(recording.events) + 1):
        here = [edit for edit in edits if edit.place == place]
        yield from ((place, edit.held) for edit in here if edit.action == "drop")
        if place < len(recording.events):
            changed = next((edit.held for edit in here if edit.action == "edit"), None)
            yield place, changed or recording.events[place]


class ExpectedEvents:
    """What is still to come, in order: the places of events, and the fragments, by source."""

    def __init__(self, recording: Recording, ids: Ids, *, live_tools: bool) -> None:
        self._events = recording.events
        self._ids = ids
        self._live_tools = live_tools
        self._places: defaultdict[_Source, deque[int]] = defaultdict(deque)
        for place, event in as_made(recording):
            self._places[_source(event)].append(place)
        self._cut = {
            (call.agent, call.branch)
            for call in recording.calls
            if call.type == "model" and call.event is None
        }
        """Sources with a model call that produced no event."""
        self._fragments: defaultdict[_Source, deque[dict[str, Any]]] = defaultdict(deque)
        for fragment in recording.fragments:
            self._fragments[_source(fragment)].append(fragment)

    def place_of_next(self, author: str, branch: str | None) -> int | None:
        """Take the index of the source's next event; None if no more are recorded.

        Each call consumes one event.
        """
        places = self._places[author, self._ids.recorded(branch)]
        return places.popleft() if places else None

    def place_ahead(self, author: str, branch: str | None) -> int:
        """Return the index of the source's next event, or the number of events; consumes nothing.

        `branch` is the recorded one.
        """
        places = self._places[author, branch]
        return places[0] if places else len(self._events)

    def event(self, place: int, actual: dict[str, Any]) -> list[FieldDifference]:
        """Return how an event differs from the recorded one at this index."""
        expected = self._events[place]
        self._ids.learn(actual, expected)
        return self.differences(expected, actual)

    def fragment(
        self, actual: dict[str, Any]
    ) -> tuple[dict[str, Any] | None, list[FieldDifference]]:
        """Take the recorded counterpart of a fragment, or None, and return how the two differ."""
        author, branch = _source(actual)
        fragments = self._fragments[author, self._ids.recorded(branch)]
        if not fragments:
            return None, []
        expected = fragments.popleft()
        self._ids.learn(actual, expected)
        return expected, self.differences(expected, actual)

    def streams(self, call: RecordedCall) -> bool:
        """Return whether fragments are left for a model call that produced no event."""
        source = (call.agent, call.branch)
        return source not in self._cut or call.event is not None or bool(self._fragments[source])

    def fragments_left(self) -> list[dict[str, Any]]:
        """Return missing fragments, except for cut-off streams, whose length depends on timing."""
        queues = (queue for source, queue in self._fragments.items() if source not in self._cut)
        return [each for queue in queues for each in queue]

    def differences(
        self, expected: dict[str, Any], actual: dict[str, Any]
    ) -> list[FieldDifference]:
        """Return how an event differs from a recorded one, with known ids replaced."""
        expected = comparable(_without_marks(expected))
        actual = comparable(self._ids.recorded_in(actual))
        if self._live_tools:
            expected, actual = _loosely(expected), _loosely(actual)
        return differences(expected, actual)


def by_hand(event: dict[str, Any]) -> str:
    """Return the end of a sentence about an event that a person has edited; "" otherwise."""
    edits = (event.get("customMetadata") or {}).get(EDITED)
    return " The recorded event was edited by hand." if edits else ""


def _without_marks(event: dict[str, Any]) -> dict[str, Any]:
    """Return an event without the marks of edits: a replay repeats edits without marks."""
    labels = event.get("customMetadata") or {}
    if EDITED not in labels:
        return event
    rest = {name: value for name, value in labels.items() if name != EDITED}
    return {**event, "customMetadata": rest or None}


def _source(event: dict[str, Any]) -> _Source:
    return str(event.get("author", "")), event.get("branch")


def _loosely(event: dict[str, Any]) -> dict[str, Any]:
    """Return an event without what may differ with a live tool, and without marks of edits."""
    parts = (event.get("content") or {}).get("parts") or []
    if not any(part.get("functionResponse") for part in parts):
        return event
    actions = {**(event.get("actions") or {}), "stateDelta": None, "artifactDelta": None}
    labels = event.get("customMetadata") or {}
    rest = {name: value for name, value in labels.items() if name != EDITED} or None
    loose: dict[str, Any] = without_results({**event, "actions": actions, "customMetadata": rest})
    return loose
