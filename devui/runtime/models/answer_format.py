"""The form in which an answer is wanted, as chat completions ask for it (adk-runtime 9.4)."""

from copy import deepcopy
from typing import Any

from google.genai import types

from devui.runtime.models.chat_dialect import Json
from devui.runtime.models.output_schema import json_schema

_UNNAMED = "response"
_READY = ("json_object", "json_schema")
"""Types of what is an answer format already, and no schema."""


def answer_format(config: types.GenerateContentConfig, *, gemini: bool = False) -> Json | None:
    """The format that the settings ask for; None if any will do.

    A shape is asked for strictly, so that the service keeps to it, where it has objects of known
    properties alone: all of them are then required. Others, such as lists and free dicts, would
    be refused; they are sent as they are.

    Args:
        config: The settings of the request.
        gemini: Whether litellm speaks Gemini's own protocol, which has another place for it.
    """
    schema = config.response_json_schema or config.response_schema
    if schema is None:
        return {"type": "json_object"} if config.response_mime_type == "application/json" else None
    if isinstance(schema, dict) and schema.get("type") in _READY:
        return schema
    if gemini:
        return {"type": "json_object", "response_schema": _geminis(schema)}
    shape = json_schema(schema)
    named: Json = {"name": _name(schema, shape), "schema": shape}
    if _is_closed(shape):
        named |= {"strict": True, "schema": _strict(shape)}
    return {"type": "json_schema", "json_schema": named}


def _name(schema: Any, shape: Json) -> str:
    name = schema.__name__ if isinstance(schema, type) else shape.get("title")
    return str(name or _UNNAMED).replace(" ", "_")


def _geminis(schema: Any) -> Json:
    if isinstance(schema, types.Schema):
        return schema.model_dump(mode="json", by_alias=True, exclude_none=True)
    return json_schema(schema)


def _is_closed(shape: Json) -> bool:
    """Whether the shape is an object, and all objects in it have known properties alone."""
    return shape.get("type") == "object" and not any(map(_is_open, _schemas(shape)))


def _is_open(schema: Json) -> bool:
    if schema.get("type") == "object" and "properties" not in schema:
        return True
    return bool(schema.get("additionalProperties")) or not schema


def _strict(shape: Json) -> Json:
    """The shape with all properties required and no others allowed; a reference stands alone."""
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
    """A schema and all that stand in it."""
    inner = [
        one
        for holder in ("properties", "$defs")
        for one in (schema.get(holder) or {}).values()
        if isinstance(one, dict)
    ]
    inner += [one for several in ("anyOf", "oneOf", "allOf") for one in schema.get(several) or []]
    if isinstance(schema.get("items"), dict):
        inner.append(schema["items"])
    return [schema, *(found for one in inner for found in _schemas(one))]
