"""State values as texts: their JSON, their differences, and the code that accesses them."""

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
"""The maximum length of a reported value, in characters."""
_TEXT_LENGTH: Final = 200
_PATHS: Final = 3
_FRAMES: Final = 80
_STATE: Final = str(state.__file__)
_RUNTIME: Final = str(Path(_STATE).parent.parent)
_WORKER: Final = str(Path(__file__).parent.parent)


def json_of(value: Any) -> str:
    """Return the value as JSON text; the repr if JSON can't express it, the start if it is huge."""
    try:
        text = to_json(
            with_reprs(value),
            by_alias=True,
            bytes_mode="base64",
            inf_nan_mode="strings",
            serialize_unknown=True,
        ).decode()
    except (ValueError, RecursionError):  # a lone surrogate, a cycle
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
    """Return whether two values are equal in Python; False if the comparison fails."""
    try:
        return type(one) is type(other) and bool(one == other)
    except Exception:  # noqa: BLE001  agents' classes define their own comparison
        return False


def differing(key: str, then: Any, now: Any) -> list[str]:
    """Return the paths of the first differences between two values of a key: `plan.steps[2]`."""
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
    """Return whether the code that accesses the state is in one of these files and folders."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_WORKER):
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename.startswith(paths)


def called_from_runtime() -> bool:
    """Return whether the runtime itself accesses a state, for example to find changes in place."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith((_WORKER, _STATE)):
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename.startswith(_RUNTIME)


def place_in(agents: str) -> str:
    """Return where the agents' code accesses the state: `app/agent.py:12 in plan`.

    "" if the runtime accesses it for its own purposes: the code above didn't ask for that.
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
