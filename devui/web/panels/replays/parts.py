"""Replays: the form that starts one, and its result."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from devui.web.panels.compare.parts import Pieces
from devui.web.panels.jobs.panel import JobList

Tone = Literal["going", "same", "other"]


@dataclass(frozen=True, slots=True)
class ReplayField:
    """A field that differs; values are JSON, split at the differences, () for no value."""

    field: str
    expected: Pieces
    actual: Pieces


@dataclass(frozen=True, slots=True)
class Replay:
    """What the session's newest run replays, and the result. Goes into `#replay`."""

    template: ClassVar[str] = "replays/replay.html"
    title: str = ""
    """The title; "" if the newest run isn't a replay."""
    tone: Tone = "going"
    text: str = ""
    source_href: str = ""
    """The recorded run; "" if it was deleted."""
    source: str = ""
    """`#5 of Weather`."""
    fields: tuple[ReplayField, ...] = ()
    expected: str = ""
    """The recorded call or event as JSON, if single fields don't show the difference."""
    actual: str = ""
    nearest: str = ""
    """For a call that isn't recorded: the recorded one that comes next."""
    notes: tuple[str, ...] = ()
    event_href: str = ""
    """The recorded event at the difference."""
    event: str = ""
    action: str = ""
    """Where to replay the run again."""
    run: str = ""
    """The recorded run."""
    committed: int = 0
    """Events committed so far, while it is in progress."""
    recorded: int = 0
    live_tools: bool = False
    other_engine: bool = False
    """Whether it was executed on the engine that the app doesn't run on."""


@dataclass(frozen=True, slots=True)
class ReplayRun:
    """A run that can be executed again."""

    run: str
    label: str


@dataclass(frozen=True, slots=True)
class ReplayForm:
    """The form that starts a replay, in the Run tab."""

    template: ClassVar[str] = "replays/replay_form.html"
    action: str
    runs: tuple[ReplayRun, ...]
    """Newest first."""
    default: str
    """The run selected at first."""
    play_href: str
    """The page as of the first event of that run, to play it back from there."""
    test_href: str
    """Where to make a test from the session."""
    jobs: JobList
    """The session's jobs, including replays in preparation."""
