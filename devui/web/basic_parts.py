"""Parts and values that many features share: themes, notices, moments, tags, JSON, a run's
status."""

from dataclasses import dataclass
from typing import ClassVar, Final, Literal

Theme = Literal["auto", "light", "dark"]


Tone = Literal["info", "warn", "bad"]


@dataclass(frozen=True, slots=True)
class Moment:
    """A point in time, formatted for display; the browser adds how long ago it was."""

    iso: str
    """UTC in ISO format, for the `datetime` attribute."""
    clock: str
    """Local time with milliseconds: `14:02:11.532`."""
    full: str
    """Local date and time, to the minute."""


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag of sessions, and the link to those that have it."""

    name: str
    href: str


@dataclass(frozen=True, slots=True)
class Notice:
    """A message at the top of the page: an app was reloaded or is broken, a request failed."""

    template: ClassVar[str] = "parts/notice.html"
    tone: Tone
    title: str
    text: str = ""
    href: str | None = None
    """A link to where the reader can act on it, if there is one."""
    label: str = ""
    """The text of that link."""
    key: str = ""
    """Identifies the notice when a reader dismisses it; "" if it can't be dismissed."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A labelled value in the inspector."""

    label: str
    value: str
    mono: bool = False
    hint: str = ""
    """Explains the value or its cause; shown muted, after it."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An exception in agent code, with its location and full traceback."""

    template: ClassVar[str] = "parts/failure.html"
    message: str
    place: str = ""
    """`agent.py:14`, the innermost line of the developer's own code."""
    traceback: str = ""
    environment: str = ""
    """For an app that doesn't load: `Engine devui, Python 3.13.2 (/srv/.venv/bin/python)`."""


@dataclass(frozen=True, slots=True)
class BranchItem:
    """One of a run's parallel branches, as a list item."""

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
    """One value in a tree.

    A `text` is a string too long for its line; `cut` stands for what was left out.
    """

    kind: JsonKind
    text: str
    """A scalar as JSON, the one-line preview of a folded value, or a description of what was left
    out."""
    key: str | None = None
    """The member's name or the item's index; None for the root."""
    note: str = ""
    """The size of a folded value: `12 items`, `10,000 characters`."""
    children: tuple["JsonNode", ...] = ()
    body: str = ""
    """The whole text of a `text` node."""
    open: bool = False
    href: str = ""
    """A link to the event that wrote this value; "" if unknown."""
    rest: str = ""
    """The URL of the part that isn't shown; "" if everything is shown or the rest has no URL."""


@dataclass(frozen=True, slots=True)
class JsonTree:
    template: ClassVar[str] = "inspector/json_tree.html"
    root: JsonNode
    has_links: bool = False
    """Whether the tree may contain links, so that htmx has to process it."""
    bare: bool = False
    """Whether to render only the members of `root`, to be appended to a list on the page."""


@dataclass(frozen=True, slots=True)
class JsonText:
    """Indented JSON as colored pieces: pairs of a CSS class, or "", and a text."""

    template: ClassVar[str] = "inspector/json_text.html"
    pieces: tuple[tuple[str, str], ...]
    size: str
    """The size of the full text, formatted: `1.2 kB`."""
    cut: str = ""
    """How much of a very large text is left out."""
    href: str = ""
    """The URL of the full text."""


Status = Literal[
    "idle", "running", "held", "waiting", "stopping", "done", "failed", "stopped", "interrupted"
]


@dataclass(frozen=True, slots=True)
class RunStatus:
    """The status of the session's newest run. Goes into `#run`."""

    template: ClassVar[str] = "runs/run_status.html"
    status: Status
    word: str
    stop_href: str | None = None
    """Where to POST to stop the run; None if nothing is running."""
    start: Moment | None = None
    why_href: str = ""
    """The page that says what a run in progress is waiting for; "" if it has ended."""
    run: str = ""
    """The run's id; empty if the session has had no run."""
    quiet: Moment | None = None
    """When the run last made progress, if that was long ago."""
    waits_for: str = ""
    """The calls that a run without progress is waiting for, if known."""
    errors: int = 0
    """For a run that succeeded: how many of the session's events and earlier runs failed."""
    errors_href: str = ""
    by: str = ""
    """`started by mcp:claude`, or `by mcp:claude` for a stopped run; empty if it was done on a
    page."""


@dataclass(frozen=True, slots=True)
class Field:
    """A form field's posted value, and its error, if any."""

    value: str = ""
    error: str = ""


EMPTY: Final = Field()
"""A field that hasn't been filled in."""
