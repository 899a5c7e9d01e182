"""Records a run anew on the agent's code as it is now, without server and journal."""

import json
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from devui.runtime.apps.app import App
from devui.runtime.workflow.base_node import BaseNode
from devui.wire.gates import Verdict
from devui.wire.recordings import RecordedFile, Recording
from devui.worker.replaying.headless import Headless
from devui.worker.replaying.reuse import Reuse
from devui.worker.replaying.steady import steadied
from devui.worker.replaying.tape import Tape


@dataclass(frozen=True, slots=True)
class Refreshed:
    """A recording, made anew."""

    recording: Recording
    live: list[str]
    """What was called for real, in words; all else was answered as before."""


async def refresh_headless(exported: App | BaseNode, recording: Recording) -> Refreshed:
    """Execute a recorded run again; a call that was not recorded so is made for real."""
    run = uuid.uuid4().hex
    reuse, tape = Reuse(recording), Tape(run)
    headless = Headless(exported, recording, _Taped(reuse, tape))
    outcome, error = await headless.execute(run, [tape.recorder, reuse], reuse.replay.hands)
    made = replace(
        recording,
        outcome=outcome,
        error=error,
        files=await _files(headless, recording, tape.events),
        pieces=tape.pieces,
        calls=tape.calls(),
        edits=reuse.replay.hands.done,
        fragments=tape.fragments,
        events=tape.events,
    )
    return Refreshed(steadied(made, recording, reuse.replay.ids), reuse.live)


class _Taped:
    """What is committed and streamed, on its way to the comparison."""

    def __init__(self, reuse: Reuse, tape: Tape) -> None:
        self._replay = reuse.replay
        self._tape = tape

    def fragment(self, text: str) -> None:
        self._tape.fragment(text)
        self._replay.fragment(text)

    def event(self, text: str) -> Verdict | None:
        passed = self._replay.turns.passed
        if verdict := self._replay.hands.of_event(passed, json.loads(text)):
            return verdict
        place, told = len(self._tape.events), self._tape.event(text)
        self._replay.event(text)
        recorded = self._replay.recording.events
        if place >= len(recorded) or _shape(told) != _shape(recorded[place]):
            self._replay.turns.open()  # who comes next is not told by the recording any more
        return None

    def committed(self) -> None:
        self._replay.committed()


def _shape(event: dict[str, Any]) -> tuple[Any, ...]:
    """Who says something, and what is called or answered in it."""
    parts = (event.get("content") or {}).get("parts") or []
    names = [
        (kind, part[kind].get("name"))
        for part in parts
        for kind in ("functionCall", "functionResponse")
        if part.get(kind)
    ]
    return event.get("author"), tuple(names)


async def _files(
    headless: Headless, recording: Recording, events: Iterable[dict[str, Any]]
) -> list[RecordedFile]:
    """The files from before the run, and those that its events tell of."""
    known = {(file.name, file.version): file for file in recording.files}
    before, now = _saved(recording.history), _saved(events)
    files = {place: known[place] for place in before if place in known}
    for name, version in now - before:
        part = await headless.file(name, version)
        if part is not None:
            made = RecordedFile(name=name, version=version, part=part)
            old = known.get((name, version))
            files[name, version] = old if old is not None and old == made else made
    return [files[place] for place in sorted(files)]


def _saved(events: Iterable[dict[str, Any]]) -> set[tuple[str, int]]:
    return {
        item
        for event in events
        for item in ((event.get("actions") or {}).get("artifactDelta") or {}).items()
    }
