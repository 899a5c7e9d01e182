"""Numbers that come in addresses and headers."""

from typing import Final

_MOST_DIGITS: Final = 18
"""What has more is larger than anything the journal counts; Python refuses to read thousands."""


def whole_number(text: str | None) -> int | None:
    """The number from 0 that the text writes in plain digits; None for every other text."""
    if text is None or len(text) > _MOST_DIGITS or not (text.isascii() and text.isdigit()):
        return None
    return int(text)
