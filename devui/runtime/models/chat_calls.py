"""Calls of tools in answers of chat completions, carelessly written too (adk-runtime 9.4)."""

import ast
import json
import re
from dataclasses import dataclass, field
from typing import Any

from google.genai import types
from pydantic_core import PydanticSerializationError, to_jsonable_python

from devui.runtime.models.chat_dialect import Json
from devui.runtime.models.chat_thoughts import call_signature, plain_id

_FENCE = "```"
_STRING_OR_KEY = re.compile(
    r"""("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|([{,]\s*)([A-Za-z_]\w*)(?=\s*:)""", re.DOTALL
)
_NO_LITERAL = (SyntaxError, ValueError, RecursionError, MemoryError)


@dataclass(slots=True)
class ChatCall:
    """A tool call whose arguments arrive in pieces."""

    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    signature: bytes | None = None

    def add(self, delta: Json) -> None:
        """Take in a piece."""
        function = delta.get("function") or {}
        self.id = self.id or plain_id(delta.get("id") or "")
        name = function.get("name") or ""
        if name != self.name:  # else it is told once more, and no piece
            self.name += name
        self.arguments.append(function.get("arguments") or "")
        self.signature = self.signature or call_signature(delta)

    def is_followed_by(self, delta: Json) -> bool:
        """Whether a piece with the same index belongs to another call.

        Some services number all calls alike: what has a name begins a call if it has another id
        too, or if this call is whole.
        """
        if not (self.name and (delta.get("function") or {}).get("name")):
            return False
        call_id = plain_id(delta.get("id") or "")
        if call_id and self.id:
            return call_id != self.id
        return bool("".join(self.arguments).strip()) and self.part() is not None

    def part(self) -> types.Part | None:
        """The call; None if its arguments are no object."""
        arguments = read_arguments("".join(self.arguments))
        if arguments is None:
            return None
        call = types.FunctionCall(id=self.id or None, name=self.name, args=arguments)
        return types.Part(function_call=call, thought_signature=self.signature)


class ChatCalls:
    """The calls of one answer, whose pieces come by their index."""

    def __init__(self) -> None:
        """Begin without any."""
        self._all: list[tuple[int, ChatCall]] = []
        self._growing: dict[int, ChatCall] = {}

    def add(self, delta: Json, index: int) -> None:
        """Take in a piece of the call of that index, or the first one of another call."""
        call = self._growing.get(index)
        if call is None or call.is_followed_by(delta):
            call = self._growing[index] = ChatCall()
            self._all.append((index, call))
        call.add(delta)

    def parts(self) -> list[types.Part | None]:
        """The calls in their order; None for those whose arguments are no object."""
        return [call.part() for _, call in sorted(self._all, key=_index)]


def _index(numbered: tuple[int, ChatCall]) -> int:
    return numbered[0]


def read_arguments(text: str) -> Json | None:
    """The object that a model has written; None if it is none, or not whole.

    Small models write objects as Python does, with bare keys, or in a fence. What is read of
    those is what the model meant.
    """
    if not text.strip():
        return {}
    plain = _unfenced(text.strip())
    for form in (plain, _STRING_OR_KEY.sub(_quoted, plain)):
        for read in (json.loads, _literal):
            try:
                value = read(form)
            except _NO_LITERAL:
                continue
            return value if isinstance(value, dict) else None
    return None


def _unfenced(text: str) -> str:
    """What stands in a code fence, if all of the text does."""
    if not (text.startswith(_FENCE) and text.endswith(_FENCE)):
        return text
    inner = text.strip("`").strip()
    return inner[len("json") :] if inner[: len("json")].lower() == "json" else inner


def _quoted(found: re.Match[str]) -> str:
    """A string as it is, and a bare key between quotation marks."""
    return found[1] or f'{found[2]}"{found[3]}"'


def _literal(text: str) -> Any:
    """A Python literal, as far as it has a form in JSON.

    Raises:
        ValueError: it has none.
    """
    try:
        return to_jsonable_python(ast.literal_eval(text.strip()))
    except PydanticSerializationError as error:
        raise ValueError(str(error)) from None
