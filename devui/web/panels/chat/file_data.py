"""Shortens the data of large files in events.

A page loads files by their URLs, so the chat needs only their names, types and sizes.
"""

import re
from typing import Final

from devui.wire.events import Event

SIZE: Final = "devuiSize"
"""The member of an `inlineData` whose data was shortened: the size of the file in bytes."""
_PREFIX: Final = 8_192
"""How many characters of the base64 data are kept, for the preview of a text; a multiple of 4."""
_DATA: Final = re.compile(
    r'("inlineData"\s*:\s*\{(?:[^{}"]|"(?:[^"\\]|\\.){0,400}")*?"data"\s*:\s*"[A-Za-z0-9+/_-]'
    rf'{{{_PREFIX}}})([A-Za-z0-9+/_-]+=*)"'
)


def without_file_data(event: Event) -> Event:
    """Return the event with the data of its large files shortened; slow for megabytes."""
    return Event(_DATA.sub(_shortened, event.text))


def _shortened(match: re.Match[str]) -> str:
    characters = _PREFIX + len(match[2].rstrip("="))
    return f'{match[1]}","{SIZE}":{characters * 3 // 4}'
