"""A request in the form of OpenAI's chat completions (adk-runtime 9.4)."""

from typing import Any

from google.genai import types

from devui.runtime.models.chat_messages import Json, messages, system_text
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
    types.FunctionCallingConfigMode.AUTO: "auto",
}


def chat_request(llm_request: LlmRequest, model: str, *, with_thoughts: bool = False) -> Json:
    """The body of a request: messages, tools, answer format and settings that are set.

    The limit of output tokens is left to the caller: services disagree about its name.
    """
    config = llm_request.config
    found = messages(llm_request.contents, with_thoughts=with_thoughts)
    if text := system_text(config.system_instruction):
        found.insert(0, {"role": "system", "content": text})
    body: Json = {"model": model, "messages": found}
    for name, theirs in _SETTINGS.items():
        value = getattr(config, name)
        if value is not None:
            body[theirs] = value
    if tools := _tools(config.tools or []):
        body["tools"] = tools
        if choice := _choice(config.tool_config):
            body["tool_choice"] = choice
    if answer := _response_format(config):
        body["response_format"] = answer
    return body


def _tools(tools: Any) -> list[Json]:
    declarations = [
        declaration
        for tool in tools
        if isinstance(tool, types.Tool)
        for declaration in tool.function_declarations or []
    ]
    return [{"type": "function", "function": _function(one)} for one in declarations]


def _function(declaration: types.FunctionDeclaration) -> Json:
    schema = declaration.parameters_json_schema
    if schema is None and declaration.parameters is not None:
        schema = json_schema(declaration.parameters)
    return {
        "name": declaration.name or "",
        "description": declaration.description or "",
        "parameters": schema or {"type": "object", "properties": {}},
    }


def _choice(config: Any) -> Any:
    calling = config.function_calling_config if isinstance(config, types.ToolConfig) else None
    if calling is None or calling.mode is None:
        return None
    names = calling.allowed_function_names or []
    if calling.mode == types.FunctionCallingConfigMode.ANY and len(names) == 1:
        return {"type": "function", "function": {"name": names[0]}}
    return _CHOICES.get(calling.mode)


def _response_format(config: types.GenerateContentConfig) -> Json | None:
    schema = config.response_json_schema or config.response_schema
    if schema is not None:
        shape = json_schema(schema)
        name = str(shape.get("title") or "answer").replace(" ", "_")
        return {"type": "json_schema", "json_schema": {"name": name, "schema": shape}}
    if config.response_mime_type == "application/json":
        return {"type": "json_object"}
    return None
