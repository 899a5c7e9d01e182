"""The Files tab: the files of a session and its user as of an event, and the selected one."""

import asyncio
import json

from devui.store.rows import Artifact, ArtifactFile, ArtifactRow, EventRow, SessionRow
from devui.web.links import artifact_url, delete_file_url, file_version_url, files_url
from devui.web.page_query import PageQuery
from devui.web.panels.artifacts.parts import (
    ArtifactPreview,
    ArtifactsPanel,
    FileDiff,
    FileItem,
    SelectedFile,
    VersionLink,
)
from devui.web.panels.artifacts.preview import artifact_preview, type_of
from devui.web.panels.artifacts.versions import file_diff
from devui.web.panels.chat.previews import OPENS_IN_BROWSER, media_type
from devui.web.services import Services
from devui.web.text import formats
from devui.web.text.deceptive_characters import visible
from devui.web.text.formats import plural
from devui.web.text.jsontree import json_tree

_LISTED = 500
"""How many files are listed; others are available by URL."""
_USER = "user:"


async def artifacts_panel(
    services: Services, session: SessionRow, row: EventRow | None, query: PageQuery
) -> ArtifactsPanel:
    """Return the Files tab; if the query names no file, it shows the one saved last."""
    owner = session.app, session.user, session.id
    until = row.seq if row else None
    files = await services.journal.artifacts.files(*owner, until=until, limit=_LISTED + 1)
    last = max((each.newest for each in files), key=lambda each: each.seq, default=None)
    name = query.file or (last.name if last else None)
    page = _Page(session.key, row.number if row else None, query.at.number if query.at else None)
    open_file = await _open_file(services, session, page, name, until, query) if name else None
    fields = {
        "event": page.event,
        "at": page.at,
        "file": query.file,
        "version": query.version,
        "with": query.against,
    }
    return ArtifactsPanel(
        number=page.event,
        files=tuple(_item(each, page, name) for each in files[:_LISTED]),
        more=f"Only the first {_LISTED} files are listed." if len(files) > _LISTED else "",
        file=open_file,
        fields=tuple((key, str(value)) for key, value in fields.items() if value is not None),
        upload_action=files_url(session.key),
        delete_action=delete_file_url(session.key),
        read_only=await services.journal.imports.get(session.key) is not None,
    )


class _Page:
    """The URLs of the page that the tab is on."""

    def __init__(self, session: int, event: int | None, at: int | None) -> None:
        self.session = session
        self.event = event
        self.at = at

    def href(self, name: str, version: int | None = None, against: int | None = None) -> str:
        return file_version_url(
            self.session, name, version, event=self.event, at=self.at, against=against
        )


def _item(file: ArtifactFile, page: _Page, current: str | None) -> FileItem:
    newest = file.newest
    return FileItem(
        name=visible(newest.name.removeprefix(_USER)),
        href=page.href(newest.name),
        mime=visible(newest.mime or "text"),
        size=formats.size(newest.size),
        versions=plural(file.versions, "version") if file.versions > 1 else "",
        saved_at=formats.moment(newest.created),
        of_user=newest.name.startswith(_USER),
        current=newest.name == current,
    )


async def _open_file(
    services: Services,
    session: SessionRow,
    page: _Page,
    name: str,
    until: int | None,
    query: PageQuery,
) -> SelectedFile | None:
    owner, artifacts = (session.app, session.user, session.id), services.journal.artifacts
    rows = await artifacts.versions(*owner, name)
    versions = {row.version: row for row in rows if until is None or row.seq <= until}
    if not versions:
        return None
    version = query.version if query.version in versions else max(versions)
    artifact = await artifacts.load(*owner, name, version=version)
    if artifact is None:
        return None  # deleted since its versions were listed
    against = query.against if query.against in versions and query.against != version else None
    other = None
    if against is not None:
        other = await artifacts.load(*owner, name, version=against)
    content = await asyncio.to_thread(_content, session.key, artifact, other)
    return _file(session.key, page, artifact, versions, content)


def _content(
    session: int, artifact: Artifact, other: Artifact | None
) -> ArtifactPreview | FileDiff:
    def href(row: ArtifactRow) -> str:
        return artifact_url(session, row.name, row.version)

    if other is None:
        return artifact_preview(artifact, href(artifact.row))
    old, new = sorted((artifact, other), key=lambda each: each.row.version)
    return file_diff(old, new, href(old.row), href(new.row))


def _file(
    session: int,
    page: _Page,
    artifact: Artifact,
    versions: dict[int, ArtifactRow],
    content: ArtifactPreview | FileDiff,
) -> SelectedFile:
    row = artifact.row
    address = artifact_url(session, row.name, row.version)
    labels = {content.old, content.new} if isinstance(content, FileDiff) else set()

    def link(each: ArtifactRow, *, diff: bool) -> VersionLink:
        label = f"v{each.version}"
        href = page.href(row.name, row.version if diff else each.version, each.version)
        return VersionLink(
            label=label,
            href=href if diff else page.href(row.name, each.version),
            title=f"{formats.day(each.created)}, {formats.size(each.size)}",
            current=label in labels if diff else each.version == row.version,
        )

    metadata = json.loads(row.custom_metadata or "{}")
    return SelectedFile(
        name=visible(row.name),
        raw_name=row.name,
        version=row.version,
        facts=f"{visible(type_of(artifact))} · {formats.size(row.size)}",
        saved_at=formats.moment(row.created),
        metadata=json_tree(metadata, open_levels=1) if metadata else None,
        open_href=address if media_type(row.mime) in OPENS_IN_BROWSER else "",
        save_href=artifact_url(session, row.name, row.version, download=True),
        versions=tuple(link(each, diff=False) for each in versions.values()),
        compare=tuple(link(each, diff=True) for each in versions.values() if each != row),
        content=content,
    )
