"""The recorded events and fragments, to be compared with those that the replay makes."""

from collections import defaultdict, deque
from collections.abc import Iterator
from typing import Any

from devui.wire.gates import EDITED
from devui.wire.recordings import FieldDifference, RecordedCall, Recording
from devui.worker.replaying.differences import differences
from devui.worker.replaying.ids import Ids, comparable
from devui.worker.replaying.requests import without_results

_Source = tuple[str, str | None]
"""Author and branch."""


def as_made(recording: Recording) -> Iterator[tuple[int, dict[str, Any]]]:
    """The events with their places as the code made them: before people changed or dropped them."""
    edits = [edit for edit in recording.edits if edit.gate == "before_commit"]
    for place in range(len(recording.events) + 1):
        here = [edit for edit in edits if edit.place == place]
        yield from ((place, edit.held) for edit in here if edit.action == "drop")
        if place < len(recording.events):
            changed = next((edit.held for edit in here if edit.action == "edit"), None)
            yield place, changed or recording.events[place]


class Expected:
    """What is to come, in order: events one after the other, fragments source by source."""

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
        """Sources with an answer that no event came of."""
        self._fragments: defaultdict[_Source, deque[dict[str, Any]]] = defaultdict(deque)
        for fragment in recording.fragments:
            self._fragments[_source(fragment)].append(fragment)

    def place_of_next(self, author: str, branch: str | None) -> int | None:
        """Where in the stream the source's next event is; None if it is to make no more.

        Each call is for one event more.
        """
        places = self._places[author, self._ids.recorded(branch)]
        return places.popleft() if places else None

    def place_ahead(self, author: str, branch: str | None) -> int:
        """Where the source's next event is, behind all events if there is none; it stays there.

        `branch` is the recorded one.
        """
        places = self._places[author, branch]
        return places[0] if places else len(self._events)

    def event(self, place: int, actual: dict[str, Any]) -> list[FieldDifference]:
        """How an event differs from the recorded one at this place."""
        expected = self._events[place]
        self._ids.learn(actual, expected)
        return self.differences(expected, actual)

    def fragment(
        self, actual: dict[str, Any]
    ) -> tuple[dict[str, Any] | None, list[FieldDifference]]:
        """The recorded fragment that this one is to be, None without one; how it differs."""
        author, branch = _source(actual)
        left = self._fragments[author, self._ids.recorded(branch)]
        if not left:
            return None, []
        expected = left.popleft()
        self._ids.learn(actual, expected)
        return expected, self.differences(expected, actual)

    def streams(self, call: RecordedCall) -> bool:
        """Whether a fragment is left for a call of a model that no event came of."""
        source = (call.agent, call.branch)
        return source not in self._cut or call.event is not None or bool(self._fragments[source])

    def fragments_left(self) -> list[dict[str, Any]]:
        """Fragments that did not come; how far a stream comes that others break off is chance."""
        left = (left for source, left in self._fragments.items() if source not in self._cut)
        return [each for fragments in left for each in fragments]

    def differences(
        self, expected: dict[str, Any], actual: dict[str, Any]
    ) -> list[FieldDifference]:
        """How an event differs from a recorded one, ids aside that are known by now."""
        expected = comparable(_without_marks(expected))
        actual = comparable(self._ids.recorded_in(actual))
        if self._live_tools:
            expected, actual = _loosely(expected), _loosely(actual)
        return differences(expected, actual)


def by_hand(event: dict[str, Any]) -> str:
    """The end of a sentence about an event that a person has changed; "" of any other."""
    edited = (event.get("customMetadata") or {}).get(EDITED)
    return " The recorded event was changed by hand." if edited else ""


def _without_marks(event: dict[str, Any]) -> dict[str, Any]:
    """An event without the marks of what people did: a replay does the same, and says no more."""
    labels = event.get("customMetadata") or {}
    if EDITED not in labels:
        return event
    kept = {name: value for name, value in labels.items() if name != EDITED}
    return {**event, "customMetadata": kept or None}


def _source(event: dict[str, Any]) -> _Source:
    return str(event.get("author", "")), event.get("branch")


def _loosely(event: dict[str, Any]) -> dict[str, Any]:
    """An event without what a live tool may do otherwise than the recorded one, and without who
    has answered in its place."""
    parts = (event.get("content") or {}).get("parts") or []
    if not any(part.get("functionResponse") for part in parts):
        return event
    actions = {**(event.get("actions") or {}), "stateDelta": None, "artifactDelta": None}
    labels = event.get("customMetadata") or {}
    kept = {name: value for name, value in labels.items() if name != EDITED} or None
    told: dict[str, Any] = without_results({**event, "actions": actions, "customMetadata": kept})
    return told
