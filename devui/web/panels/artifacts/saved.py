"""Looks up the files that events saved, whose types and sizes the chat shows."""

from collections.abc import Iterable

from devui.store.journal import Journal
from devui.web.panels.chat.chat import SavedFiles
from devui.wire.events import Event


async def saved_files(journal: Journal, session: int, events: Iterable[Event]) -> SavedFiles:
    """Return the files that these events saved, without those that have been deleted since."""
    deltas = (event.artifact_delta.items() for event in events)
    saved = [(name, version) for delta in deltas for name, version in delta if type(version) is int]
    return await journal.artifacts.rows(session, saved) if saved else {}
