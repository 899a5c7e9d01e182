"""The Files tab: the artifacts of a session and its user, one of them in sight."""

from dataclasses import dataclass
from typing import ClassVar

from devui.web.basic_parts import JsonTree, Moment
from devui.web.panels.chat.content_parts import FilePreview, Medium


@dataclass(frozen=True, slots=True)
class ArtifactPreview:
    """What a file looks like, so that nothing in it can act."""

    template: ClassVar[str] = "artifacts/preview.html"
    href: str
    name: str
    medium: Medium | None = None
    """How the browser shows the bytes; None for what it isn't given."""
    content: FilePreview | None = None


@dataclass(frozen=True, slots=True)
class PdfPages:
    """The pages of a PDF below each other. Goes into the preview."""

    template: ClassVar[str] = "artifacts/pdf_pages.html"
    count: str = ""
    """`12 pages`"""
    pages: tuple[str, ...] = ()
    """The addresses of their pictures."""
    more: str = ""
    """How many are left out."""
    problem: str = ""
    """Why there are none."""


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of a difference; `mark` is `+`, `-`, a space, or `@` between two places."""

    mark: str
    text: str


@dataclass(frozen=True, slots=True)
class FileDiff:
    """What changed from one version to another: pictures side by side, or lines."""

    template: ClassVar[str] = "artifacts/diff.html"
    old: str
    """`v0`"""
    new: str
    lines: tuple[DiffLine, ...] = ()
    before: ArtifactPreview | None = None
    after: ArtifactPreview | None = None
    note: str = ""
    """Why there is nothing to see, or what is left out."""


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
class ShownFile:
    """The file that was chosen, in one of its versions."""

    name: str
    raw_name: str
    """For the form that deletes it: without escapes."""
    version: int
    facts: str
    """`text/csv · 1.2 kB`"""
    saved_at: Moment
    metadata: JsonTree | None
    open_href: str
    save_href: str
    versions: tuple[VersionLink, ...]
    compare: tuple[VersionLink, ...]
    """The other versions, to compare this one with."""
    content: ArtifactPreview | FileDiff


@dataclass(frozen=True, slots=True)
class ArtifactsPanel:
    """Its element is `#files`."""

    template: ClassVar[str] = "artifacts/artifacts_panel.html"
    number: int | None
    """The event that the files are as of; None for now."""
    files: tuple[FileItem, ...]
    more: str
    """How many are not listed, in words."""
    file: ShownFile | None
    fields: tuple[tuple[str, str], ...]
    """Of the address: what the tab shows."""
    upload_action: str
    delete_action: str
    read_only: bool
