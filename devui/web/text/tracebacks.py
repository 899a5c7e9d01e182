"""Tracebacks as pieces of text, each up to a line of the app's own code that an editor can open."""

import re
from collections.abc import Iterator

_FRAME = re.compile(r'\s*File "(?P<file>[^"]+)", line (?P<line>[1-9]\d*)')


def pieces(traceback: str, folder: str) -> Iterator[tuple[str, str]]:
    """Each piece with the place that its last line names, such as `/agents/travel/agent.py:12`.

    The place is "" for the end, and there is but one piece if no frame is in a file below `folder`.
    """
    lines: list[str] = []
    begin = ""
    for line in traceback.splitlines():
        lines.append(line)
        frame = _FRAME.match(line)
        if frame is not None and folder and frame["file"].startswith(f"{folder}/"):
            yield begin + "\n".join(lines), f"{frame['file']}:{frame['line']}"
            lines, begin = [], "\n"
    if lines:
        yield begin + "\n".join(lines), ""
