"""What a person changed, as lines that differ."""

import difflib
import json
from typing import Any, Final

from devui.web.presenters.content import mapping
from devui.web.text.visible import visible

_MOST: Final = 50_000
"""Characters of JSON that are put into a field and compared."""
_SHOWN: Final = 200
"""Lines of a difference."""


def original(gate: str, held: Any) -> Any:
    """The part of what is held that an edit takes the place of."""
    part = {"before_tool": "args", "after_tool": "result"}.get(gate)
    return mapping(held).get(part) if part else held


def as_text(value: Any) -> str:
    """The value as JSON to read and to change, cut where that gets too long."""
    return json.dumps(value, ensure_ascii=False, indent=2)[:_MOST]


def difference(before: str, after: str) -> tuple[str, ...]:
    """The lines that differ, each with `+` or `-` before it, and one around them."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=1, lineterm="")
    changed = [visible(line) for line in lines if not line.startswith(("---", "+++", "@@"))]
    return tuple(changed[:_SHOWN])
