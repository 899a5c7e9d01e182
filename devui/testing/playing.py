"""Plays a recording on the agent's code as it is now (docs/guide/testing.md)."""

import asyncio
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from devui.runtime.apps.app import App
from devui.runtime.events.event import Event
from devui.runtime.workflow.base_node import BaseNode
from devui.testing.explaining import explanation
from devui.testing.refreshing import refreshed
from devui.wire.outcomes import TEMPORARY, agents_in_turn, last_text, tool_calls
from devui.wire.recordings import Recording
from devui.worker.engines.choice import prepare
from devui.worker.json_text import as_json
from devui.worker.loading import load
from devui.worker.replay.headless import Replayed, read_recording, replay_headless


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
    """The final state with its prefixes, without `temp:`."""
    events: list[Event]
    """The committed events, the user's message first; ids and times are new."""
    error: str | None
    """The run's error as `Type: message`; None if it succeeded."""
    difference: str | None
    """The first difference from the recording, explained: a prompt, call, event or the end."""

    @property
    def as_recorded(self) -> bool:
        """Whether the run matches its recording; times and ids are ignored."""
        return self.difference is None

    def __repr__(self) -> str:
        """Short, since pytest shows it beside what is asserted of it."""
        return f"<Result of {self.recording.name}>"


def play(agent: App | BaseNode | str | Path, recording: str | Path) -> Result:
    """Execute the recorded run again, with the recorded answers of models and tools.

    `agent` is an app, a root agent, or the folder of an app. Nothing live is reached. A difference
    from what was recorded ends it only where no recorded answer fits; `Result.difference` tells it.

    Raises OSError and ValueError for a file that is no recording, and whatever the agent's own
    code raises while it is imported.
    """
    path = Path(recording).resolve()
    original = read_recording(path)
    if isinstance(agent, str | Path):
        folder = Path(agent).resolve()
        exported = _load(folder)
    else:
        folder, exported = None, agent
    result = _play(path, exported, original)
    if result.difference is None:
        return result
    anew = refreshed(path, exported, original, because=result.difference, agent=folder)
    return result if anew is None else _play(path, exported, anew)


@cache
def _load(folder: Path) -> App | BaseNode:
    if not folder.is_dir():
        raise FileNotFoundError(
            f"{folder} is not an app's folder; update the path to its agent.py in the test"
        )
    prepare("auto")
    return load(folder.parent, folder.name)


def _play(path: Path, exported: App | BaseNode, recording: Recording) -> Result:
    return _result(path, asyncio.run(replay_headless(exported, recording, tolerant=True)))


def _result(recording: Path, replayed: Replayed) -> Result:
    wire = {"mode": "json", "by_alias": True, "exclude_none": True}
    events = [event.model_dump(**wire) for event in replayed.events]  # type: ignore[arg-type]  # a mapping of several kinds
    divergence = replayed.verdict.divergence
    return Result(
        recording=recording,
        text=last_text(events),
        tools=tool_calls(events),
        agents=agents_in_turn(events),
        state={
            key: json.loads(as_json(value))
            for key, value in replayed.state.items()
            if not key.startswith(TEMPORARY)
        },
        events=replayed.events,
        error=replayed.error,
        difference=explanation(divergence) if divergence is not None else None,
    )
