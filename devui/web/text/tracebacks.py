"""Splits tracebacks after each frame in the app's own code, for links that open an editor."""

from collections.abc import Iterator

from devui.wire.errors import frames


def pieces(traceback: str, folder: str) -> Iterator[tuple[str, str]]:
    """Yield each piece with the place of its last frame, such as `/agents/travel/agent.py:12`.

    The last piece has no place (""); it is the only one if no frame is in a file below `folder`.
    """
    start = 0
    for frame in frames(traceback) if folder else ():
        if frame.file.startswith(f"{folder}/"):
            yield traceback[start : frame.end], f"{frame.file}:{frame.line}"
            start = frame.end
    if rest := traceback[start:].removesuffix("\n"):
        yield rest, ""
