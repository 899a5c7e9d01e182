"""Structured answers: shapes given as Python types or as schemas (adk-runtime 6.4, 7.6)."""

import json
import re
from typing import Any

from google.genai import types
from pydantic import TypeAdapter, ValidationError

from devui.runtime.mistakes import text_of

_FENCE = re.compile(r"```(?:[A-Za-z]\w*)?")


def parse_output(schema: Any, text: str) -> Any:
    """The JSON in a text, which may stand in a code fence, checked against a schema.

    A text that is asked for need not be JSON: `7` is one for `str`, and `yes` for Literal["yes"].

    Raises:
        ValueError: it is not JSON, or not of that shape.
    """
    try:
        return _validate(schema, _json(text))
    except ValueError as error:
        if _is_wanted(schema, text):
            return text
        raise ValueError(text_of(error)) from error


validate_schema = parse_output
"""google-adk's name, in its `utils._schema_utils`."""


def conformed(schema: Any, value: Any) -> Any:
    """A value checked against a Python type, in the form of JSON without None values.

    A JSON schema, given as a dict or a `types.Schema`, is the model's business: the
    value is not checked against it.

    Raises:
        ValueError: the value is not of that shape.
    """
    try:
        return _validate(schema, value)
    except ValidationError as error:
        raise ValueError(str(error)) from error


def json_schema(schema: Any) -> dict[str, Any]:
    """The JSON schema of a shape."""
    if isinstance(schema, dict):
        return dict(schema)
    if isinstance(schema, types.Schema):
        return schema.json_schema.model_dump(mode="json", by_alias=True, exclude_none=True)
    return TypeAdapter(schema).json_schema()


def _validate(schema: Any, value: Any) -> Any:
    if isinstance(schema, dict | types.Schema):
        return value
    adapter: TypeAdapter[Any] = TypeAdapter(schema)
    return adapter.dump_python(adapter.validate_python(value), mode="json", exclude_none=True)


def _json(text: str) -> Any:
    bare = text.strip()
    begin = _FENCE.match(bare)
    fenced = begin and len(bare) >= 6 and bare.endswith("```")
    try:
        return json.loads(bare[begin.end() : -3] if begin and fenced else bare)
    except json.JSONDecodeError as error:
        raise ValueError(
            f"{bare[:80]!r} is no JSON ({error}). Tell the model to answer with JSON alone."
        ) from error


def _is_wanted(schema: Any, text: str) -> bool:
    """Whether a schema asks for such a text."""
    if isinstance(schema, dict | types.Schema):
        return False
    try:
        TypeAdapter(schema).validate_python(text, strict=True)
    except ValidationError:
        return False
    return True
