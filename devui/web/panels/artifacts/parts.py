"""The parts of the Files tab: the artifacts of a session and its user, and the selected one."""

from dataclasses import dataclass
from typing import ClassVar

from devui.web.basic_parts import JsonTree, Moment
from devui.web.panels.chat.content_parts import FilePreview, Medium


@dataclass(frozen=True, slots=True)
class ArtifactPreview:
    """The preview of a file, in which nothing is active."""

    template: ClassVar[str] = "artifacts/preview.html"
    href: str
    name: str
    medium: Medium | None = None
    """How the browser shows the file itself; None if it isn't given the file."""
    content: FilePreview | None = None


@dataclass(frozen=True, slots=True)
class PdfPages:
    """The pages of a PDF, one below the other. Goes into the preview."""

    template: ClassVar[str] = "artifacts/pdf_pages.html"
    count: str = ""
    """`12 pages`"""
    pages: tuple[str, ...] = ()
    """The URLs of the pages' images."""
    more: str = ""
    """How many pages are left out, in words."""
    problem: str = ""
    """Why no pages are shown."""


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of a diff; `mark` is `+`, `-`, a space, or `@` between two places."""

    mark: str
    text: str


@dataclass(frozen=True, slots=True)
class FileDiff:
    """The changes from one version to another: pictures side by side, or lines."""

    template: ClassVar[str] = "artifacts/diff.html"
    old: str
    """`v0`"""
    new: str
    lines: tuple[DiffLine, ...] = ()
    before: ArtifactPreview | None = None
    after: ArtifactPreview | None = None
    note: str = ""
    """Why nothing is shown, or what is left out."""


@dataclass(frozen=True, slots=True)
class FileItem:
    """A file in the list."""

    name: str
    href: str
    mime: str
    size: str
    versions: str
    """`3 versions`; "" for one."""
    saved_at: Moment
    of_user: bool
    current: bool


@dataclass(frozen=True, slots=True)
class VersionLink:
    label: str
    """`v2`"""
    href: str
    title: str
    current: bool


@dataclass(frozen=True, slots=True)
class SelectedFile:
    """The selected file, in one of its versions."""

    name: str
    raw_name: str
    """The name without escapes, for the form that deletes the file."""
    version: int
    facts: str
    """`text/csv · 1.2 kB`"""
    saved_at: Moment
    metadata: JsonTree | None
    open_href: str
    """"" if a browser would only download it."""
    save_href: str
    versions: tuple[VersionLink, ...]
    compare: tuple[VersionLink, ...]
    """Links that compare this version with the others."""
    content: ArtifactPreview | FileDiff


@dataclass(frozen=True, slots=True)
class ArtifactsPanel:
    """The Files tab. Its element is `#files`."""

    template: ClassVar[str] = "artifacts/artifacts_panel.html"
    number: int | None
    """The event as of which the files are shown; None for now."""
    files: tuple[FileItem, ...]
    more: str
    """A sentence saying that some files aren't listed; "" if all are."""
    file: SelectedFile | None
    fields: tuple[tuple[str, str], ...]
    """The query parameters that say what the tab shows."""
    upload_action: str
    delete_action: str
    read_only: bool
