"""Parses numbers in addresses and headers."""

from typing import Final

_MOST_DIGITS: Final = 18
"""Longer numbers exceed all of the journal's; Python refuses to parse thousands of digits."""


def whole_number(text: str | None) -> int | None:
    """Return the non-negative number that the text has in plain digits; None for other texts."""
    if text is None or len(text) > _MOST_DIGITS or not (text.isascii() and text.isdigit()):
        return None
    return int(text)
