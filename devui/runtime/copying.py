"""Copies of pydantic models and of arguments that are known to be right (devui's own)."""

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
"""What a model consists of, by the names that pydantic documents. `model_copy` sets the same at
three times the price, and a streamed answer needs several copies for each chunk."""


@cache
def blank(kind: type[M]) -> M:
    """A model with nothing but defaults, made once: to be copied, and never changed."""
    return kind()


def copy_with(model: M, /, **values: Any) -> M:
    """`model.model_copy(update=values)` for fields, with values that are known to be right.

    What they contain is shared with the original.
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
    """A copy of a model of defaults: as if it were made anew, and its default factories had given
    `values`, which therefore do not count as set. It has no private attributes.
    """
    return _build(type(model), model.__dict__ | values, set())


def assemble(defaults: M, values: dict[str, Any]) -> M:
    """A new model, as if it were made with `values`, which is known to be right.

    `defaults` has what is not given; neither has private attributes.
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
    """The model itself with values that are known to be right, set all at once."""
    model.__dict__.update(values)
    model.__pydantic_fields_set__.update(values)
    return model


def json_copy(value: Any) -> Any:
    """A deep copy of JSON; what JSON does not know is left to `copy.deepcopy`."""
    kind = type(value)
    if kind in _SCALARS:
        return value
    if kind is dict:
        return {k: v if type(v) in _SCALARS else json_copy(v) for k, v in value.items()}
    if kind is list:
        return [json_copy(each) for each in value]
    return copy.deepcopy(value)
