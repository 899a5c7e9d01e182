"""Locates errors in YAML files that google-adk reads; its traceback shows only its own code."""

import traceback
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Final

from pydantic import BaseModel, ValidationError

from devui.runtime.yaml_text import line_of, lines_of_text

_READER: Final = "/google/adk/agents/config_agent_utils.py"


def yaml_place(error: BaseException) -> tuple[str, int | None] | None:
    """Return the file, and the line if it can be found; None if no YAML file caused the error."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    for index, frame in reversed([*enumerate(frames)]):
        file = _path(frame)
        if file is not None and file.is_file():  # the innermost file may be a missing one
            line = None
            with suppress(Exception):  # the file may have changed meanwhile
                line = _line(error, file, frames[index + 1 :])
            return str(file), line
    return None


def _path(frame: FrameType) -> Path | None:
    """Return the file that the frame is reading."""
    path = frame.f_locals.get("config_path")
    is_reader = frame.f_code.co_filename.endswith(_READER)
    return Path(path) if is_reader and isinstance(path, str) else None


def _line(error: BaseException, file: Path, frames: list[FrameType]) -> int | None:
    if mark := vars(error).get("problem_mark"):  # set by the parser
        return int(mark.line) + 1
    text = file.read_text(encoding="utf-8")
    if isinstance(error, ValidationError) and error.title.endswith("AgentConfig"):
        return next(filter(None, (line_of(text, each["loc"]) for each in error.errors())), None)
    # Look for values of the file among the reader's variables.
    for frame in reversed(frames):
        for value in _texts(frame.f_locals):
            if len(lines := lines_of_text(text, value)) == 1:
                return lines[0]
    return None


def _texts(values: Mapping[str, object]) -> Iterator[str]:
    for value in values.values():
        if isinstance(value, str):
            yield value
        elif isinstance(value, BaseModel):
            yield from (each for each in vars(value).values() if isinstance(each, str))
