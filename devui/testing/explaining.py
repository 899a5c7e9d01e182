"""Explains a replay's first difference, for the output of a test."""

import json
from collections.abc import Iterator
from typing import Any

from devui.wire.excerpts import around_difference
from devui.wire.recordings import Divergence

_LONG = 400
"""The maximum number of characters of a value that are shown."""


def explanation(divergence: Divergence) -> str:
    """Return what happened, then the fields that differ: as recorded (`-`) and now (`+`)."""
    return "\n".join([divergence.message, *_details(divergence)])


def _details(divergence: Divergence) -> Iterator[str]:
    for each in divergence.differences:
        yield f"  {each.field or 'value'}"
        yield f"    - {_excerpt(each.expected, each.actual)}"
        yield f"    + {_excerpt(each.actual, each.expected)}"
    if not divergence.differences:
        if divergence.expected is not None:
            yield f"  recorded:  {_excerpt(divergence.expected)}"
        if divergence.actual is not None:
            yield f"  actual:    {_excerpt(divergence.actual)}"
    if divergence.nearest is not None:
        yield f"  recorded next: {_excerpt(divergence.nearest)}"


def _excerpt(value: Any, other: Any = None) -> str:
    """Return the value as JSON; a long one only from shortly before its first difference."""
    text, beside = (json.dumps(each, ensure_ascii=False) for each in (value, other))
    return around_difference(text, beside, _LONG)
