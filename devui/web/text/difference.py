"""How two JSON values differ, line by line. The terminal loads it, too: it needs nothing else."""

import json
from difflib import SequenceMatcher
from typing import Any, Final

from devui.web.text.visible import visible

_MOST: Final = 50_000
"""Characters of JSON that are put into a field and compared."""
_LINES: Final = 200
"""Lines of a difference."""
_LEFT_OUT: Final = "…"


def as_text(value: Any) -> str:
    """The value as JSON to read and to change, cut where that gets too long."""
    return json.dumps(value, ensure_ascii=False, indent=2)[:_MOST]


def difference(before: str, after: str) -> tuple[str, ...]:
    """The lines that differ, each with `+` or `-` before it, one around them, `…` for others."""
    old, new = before.splitlines(), after.splitlines()
    lines: list[str] = []
    stop = 0
    for group in SequenceMatcher(None, old, new).get_grouped_opcodes(1):
        lines += [_LEFT_OUT] if group[0][1] > stop else []
        for tag, start, stop, begin, end in group:
            if tag == "equal":
                lines += [f" {line}" for line in old[start:stop]]
                continue
            lines += [f"-{line}" for line in old[start:stop]]
            lines += [f"+{line}" for line in new[begin:end]]
    lines += [_LEFT_OUT] if lines and stop < len(old) else []
    excerpt = lines if len(lines) <= _LINES else [*lines[:_LINES], _LEFT_OUT]
    return tuple(map(visible, excerpt))
