"""Paths within a JSON value, written as in code: `plan.steps[2].done`."""

import json
import re
from dataclasses import dataclass
from typing import Final, TypeAlias

Step: TypeAlias = str | int
"""A key of a dict or an index of a list."""
Path: TypeAlias = tuple[Step, ...]

_PLAIN: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_STEP: Final = re.compile(r"\.?([A-Za-z_]\w*)|\[(\d+|\"(?:[^\"\\]|\\.)*\")\]", re.ASCII)


@dataclass(frozen=True, slots=True)
class Pin:
    """The value whose history somebody asks for."""

    key: str
    """The key with the prefix of its scope."""
    path: Path = ()
    """The path within the key's value; () for the whole value."""


def path_text(path: Path) -> str:
    """Return a path as `plan.steps[2].done`; keys that aren't identifiers are quoted: `["a b"]`."""
    text = ""
    for step in path:
        if isinstance(step, str) and _PLAIN.fullmatch(step):
            text += f".{step}"
        else:
            text += f"[{json.dumps(step, ensure_ascii=False)}]"
    return text.removeprefix(".")


def path_of(text: str) -> Path:
    """Parse a path as written by `path_text`; raises ValueError if it is invalid."""
    steps: list[Step] = []
    place = 0
    while place < len(text):
        match = _STEP.match(text, place)
        if match is None:
            raise ValueError(
                f"{text!r} isn't a valid path at {text[place:]!r}; write it like a.b[2]"
            )
        name, bracket = match.groups()
        steps.append(name if name is not None else json.loads(bracket))
        place = match.end()
    return tuple(steps)
