"""Structured answers: shapes given as Python types or as schemas (adk-runtime 6.4, 7.6)."""

import json
import re
from typing import Any

from google.genai import types
from pydantic import TypeAdapter, ValidationError

_FENCE = re.compile(r"\s*```(?:json)?\s*\n(.*?)\n?\s*```\s*", re.DOTALL | re.IGNORECASE)


def parsed(schema: Any, text: str) -> Any:
    """The JSON in a text, which may stand in a code fence, checked against a schema.

    Raises:
        ValueError: it is not JSON, or not of that shape.
    """
    fenced = _FENCE.fullmatch(text)
    return conformed(schema, json.loads(fenced[1] if fenced else text))


validate_schema = parsed
"""google-adk's name, in its `utils._schema_utils`."""


def conformed(schema: Any, value: Any) -> Any:
    """A value checked against a Python type, in the form of JSON without None values.

    A JSON schema, given as a dict or a `types.Schema`, is the model's business: the
    value is not checked against it.

    Raises:
        ValueError: the value is not of that shape.
    """
    if isinstance(schema, dict | types.Schema):
        return value
    adapter: TypeAdapter[Any] = TypeAdapter(schema)
    try:
        checked = adapter.validate_python(value)
    except ValidationError as error:
        raise ValueError(str(error)) from error
    return adapter.dump_python(checked, mode="json", exclude_none=True)


def json_schema(schema: Any) -> dict[str, Any]:
    """The JSON schema of a shape."""
    if isinstance(schema, dict):
        return dict(schema)
    if isinstance(schema, types.Schema):
        return schema.json_schema.model_dump(mode="json", by_alias=True, exclude_none=True)
    return TypeAdapter(schema).json_schema()
