"""Finds the pictures among the files that events saved, so that the chat shows them."""

from collections.abc import Iterable

from devui.store.journal import Journal
from devui.web.panels.chat.previews import MEDIA, media_type
from devui.wire.events import Event


async def saved_pictures(
    journal: Journal, session: int, events: Iterable[Event]
) -> frozenset[tuple[str, int]]:
    """Return the names and versions of the pictures, without those that have been deleted since."""
    deltas = (event.artifact_delta.items() for event in events)
    saved = [(name, version) for delta in deltas for name, version in delta if type(version) is int]
    types = await journal.artifacts.types(session, saved) if saved else {}
    media = ((file, MEDIA.get(media_type(mime))) for file, mime in types.items())
    return frozenset(file for file, medium in media if medium == "picture")
