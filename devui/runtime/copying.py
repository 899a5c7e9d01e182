"""Copies of pydantic models and of arguments that are known to be valid (devui's own)."""

import copy
from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel

M = TypeVar("M", bound=BaseModel)

_SCALARS = frozenset({str, int, float, bool, type(None)})
_new = object.__new__
_set_values = vars(BaseModel)["__dict__"].__set__
_set_names = vars(BaseModel)["__pydantic_fields_set__"].__set__
_set_extra = vars(BaseModel)["__pydantic_extra__"].__set__
_set_private = vars(BaseModel)["__pydantic_private__"].__set__
"""The state of a model, by the names that pydantic documents. `model_copy` sets the same at
three times the cost, and a streamed answer needs several copies for each chunk."""


@cache
def blank(kind: type[M]) -> M:
    """Return a model with only defaults, created once: copy it, and never change it."""
    return kind()


def copy_with(model: M, /, **values: Any) -> M:
    """Return `model.model_copy(update=values)` for fields, with values known to be valid.

    Their contents are shared with the original.
    """
    names = model.__pydantic_fields_set__.union(values)
    extra, private = model.__pydantic_extra__, model.__pydantic_private__
    copy = _build(type(model), model.__dict__ | values, names)
    if extra is not None:
        _set_extra(copy, {**extra})
    if private is not None:
        _set_private(copy, {**private})
    return copy


def renewed(model: M, /, **values: Any) -> M:
    """Copy a model of defaults, as if it were new and `values` came from its default factories.

    These values don't count as set. The copy has no private attributes.
    """
    return _build(type(model), model.__dict__ | values, set())


def assemble(defaults: M, values: dict[str, Any]) -> M:
    """Return a new model, as if it were created with `values`, which are known to be valid.

    `defaults` provides the other values; neither model has private attributes.
    """
    return _build(type(defaults), defaults.__dict__ | values, set(values))


def _build(kind: type[M], values: dict[str, Any], names: set[str]) -> M:
    model = _new(kind)
    _set_values(model, values)
    _set_names(model, names)
    _set_extra(model, None)
    _set_private(model, None)
    return model


def assign(model: M, /, **values: Any) -> M:
    """Set values that are known to be valid, all at once, and return the model itself."""
    model.__dict__.update(values)
    model.__pydantic_fields_set__.update(values)
    return model


def json_copy(value: Any) -> Any:
    """Return a deep copy of JSON data; other values are left to `copy.deepcopy`."""
    kind = type(value)
    if kind in _SCALARS:
        return value
    if kind is dict:
        return {k: v if type(v) in _SCALARS else json_copy(v) for k, v in value.items()}
    if kind is list:
        return [json_copy(each) for each in value]
    return copy.deepcopy(value)
