"""Texts with halves of characters in them, which nothing can send or keep.

JSON can name half of a character, such as an emoji that was cut in two, and Python has halves in
the names of files that are not UTF-8 (R53).
"""

import re

_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_FIRST = ("\ud800", "\udbff")
"""The first and the last of the halves that come before another one."""


def sendable(text: str) -> str:
    """The text with its halves joined; those whose other half is missing are spelled out."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return _PAIR.sub(_joined, text).encode(errors="backslashreplace").decode()
    return text


def without_open_half(text: str) -> tuple[str, str]:
    """The text up to half of a character at its end, whose other half may be to come; and that."""
    cut = len(text) - (_FIRST[0] <= text[-1:] <= _FIRST[1])
    return text[:cut], text[cut:]


def half_told(error: UnicodeEncodeError) -> str:
    """What is wrong with a text that was to be sent."""
    return f"{error.object[error.start]!r} is half of a character and cannot be sent."


def _joined(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le")
