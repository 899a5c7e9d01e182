"""Executing a recorded run again: how it is begun, and what came of it."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from devui.web.panels.compare.parts import Pieces
from devui.web.panels.jobs.panel import JobList

Tone = Literal["going", "same", "other"]


@dataclass(frozen=True, slots=True)
class ReplayField:
    """A field that differs; values are JSON in pieces by what differs, () for none."""

    field: str
    expected: Pieces
    actual: Pieces


@dataclass(frozen=True, slots=True)
class Replay:
    """What the session's newest run replays, and what came of it. Goes into `#replay`."""

    template: ClassVar[str] = "replays/replay.html"
    title: str = ""
    """"" when the newest run is no replay."""
    tone: Tone = "going"
    text: str = ""
    source_href: str = ""
    """The recorded run; "" if it was deleted."""
    source: str = ""
    """`#5 of Weather`."""
    fields: tuple[ReplayField, ...] = ()
    expected: str = ""
    """The recorded call or event as JSON, where single fields do not tell the difference."""
    actual: str = ""
    nearest: str = ""
    """For a call that was not recorded: the one that comes next."""
    notes: tuple[str, ...] = ()
    event_href: str = ""
    """The recorded event where the difference is."""
    event: str = ""
    action: str = ""
    """Where it is executed once more."""
    run: str = ""
    """The recorded run."""
    committed: int = 0
    """Events committed so far, while it goes on."""
    recorded: int = 0
    stop_action: str = ""
    """"" once it has ended or is stopping."""
    live_tools: bool = False
    other_engine: bool = False
    """It was executed on the engine that the app does not run on."""


@dataclass(frozen=True, slots=True)
class ReplayRun:
    """A run that can be executed again."""

    run: str
    label: str


@dataclass(frozen=True, slots=True)
class ReplayForm:
    """Begins a replay; in the tab about the run."""

    template: ClassVar[str] = "replays/replay_form.html"
    action: str
    runs: tuple[ReplayRun, ...]
    """The newest first."""
    watch_href: str
    """The page as of the first event of the newest run, from which it is played."""
    test_href: str
    """Where a test is made of the session."""
    jobs: JobList
    """Among them the replays that are being prepared."""
