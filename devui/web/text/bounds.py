"""How much of one text is shown."""

from typing import Final

SHOWN: Final = 200_000
"""Characters of one text; the raw view has a bound of its own."""


def clipped(text: str) -> str:
    """The text, bounded; what was cut is counted."""
    if len(text) <= SHOWN:
        return text
    # Right behind the cut, so that the beginning of a secret there is found (R64).
    return f"{text[:SHOWN]}…\n… {len(text) - SHOWN:,} more characters"
