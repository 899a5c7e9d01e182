"""The first difference of a replay, in words for the output of a test."""

import json
from collections.abc import Iterator
from typing import Any

from devui.wire.excerpts import around_difference
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
    text, beside = (json.dumps(each, ensure_ascii=False) for each in (value, other))
    return around_difference(text, beside, _LONG)
