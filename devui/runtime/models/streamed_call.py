"""A function call whose arguments arrive piece by piece (adk-runtime 7.7)."""

import re
from dataclasses import dataclass, field
from typing import Any

from google.genai import types

# A JSON path as Gemini writes it: $.flights[0].city or $.flights[0]['the city'].
_STEP = re.compile(
    r"\.?([A-Za-z_]\w*)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\[\"((?:[^\"\\]|\\.)*)\"\]"
)
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
        return call.name in (None, "", self.name) and not call.args

    def add(self, part: types.Part, call: types.FunctionCall) -> None:
        """Take in the arguments of one chunk."""
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
            _place(self.args, _steps(path), partial.number_value)
        elif partial.bool_value is not None:
            _place(self.args, _steps(path), partial.bool_value)
        elif partial.null_value is not None:
            _place(self.args, _steps(path), None)


def _steps(path: str) -> list[str | int]:
    """The keys and indexes of a JSON path."""
    steps: list[str | int] = []
    for found in _STEP.finditer(path.removeprefix("$")):
        name, index, single, double = found.groups()
        if index is not None:
            steps.append(int(index))
        else:
            quoted = single if single is not None else double
            steps.append(name if quoted is None else re.sub(r"\\(.)", r"\1", quoted))
    return steps


def _place(target: Any, steps: list[str | int], value: Any) -> None:
    """Put a value at a path, making the dicts and lists on the way."""
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        if isinstance(step, int) != isinstance(target, list):
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
