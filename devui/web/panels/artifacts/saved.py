"""The files that events saved, with what the chat and the events' details show of them."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from devui.store.journal import Journal
from devui.store.rows import ArtifactRow
from devui.web.panels.chat.previews import media_type
from devui.web.text import formats
from devui.wire.events import Event

SavedFiles: TypeAlias = Mapping[tuple[str, int], ArtifactRow]
"""Saved files by name and version."""
NO_FILES: Final[SavedFiles] = MappingProxyType({})


class FileFacts(NamedTuple):
    """The media type and the size of a file; "" if it has been deleted."""

    mime: str = ""
    size: str = ""


async def saved_files(journal: Journal, session: int, events: Iterable[Event]) -> SavedFiles:
    """Return the files that these events saved, without those that have been deleted since."""
    deltas = (event.artifact_delta.items() for event in events)
    saved = [(name, version) for delta in deltas for name, version in delta if type(version) is int]
    return await journal.artifacts.rows(session, saved) if saved else NO_FILES


def file_facts(files: SavedFiles, name: str, version: int) -> FileFacts:
    file = files.get((name, version))
    return FileFacts(media_type(file.mime), formats.size(file.size)) if file else FileFacts()
