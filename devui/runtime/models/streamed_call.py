"""A function call whose arguments arrive piece by piece (adk-runtime 7.7)."""

import re
from dataclasses import dataclass, field
from typing import Any

from google.genai import types

# A JSON path as Gemini writes it: $.flights[0].city or $.flights[0]['the city'].
_STEP = re.compile(
    r"\.?((?:[^.\[\]\\]|\\.)+)|\[\s*(\d+)\s*\]"
    r"|\['((?:[^'\\]|\\.)*)'\]|\[\"((?:[^\"\\]|\\.)*)\"\]"
)
_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_LONGEST_LIST = 10_000


@dataclass(slots=True)
class StreamedCall:
    """One call, put together from chunks with `partial_args`."""

    id: str
    name: str
    args: dict[str, Any] = field(default_factory=dict)
    signature: bytes | None = None
    open: bool = True
    """Whether more chunks of this call are to come."""
    _texts: dict[str, list[str]] = field(default_factory=dict)

    @staticmethod
    def begins(call: types.FunctionCall) -> bool:
        """Whether this chunk is the first of several for its call."""
        return bool(call.partial_args) or call.will_continue is not None

    def continues(self, call: types.FunctionCall) -> bool:
        """Whether this chunk goes on with this call."""
        return (not self.name or call.name in (None, "", self.name)) and not call.args

    def add(self, part: types.Part, call: types.FunctionCall) -> None:
        """Take in the arguments of one chunk."""
        self.name = self.name or call.name or ""
        self.args.update(call.args or {})
        self.signature = self.signature or part.thought_signature
        for partial in call.partial_args or []:
            self._add_argument(partial)
        self.open = bool(call.will_continue)

    def part(self) -> types.Part:
        """The call with all its arguments."""
        for path, pieces in self._texts.items():
            _place(self.args, _steps(path), "".join(pieces))
        call = types.FunctionCall(id=self.id, name=self.name, args=self.args)
        return types.Part(function_call=call, thought_signature=self.signature)

    def _add_argument(self, partial: types.PartialArg) -> None:
        path = partial.json_path
        if not path:
            return
        if partial.string_value is not None:
            if path not in self._texts:
                _place(self.args, _steps(path), "")  # keeps the arguments in order of arrival
            self._texts.setdefault(path, []).append(partial.string_value)
        elif partial.number_value is not None:
            self._replace(path, partial.number_value)
        elif partial.bool_value is not None:
            self._replace(path, partial.bool_value)
        elif partial.null_value is not None:
            self._replace(path, None)

    def _replace(self, path: str, value: Any) -> None:
        self._texts.pop(path, None)
        _place(self.args, _steps(path), value)


def _steps(path: str) -> list[str | int]:
    """The keys and indexes of a JSON path."""
    steps: list[str | int] = []
    for found in _STEP.finditer(path.removeprefix("$")):
        name, index, single, double = found.groups()
        if index is not None:
            steps.append(int(index))
        else:
            steps.append(_ESCAPED.sub(_unescaped, name or single or double or ""))
    return steps


def _unescaped(found: re.Match[str]) -> str:
    code, sign = found.groups()
    return chr(int(code, 16)) if code else _CONTROLS.get(sign, sign)


def _place(target: Any, steps: list[str | int], value: Any) -> None:
    """Put a value at a path, making the dicts and lists on the way; nothing for the whole."""
    for step, following in zip(steps, [*steps[1:], None], strict=False):
        fits = isinstance(target, list if isinstance(step, int) else dict)
        if not fits:
            return  # the path contradicts what was sent before
        if isinstance(step, int):
            if step >= _LONGEST_LIST:
                return
            target.extend([None] * (step + 1 - len(target)))
        if following is None:
            target[step] = value
            return
        if isinstance(step, str):
            target.setdefault(step, None)
        if target[step] is None:
            target[step] = [] if isinstance(following, int) else {}
        target = target[step]
