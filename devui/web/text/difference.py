"""Line diffs of JSON values. The terminal loads this module, too, so it has few imports."""

import json
from difflib import SequenceMatcher
from typing import Any, Final

from devui.web.text.deceptive_characters import visible

_MOST: Final = 50_000
"""The maximum length of JSON that is edited and compared, in characters."""
_LINES: Final = 200
"""The maximum length of a diff, in lines."""
_LEFT_OUT: Final = "…"


def as_text(value: Any) -> str:
    """Return the value as indented JSON for reading and editing, truncated if it is too long."""
    return json.dumps(value, ensure_ascii=False, indent=2)[:_MOST]


def difference(before: str, after: str) -> tuple[str, ...]:
    """Return the changed lines with `+` or `-`, one line of context, and `…` for omitted lines."""
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
