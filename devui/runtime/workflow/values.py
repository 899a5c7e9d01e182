"""Validates the values passed between nodes, and reads them from messages (adk-runtime 12.1)."""

import json
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from google.genai import types
from pydantic import BaseModel, TypeAdapter, ValidationError


def conform(schema: Any, value: Any) -> Any:
    """Return a value in the form that a schema asks for; models become dicts without None values.

    A JSON schema is not enforced. In a message, the text or the JSON in it is validated.

    Raises:
        ValueError: the value doesn't fit.
    """
    if value is None or schema is None or isinstance(schema, dict | types.Schema):
        return value
    if isinstance(value, types.Content):
        value = unwrapped(value, schema)
        if schema is str:
            return value
    return plain(TypeAdapter(schema).validate_python(value))


def retitle(error: ValidationError, what: str) -> ValidationError:
    """Return the same error with another title."""
    details: Any = error.errors(include_url=False)
    return ValidationError.from_exception_data(what, details)


def plain(value: Any) -> Any:
    """Return the value with its models as dicts, without their None values."""
    if isinstance(value, BaseModel) and not isinstance(value, types.Content):
        return value.model_dump(exclude_none=True)
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


def unwrapped(content: types.Content, annotation: Any) -> Any:
    """Return what the annotation asks for: the message, its text, or the JSON in the text."""
    if wants_text(annotation):
        return text_of(content)
    if _takes_content(annotation):
        return content
    return json_or_text(text_of(content))


def json_or_text(text: str) -> Any:
    """Return the JSON value that a text contains, or the text if it isn't JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def text_of(content: types.Content) -> str:
    """Return the text of a message, without thoughts."""
    return "".join(part.text for part in content.parts or [] if part.text and not part.thought)


def as_message(value: Any) -> types.Content:
    """Return a value as a user's message: text as it is, structured values as JSON."""
    if isinstance(value, types.Content):
        # A copy, so that it isn't mistaken for the user's own message.
        return value.model_copy(update={"role": "user"})
    if isinstance(value, str):
        text = value
    elif isinstance(value, BaseModel):
        text = value.model_dump_json()
    elif isinstance(value, dict | list):
        text = json.dumps(value, ensure_ascii=False, default=_encodable)
    else:
        text = str(value)
    return types.Content(role="user", parts=[types.Part(text=text)])


def _encodable(value: Any) -> Any:
    """Return a JSON form of a value that the `json` module can't encode."""
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else str(value)


def wants_text(annotation: Any) -> bool:
    """Whether an annotation asks for text: `str`, alone or in a union with None or a message."""
    annotation = _bare(annotation)
    if annotation is str:
        return True
    if get_origin(annotation) not in (Union, UnionType):
        return False
    members = [_bare(member) for member in get_args(annotation)]
    return str in members and all(
        member in (str, type(None)) or _is_content(member) for member in members
    )


def _takes_content(annotation: Any) -> bool:
    annotation = _bare(annotation)
    if annotation in (Any, object) or _is_content(annotation):
        return True
    if get_origin(annotation) in (Union, UnionType):
        return any(_takes_content(member) for member in get_args(annotation))
    return False


def _is_content(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, types.Content)


def _bare(annotation: Any) -> Any:
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation
