"""Answers in OpenAI's chat completions format, complete or streamed (adk-runtime 9.4)."""

import ast
import json
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from google.genai import types
from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, to_jsonable_python

from devui.runtime.jsonable import sendable, without_open_half
from devui.runtime.models.chat_dialect import Json
from devui.runtime.models.chat_thoughts import (
    call_signature,
    join_thoughts,
    plain_id,
    strings,
    thoughts,
)
from devui.runtime.models.llm_response import LlmResponse

# Tool calls in chat completions, including malformed ones (adk-runtime 9.4).


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
        """Add a piece of the call."""
        function = delta.get("function") or {}
        self.id = self.id or plain_id(delta.get("id") or "")
        name = function.get("name") or ""
        if name != self.name:  # else the same name was sent again
            self.name += name
        self.arguments.append(function.get("arguments") or "")
        self.signature = self.signature or call_signature(delta)

    def is_followed_by(self, delta: Json) -> bool:
        """Return whether a piece with the same index belongs to another call.

        Some services give all calls the same index. A piece with a name then begins another call
        if its id differs or, if there is no id to compare, this call is complete.
        """
        if not (self.name and (delta.get("function") or {}).get("name")):
            return False
        call_id = plain_id(delta.get("id") or "")
        if call_id and self.id:
            return call_id != self.id
        return bool("".join(self.arguments).strip()) and self.part() is not None

    def part(self) -> types.Part | None:
        """Return the call, or None if its arguments aren't an object."""
        arguments = read_arguments("".join(self.arguments))
        if arguments is None:
            return None
        call = types.FunctionCall(id=self.id or None, name=self.name, args=arguments)
        return types.Part(function_call=call, thought_signature=self.signature)


class ChatCalls:
    """The calls of one answer, assembled from pieces by their index."""

    def __init__(self) -> None:
        self._all: list[tuple[int, ChatCall]] = []
        self._growing: dict[int, ChatCall] = {}

    def add(self, delta: Json, index: int) -> None:
        """Add a piece to the call at `index`, or begin another call with it."""
        call = self._growing.get(index)
        if call is None or call.is_followed_by(delta):
            call = self._growing[index] = ChatCall()
            self._all.append((index, call))
        call.add(delta)

    def parts(self) -> list[types.Part | None]:
        """Return the calls in order, with None for those whose arguments aren't an object."""
        return [call.part() for _, call in sorted(self._all, key=_index)]


def _index(entry: tuple[int, ChatCall]) -> int:
    return entry[0]


def read_arguments(text: str) -> Json | None:
    """Parse a call's arguments; return None if they aren't an object, or are incomplete.

    This accepts what small models write: Python literals, unquoted keys and code fences.
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
    """Remove the code fence around a text, if there is one."""
    if not (text.startswith(_FENCE) and text.endswith(_FENCE)):
        return text
    inner = text.strip("`").strip()
    return inner[len("json") :] if inner[: len("json")].lower() == "json" else inner


def _quoted(match: re.Match[str]) -> str:
    """Quote an unquoted key; leave a string as it is."""
    return match[1] or f'{match[2]}"{match[3]}"'


def _literal(text: str) -> Any:
    """Evaluate a Python literal and convert it to JSON types.

    Raises:
        ValueError: the literal has no JSON form.
    """
    try:
        return to_jsonable_python(ast.literal_eval(text.strip()))
    except PydanticSerializationError as error:
        raise ValueError(str(error)) from None


# Calls that a model without tool support writes into its text (adk-runtime 9.4).


_DEEPSEEK = re.compile(
    r"<\uff5ctool\u2581call\u2581begin\uff5c>function<\uff5ctool\u2581sep\uff5c>([^\n\r]+?)\s*\n(.*?)<\uff5ctool\u2581call\u2581end\uff5c>",
    re.DOTALL,
)
"""A call between DeepSeek's own markers, which some services pass through as text."""
_DEEPSEEK_FRAME = re.compile(r"<\uff5ctool\u2581calls\u2581(?:begin|end)\uff5c>")
_DECODER = json.JSONDecoder()


def written_calls(text: str, tools: Collection[str]) -> tuple[str, list[types.Part]]:
    """Return a text without the calls written in it, and those calls.

    A call is a JSON object with `name` and `arguments` anywhere in the text, or is enclosed in
    DeepSeek's markers.

    Args:
        text: The answer.
        tools: The names of the tools that may be called; other objects stay in the text.
    """
    calls: list[types.Part] = []

    def take(match: re.Match[str]) -> str:
        call = _call({"name": match[1].strip(), "arguments": match[2]}, tools)
        calls.extend(call)
        return "" if call else match[0]

    rest = _DEEPSEEK.sub(take, text)
    if calls:
        rest = _DEEPSEEK_FRAME.sub("", rest)
    pieces: list[str] = []
    done, start = 0, rest.find("{")
    while start >= 0:
        value, end = _object(rest, start)
        if call := _call(value, tools):
            calls.extend(call)
            pieces.append(rest[done:start])
            done = end
        start = rest.find("{", end)
    return ("".join([*pieces, rest[done:]]).strip(), calls) if calls else (text, [])


def _object(text: str, start: int) -> tuple[Any, int]:
    """Return the JSON value at `start` and its end; without one, None and the next index."""
    try:
        return _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None, start + 1


def _call(value: Any, tools: Collection[str]) -> list[types.Part]:
    if not isinstance(value, dict) or value.get("name") not in tools:
        return []
    raw: Json | str | None = value.get("arguments")
    arguments = read_arguments(raw) if isinstance(raw, str) else raw
    if not isinstance(arguments, dict):
        return []
    call_id = str(value["id"]) if value.get("id") else None
    call = types.FunctionCall(id=call_id, name=value["name"], args=arguments)
    return [types.Part(function_call=call)]


_REASONS = {
    "stop": types.FinishReason.STOP,
    "tool_calls": types.FinishReason.STOP,
    "function_call": types.FinishReason.STOP,
    "length": types.FinishReason.MAX_TOKENS,
    "content_filter": types.FinishReason.SAFETY,
}
_MESSAGES = {
    types.FinishReason.MAX_TOKENS: (
        "The answer was cut off at the output token limit. Raise max_output_tokens."
    ),
    types.FinishReason.SAFETY: "The service's content filter withheld the answer.",
    types.FinishReason.MALFORMED_FUNCTION_CALL: (
        "The model wrote a tool call whose arguments aren't a JSON object."
    ),
}


