"""Plays a recording on the agent's current code (docs/guide/testing.md)."""

import asyncio
import json
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Self

from devui.runtime.apps.app import App
from devui.runtime.events.event import Event
from devui.runtime.events.reading import read_event
from devui.runtime.workflow.base_node import BaseNode
from devui.testing.explaining import explanation
from devui.testing.other_python import agents_interpreter, player, require
from devui.testing.refreshing import record_again
from devui.wire.engines import EngineChoice
from devui.wire.outcomes import TEMPORARY, agents_in_turn, last_text, tool_calls
from devui.wire.recordings import RecordedEngine, Recording
from devui.worker.engines.choice import kit_of, prepare
from devui.worker.json_text import as_json
from devui.worker.loading import load
from devui.worker.replay.headless import HeadlessReplay, read_recording, replay_headless


@dataclass(frozen=True, slots=True, repr=False)
class Result:
    """The outcome of a replay on the current code; values are plain JSON."""

    recording: Path
    text: str | None
    """The last text of an agent."""
    tools: list[tuple[str, dict[str, Any]]]
    """The requested tool calls in order: name and arguments."""
    agents: list[str]
    """The authors of the events, in order; consecutive repeats count once."""
    state: dict[str, Any]
    """The final state, with prefixes and without `temp:` keys. Here and in `tools`, call ids are
    the recorded ones."""
    events: list[Event]
    """The committed events, starting with the user's message; ids and times are new."""
    error: str | None
    """The run's error as `Type: message`; None if it succeeded."""
    difference: str | None
    """The first difference from the recording, explained: a prompt, call, event or the end."""

    @property
    def as_recorded(self) -> bool:
        """Whether the run matches its recording; times and ids are ignored."""
        return self.difference is None

    def as_json(self) -> dict[str, Any]:
        """Return the result as a JSON value, for another process."""
        fields = {each: getattr(self, each) for each in self.__slots__}
        events = [json.loads(as_json(event)) for event in self.events]
        return {**fields, "recording": str(self.recording), "events": events}

    @classmethod
    def of_json(cls, value: dict[str, Any]) -> Self:
        """Restore a result from the output of `as_json`."""
        return cls(
            **value
            | {
                "recording": Path(value["recording"]),
                "tools": [(name, args) for name, args in value["tools"]],
                "events": [read_event(json.dumps(event)) for event in value["events"]],
            }
        )

    def __repr__(self) -> str:
        """Return a short text, since pytest shows it in assertion messages."""
        return f"<Result of {self.recording.name}>"


def play(agent: App | BaseNode | str | Path, recording: str | Path) -> Result:
    """Run the recorded run again, with the recorded answers of models and tools.

    `agent` is an app, a root agent, or an app's folder. A folder is played on the engine that
    recorded the run, and in the agents' own Python if `devui test --python` or DEVUI_WORKER_PYTHON
    names it. Models and tools aren't called. The run ends early only if no recorded answer fits;
    `Result.difference` has the first difference from the recording.

    Raises OSError or ValueError if the file isn't a recording; WrongPython; EngineMissing; and what
    the agent's code raises when imported, as ReplayFailed if that happens in another process.
    """
    path = Path(recording).resolve()
    original = read_recording(path)
    if not isinstance(agent, str | Path):
        return _play_or_refresh(path, agent, original, folder=None)
    folder = Path(agent).resolve()
    if not folder.is_dir():
        raise FileNotFoundError(
            f"{folder} is not an app's folder; update the path to its agent.py in the test"
        )
    interpreter, engine = agents_interpreter(), original.engine
    if interpreter.own:
        require(engine, path)
        exported = _load(folder, "auto")
        if engine is None or kit_of(exported).name == engine.name:
            return _play_or_refresh(path, exported, original, folder=folder)
    answer = player(interpreter, engine.name if engine else "auto").play(folder, path)
    return Result.of_json(answer)


def play_here(folder: Path, path: Path, engine: EngineChoice) -> Result:
    """Play in this process, where all apps use the same engine; raises what `play` raises."""
    original = read_recording(path)
    require(original.engine, path)
    return _play_or_refresh(path, _load(folder, engine), original, folder=folder)


@cache
def _load(folder: Path, engine: EngineChoice) -> App | BaseNode:
    prepare(engine)
    return load(folder.parent, folder.name)


def _play_or_refresh(
    path: Path, exported: App | BaseNode, original: Recording, *, folder: Path | None
) -> Result:
    result = _play(path, exported, original)
    if result.difference is None:
        return result
    replacement = record_again(path, exported, original, because=result.difference, agent=folder)
    return result if replacement is None else _play(path, exported, replacement)


def _play(path: Path, exported: App | BaseNode, recording: Recording) -> Result:
    replayed = asyncio.run(replay_headless(exported, recording, tolerant=True))
    result, kit, recorded_on = _result(path, replayed), kit_of(exported), recording.engine
    played_on = RecordedEngine(name=kit.name, version=kit.version)
    if result.difference is None or recorded_on is None or str(recorded_on) == str(played_on):
        return result
    about = f"  recorded on {recorded_on}, played on {played_on}"
    return replace(result, difference=f"{result.difference}\n{about}")


def _result(recording: Path, replayed: HeadlessReplay) -> Result:
    """Return the result with the recorded ids, which checks refer to, in place of the new ones."""
    ids, divergence = replayed.ids, replayed.verdict.divergence
    wire = {"mode": "json", "by_alias": True, "exclude_none": True}
    events = [ids.recorded_in(event.model_dump(**wire)) for event in replayed.events]  # type: ignore[arg-type]  # a mapping of several kinds
    state = {
        key: json.loads(as_json(value))
        for key, value in replayed.state.items()
        if not key.startswith(TEMPORARY)
    }
    return Result(
        recording=recording,
        text=last_text(events),
        tools=tool_calls(events),
        agents=agents_in_turn(events),
        state=ids.recorded_in(state),
        events=replayed.events,
        error=ids.recorded(replayed.error),
        difference=explanation(divergence) if divergence is not None else None,
    )
