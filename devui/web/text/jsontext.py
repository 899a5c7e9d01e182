"""JSON as indented text in coloured pieces."""

import json
import re
from collections.abc import Iterator
from typing import Final

from devui.debugger.preview import shortened
from devui.web.parts.json import JsonText
from devui.web.text import formats
from devui.web.text.visible import visible

COLOURED: Final = 65_536
"""Characters that get colours; what follows the token there is plain."""
SHOWN: Final = 524_288
"""Characters that are shown at all."""

_TOKEN: Final = re.compile(
    r'(?P<string>"(?:[^"\\]++|\\.?)*+"?)'
    r"|(?P<number>-?\d[\d.eE+-]*+)|(?P<boolean>true|false)|(?P<null>null)"
)
"""A string is one token, also where the text was cut within it: no quote is looked at twice."""


def json_text(value: object, href: str = "") -> JsonText:
    """The value with two spaces of indentation; `href` leads to all of it if that is too much."""
    whole = json.dumps(value, indent=2, ensure_ascii=False)
    left = len(whole) - SHOWN
    text = visible(shortened(whole, SHOWN))
    return JsonText(
        pieces=tuple(_pieces(text)),
        size=formats.size(len(whole.encode("utf-8", "replace"))),
        cut=f"{left:,} characters not shown" if left > 0 else "",
        href=href,
    )


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    end = 0
    for found in _TOKEN.finditer(text):
        if found.start() >= COLOURED:
            break
        if found.start() > end:
            yield "", text[end : found.start()]
        end = found.end()
        is_key = text.startswith(":", end)
        yield "key" if is_key else found.lastgroup or "", found.group()
    if end < len(text):
        yield "", text[end:]