class ChatAnswer:
    """Assembles one answer; choices after the first are ignored."""

    def __init__(self, *, shows_thoughts: bool = True, tools: Collection[str] = ()) -> None:
        """Start an empty answer.

        Args:
            shows_thoughts: Whether the answer includes the model's thoughts. Signed thoughts
                before a call are always kept: services refuse the call's result without them.
            tools: Names of the tools whose calls the model may also write into its text.
        """
        self._tools = tools
        self._shows_thoughts = shows_thoughts
        self._thoughts: list[types.Part] = []
        self._text: list[str] = []
        self._half = ""
        self._calls = ChatCalls()
        self._reason: str | None = None
        self._model: str | None = None
        self._usage: types.GenerateContentResponseUsageMetadata | None = None
        self._sources: types.GroundingMetadata | None = None

    def add(self, chunk: Json) -> LlmResponse | None:
        """Add a chunk of a stream; return its fragment, or None if it has nothing to show."""
        parts = self._take(chunk, "delta")
        if not parts:
            return None
        content = types.Content(role="model", parts=parts)
        return LlmResponse(content=content, partial=True, model_version=self._model)

    def add_whole(self, completion: Json) -> None:
        """Add an answer that wasn't streamed."""
        self._take(completion, "message")

    def whole(self) -> LlmResponse:
        """Return everything added as one response: an error if the answer ended abnormally."""
        calls = self._calls.parts()
        text = "".join([*self._text, sendable(self._half)])
        if self._tools and not calls:
            text, calls_in_text = written_calls(text, self._tools)
            calls.extend(calls_in_text)
        parts = [
            *self._kept_thoughts(calls=bool(calls)),
            *_texts([text]),
            *(call for call in calls if call is not None),
        ]
        reason = _REASONS.get(self._reason, types.FinishReason.OTHER) if self._reason else None
        if None in calls and reason != types.FinishReason.MAX_TOKENS:
            reason = types.FinishReason.MALFORMED_FUNCTION_CALL
        if None in calls:  # an incomplete batch of calls must not run
            parts = [part for part in parts if not part.function_call]
        failed = reason not in (None, types.FinishReason.STOP)
        return LlmResponse(
            content=types.Content(role="model", parts=parts),
            partial=False,
            finish_reason=reason,
            error_code=reason.value if reason and failed else None,
            error_message=self._message(reason) if reason and failed else None,
            usage_metadata=self._usage,
            grounding_metadata=self._sources,
            model_version=self._model,
        )

    def _kept_thoughts(self, *, calls: bool) -> list[types.Part]:
        whole = join_thoughts(self._thoughts)
        if self._shows_thoughts:
            return whole
        return [one for one in whole if one.thought_signature] if calls else []

    def _message(self, reason: types.FinishReason) -> str:
        return _MESSAGES.get(reason, f"The service ended the answer with {self._reason!r}.")

    def _take(self, chunk: Json, key: str) -> list[types.Part]:
        self._model = chunk.get("model") or self._model
        if chunk.get("usage"):
            self._usage = usage(chunk["usage"])
        self._sources = _sources(chunk) or self._sources
        choice = next((one for one in chunk.get("choices") or [] if not one.get("index")), None)
        if choice is None:
            return []
        self._reason = choice.get("finish_reason") or self._reason
        message = choice.get(key) or {}
        for position, call in enumerate(message.get("tool_calls") or []):
            index = call.get("index") if key == "delta" else None  # complete calls aren't pieces
            self._calls.add(call, position if index is None else index)
        thought_parts = thoughts(message)
        piece = "".join(strings(message.get("content") or message.get("refusal")))
        piece, self._half = without_open_half(self._half + piece)
        text = [sendable(piece)] if piece else []
        self._thoughts += thought_parts
        self._text += text
        visible_parts = [one for one in thought_parts if one.text] if self._shows_thoughts else []
        return [*visible_parts, *_texts(text)]


def usage(numbers: Json) -> types.GenerateContentResponseUsageMetadata:
    """Return the token counts under google-genai's names."""
    completion = numbers.get("completion_tokens_details") or {}
    return types.GenerateContentResponseUsageMetadata(
        prompt_token_count=numbers.get("prompt_tokens"),
        candidates_token_count=numbers.get("completion_tokens"),
        total_token_count=numbers.get("total_tokens"),
        cached_content_token_count=_cached(numbers),
        thoughts_token_count=completion.get("reasoning_tokens") or None,  # 0: not counted
    )


def _cached(numbers: Json) -> int | None:
    """Return how many of the prompt's tokens were cached; services differ in the field's name."""
    details = numbers.get("prompt_tokens_details") or {}
    if isinstance(details, list):
        counts = [one.get("cached_tokens") for one in details if isinstance(one, dict)]
        return sum(count for count in counts if count) or None
    names = ("cached_prompt_tokens", "cached_tokens", "cache_read_input_tokens")
    candidates = [details.get("cached_tokens"), *map(numbers.get, names)]
    return next((count for count in candidates if isinstance(count, int)), None)


def _sources(chunk: Json) -> types.GroundingMetadata | None:
    """Return the sources of a Gemini answer, which litellm passes on as a list, one per choice."""
    metadata = chunk.get("vertex_ai_grounding_metadata")
    first = (metadata or [None])[0] if isinstance(metadata, list) else metadata
    if not first:
        return None
    try:
        return types.GroundingMetadata.model_validate(first)
    except ValidationError:
        return None


def _texts(pieces: Iterable[str]) -> list[types.Part]:
    text = "".join(pieces)
    return [types.Part(text=text)] if text else []
