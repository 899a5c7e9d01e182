"""Answers in the form of OpenAI's chat completions, whole and in chunks (adk-runtime 9.4)."""

from collections.abc import Collection, Iterable

from google.genai import types
from pydantic import ValidationError

from devui.runtime.halves import sendable, without_open_half
from devui.runtime.models.chat_calls import ChatCalls
from devui.runtime.models.chat_dialect import Json
from devui.runtime.models.chat_thoughts import joined, strings, thoughts
from devui.runtime.models.llm_response import LlmResponse
from devui.runtime.models.written_calls import written_calls

_REASONS = {
    "stop": types.FinishReason.STOP,
    "tool_calls": types.FinishReason.STOP,
    "function_call": types.FinishReason.STOP,
    "length": types.FinishReason.MAX_TOKENS,
    "content_filter": types.FinishReason.SAFETY,
}
_MESSAGES = {
    types.FinishReason.MAX_TOKENS: (
        "The answer was cut off at the limit of output tokens. Raise max_output_tokens."
    ),
    types.FinishReason.SAFETY: "The service's content filter withheld the answer.",
    types.FinishReason.MALFORMED_FUNCTION_CALL: (
        "The model wrote a tool call whose arguments are no JSON object."
    ),
}


class ChatAnswer:
    """Gathers one answer; the first choice counts."""

    def __init__(self, *, shows_thoughts: bool = True, tools: Collection[str] = ()) -> None:
        """Begin with nothing.

        Args:
            shows_thoughts: Whether what the model thought is told. Signed thoughts before a call
                are kept anyway: services refuse the call's result without them.
            tools: Names of tools whose calls may also be written into the text.
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
        """Take in a chunk of a stream; its fragment, or None when it shows nothing."""
        parts = self._take(chunk, "delta")
        if not parts:
            return None
        content = types.Content(role="model", parts=parts)
        return LlmResponse(content=content, partial=True, model_version=self._model)

    def add_whole(self, completion: Json) -> None:
        """Take in an answer that was not streamed."""
        self._take(completion, "message")

    def whole(self) -> LlmResponse:
        """All that was taken in, as one response; an error if it did not end as it should."""
        calls = self._calls.parts()
        text = "".join([*self._text, sendable(self._half)])
        if self._tools and not calls:
            text, written = written_calls(text, self._tools)
            calls.extend(written)
        parts = [
            *self._kept_thoughts(calls=bool(calls)),
            *_texts([text]),
            *(call for call in calls if call is not None),
        ]
        reason = _REASONS.get(self._reason, types.FinishReason.OTHER) if self._reason else None
        if None in calls and reason != types.FinishReason.MAX_TOKENS:
            reason = types.FinishReason.MALFORMED_FUNCTION_CALL
        if None in calls:  # part of a batch must not run as if it were all
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
        whole = joined(self._thoughts)
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
            index = call.get("index") if key == "delta" else None  # whole ones are no pieces
            self._calls.add(call, position if index is None else index)
        thought = thoughts(message)
        said = "".join(strings(message.get("content") or message.get("refusal")))
        said, self._half = without_open_half(self._half + said)
        text = [sendable(said)] if said else []
        self._thoughts += thought
        self._text += text
        shown = [one for one in thought if one.text] if self._shows_thoughts else []
        return [*shown, *_texts(text)]


def usage(numbers: Json) -> types.GenerateContentResponseUsageMetadata:
    """Token counts under google-genai's names."""
    completion = numbers.get("completion_tokens_details") or {}
    return types.GenerateContentResponseUsageMetadata(
        prompt_token_count=numbers.get("prompt_tokens"),
        candidates_token_count=numbers.get("completion_tokens"),
        total_token_count=numbers.get("total_tokens"),
        cached_content_token_count=_cached(numbers),
        thoughts_token_count=completion.get("reasoning_tokens") or None,  # 0: nobody counted
    )


def _cached(numbers: Json) -> int | None:
    """The tokens of the request that came from a cache, under any of their names."""
    details = numbers.get("prompt_tokens_details") or {}
    if isinstance(details, list):
        counted = [one.get("cached_tokens") for one in details if isinstance(one, dict)]
        return sum(count for count in counted if count) or None
    names = ("cached_prompt_tokens", "cached_tokens", "cache_read_input_tokens")
    found = [details.get("cached_tokens"), *map(numbers.get, names)]
    return next((count for count in found if isinstance(count, int)), None)


def _sources(chunk: Json) -> types.GroundingMetadata | None:
    """The sources of an answer of Gemini's, as litellm hands them on: one for each choice."""
    found = chunk.get("vertex_ai_grounding_metadata")
    first = (found or [None])[0] if isinstance(found, list) else found
    if not first:
        return None
    try:
        return types.GroundingMetadata.model_validate(first)
    except ValidationError:
        return None


def _texts(pieces: Iterable[str]) -> list[types.Part]:
    text = "".join(pieces)
    return [types.Part(text=text)] if text else []
