"""Tracebacks as pieces of text, each up to a line of the app's own code that an editor can open."""

from collections.abc import Iterator

from devui.wire.errors import frames


def pieces(traceback: str, folder: str) -> Iterator[tuple[str, str]]:
    """Each piece with the place that its last line names, such as `/agents/travel/agent.py:12`.

    The place is "" for the end, and there is but one piece if no frame is in a file below `folder`.
    """
    start = 0
    for frame in frames(traceback) if folder else ():
        if frame.file.startswith(f"{folder}/"):
            yield traceback[start : frame.end], f"{frame.file}:{frame.line}"
            start = frame.end
    if rest := traceback[start:].removesuffix("\n"):
        yield rest, ""
