"""Finds a text however it is spelled: in pages, JSON, addresses, reprs or logs.

A list of spellings would miss new combinations of escapes: JSON inside HTML, a repr inside JSON
inside HTML. So a text is searched for with a pattern in which each character matches itself and
each of its escapes, however often they are escaped again.
"""

import re
from functools import cache
from typing import Final

# The characters of an escape may be escaped in turn.
_PERCENT: Final = r"%(?:25)*"
_HASH: Final = rf"(?:#|{_PERCENT}23)"
_END: Final = rf"(?:;|{_PERCENT}3[bB])"
_AMP: Final = rf"(?:&|{_PERCENT}26|\\+u0026)(?:(?:amp|{_HASH}0*38|{_HASH}[xX]0*26){_END})*"
_SLASH: Final = rf"(?:\\|{_PERCENT}5[cC]|{_AMP}(?:{_HASH}0*92|{_HASH}[xX]0*5[cC]|bsol){_END})"
_ESCAPED: Final = rf"{_SLASH}*"
"""Backslashes before an escaped character."""
_NAMED: Final = {'"': "quot", "'": "apos", "&": "amp", "<": "lt", ">": "gt"}
_SHORT: Final = {"\n": "n", "\r": "r", "\t": "t", "\b": "b", "\f": "f"}
_EATEN: Final = re.compile(r"[*`~\\]|(?<![0-9A-Za-z])_+|_+(?![0-9A-Za-z])")
"""Characters that markdown treats as emphasis, code or escapes, and removes."""
_TELLING: Final = 6
"""How many other characters a text needs to be recognizable without those."""
_WIDEST, _MARGIN = 64, 1024
"""How many characters one may become, and a margin for the whole text. `😀`, quoted three times for
an address, has 32."""
_PLAIN: Final = re.compile(r"[0-9A-Za-z_.-]")
"""Characters that are never escaped."""
_CORE: Final = re.compile(rf"{_PLAIN.pattern}+")


def spelled(text: str) -> "re.Pattern[str]":
    """Return a pattern that matches every spelling of the text except base64."""
    eaten = _eaten(text)
    return re.compile("".join(_character(each, eaten=n in eaten) for n, each in enumerate(text)))


def core_of(text: str) -> str:
    """Return the longest part of the text that is the same in every spelling, or ""."""
    eaten = _eaten(text)
    skeleton = "".join("*" if n in eaten else each for n, each in enumerate(text))
    return max(_CORE.findall(skeleton), key=len, default="")


def _eaten(text: str) -> set[int]:
    """Return the indexes of what markdown may remove; none if too few characters would remain."""
    places = {n for match in _EATEN.finditer(text) for n in range(*match.span())}
    return places if len(text) - len(places) >= _TELLING else set()


def longest(text: str) -> int:
    """Return the maximum length of its spellings, escaped a few times over, odd ones aside."""
    return _WIDEST * len(text) + _MARGIN


@cache
def _character(character: str, *, eaten: bool) -> str:
    if _PLAIN.fullmatch(character):
        return f"{re.escape(character)}?" if eaten else re.escape(character)
    code = ord(character)
    names = [rf"{_HASH}0*{code}", rf"{_HASH}[xX]0*{_hex(f'{code:x}')}"]
    names += [_NAMED[character]] if character in _NAMED else []
    forms = [
        re.escape(character),
        rf"{_AMP}(?:{'|'.join(names)}){_END}",
        "".join(rf"{_PERCENT}{_hex(f'{byte:02x}')}" for byte in character.encode(errors="replace")),
        "".join(rf"{_SLASH}+u{_hex(f'{unit:04x}')}" for unit in _units(character)),
        rf"{_SLASH}+(?:x{_hex(f'{code:02x}')}|U{_hex(f'{code:08x}')})",
    ]
    if character == "\\":
        pattern = rf"(?:{_SLASH}+|{'|'.join(forms[1:])})"
        return f"{pattern}?" if eaten else pattern
    if character == "&":
        forms[1] = _AMP
    if character == " ":
        forms.append(rf"(?:\+|{_PERCENT}2[bB])")
    if character in _SHORT:
        forms.append(rf"{_SLASH}+{_SHORT[character]}")
    pattern = rf"{_ESCAPED}(?:{'|'.join(forms)})"
    return f"(?:{pattern})?" if eaten else pattern


def _hex(digits: str) -> str:
    """Return a pattern for hexadecimal digits in either case."""
    return "".join(f"[{d}{d.upper()}]" if d.isalpha() else d for d in digits)


def _units(character: str) -> list[int]:
    """Return the UTF-16 code units of a character, as JSON escapes them."""
    data = character.encode("utf-16-be", "surrogatepass")
    return [int.from_bytes(data[at : at + 2]) for at in range(0, len(data), 2)]
