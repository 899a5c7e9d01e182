"""Converts LaTeX formulas to MathML, which browsers render without a script.

Only elements and attributes from fixed tables are written, so that `\\href` and `\\style` do
nothing. Text is escaped here, because the library's own writer doesn't escape HTML in `\\text`.
"""

import html
from typing import Final
from xml.etree.ElementTree import Element

from latex2mathml.converter import convert_to_element

LONGEST: Final = 2_000
"""The maximum length of a formula, in characters."""

TAGS: Final = frozenset(
    {
        *("math", "menclose", "mfrac", "mi", "mn", "mo", "mover", "mpadded", "mphantom", "mroot"),
        *("mrow", "mspace", "msqrt", "mstyle", "msub", "msubsup", "msup", "mtable", "mtd"),
        *("mtext", "mtr", "munder", "munderover"),
    }
)
ATTRIBUTES: Final = {
    "math": {"display"},
    "mfrac": {"linethickness"},
    "mi": {"mathvariant"},
    "mo": {"accent", "fence", "form", "largeop", "maxsize", "minsize", "movablelimits", "stretchy"},
    "mover": {"accent"},
    "mspace": {"width"},
    "mstyle": {"displaystyle", "scriptlevel"},
    "mtd": {"columnalign"},
    "munder": {"accentunder"},
}
_NONE: Final[set[str]] = set()
_MACROS: Final = ("\\def", "\\newcommand", "\\renewcommand", "\\let", "\\gdef")
"""Commands that can expand a few characters into an endless formula."""


def to_mathml(source: str, *, block: bool) -> str | None:
    """Return the formula as a `math` element, or None if it isn't valid. Never raises."""
    if len(source) > LONGEST or any(macro in source for macro in _MACROS):
        return None
    try:
        element = convert_to_element(source, display="block" if block else "inline")
    except Exception:  # noqa: BLE001  (the parser raises many kinds of errors on untrusted text)
        return None
    return _write(element)


def _write(element: Element) -> str:
    inner = _text(element.text) + "".join(_write(child) + _text(child.tail) for child in element)
    tag = element.tag
    if tag not in TAGS:
        return inner
    allowed_names = ATTRIBUTES.get(tag, _NONE)
    pairs = ((name, value) for name, value in element.attrib.items() if name in allowed_names)
    attributes = "".join(f' {name}="{html.escape(value)}"' for name, value in pairs)
    return f"<{tag}{attributes}>{inner}</{tag}>"


def _text(text: str | None) -> str:
    """Escape a text; the library writes characters as entities."""
    return html.escape(html.unescape(text or ""), quote=False)
