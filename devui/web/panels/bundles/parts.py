"""Sessions as files: the pages of an export and an import."""

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
    """Something that the file does not have."""

    kind: str
    hint: str
    count: str
    """`3 times`."""
    places: str


@dataclass(frozen=True, slots=True)
class Imported:
    """A session that was made of a file, or is in it and was here already."""

    href: str
    name: str
    app: str
    user: str
    events: str
    """`12 events`."""


@dataclass(frozen=True, slots=True)
class ExportPage:
    """`/sessions/{key}/export`: what a file of the session leaves out."""

    template: ClassVar[str] = "pages/export.html"
    theme: Theme
    name: str
    session_href: str
    action: str
    """This page, with other choices."""
    download: str
    """The file."""
    findings: tuple[Omission, ...]
    keys: tuple[KeyChoice, ...]
    keep: bool
    """Secrets stay in."""
    jobs: JobList


@dataclass(frozen=True, slots=True)
class ImportedPage:
    """What became of the sessions in a file that has several."""

    template: ClassVar[str] = "pages/imported.html"
    theme: Theme
    name: str
    """The file."""
    new: tuple[Imported, ...]
    present: tuple[Imported, ...]
    """Sessions that were here already."""
    problems: tuple[str, ...]
    """What was not imported, and why."""
    copy_action: str
    """Where the file goes to become sessions with new ids."""


@dataclass(frozen=True, slots=True)
class ExportedPage:
    """The frame of a session as one HTML file; messages, rows and events go into its gaps."""

    template: ClassVar[str] = "pages/exported.html"
    name: str
    app: str
    user: str
    id: str
    events: str
    """`12 events`."""
    note: NoteForm | None
    state: StatePanel
    graph: GraphPanel
    """As it is in the end."""
