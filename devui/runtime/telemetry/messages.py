"""Requests and responses in the form of OpenTelemetry's GenAI conventions (adk-runtime 13)."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from google.genai import errors, types
from pydantic import BaseModel

from devui.runtime.utils.model_name_utils import extract_model_name, is_gemini_model

if TYPE_CHECKING:
    from devui.runtime.models.llm_request import LlmRequest
    from devui.runtime.models.llm_response import LlmResponse


# The names of providers and errors in spans (adk-runtime 13).


_ENTERPRISE = ("GOOGLE_GENAI_USE_ENTERPRISE", "GOOGLE_GENAI_USE_VERTEXAI")
_CLAUDE = re.compile(r"claude[-.]", re.IGNORECASE)
_COLLECTIONS = {"endpoints", "locations", "models", "projects", "publishers", "tunedmodels"}
"""First segments of a model's path that don't name a provider."""
_PROVIDERS = {"gemini": "gcp.gemini", "vertex_ai": "gcp.vertex_ai"}


def error_type(error: BaseException) -> str:
    """Return an error's own `error_type`, its code if it is from Google's API, or its class."""
    own = getattr(error, "error_type", None)
    if own is not None:
        return str(own)
    if isinstance(error, errors.APIError):
        return str(error.code)
    return type(error).__name__


def system_of(model: str | None) -> str:
    """Return who serves the model, as `gen_ai.system` names it."""
    if model and not is_gemini_model(model):
        name = extract_model_name(model)
        if _CLAUDE.match(name):
            return "anthropic"
        provider, slash, _ = name.lower().partition("/")
        if slash and provider and provider not in _COLLECTIONS:
            return provider
    setting = next((os.environ[name] for name in _ENTERPRISE if name in os.environ), "")
    return "vertex_ai" if setting.lower() in {"1", "true"} else "gemini"


def provider_of(model: str | None) -> str:
    """Return who serves the model, as `gen_ai.provider.name` names it."""
    system = system_of(model)
    return _PROVIDERS.get(system, system)


# The tokens used by a model call, as OpenTelemetry's conventions count them (adk-runtime 13).


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Token counts; None for those that the model doesn't report."""

    input: int | None
    """Tokens sent, including results of the provider's own tools."""
    output: int | None
    """Tokens received, including thoughts."""
    cached: int | None
    thoughts: int | None

    def attributes(self) -> dict[str, int]:
        """Return the known counts by attribute."""
        counts = {
            "gen_ai.usage.input_tokens": self.input,
            "gen_ai.usage.output_tokens": self.output,
            "gen_ai.usage.cache_read.input_tokens": self.cached,
            "gen_ai.usage.reasoning.output_tokens": self.thoughts,
        }
        return {key: count for key, count in counts.items() if count is not None}


def usage_of(response: LlmResponse) -> TokenUsage | None:
    """Return the tokens that a call has used so far, if its response reports them."""
    usage: Any = response.usage_metadata
    if usage is None:
        return None
    return TokenUsage(
        input=_sum(usage.prompt_token_count, usage.tool_use_prompt_token_count),
        output=_sum(usage.candidates_token_count, usage.thoughts_token_count),
        cached=usage.cached_content_token_count,
        thoughts=usage.thoughts_token_count,
    )


def usage_of_call(responses: Sequence[LlmResponse]) -> TokenUsage | None:
    """Return the last token counts that a call's responses report, or None."""
    usage = next((use for each in reversed(responses) if (use := usage_of(each))), None)
    return None if usage is None or usage.input is usage.output is None else usage


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None and other is None else (one or 0) + (other or 0)


INPUT = "gen_ai.input.messages"
OUTPUT = "gen_ai.output.messages"
SYSTEM = "gen_ai.system_instructions"
TOOLS = "gen_ai.tool.definitions"

_UNREADABLE = "<not serializable>"
_ROLES = {"user": "user", "model": "assistant"}
_REASONS = {
    types.FinishReason.STOP: "stop",
    types.FinishReason.MAX_TOKENS: "length",
    types.FinishReason.OTHER: "error",
}


def reason_of(response: LlmResponse) -> types.FinishReason | None:
    """Return the finish reason, or None if the model gives none."""
    reason = response.finish_reason
    return None if reason is types.FinishReason.FINISH_REASON_UNSPECIFIED else reason


