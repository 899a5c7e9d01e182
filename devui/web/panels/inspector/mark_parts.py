"""What the debugger says about an event and its state, beside what the event itself says."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from devui.web.basic_parts import JsonText, Moment


@dataclass(frozen=True, slots=True)
class RewindMark:
    """That an event counts no more: the first thing in its row, in its message, in its detail."""

    template: ClassVar[str] = "inspector/rewind_mark.html"
    number: int
    by: int
    """The number of the rewind."""
    href: str
    place: Literal["row", "message", "detail"]


@dataclass(frozen=True, slots=True)
class RewindNews:
    """That a range of events counts no more, or again: the page marks what of it it shows."""

    template: ClassVar[str] = "inspector/rewind_news.html"
    first: int
    last: int
    marks: tuple[RewindMark, ...] = ()
    """One for each place, to be copied; none for events that count again."""


@dataclass(frozen=True, slots=True)
class EditShown:
    """One thing a person did while the run was held."""

    number: int
    """Of the edit, as in `GET /api/sessions/{key}/edits`."""
    word: str
    """`edited`, `mocked`."""
    sentence: str
    moment: Moment
    original: JsonText
    replacement: JsonText | None
    """What took its place; None where nothing did."""
    diff: tuple[str, ...] = ()
    """The lines that differ, each with `+` or `-` before it."""


@dataclass(frozen=True, slots=True)
class EventEdits:
    """What people, or the guard, did on the way to one event; the original is kept."""

    template: ClassVar[str] = "inspector/event_edits.html"
    summary: str
    """All of it in a sentence."""
    items: tuple[EditShown, ...]
    title: str = "Changed by a person"


@dataclass(frozen=True, slots=True)
class NoteShown:
    """What was noticed of the state at one event."""

    kind: Literal["dirty", "silent", "overlap"]
    label: str
    """`dirty read`, `state changed without a delta`."""
    text: str
    fate: str = ""
    """What became of the write: `committed as #7`, `lost`."""
    href: str | None = None
    """Where that can be seen."""
    place: str = ""
    """Who did it."""
    code: str = ""
    """Where in the code, `agent.py:12 in book`; "" if that isn't known."""


@dataclass(frozen=True, slots=True)
class EventNotes:
    """Everything that was noticed of the state at one event."""

    template: ClassVar[str] = "inspector/event_notes.html"
    items: tuple[NoteShown, ...]
