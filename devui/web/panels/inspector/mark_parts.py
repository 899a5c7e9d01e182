"""What the debugger says about an event and its state, in addition to the event itself."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from devui.web.basic_parts import JsonText, Moment


@dataclass(frozen=True, slots=True)
class RewindMark:
    """Marks an event as rewound, at the start of its row, its message or its detail."""

    template: ClassVar[str] = "inspector/rewind_mark.html"
    number: int
    by: int
    """The number of the rewind."""
    href: str
    place: Literal["row", "message", "detail"]


@dataclass(frozen=True, slots=True)
class RewindNews:
    """Tells the page that a range of events was rewound or restored; it marks those that it
    shows."""

    template: ClassVar[str] = "inspector/rewind_news.html"
    first: int
    last: int
    marks: tuple[RewindMark, ...] = ()
    """One mark for each place, which the page copies; empty if the events were restored."""


@dataclass(frozen=True, slots=True)
class EditItem:
    """One edit that was made while the run was held."""

    number: int
    """The edit's number, as in `GET /api/sessions/{key}/edits`."""
    word: str
    """`edited`, `mocked`."""
    sentence: str
    moment: Moment
    original: JsonText
    replacement: JsonText | None
    """What replaced the original; None if nothing did."""
    diff: tuple[str, ...] = ()
    """The changed lines, each prefixed with `+` or `-`."""


@dataclass(frozen=True, slots=True)
class EventEdits:
    """The edits that people or the guard made before one event was committed; the original is
    kept."""

    template: ClassVar[str] = "inspector/event_edits.html"
    summary: str
    """All edits in one sentence."""
    items: tuple[EditItem, ...]
    title: str = "Changed by a person"


@dataclass(frozen=True, slots=True)
class StateNoteItem:
    """Something noticed about the state at one event."""

    kind: Literal["dirty", "silent", "overlap"]
    label: str
    """`dirty read`, `state changed without a delta`."""
    text: str
    outcome: str = ""
    """The outcome of the write: `committed as #7`, `lost`."""
    href: str | None = None
    """The link to that outcome."""
    place: str = ""
    """Who did it: the agent, callback or tool."""
    code: str = ""
    """The location in the code, `agent.py:12 in book`; "" if unknown."""


@dataclass(frozen=True, slots=True)
class EventNotes:
    """Everything noticed about the state at one event."""

    template: ClassVar[str] = "inspector/event_notes.html"
    items: tuple[StateNoteItem, ...]
