"""Structured answers, whose schemas are Python types or JSON schemas (adk-runtime 6.4, 7.6)."""

import json
import re
from typing import Any

from google.genai import types
from pydantic import TypeAdapter, ValidationError

from devui.runtime.mistakes import text_of

_FENCE = re.compile(r"```(?:[A-Za-z]\w*)?")


def parse_output(schema: Any, text: str) -> Any:
    """Parse JSON, possibly in a code fence, and validate it against a schema.

    If the schema accepts strings, the text need not be JSON: `7` is valid for `str`, and `yes` for
    Literal["yes"].

    Raises:
        ValueError: the text isn't JSON, or doesn't match the schema.
    """
    try:
        return _validate(schema, _json(text))
    except ValueError as error:
        if _is_wanted(schema, text):
            return text
        raise ValueError(text_of(error)) from error


validate_schema = parse_output
"""google-adk's name for it, in `utils._schema_utils`."""


def conformed(schema: Any, value: Any) -> Any:
    """Validate a value against a Python type, and return it in JSON types without None values.

    The value isn't validated against a JSON schema, given as a dict or a `types.Schema`:
    keeping to it is left to the model.

    Raises:
        ValueError: the value doesn't match the type.
    """
    try:
        return _validate(schema, value)
    except ValidationError as error:
        raise ValueError(str(error)) from error


def json_schema(schema: Any) -> dict[str, Any]:
    """Return the JSON schema of a Python type, `types.Schema` or dict."""
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
            f"{bare[:80]!r} is not valid JSON ({error}). Tell the model to answer only with JSON."
        ) from error


def _is_wanted(schema: Any, text: str) -> bool:
    """Return whether a schema accepts the text as it is."""
    if isinstance(schema, dict | types.Schema):
        return False
    try:
        TypeAdapter(schema).validate_python(text, strict=True)
    except ValidationError:
        return False
    return True
