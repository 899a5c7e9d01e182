"""Formulas in LaTeX as MathML, which browsers draw without a script.

Only elements and attributes from fixed tables come out, so that `\\href` and `\\style` do nothing,
and text is escaped here: the library's own writer lets HTML inside `\\text` through.
"""

import html
from typing import Final
from xml.etree.ElementTree import Element

from latex2mathml.converter import convert_to_element

LONGEST: Final = 2_000
"""Characters of a formula."""

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
"""What a few characters can blow up into a formula without end."""


def to_mathml(source: str, *, block: bool) -> str | None:
    """The formula as an element `math`; None for what isn't one. Never raises."""
    if len(source) > LONGEST or any(macro in source for macro in _MACROS):
        return None
    try:
        element = convert_to_element(source, display="block" if block else "inline")
    except Exception:  # noqa: BLE001  (a parser of text from anybody; it has errors of many kinds)
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
    """The library gives characters as entities."""
    return html.escape(html.unescape(text or ""), quote=False)
