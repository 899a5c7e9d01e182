"""The pages of an export and an import."""

from dataclasses import dataclass
from typing import ClassVar

from devui.web.basic_parts import Theme
from devui.web.panels.graph.parts import GraphPanel
from devui.web.panels.inspector.parts import StatePanel
from devui.web.panels.jobs.panel import JobList
from devui.web.panels.notes.parts import NoteForm


@dataclass(frozen=True, slots=True)
class KeyChoice:
    """A state key that may be left out."""

    key: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Omission:
    """Something that is left out of the file."""

    kind: str
    hint: str
    count: str
    """`3 times`."""
    places: str


@dataclass(frozen=True, slots=True)
class ImportedSession:
    """A session in the file that was imported or already existed."""

    href: str
    name: str
    app: str
    user: str
    events: str
    """`12 events`."""


@dataclass(frozen=True, slots=True)
class ExportPage:
    """`/sessions/{key}/export`: what an export of the session leaves out."""

    template: ClassVar[str] = "pages/export.html"
    theme: Theme
    name: str
    session_href: str
    action: str
    """The URL of this page, for other choices."""
    download: str
    """The URL of the export."""
    findings: tuple[Omission, ...]
    keys: tuple[KeyChoice, ...]
    keep: bool
    """Whether secrets stay in the file."""
    format: str
    """The chosen format, one of those of the export endpoint."""
    jobs: JobList


@dataclass(frozen=True, slots=True)
class ImportedPage:
    """The outcome for each session in a file with several."""

    template: ClassVar[str] = "pages/imported.html"
    theme: Theme
    name: str
    """The name of the file."""
    new: tuple[ImportedSession, ...]
    present: tuple[ImportedSession, ...]
    """The sessions that already existed."""
    problems: tuple[str, ...]
    """What wasn't imported, and why."""
    copy_action: str
    """Where to POST the file to import its sessions with new ids."""


@dataclass(frozen=True, slots=True)
class ExportedPage:
    """The frame of a session's HTML file; messages, rows and events are inserted into it."""

    template: ClassVar[str] = "pages/exported.html"
    name: str
    app: str
    user: str
    id: str
    events: str
    """`12 events`."""
    tags: tuple[str, ...]
    note: NoteForm | None
    state: StatePanel
    graph: GraphPanel
    """The graph as of the end of the session."""
