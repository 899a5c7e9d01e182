"""Converts tools to MCP's form (adk-runtime 8.9). Needs `pip install devui[mcp]`."""

from typing import Any

from google.genai import types

from devui.runtime.tools.base_tool import BaseTool

try:
    import mcp.types
except ImportError as error:
    raise ImportError(
        "MCP tools need the package mcp, version 2 or newer: pip install 'devui[mcp]'."
    ) from error

_ALWAYS = {
    "title": "title",
    "description": "description",
    "default": "default",
    "enum": "enum",
    "format": "format",
    "example": "example",
}
_NUMBER = {"minimum": "minimum", "maximum": "maximum"}
_BY_TYPE = {
    types.Type.STRING: {
        "pattern": "pattern",
        "min_length": "minLength",
        "max_length": "maxLength",
    },
    types.Type.NUMBER: _NUMBER,
    types.Type.INTEGER: _NUMBER,
    types.Type.ARRAY: {"min_items": "minItems", "max_items": "maxItems"},
    types.Type.OBJECT: {
        "required": "required",
        "min_properties": "minProperties",
        "max_properties": "maxProperties",
    },
}
"""The JSON schema keywords for the fields of a Gemini schema, by type."""


def adk_to_mcp_tool_type(tool: BaseTool) -> mcp.types.Tool:
    """Convert a tool to the form in which your own MCP server lists it."""
    declared = tool._get_declaration()
    schema: Any = {}
    if declared is not None and declared.parameters_json_schema:
        schema = declared.parameters_json_schema
    elif declared is not None and declared.parameters:
        schema = gemini_to_json_schema(declared.parameters)
    return mcp.types.Tool(name=tool.name, description=tool.description, input_schema=schema)


def gemini_to_json_schema(gemini_schema: types.Schema) -> dict[str, Any]:
    """Convert a Gemini schema to the equivalent JSON schema.

    Raises:
        TypeError: it is not a `types.Schema`.
    """
    if not isinstance(gemini_schema, types.Schema):
        raise TypeError(f"Expected a types.Schema, got {type(gemini_schema).__name__}.")
    kind = gemini_schema.type or types.Type.TYPE_UNSPECIFIED
    has_type = kind is not types.Type.TYPE_UNSPECIFIED
    schema: dict[str, Any] = {"type": kind.value.lower() if has_type else "null"}
    if gemini_schema.nullable:
        schema["nullable"] = True
    for ours, theirs in {**_ALWAYS, **_BY_TYPE.get(kind, {})}.items():
        if (value := getattr(gemini_schema, ours)) is not None:
            schema[theirs] = value
    if kind is types.Type.ARRAY and gemini_schema.items is not None:
        schema["items"] = gemini_to_json_schema(gemini_schema.items)
    if kind is types.Type.OBJECT and gemini_schema.properties is not None:
        schema["properties"] = {
            name: gemini_to_json_schema(each) for name, each in gemini_schema.properties.items()
        }
    if gemini_schema.any_of is not None:
        schema["anyOf"] = [gemini_to_json_schema(each) for each in gemini_schema.any_of]
    return schema
