"""Values of the state as texts: as JSON, where two of them differ, and which code is at work."""

import json
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from types import FrameType
from typing import Any, Final

from pydantic_core import to_json

from devui.runtime.jsonable import with_reprs
from devui.runtime.sessions import state
from devui.worker.errors import sendable

_LONGEST: Final = 100_000
"""Characters of a value that are told."""
_TEXT_LENGTH: Final = 200
_PATHS: Final = 3
_FRAMES: Final = 80
_STATE: Final = str(state.__file__)
_RUNTIME: Final = str(Path(_STATE).parent.parent)
_WORKER: Final = str(Path(__file__).parent.parent)


def json_of(value: Any) -> str:
    """The value as JSON text; of what JSON cannot hold its repr, of a huge one the start."""
    try:
        text = to_json(
            with_reprs(value),
            by_alias=True,
            bytes_mode="base64",
            inf_nan_mode="strings",
            serialize_unknown=True,
        ).decode()
    except (ValueError, RecursionError):  # half a surrogate pair, a circle
        text = json.dumps(_repr(value))
    if len(text) <= _LONGEST:
        return text
    return json.dumps(f"{text[:_TEXT_LENGTH]}… ({len(text):,} characters)")


def _repr(value: Any) -> str:
    try:
        return repr(value)
    except Exception:  # noqa: BLE001  it is a method of an agent's class
        return f"<{type(value).__name__}>"


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal as Python sees it; False where that cannot be told."""
    try:
        return type(one) is type(other) and bool(one == other)
    except Exception:  # noqa: BLE001  values of agents compare as their classes like
        return False


def differing(key: str, then: Any, now: Any) -> list[str]:
    """The first places in which two values of a key differ, as `plan.steps[2]`."""
    before, after = json.loads(json_of(then)), json.loads(json_of(now))
    try:
        return [sendable(path) for path in islice(_paths(key, before, after), _PATHS)]
    except RecursionError:
        return [key]


def _paths(path: str, then: Any, now: Any) -> Iterator[str]:
    if isinstance(then, dict) and isinstance(now, dict):
        for key in {**then, **now}:
            if key not in then or key not in now:
                yield f"{path}.{key}"
            else:
                yield from _paths(f"{path}.{key}", then[key], now[key])
    elif isinstance(then, list) and isinstance(now, list) and len(then) <= len(now):
        for place, item in enumerate(now):
            if place >= len(then):
                yield f"{path}[{place}]"
            else:
                yield from _paths(f"{path}[{place}]", then[place], item)
    elif then != now:
        yield path


def called_from(paths: tuple[str, ...]) -> bool:
    """Whether the code that looks into the state stands in one of these files and folders."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_WORKER):
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename.startswith(paths)


def called_from_runtime() -> bool:
    """Whether the runtime itself looks into a state, such as for changes in place."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith((_WORKER, _STATE)):
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename.startswith(_RUNTIME)


def place_in(agents: str) -> str:
    """Where the agents' code is that looks into the state: `app/agent.py:12 in plan`.

    "" if the runtime looks itself, for whatever code is above it did not ask for that.
    """
    frame: FrameType | None = sys._getframe(1)
    for _ in range(_FRAMES):
        if frame is None:
            return ""
        file = frame.f_code.co_filename
        if file.startswith(f"{agents}/") and "/site-packages/" not in file:
            place = f"{file.removeprefix(f'{agents}/')}:{frame.f_lineno} in {frame.f_code.co_name}"
            return sendable(place)
        if file.startswith(_RUNTIME) and file != _STATE:
            return ""
        frame = frame.f_back
    return ""