def finish_reason(response: LlmResponse) -> str:
    """Return the finish reason as the conventions name it; empty if the model gives none."""
    reason = reason_of(response)
    return "" if reason is None else _REASONS.get(reason, reason.name.lower())


def request_details(request: LlmRequest) -> dict[str, Any]:
    """Return the contents of a request by attribute."""
    return {
        INPUT: [_message(content) for content in request.contents],
        SYSTEM: _instructions(request.config.system_instruction),
        TOOLS: [each for tool in request.config.tools or () for each in _definitions(tool)],
    }


def output_message(response: LlmResponse) -> dict[str, Any] | None:
    """Return the model's message with its finish reason, or None if there is no content."""
    if not response.content:
        return None
    return {**_message(response.content), "finish_reason": finish_reason(response)}


def without_content(details: Mapping[str, Any]) -> dict[str, Any]:
    """Return the details that don't count as content: the tools, without their parameters."""
    tools = [
        {**tool, "parameters": None} if "parameters" in tool else tool
        for tool in details.get(TOOLS, ())
    ]
    return {TOOLS: tools} if tools else {}


def json_of(value: Any) -> str:
    """Serialize a value to compact JSON, with a placeholder for what JSON can't represent."""
    return _json(value, default=lambda _: _UNREADABLE, separators=(",", ":"))


def text_of(value: Any) -> str:
    """Serialize a value, including pydantic models in it, to JSON with spaces."""
    return _json(value, default=_dumped)


def _json(value: Any, **how: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, **how)
    except (TypeError, ValueError, RecursionError):
        return _UNREADABLE


def _dumped(value: Any) -> Any:
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else _UNREADABLE


def _message(content: types.Content) -> dict[str, Any]:
    return {"role": _ROLES.get(content.role or "", ""), "parts": _parts(content.parts or ())}


def _parts(parts: Sequence[types.Part]) -> list[dict[str, Any]]:
    shapes = (_part(part, index) for index, part in enumerate(parts))
    return [part for part in shapes if part is not None]


def _part(part: types.Part, index: int) -> dict[str, Any] | None:
    if part.text is not None:
        return {"content": part.text, "type": "text"}
    if blob := part.inline_data:
        data = {"mime_type": blob.mime_type or "", "data": blob.data or b""}
        return {**data, "type": "blob"}
    if file := part.file_data:
        uri = {"mime_type": file.mime_type or "", "uri": file.file_uri or ""}
        return {**uri, "type": "file_data"}
    if call := part.function_call:
        fields = {"id": call.id or _id(call.name, index), "name": call.name or ""}
        return {**fields, "arguments": _mapping(call.args), "type": "tool_call"}
    if answer := part.function_response:
        fields = {"id": answer.id or _id(answer.name, index)}
        return {**fields, "response": _mapping(answer.response), "type": "tool_call_response"}
    return None


def _id(name: str | None, index: int) -> str:
    return f"{name}_{index}" if name else f"{index}"


def _mapping(value: Any) -> Any:
    if value is None:
        return None
    shape = plain(value)
    return shape if isinstance(shape, dict) else {"value": shape}


def plain(value: Any) -> Any:
    """Convert a value to dicts, lists and the scalar types that log records can hold."""
    if value is None or isinstance(value, str | bool | int | float | bytes):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, Sequence):
        return [plain(each) for each in value]
    if isinstance(value, BaseModel):
        return plain(value.model_dump(exclude_none=True))
    return _UNREADABLE


def _instructions(instruction: Any) -> list[dict[str, Any]]:
    if not instruction:
        return []
    if isinstance(instruction, types.Content):
        return _parts(instruction.parts or ())
    several = instruction if isinstance(instruction, list) else [instruction]
    return _parts([types.Part(text=each) if isinstance(each, str) else each for each in several])


def _definitions(tool: Any) -> Iterator[dict[str, Any]]:
    """Yield a tool's definitions. Requests can also hold tools that only google-genai can read."""
    if not isinstance(tool, types.Tool):
        yield {"name": "UnserializableTool", "type": type(tool).__name__}
        return
    for each in tool.function_declarations or ():
        parameters = each.parameters or each.parameters_json_schema
        yield {
            "name": each.name or type(each).__name__,
            "description": each.description,
            "parameters": None if parameters is None else plain(parameters),
            "type": "function",
        }
    for name, value in tool.model_dump().items():
        if value is not None and name != "function_declarations":
            yield {"name": name, "type": name}
