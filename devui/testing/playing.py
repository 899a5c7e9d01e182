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
from devui.worker.jsontext import as_json
from devui.worker.loading import load
from devui.worker.replaying.headless import Replayed, read_recording, replay_headless


@dataclass(frozen=True, slots=True, repr=False)
class Result:
    """What a recording came to on the present code; values are as JSON has them."""

    recording: Path
    text: str | None
    """What agents said last."""
    tools: list[tuple[str, dict[str, Any]]]
    """The calls of tools that were asked for, in order: name and arguments."""
    agents: list[str]
    """Whose events there are, in turn."""
    state: dict[str, Any]
    """At the end, with prefixes; `temp:` aside."""
    events: list[Event]
    """What the run committed, the user's message first; ids and times are new."""
    error: str | None
    """What the run failed with, as `Type: message`."""
    difference: str | None
    """The first thing that is not as recorded, explained: a prompt, a call, an event, the end."""

    @property
    def as_recorded(self) -> bool:
        """Whether nothing at all is different; times and ids do not count."""
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
    kept = read_recording(path)
    if isinstance(agent, App | BaseNode):
        folder, exported = None, agent
    else:
        folder = Path(agent).resolve()
        exported = _loaded(folder)
    result = _played(path, exported, kept)
    if result.difference is None:
        return result
    anew = refreshed(path, exported, kept, because=result.difference, agent=folder)
    return result if anew is None else _played(path, exported, anew)


@cache
def _loaded(folder: Path) -> App | BaseNode:
    if not folder.is_dir():
        raise FileNotFoundError(
            f"{folder} is no folder of an app; say in the test where its agent.py lies now"
        )
    return load(folder.parent, folder.name)


def _played(path: Path, exported: App | BaseNode, recording: Recording) -> Result:
    return _result(path, asyncio.run(replay_headless(exported, recording, tolerant=True)))


def _result(recording: Path, replayed: Replayed) -> Result:
    wire = {"mode": "json", "by_alias": True, "exclude_none": True}
    events = [event.model_dump(**wire) for event in replayed.events]  # type: ignore[arg-type]  # a mapping of several kinds
    found = replayed.verdict.divergence
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
        difference=explanation(found) if found is not None else None,
    )
