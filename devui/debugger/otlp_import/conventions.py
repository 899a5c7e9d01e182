"""Reads what spans say about agents, models and tools, in several naming conventions.

They are OpenTelemetry's for generative AI, google-adk's own (`gcp.vertex.agent.*`),
OpenInference (`llm.*`, `openinference.*`) and OpenLLMetry (`traceloop.*`, `gen_ai.prompt.N.*`).
What a span doesn't say is None.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

from devui.debugger.otlp_import.spans import ReceivedSpan

Kind = Literal["agent", "model", "tool"]
Json = dict[str, Any]

_OPERATIONS: Final[Mapping[str, Kind]] = {
    "invoke_agent": "agent",
    "chat": "model",
    "generate_content": "model",
    "text_completion": "model",
    "completion": "model",
    "execute_tool": "tool",
    "agent": "agent",
    "llm": "model",
    "tool": "tool",
}
_MERGED: Final = "(merged tools)"
_OPERATION_NAMES: Final = (
    "gen_ai.operation.name",
    "openinference.span.kind",
    "traceloop.span.kind",
)
_ROLES: Final = {"assistant": "model", "model": "model", "ai": "model"}
_INDEXED: Final = re.compile(r"(?P<index>\d+)\.(?:message\.)?(?P<member>.+)")
_UNKNOWN: Final = "<not specified>"
_WITHHELD: Final = {"{}", "N/A", "<elided>", "<not serializable>"}
_SETTINGS: Final = {
    "temperature": "temperature",
    "top_p": "topP",
    "top_k": "topK",
    "max_tokens": "maxOutputTokens",
    "seed": "seed",
    "frequency_penalty": "frequencyPenalty",
    "presence_penalty": "presencePenalty",
}
_COUNTS: Final = {
    "promptTokenCount": (
        "gen_ai.usage.input_tokens",
        "gen_ai.usage.prompt_tokens",
        "llm.token_count.prompt",
    ),
    "candidatesTokenCount": (
        "gen_ai.usage.output_tokens",
        "gen_ai.usage.completion_tokens",
        "llm.token_count.completion",
    ),
    "cachedContentTokenCount": (
        "gen_ai.usage.cache_read.input_tokens",
        "llm.token_count.prompt_details.cache_read",
    ),
    "thoughtsTokenCount": (
        "gen_ai.usage.reasoning.output_tokens",
        "llm.token_count.completion_details.reasoning",
    ),
}


def first(span: ReceivedSpan, *names: str) -> Any:
    """Return the first of these attributes that the span has."""
    return next((span.attributes[name] for name in names if name in span.attributes), None)


def kind_of(span: ReceivedSpan) -> Kind | None:
    """Return whether the span is of an agent, a model or a tool; None for all others."""
    if first(span, "gen_ai.tool.name") == _MERGED:
        return None
    for name in _OPERATION_NAMES:
        kind = _OPERATIONS.get(str(span.attributes.get(name)).lower())
        if kind is not None:
            return kind
    return "model" if span.name == "call_llm" or "llm.request.type" in span.attributes else None


def session_of(span: ReceivedSpan) -> str | None:
    """Return the id of the conversation."""
    return _text(
        first(
            span,
            "gen_ai.conversation.id",
            "gcp.vertex.agent.session_id",
            "session.id",
            "traceloop.association.properties.session_id",
        )
    )


def user_of(span: ReceivedSpan) -> str | None:
    """Return the id of the user."""
    names = ("user.id", "enduser.id", "traceloop.association.properties.user_id")
    return _text(first(span, *names))


def name_of(span: ReceivedSpan, kind: Kind) -> str:
    """Return the name of the agent, model or tool, or else of the span."""
    names = {
        "agent": ("gen_ai.agent.name", "agent.name", "traceloop.entity.name"),
        "model": ("gen_ai.request.model", "llm.model_name", "gen_ai.response.model"),
        "tool": ("gen_ai.tool.name", "tool.name", "traceloop.entity.name"),
    }[kind]
    return _text(first(span, *names)) or span.name or kind


def event_of(span: ReceivedSpan) -> str | None:
    """Return the id of the resulting event, which only google-adk gives."""
    return _text(first(span, "gcp.vertex.agent.event_id"))


def call_of(span: ReceivedSpan) -> str | None:
    """Return the id of a tool call."""
    call = _text(first(span, "gen_ai.tool.call.id", "tool_call.id"))
    return None if call == _UNKNOWN else call


def arguments_of(span: ReceivedSpan) -> Any:
    """Return the arguments of a tool call."""
    names = ("gen_ai.tool.call.arguments", "gcp.vertex.agent.tool_call_args")
    return _parse(first(span, *names, "tool.parameters", "input.value", "traceloop.entity.input"))


def result_of(span: ReceivedSpan) -> Any:
    """Return the result of a tool call."""
    names = ("gen_ai.tool.call.result", "gcp.vertex.agent.tool_response")
    return _parse(first(span, *names, "output.value", "traceloop.entity.output"))


def request_of(span: ReceivedSpan) -> Json | None:
    """Return a model request as `system`, `tools`, `config` and `contents`; None without any."""
    own = _parse(first(span, "gcp.vertex.agent.llm_request"))
    if isinstance(own, dict) and own:
        return _adk_request(own)
    system = _parse(first(span, "gen_ai.system_instructions"))
    contents = [_content(each) for each in _messages(span, "input")]
    if not contents and not system:
        return None
    tools = _parse(first(span, "gen_ai.tool.definitions"))
    parts = [part for each in _dicts(system) for part in _parts({"parts": [each]})]
    return {
        "system": {"parts": parts} if parts else None,
        "tools": _tools(_dicts(tools)) or None,
        "config": _settings(span) or None,
        "contents": contents,
    }


def answer_of(span: ReceivedSpan) -> Json:
    """Return a model's answer in the form of ADK's responses, as far as it is given."""
    answer: Json = {}
    own = _parse(first(span, "gcp.vertex.agent.llm_response"))
    if isinstance(own, dict) and isinstance(own.get("content"), dict):
        answer["content"] = _adk_content(own["content"])
    elif messages := [_content(each) for each in _messages(span, "output")]:
        parts = [part for each in messages for part in each["parts"]]
        answer["content"] = {"role": "model", "parts": parts}
    usage = {name: _count(first(span, *names)) for name, names in _COUNTS.items()}
    if counts := {name: count for name, count in usage.items() if count is not None}:
        answer["usageMetadata"] = _usage(counts)
    reasons = first(span, "gen_ai.response.finish_reasons")
    if isinstance(reasons, list) and reasons:
        answer["finishReason"] = str(reasons[0]).upper()
    if model := _text(first(span, "gen_ai.response.model", "llm.model_name")):
        answer["modelVersion"] = model
    return answer


def _usage(counts: Json) -> Json:
    """Convert counts: the conventions include thoughts in the output, ADK separates them."""
    thoughts = counts.get("thoughtsTokenCount", 0)
    if "candidatesTokenCount" in counts:
        counts["candidatesTokenCount"] = max(0, counts["candidatesTokenCount"] - thoughts)
    total = (counts.get(name, 0) for name in ("promptTokenCount", "candidatesTokenCount"))
    return {**counts, "totalTokenCount": sum(total) + thoughts}


def _settings(span: ReceivedSpan) -> Json:
    settings = {key: first(span, f"gen_ai.request.{name}") for name, key in _SETTINGS.items()}
    return {key: value for key, value in settings.items() if value is not None}


def _messages(span: ReceivedSpan, side: Literal["input", "output"]) -> list[Json]:
    """Return messages in the form of OpenTelemetry's conventions, from any known attributes."""
    messages = _parse(first(span, f"gen_ai.{side}.messages"))
    if messages is not None:
        return _dicts(messages)
    older = "gen_ai.prompt." if side == "input" else "gen_ai.completion."
    for prefix in (f"llm.{side}_messages.", older):
        if members := _by_index(span, prefix):
            return [_message(members[index]) for index in sorted(members)]
    return []


def _by_index(span: ReceivedSpan, prefix: str) -> dict[int, Json]:
    members: dict[int, Json] = {}
    for name, value in span.attributes.items():
        match = _INDEXED.fullmatch(name[len(prefix) :]) if name.startswith(prefix) else None
        if match is not None:
            members.setdefault(int(match["index"]), {})[match["member"]] = value
    return members


def _message(members: Json) -> Json:
    """Build a message from attributes that each have one of its members."""
    parts: list[Json] = []
    content, call = members.get("content"), members.get("tool_call_id")
    if call is not None:
        answer = {"type": "tool_call_response", "id": call, "name": members.get("name")}
        parts.append({**answer, "response": _parse(content)})
    elif content is not None:
        parts.append({"type": "text", "content": content})
    for index in range(len(members)):
        for prefix, inner in (
            (f"tool_calls.{index}.tool_call.", "function."),
            (f"tool_calls.{index}.", ""),
        ):
            name = members.get(f"{prefix}{inner}name")
            if name is not None:
                arguments = _parse(members.get(f"{prefix}{inner}arguments"))
                tool_call = {"type": "tool_call", "id": members.get(f"{prefix}id"), "name": name}
                parts.append({**tool_call, "arguments": arguments})
                break
    return {"role": members.get("role"), "parts": parts}


def _content(message: Json) -> Json:
    role = str(message.get("role") or "user")
    return {"role": _ROLES.get(role, "user"), "parts": _parts(message)}


def _parts(message: Json) -> list[Json]:
    parts = message.get("parts")
    if not isinstance(parts, list):
        text = message.get("content")
        return [{"text": _plain(text)}] if text is not None else []
    return [part for each in parts if isinstance(each, dict) for part in _part(each)]


def _part(part: Json) -> Iterator[Json]:
    name = _text(part.get("name"))
    identity = {
        key: value for key, value in (("id", _text(part.get("id"))), ("name", name)) if value
    }
    match part.get("type"):
        case "tool_call":
            yield {"functionCall": {**identity, "args": _mapping(part.get("arguments"))}}
        case "tool_call_response":
            response = part.get("response", part.get("result"))
            yield {"functionResponse": {**identity, "response": _mapping(response)}}
        case "reasoning":
            yield {"text": _plain(part.get("content")), "thought": True}
        case "text":
            yield {"text": _plain(part.get("content"))}
        case kind:
            yield {"text": f"<{kind}: {_plain(part.get('mime_type') or part.get('uri') or '')}>"}


def _tools(definitions: list[Json]) -> list[Json]:
    functions = [
        {key: each[key] for key in ("name", "description", "parameters") if each.get(key)}
        for each in definitions
        if each.get("type", "function") == "function"
    ]
    return [{"functionDeclarations": functions}] if functions else []


_ADK_MEMBERS: Final = {
    "function_call": "functionCall",
    "function_response": "functionResponse",
    "function_declarations": "functionDeclarations",
    "inline_data": "inlineData",
    "file_data": "fileData",
    "executable_code": "executableCode",
    "code_execution_result": "codeExecutionResult",
    "parameters_json_schema": "parametersJsonSchema",
    "max_output_tokens": "maxOutputTokens",
    "top_p": "topP",
    "top_k": "topK",
    "stop_sequences": "stopSequences",
}


def _adk_request(request: Json) -> Json:
    config = request.get("config")
    settings = dict(config) if isinstance(config, dict) else {}
    system, tools = settings.pop("system_instruction", None), settings.pop("tools", None)
    return {
        "system": system or None,
        "tools": [_with_adk_names(each) for each in _dicts(tools)] or None,
        "config": _with_adk_names(settings) or None,
        "contents": [_adk_content(each) for each in _dicts(request.get("contents"))],
    }


def _adk_content(content: Json) -> Json:
    parts = [_with_adk_names(part) for part in _dicts(content.get("parts"))]
    return {"role": _text(content.get("role")) or "user", "parts": parts}


def _with_adk_names(members: Json) -> Json:
    """Rename members as in ADK's wire form; names given by authors are nested deeper and stay."""
    return {_ADK_MEMBERS.get(key, key): value for key, value in members.items()}


def _parse(value: Any) -> Any:
    """Parse a JSON text; other texts are returned unchanged, withheld values as None."""
    if not isinstance(value, str):
        return value
    if value in _WITHHELD:
        return None
    try:
        return json.loads(value, parse_constant=str)  # NaN isn't JSON
    except (ValueError, RecursionError):
        return value


def _dicts(value: Any) -> list[Json]:
    several = value if isinstance(value, list) else [value]
    return [each for each in several if isinstance(each, dict)]


def _mapping(value: Any) -> Json | None:
    result = _parse(value)
    return result if result is None or isinstance(result, dict) else {"result": result}


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _text(value: Any) -> str | None:
    return None if value is None or isinstance(value, list | dict) else str(value) or None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
