"""What a session is kept as: a file, a page that stands alone, a test."""

from dataclasses import dataclass
from typing import ClassVar

from devui.web.pages import Theme
from devui.web.parts.bundles import KeyChoice, Left
from devui.web.parts.inspector import StatePanel
from devui.web.parts.keeping import RunChoice, TestPreview
from devui.web.parts.notes import NoteForm


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
    findings: tuple[Left, ...]
    keys: tuple[KeyChoice, ...]
    keep: bool
    """Secrets stay in."""


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
    """As it is in the end."""


@dataclass(frozen=True, slots=True)
class MakeTestPage:
    """`/sessions/{key}/test`: what a test of the session checks, and where it is written."""

    template: ClassVar[str] = "pages/test.html"
    theme: Theme
    name: str
    session_href: str
    action: str
    base: str
    """The folder below which it is written."""
    runs: tuple[RunChoice, ...]
    keep: bool
    """Secrets stay in."""
    preview: TestPreview
