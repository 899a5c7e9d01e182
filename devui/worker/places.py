"""Frames as they are told to people: file, line, function and source line, and no values."""

import linecache
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Final

from devui.wire.standing import Place
from devui.worker.faults import readable_path, sendable

_MOST: Final = 60
_CHARACTERS: Final = 300


def places_of(frames: Sequence[FrameType], agents: Path) -> list[Place]:
    """The frames, the outermost first; of very many the innermost."""
    return [_place(frame, agents) for frame in frames[-_MOST:]]


def _place(frame: FrameType, agents: Path) -> Place:
    file, line = frame.f_code.co_filename, frame.f_lineno or 0
    own = file.startswith(f"{agents}/") and "/site-packages/" not in file
    return Place(
        file=sendable(readable_path(file, agents) if own else _library_path(file)),
        line=line,
        function=sendable(frame.f_code.co_qualname)[:_CHARACTERS],
        source=sendable(linecache.getline(file, line).strip())[:_CHARACTERS],
        own=own,
    )


def innermost(places: Sequence[Place]) -> Place | None:
    """The innermost place in the app's own code, else the innermost of all."""
    own = [place for place in places if place.own]
    told = own or places
    return told[-1] if told else None


def _library_path(file: str) -> str:
    """A path from the folder on from which it is imported."""
    roots = [root for root in sys.path if root and file.startswith(f"{root}/")]
    return file.removeprefix(max(roots, key=len, default="")).lstrip("/") if roots else file
