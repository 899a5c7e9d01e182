"""How one text may be spelled in what is made of it: pages, JSON, addresses, reprs, logs.

A list of spellings has a hole for each new way in which escapes meet: JSON inside of HTML, a repr
inside of JSON inside of HTML. So a text is looked for by a pattern in which each character stands
for itself and for all that any of these makes of it, however often it is escaped again.
"""

import re
from functools import cache
from typing import Final

# What the escapes are made of may be escaped in its turn.
_PERCENT: Final = r"%(?:25)*"
_HASH: Final = rf"(?:#|{_PERCENT}23)"
_END: Final = rf"(?:;|{_PERCENT}3[bB])"
_AMP: Final = rf"(?:&|{_PERCENT}26|\\+u0026)(?:(?:amp|{_HASH}0*38|{_HASH}[xX]0*26){_END})*"
_SLASH: Final = rf"(?:\\|{_PERCENT}5[cC]|{_AMP}(?:{_HASH}0*92|{_HASH}[xX]0*5[cC]|bsol){_END})"
_ESCAPED: Final = rf"{_SLASH}*"
"""Backslashes before a character that some language escapes."""
_NAMED: Final = {'"': "quot", "'": "apos", "&": "amp", "<": "lt", ">": "gt"}
_SHORT: Final = {"\n": "n", "\r": "r", "\t": "t", "\b": "b", "\f": "f"}
_EATEN: Final = re.compile(r"[*`~\\]|(?<![0-9A-Za-z])_+|_+(?![0-9A-Za-z])")
"""What markdown takes for emphasis, code and escapes, and shows no more."""
_TELLING: Final = 6
"""Other characters that a text needs, so that it is not taken for something else without those."""
_WIDEST, _MARGIN = 64, 1024
"""Characters that one may become: `😀`, quoted three times for an address, has 32."""
_PLAIN: Final = re.compile(r"[0-9A-Za-z_.-]")
"""What nothing escapes."""
_CORE: Final = re.compile(rf"{_PLAIN.pattern}+")


def spelled(text: str) -> "re.Pattern[str]":
    """A pattern that finds the text in each of its spellings, base64 aside."""
    eaten = _eaten(text)
    return re.compile("".join(_character(each, eaten=n in eaten) for n, each in enumerate(text)))


def core_of(text: str) -> str:
    """The longest part of the text that is the same in every spelling; "" if there is none."""
    eaten = _eaten(text)
    skeleton = "".join("*" if n in eaten else each for n, each in enumerate(text))
    return max(_CORE.findall(skeleton), key=len, default="")


def _eaten(text: str) -> set[int]:
    """The places of the characters that markdown may eat; none if too few others are left."""
    places = {n for match in _EATEN.finditer(text) for n in range(*match.span())}
    return places if len(text) - len(places) >= _TELLING else set()


def longest(text: str) -> int:
    """Characters of its spellings, escaped a few times over; none but odd ones has more."""
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
    """Hexadecimal digits in either case."""
    return "".join(f"[{d}{d.upper()}]" if d.isalpha() else d for d in digits)


def _units(character: str) -> list[int]:
    """Its code units of UTF-16, as JSON escapes them."""
    data = character.encode("utf-16-be", "surrogatepass")
    return [int.from_bytes(data[at : at + 2]) for at in range(0, len(data), 2)]
