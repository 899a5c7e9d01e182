"""Reads stored events (devui's own; adk-runtime 1.2, 2.5).

What a journal holds was written by an `Event`. Validating it as one finds little, and yet would
be most of the work of opening a long session. So plain shapes are read by a narrower schema of the
same models, which checks every value and runs no Python: texts, function calls and their
responses, tokens, state. It refuses everything else, which is then read by the `Event` itself.
"""

import json
from collections.abc import Callable
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin
from uuid import uuid4

from google.genai import types
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import SchemaValidator, ValidationError
from pydantic_core import core_schema as schemas
from pydantic_core.core_schema import CoreSchema

from devui.runtime.events.event import Event, NodeInfo
from devui.runtime.events.event_actions import EventActions

# Events with values that are nested too deeply for the JSON reader.
#
# pydantic writes 255 levels and reads 200. An event between those is in the history for good, and
# must not make its session unreadable. So deep values are taken out, and put back after reading.


Model = TypeVar("Model", bound=BaseModel)

_DEEPEST = 100
"""Deeper than the fields of an event, so that validation sees all of them."""


def read_deep(kind: type[Model], text: str | bytes) -> Model:
    """Return what `kind.model_validate_json` would return if it read any depth.

    Raises ValidationError like that method.
    """
    aside: dict[str, Any] = {}
    shallow = _without_deep(json.loads(text), aside)
    model = kind.model_validate_json(json.dumps(shallow))
    _put_back(model, aside)
    return model


def _without_deep(value: Any, aside: dict[str, Any], depth: int = 0) -> Any:
    """Replace values that are too deep with unique strings, and collect them in `aside`."""
    if not isinstance(value, dict | list):
        return value
    if depth == _DEEPEST:
        name = uuid4().hex
        aside[name] = value
        return name
    if isinstance(value, dict):
        return {key: _without_deep(each, aside, depth + 1) for key, each in value.items()}
    return [_without_deep(each, aside, depth + 1) for each in value]


def _put_back(value: Any, aside: dict[str, Any]) -> None:
    """Replace the strings with the values that they stand for, in place."""
    if isinstance(value, BaseModel):
        value = vars(value)
    if not isinstance(value, dict | list):
        return
    for key, each in list(value.items() if isinstance(value, dict) else enumerate(value)):
        if isinstance(each, str) and each in aside:
            value[key] = aside[each]
        else:
            _put_back(each, aside)


_TOO_DEEP = "recursion limit exceeded"
"""pydantic's message about JSON that is nested too deeply."""
_MODELS: tuple[type[BaseModel], ...] = (
    Event,
    EventActions,
    NodeInfo,
    types.Content,
    types.Part,
    types.Blob,
    types.FunctionCall,
    types.FunctionResponse,
    types.GenerateContentResponseUsageMetadata,
    types.ModalityTokenCount,
)
"""The models that a plain event consists of. The Python in their validators has nothing to check
in what JSON can hold."""
_VALUES: dict[Any, CoreSchema] = {
    Any: schemas.any_schema(),
    str: schemas.str_schema(),
    bool: schemas.bool_schema(),
    int: schemas.int_schema(),
    float: schemas.float_schema(),
    bytes: schemas.bytes_schema(),
}
_COLLECTIONS: dict[Any, Callable[..., CoreSchema]] = {
    list: schemas.list_schema,
    set: schemas.set_schema,
    dict: schemas.dict_schema,
}


def read_event(text: str | bytes) -> Event:
    """Return the event that was stored as this JSON, in ADK's format or that of its wire.

    The result is that of `Event.model_validate_json`, and so is the ValidationError for bad JSON.
    """
    try:
        event: Event = plain_reader().validate_json(text)
    except ValidationError:
        return _read_any(text)
    return event


def _read_any(text: str | bytes) -> Event:
    try:
        return Event.model_validate_json(text)
    except ValidationError as error:
        if not any(_TOO_DEEP in detail["msg"] for detail in error.errors(include_url=False)):
            raise
        try:
            return read_deep(Event, text)
        except (json.JSONDecodeError, RecursionError):
            raise error from None


@cache
def plain_reader() -> SchemaValidator:
    """Return a validator that reads only plain events, and raises ValidationError for others."""
    schema = _of_model(Event)
    try:
        # Otherwise it would use the models' own validators if they exist already.
        return SchemaValidator(schema, _use_prebuilt=False)
    except TypeError:  # a pydantic without this option: correct, but slower
        return SchemaValidator(schema)


def _of_model(model: type[BaseModel]) -> CoreSchema:
    fields = {name: _of_field(name, field) for name, field in model.model_fields.items()}
    return schemas.model_schema(
        model,
        schemas.model_fields_schema(fields, extra_behavior="forbid"),
        post_init=model.__pydantic_post_init__,
        config=schemas.CoreConfig(val_json_bytes="base64"),
    )


def _of_field(name: str, field: FieldInfo) -> schemas.ModelField:
    kind = None if field.metadata else _of_type(field.annotation)
    if kind is None:  # the field is accepted only if it is empty
        empty = schemas.dict_schema(max_length=0)
        kind = schemas.none_schema() if field.default_factory is None else empty
    if field.default_factory is not None:
        kind = schemas.with_default_schema(kind, default_factory=field.default_factory)
    elif not field.is_required():
        kind = schemas.with_default_schema(kind, default=field.default)
    names: list[list[str | int]] = [[field.alias or name], [name]]
    return schemas.model_field(kind, validation_alias=names)


def _of_type(kind: Any) -> CoreSchema | None:
    """Return the schema of a type's values; None if the type isn't plain."""
    if kind in _VALUES:
        return _VALUES[kind]
    if kind in _MODELS:
        return _of_model(kind)
    origin = get_origin(kind)
    if origin is None:
        return _of_enum(kind)
    readers = [_of_type(each) for each in get_args(kind) if each is not NoneType]
    inner = [each for each in readers if each is not None]
    if len(inner) < len(readers):
        return None
    if origin in (Union, UnionType):
        return schemas.nullable_schema(inner[0]) if len(inner) == 1 else None
    return _COLLECTIONS[origin](*inner)


def _of_enum(kind: type) -> CoreSchema | None:
    if not issubclass(kind, Enum):
        return None
    return schemas.enum_schema(kind, list(kind), sub_type="str" if issubclass(kind, str) else None)
