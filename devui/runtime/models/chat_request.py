"""Requests in OpenAI's chat completions format (adk-runtime 9.4)."""

import json
from copy import deepcopy
from typing import Any

from google.genai import types

from devui.runtime.jsonable import sendable
from devui.runtime.models.base_llm import START_HINT
from devui.runtime.models.chat_dialect import Dialect, Json
from devui.runtime.models.chat_messages import messages, system_text
from devui.runtime.models.llm_request import LlmRequest
from devui.runtime.models.output_schema import json_schema

# The requested format of the answer in chat completions (adk-runtime 9.4).


_UNNAMED = "response"
_READY = ("json_object", "json_schema")
"""Types of dicts that are answer formats already, not schemas."""


def answer_format(config: types.GenerateContentConfig, *, gemini: bool = False) -> Json | None:
    """Return the answer format that the settings ask for, or None if they don't.

    Strict mode makes the service keep to a schema. It is used if the schema is an object and all
    objects in it have only known properties, all of which it then requires. Other schemas, such
    as lists and free-form dicts, would be refused in strict mode and are sent without it.

    Args:
        config: The settings of the request.
        gemini: Whether litellm uses Gemini's native protocol, which has another field for schemas.
    """
    schema = config.response_json_schema or config.response_schema
    if schema is None:
        return {"type": "json_object"} if config.response_mime_type == "application/json" else None
    if isinstance(schema, dict) and schema.get("type") in _READY:
        return schema
    if gemini:
        return {"type": "json_object", "response_schema": _geminis(schema)}
    shape = json_schema(schema)
    named_schema: Json = {"name": _name(schema, shape), "schema": shape}
    if _is_closed(shape):
        named_schema |= {"strict": True, "schema": _strict(shape)}
    return {"type": "json_schema", "json_schema": named_schema}


def _name(schema: Any, shape: Json) -> str:
    name = schema.__name__ if isinstance(schema, type) else shape.get("title")
    return str(name or _UNNAMED).replace(" ", "_")


def _geminis(schema: Any) -> Json:
    if isinstance(schema, types.Schema):
        return schema.model_dump(mode="json", by_alias=True, exclude_none=True)
    return json_schema(schema)


def _is_closed(shape: Json) -> bool:
    """Return whether the schema is an object, and all objects in it have only known properties."""
    return shape.get("type") == "object" and not any(map(_is_open, _schemas(shape)))


def _is_open(schema: Json) -> bool:
    if schema.get("type") == "object" and "properties" not in schema:
        return True
    return bool(schema.get("additionalProperties")) or not schema


def _strict(shape: Json) -> Json:
    """Require all properties, allow no others, and remove what accompanies references."""
    strict = deepcopy(shape)
    for schema in _schemas(strict):
        if "$ref" in schema:
            reference = schema["$ref"]
            schema.clear()
            schema["$ref"] = reference
        elif schema.get("type") == "object":
            schema["additionalProperties"] = False
            schema["required"] = sorted(schema["properties"])
    return strict


def _schemas(schema: Json) -> list[Json]:
    """Return a schema and all schemas nested in it."""
    inner = [
        one
        for holder in ("properties", "$defs")
        for one in (schema.get(holder) or {}).values()
        if isinstance(one, dict)
    ]
    inner += [one for several in ("anyOf", "oneOf", "allOf") for one in schema.get(several) or []]
    if isinstance(schema.get("items"), dict):
        inner.append(schema["items"])
    return [schema, *(each for one in inner for each in _schemas(one))]


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
"""google-genai's settings and their names in chat completions."""
_CHOICES = {
    types.FunctionCallingConfigMode.ANY: "required",
    types.FunctionCallingConfigMode.NONE: "none",
}
"""Tool choices by mode; other modes leave the choice to the model, which is the default."""
_LONGEST = 1024
"""The longest tool description that OpenAI accepts, in characters."""


def chat_request(llm_request: LlmRequest, model: str, dialect: Dialect) -> Json:
    """Build the body of a request: messages, tools, answer format and settings.

    The caller adds the limit of output tokens, whose name differs between services.
    """
    config = llm_request.config
    chat = messages(llm_request.contents, dialect)
    if not any(message["role"] != "assistant" for message in chat):  # services refuse that
        chat.append({"role": "user", "content": START_HINT})
    if text := system_text(config.system_instruction):
        chat.insert(0, {"role": "system", "content": sendable(text)})
    body: Json = {"model": model, "messages": chat}
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
    entries: list[Json] = []
    for tool in tools:
        if not isinstance(tool, types.Tool):
            continue
        declarations = tool.function_declarations or []
        entries += [{"type": "function", "function": _function(one)} for one in declarations]
        if dialect.litellms and not declarations:  # a service's built-in tool
            entries.append(tool.model_dump(mode="json", by_alias=True, exclude_none=True))
    return [tool for tool in entries if tool]


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
    """Return a tool's description with the schema of its result, which has no field of its own."""
    text = declaration.description or ""
    shape = declaration.response_json_schema
    if not shape and declaration.response:
        shape = json_schema(declaration.response)
    if not isinstance(shape, dict) or set(shape) <= {"type"}:
        return text
    schema_text = json.dumps(shape, sort_keys=True, separators=(",", ":"))
    whole = f"{text}\nIts result has this JSON schema: {schema_text}".lstrip("\n")
    return whole if len(whole) <= _LONGEST else text


def _choice(config: Any) -> Any:
    calling = config.function_calling_config if isinstance(config, types.ToolConfig) else None
    if calling is None or calling.mode is None:
        return None
    names = calling.allowed_function_names or []
    if calling.mode == types.FunctionCallingConfigMode.ANY and len(names) == 1:
        return {"type": "function", "function": {"name": names[0]}}
    return _CHOICES.get(calling.mode)
