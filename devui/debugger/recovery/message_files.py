"""Files that were saved with a message, put back into it to send it again.

The new run saves them anew: a fork from before the message doesn't have them, and a rewind removes
them.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from devui.debugger.events.artifact_parts import note_of, part_of
from devui.store.journal import Journal
from devui.store.rows import SessionRow
from devui.wire.events import Event


async def with_files(
    journal: Journal, session: SessionRow, event: Event, message: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the message with files in place of the notes that name them.

    `event` is the message as the session has it. A deleted file leaves its note.
    """
    files: dict[str, dict[str, Any]] = {}
    for name, version in event.artifact_delta.items():
        if isinstance(version, int):
            owner = (session.app, session.user, session.id)
            artifact = await journal.artifacts.load(*owner, name, version=version)
            blob = part_of(artifact).get("inlineData") if artifact else None
            if blob is not None:
                files[note_of(name)] = {"inlineData": {**blob, "displayName": name}}
    if not files:
        return dict(message)
    parts = [each for part in message.get("parts") or [] for each in _parts(part, files)]
    return {**message, "parts": parts}


def _parts(part: dict[str, Any], files: Mapping[str, dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the part, divided where a note is, with the file in place of the note."""
    text = part.get("text")
    if not isinstance(text, str) or not any(note in text for note in files):
        yield part
        return
    for piece in re.split("(" + "|".join(map(re.escape, files)) + ")", text):
        if piece in files:
            yield files[piece]
        elif piece.strip():
            yield {**part, "text": piece.strip()}
