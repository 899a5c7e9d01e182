"""The first difference of a replay, in words for the output of a test."""

import json
from collections.abc import Iterator
from typing import Any

from devui.wire.recordings import Divergence

_LONG = 400
"""Characters of a value that are shown."""


def explanation(found: Divergence) -> str:
    """What happened, then the fields: as recorded (`-`) and this time (`+`)."""
    return "\n".join([found.message, *_details(found)])


def _details(found: Divergence) -> Iterator[str]:
    for each in found.differences:
        yield f"  {each.field or 'value'}"
        yield f"    - {_shown(each.expected, each.actual)}"
        yield f"    + {_shown(each.actual, each.expected)}"
    if not found.differences:
        if found.expected is not None:
            yield f"  recorded:  {_shown(found.expected)}"
        if found.actual is not None:
            yield f"  this time: {_shown(found.actual)}"
    if found.nearest is not None:
        yield f"  recorded next: {_shown(found.nearest)}"


def _shown(value: Any, other: Any = None) -> str:
    """The value as JSON; of a long one the part from shortly before it differs from the other."""
    text = json.dumps(value, ensure_ascii=False)
    if len(text) <= _LONG:
        return text
    common = _common(text, json.dumps(other, ensure_ascii=False))
    start = max(0, min(common - _LONG // 4, len(text) - _LONG))
    end = start + _LONG
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


def _common(one: str, other: str) -> int:
    """How many characters at their begin are the same."""
    return next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )
