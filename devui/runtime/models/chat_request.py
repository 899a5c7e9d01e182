"""A request in the form of OpenAI's chat completions (adk-runtime 9.4)."""

import json
from typing import Any

from google.genai import types

from devui.runtime.halves import sendable
from devui.runtime.models.answer_format import answer_format
from devui.runtime.models.base_llm import START_HINT
from devui.runtime.models.chat_dialect import Dialect, Json
from devui.runtime.models.chat_messages import messages, system_text
from devui.runtime.models.llm_request import LlmRequest
from devui.runtime.models.output_schema import json_schema

_SETTINGS = {
    "temperature": "temperature",
    "top_p": "top_p",
    "stop_sequences": "stop",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
    "seed": "seed",
    "response_logprobs": "logprobs",
    "logprobs": "top_logprobs",
}
"""Settings of google-genai and their names here."""
_CHOICES = {
    types.FunctionCallingConfigMode.ANY: "required",
    types.FunctionCallingConfigMode.NONE: "none",
}
"""Others leave the choice to the model, as services do by themselves."""
_LONGEST = 1024
"""Characters of a tool's description that OpenAI takes."""


def chat_request(llm_request: LlmRequest, model: str, dialect: Dialect) -> Json:
    """The body of a request: messages, tools, answer format and settings that are set.

    The limit of output tokens is left to the caller: services disagree about its name.
    """
    config = llm_request.config
    found = messages(llm_request.contents, dialect)
    if not any(message["role"] != "assistant" for message in found):  # which services refuse
        found.append({"role": "user", "content": START_HINT})
    if text := system_text(config.system_instruction):
        found.insert(0, {"role": "system", "content": sendable(text)})
    body: Json = {"model": model, "messages": found}
    for name, theirs in _SETTINGS.items():
        value = getattr(config, name)
        if value is not None:
            body[theirs] = value
    if tools := _tools(config.tools or [], dialect):
        body["tools"] = tools
        if choice := _choice(config.tool_config):
            body["tool_choice"] = choice
    if answer := answer_format(config, gemini=dialect.geminis):
        body["response_format"] = answer
    return body


def _tools(tools: Any, dialect: Dialect) -> list[Json]:
    found: list[Json] = []
    for tool in tools:
        if not isinstance(tool, types.Tool):
            continue
        declarations = tool.function_declarations or []
        found += [{"type": "function", "function": _function(one)} for one in declarations]
        if dialect.litellms and not declarations:  # a service's own tool: litellm knows which
            found.append(tool.model_dump(mode="json", by_alias=True, exclude_none=True))
    return [tool for tool in found if tool]


def _function(declaration: types.FunctionDeclaration) -> Json:
    schema = declaration.parameters_json_schema
    if schema is None and declaration.parameters is not None:
        schema = json_schema(declaration.parameters)
    return {
        "name": declaration.name or "",
        "description": _description(declaration),
        "parameters": schema or {"type": "object", "properties": {}},
    }


def _description(declaration: types.FunctionDeclaration) -> str:
    """What a tool does, and the shape of what it returns, which has no place of its own."""
    said = declaration.description or ""
    shape = declaration.response_json_schema
    if not shape and declaration.response:
        shape = json_schema(declaration.response)
    if not isinstance(shape, dict) or set(shape) <= {"type"}:
        return said
    told = json.dumps(shape, sort_keys=True, separators=(",", ":"))
    whole = f"{said}\nIts result has this JSON schema: {told}".lstrip("\n")
    return whole if len(whole) <= _LONGEST else said


def _choice(config: Any) -> Any:
    calling = config.function_calling_config if isinstance(config, types.ToolConfig) else None
    if calling is None or calling.mode is None:
        return None
    names = calling.allowed_function_names or []
    if calling.mode == types.FunctionCallingConfigMode.ANY and len(names) == 1:
        return {"type": "function", "function": {"name": names[0]}}
    return _CHOICES.get(calling.mode)
