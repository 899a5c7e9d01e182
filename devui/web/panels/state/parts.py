"""The state key that is pinned: who wrote it when, and the ways from write to write."""

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
    """What is pinned, below the inspector's tabs. Goes into `#pin-bar`."""

    template: ClassVar[str] = "state/pin_bar.html"
    key: str
    path: str
    crumbs: tuple[Crumb, ...]
    back_href: str | None
    """The page as of the write before; None if there is none."""
    on_href: str | None
    """As of the one after."""
    close_href: str


@dataclass(frozen=True, slots=True)
class KeyChange:
    """One place inside the value that a write changed."""

    path: str
    """"" for the value as a whole."""
    href: str
    old: str
    """One line; "" where nothing was."""
    new: str


@dataclass(frozen=True, slots=True)
class WriterNote:
    """Who wrote something."""

    label: str
    """`#31`, `start`, `elsewhere`."""
    href: str | None
    author: str
    how: str
    """The tools that it came of, or what else wrote it; "" for the agent itself."""


@dataclass(frozen=True, slots=True)
class KeyWriteItem:
    writer: WriterNote
    changes: tuple[KeyChange, ...]
    more: str
    """How many changes more there are, in words."""
    edits: tuple[str, ...]
    """What people did on the way: `edited by ruby tab`."""
    overlaps: tuple[str, ...]
    """Who wrote the key at the same time."""
    here: bool
    """The state that is shown has the value of this write."""
    later: bool
    """It was after the event that is shown."""


@dataclass(frozen=True, slots=True)
class KeyPiece:
    """A part of the value with the write it is from."""

    path: str
    href: str
    writer: WriterNote


@dataclass(frozen=True, slots=True)
class StepChart:
    """The writes as a picture 1000 wide and 40 high; each is as wide as the others."""

    template: ClassVar[str] = "state/step_chart.html"
    line: str
    """The values as steps, an SVG path; "" if none is a number."""
    ticks: str
    here: tuple[float, float] | None
    """Left edge and width of the write whose value is shown."""
    label: str
    low: str
    """The least number; "" without any."""
    high: str


@dataclass(frozen=True, slots=True)
class KeyHistory:
    """The writes of a key, oldest first. Its element is `#key-history`."""

    template: ClassVar[str] = "state/key_history.html"
    name: str
    """The key with the path: `plan.steps[1]`."""
    by: WriterNote | None
    """Who set what is there now; None if nothing is."""
    number: int | None
    """The event that it is as of; None for now."""
    writes: tuple[KeyWriteItem, ...]
    earlier: str | None
    """Where older writes are listed: as of the last of them; "" if none is in an event of this
    session, None if there are no older ones."""
    pieces: tuple[KeyPiece, ...]
    warning: str
    """Who wrote it in parallel, if anybody did."""
    chart: StepChart | None
    query: tuple[tuple[str, str], ...]
    """How it asks for itself anew: names and values of the query."""


@dataclass(frozen=True, slots=True)
class HistoryAsk:
    """Makes a history that is open ask for itself anew. Its element is `#history-ask`."""

    template: ClassVar[str] = "state/history_ask.html"
    href: str


@dataclass(frozen=True, slots=True)
class HistoryNow:
    """The answer: the history, and the bar along with it."""

    template: ClassVar[str] = "state/history_now.html"
    history: KeyHistory
    bar: PinBar


@dataclass(frozen=True, slots=True)
class StateForm:
    """The form for one state key: a field for its type, and its JSON."""

    template: ClassVar[str] = "state/state_form.html"
    action: str
    cancel_href: str
    key: str
    """With its prefix, as it is; "" for a new one."""
    visible_key: str
    """The key with its deceptive characters as escapes."""
    kind: Literal["text", "number", "boolean", "json"]
    text: str
    """What the field holds."""
    json: str
    last_written: int
    """The seq of the write that the form was filled with; 0 for a new key."""


@dataclass(frozen=True, slots=True)
class WatchButton:
    """Watches a key, or stops watching it."""

    template: ClassVar[str] = "watch/button.html"
    action: str
    key: str
    """With its prefix, as it is."""
    label: str
    """The same for people."""
    is_watched: bool
    in_strip: bool = False
    event: int | None = None
    """What the page shows the state as of, to come back to; None for now."""
    at: int | None = None
    """The event that the whole page is as of."""


@dataclass(frozen=True, slots=True)
class StateValue:
    """One key of the state.

    `value` is None after a removal, `old` is None unless the selected event replaced it.
    """

    key: str
    dom_id: str
    mark: Mark
    value: JsonTree | None
    old: JsonTree | None
    by: str
    """Who wrote it: `#11`, `start`, `elsewhere`."""
    href: str | None
    """The event that wrote it."""
    note: str = ""
    """What else there is to say of the write."""
    place: str = ""
    """The line that wrote it, `agent.py:12 in plan`, as far as that is known before its commit."""
    history: str = ""
    """Who wrote it when; "" for what has no history."""
    watch: WatchButton | None = None
    """Puts it into sight; None for what can't be watched."""
    edit: str = ""
    """The form for it; "" for what can't be edited."""
