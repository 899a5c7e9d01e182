"""Parts about state: its keys, the history of the pinned key, and forms to edit and watch keys."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from devui.web.basic_parts import JsonTree

Mark = Literal["same", "new", "changed", "removed"]


@dataclass(frozen=True, slots=True)
class Crumb:
    """A key, or one step into its value."""

    text: str
    href: str


@dataclass(frozen=True, slots=True)
class PinBar:
    """The pinned key or value, below the inspector's tabs. Goes into `#pin-bar`."""

    template: ClassVar[str] = "state/pin_bar.html"
    key: str
    path: str
    crumbs: tuple[Crumb, ...]
    back_href: str | None
    """The page as of the previous write; None if there is none."""
    on_href: str | None
    """The page as of the next write."""
    close_href: str


@dataclass(frozen=True, slots=True)
class KeyChange:
    """One place in the value that a write changed."""

    path: str
    """"" for the value as a whole."""
    href: str
    old: str
    """One line; "" if there was no value."""
    new: str


@dataclass(frozen=True, slots=True)
class WriterNote:
    """The writer of a value."""

    label: str
    """`#31`, `start`, `elsewhere`."""
    href: str | None
    author: str
    how: str
    """The tools that made the write, or where it came from; "" for the agent itself."""


@dataclass(frozen=True, slots=True)
class KeyWriteItem:
    writer: WriterNote
    changes: tuple[KeyChange, ...]
    more: str
    """The number of other changes, in words."""
    edits: tuple[str, ...]
    """People's interventions before the write: `ruby tab edited the event`."""
    overlaps: tuple[str, ...]
    """Others who wrote the key at the same time."""
    here: bool
    """Whether the value shown is from this write."""
    later: bool
    """Whether the write is later than the event that is shown."""


@dataclass(frozen=True, slots=True)
class KeyPiece:
    """A part of the value, with the write that it is from."""

    path: str
    href: str
    writer: WriterNote


@dataclass(frozen=True, slots=True)
class StepChart:
    """The writes as a picture 1000 wide and 40 high; all are equally wide."""

    template: ClassVar[str] = "state/step_chart.html"
    line: str
    """The values as steps, an SVG path; "" if none are numbers."""
    ticks: str
    here: tuple[float, float] | None
    """Left edge and width of the write whose value is shown."""
    label: str
    low: str
    """The lowest number; "" if there are none."""
    high: str


@dataclass(frozen=True, slots=True)
class KeyHistory:
    """The writes of a key, oldest first. Its element is `#key-history`."""

    template: ClassVar[str] = "state/key_history.html"
    name: str
    """The key with the path: `plan.steps[1]`."""
    by: WriterNote | None
    """The writer of the current value; None if there is none."""
    number: int | None
    """The event that the history is as of; None for now."""
    writes: tuple[KeyWriteItem, ...]
    earlier: str | None
    """Where older writes are listed: as of the last of them; "" if none is in an event of this
    session, None if there are no older ones."""
    pieces: tuple[KeyPiece, ...]
    warning: str
    """Who wrote the key in parallel; "" for nobody."""
    chart: StepChart | None
    query: tuple[tuple[str, str], ...]
    """Names and values of the query with which it reloads itself."""


@dataclass(frozen=True, slots=True)
class HistoryReload:
    """Makes an open history reload itself. Its element is `#history-ask`."""

    template: ClassVar[str] = "state/history_ask.html"
    href: str


@dataclass(frozen=True, slots=True)
class ReloadedHistory:
    """A reloaded history, with its pin bar."""

    template: ClassVar[str] = "state/history_now.html"
    history: KeyHistory
    bar: PinBar


@dataclass(frozen=True, slots=True)
class StateForm:
    """The form for one state key: a field for its type, and one for its JSON."""

    template: ClassVar[str] = "state/state_form.html"
    action: str
    cancel_href: str
    key: str
    """The raw key, with its prefix; "" for a new one."""
    visible_key: str
    """The key with its deceptive characters escaped."""
    kind: Literal["text", "number", "boolean", "json"]
    text: str
    """The content of the field."""
    json: str
    last_written: int
    """The seq of the key's last write when the form was made; 0 for a new key."""


@dataclass(frozen=True, slots=True)
class WatchButton:
    """The button that watches a key, or stops watching it."""

    template: ClassVar[str] = "watch/button.html"
    action: str
    key: str
    """The raw key, with its prefix."""
    label: str
    """The key as shown to people."""
    is_watched: bool
    in_strip: bool = False
    event: int | None = None
    """The event that the page shows the state as of, to return to; None for now."""
    at: int | None = None
    """The event that the whole page is as of."""


@dataclass(frozen=True, slots=True)
class StateValue:
    """One key of the state.

    `value` is None after a removal; `old` is None unless the selected event replaced it.
    """

    key: str
    dom_id: str
    mark: Mark
    value: JsonTree | None
    old: JsonTree | None
    by: str
    """The writer: `#11`, `start`, `elsewhere`."""
    href: str | None
    """The event that wrote it."""
    note: str = ""
    """A note about the write."""
    place: str = ""
    """The line that wrote it, `agent.py:12 in plan`, if known before its commit."""
    history: str = ""
    """Where the key's history is; "" if it has none."""
    watch: WatchButton | None = None
    """The button to watch it; None if it can't be watched."""
    edit: str = ""
    """The form to edit it; "" if it can't be edited."""
