"""Parts and values that many features show: themes, notices, moments, JSON, the status of a run."""

from dataclasses import dataclass
from typing import ClassVar, Final, Literal

Theme = Literal["auto", "light", "dark"]


Tone = Literal["info", "warn", "bad"]


@dataclass(frozen=True, slots=True)
class Moment:
    """A point in time, ready to be shown; the browser adds how long ago it was."""

    iso: str
    """UTC, for the `datetime` attribute."""
    clock: str
    """Local time with milliseconds: `14:02:11.532`."""
    full: str
    """Local date and time to the second."""


@dataclass(frozen=True, slots=True)
class Notice:
    """One sentence on top of the page: an app was reloaded, is broken, a request failed."""

    template: ClassVar[str] = "parts/notice.html"
    tone: Tone
    title: str
    text: str = ""
    href: str | None = None
    """Where to go about it."""
    label: str = ""
    """The words of that link."""
    key: str = ""
    """What tells it from others, if it can be put away."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A labelled value in the inspector."""

    label: str
    value: str
    mono: bool = False
    hint: str = ""
    """Why the value is as it is, or what it means; muted, after the value."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An exception in agent code: what happened, where, and the whole traceback."""

    template: ClassVar[str] = "parts/failure.html"
    message: str
    place: str = ""
    """`agent.py:14`, the innermost line of the developer's own code."""
    traceback: str = ""


@dataclass(frozen=True, slots=True)
class Beside:
    """One of the things that go on at the same time, as an item of a list."""

    template: ClassVar[str] = "parts/beside.html"
    status: Literal["held", "running", "behind"]
    word: str
    who: str
    doing: str
    place: str
    since: Moment | None


JsonKind = Literal["object", "array", "string", "text", "number", "boolean", "null", "cut"]


@dataclass(frozen=True, slots=True)
class JsonNode:
    """One value of a tree.

    A `text` is a string too long for its line; `cut` stands for what was left out.
    """

    kind: JsonKind
    text: str
    """A scalar as JSON, a folded value's one-line preview, or what was left out."""
    key: str | None = None
    """The member's name or the item's index; None for the root."""
    note: str = ""
    """How much a folded value holds: `12 items`, `10,000 characters`."""
    children: tuple["JsonNode", ...] = ()
    body: str = ""
    """The whole text of a `text` node."""
    open: bool = False
    href: str = ""
    """Who wrote what is here; "" where that is not known."""
    rest: str = ""
    """Where what is not shown of it is; "" where nothing leads there, or all is shown."""


@dataclass(frozen=True, slots=True)
class JsonTree:
    template: ClassVar[str] = "inspector/json_tree.html"
    root: JsonNode
    has_links: bool = False
    """There are links in it."""
    bare: bool = False
    """Only the members of `root`, to go on with a list of them."""


@dataclass(frozen=True, slots=True)
class JsonText:
    """Indented JSON as coloured pieces; `pieces` are pairs of a class (or "") and text."""

    template: ClassVar[str] = "inspector/json_text.html"
    pieces: tuple[tuple[str, str], ...]
    size: str
    """The size of the whole text in words: `1.2 kB`."""
    cut: str = ""
    """How much of a very large text is not shown."""
    href: str = ""
    """Where all of it is."""


Status = Literal[
    "idle", "running", "held", "waiting", "stopping", "done", "failed", "stopped", "interrupted"
]


@dataclass(frozen=True, slots=True)
class RunStatus:
    """The state of the session's newest run. Goes into `#run`."""

    template: ClassVar[str] = "runs/run_status.html"
    status: Status
    word: str
    stop_href: str | None = None
    """Where a running run is stopped; None when there is nothing to stop."""
    start: Moment | None = None
    why_href: str = ""
    """Where it is said what holds a run up that is under way."""
    run: str = ""
    """The run; empty if there was none."""
    quiet: Moment | None = None
    """Since when nothing has come of it, if that is long."""
    by: str = ""
    """`started by mcp:claude`, or of a stopped run `by mcp:claude`, unless it was on a page."""


@dataclass(frozen=True, slots=True)
class Field:
    """A form field as it was posted, and what is wrong with it."""

    value: str = ""
    error: str = ""


EMPTY: Final = Field()
"""A field that nobody has filled in."""
