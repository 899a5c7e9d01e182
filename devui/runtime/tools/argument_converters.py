"""From the JSON that a model writes to the types that a function asks for (adk-runtime 8.2)."""

import logging
from collections.abc import Callable
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError

logger = logging.getLogger(__name__)

Converter = Callable[[str, Any], Any]
"""From a parameter's name and the value the model wrote to the value the function gets."""


def converter(annotation: Any) -> Converter | None:
    """How to convert the values of a parameter; None if they stay as they are.

    Dicts become pydantic models where a parameter is annotated so (also optional, in a union of
    models, or in a list), and integral floats become ints. What cannot be converted is logged and
    stays as it is. In a list whose items are a union, dicts stay dicts: tools written for ADK know
    them so.
    """
    wanted = _plain(annotation)
    if get_origin(wanted) is not list:
        return _of_one(wanted)
    arguments = get_args(wanted)
    element = _of_item(_bare(arguments[0])) if arguments else None
    return _of_list(element) if element else None


def _of_item(wanted: Any) -> Converter | None:
    return None if _members(wanted) and _holds_models(wanted) else _of_one(_plain(wanted))


def _of_one(wanted: Any) -> Converter | None:
    if wanted is int:
        return _integer
    return _of_model(wanted) if _holds_models(wanted) else None


def _of_list(element: Converter) -> Converter:
    def convert(name: str, value: Any) -> Any:
        return [element(name, item) for item in value] if isinstance(value, list) else value

    return convert


def _of_model(wanted: Any) -> Converter:
    def convert(name: str, value: Any) -> Any:
        if value is None:
            return None
        try:
            return TypeAdapter(wanted).validate_python(value)
        except ValidationError as error:
            logger.warning("Argument %r stays as the model wrote it: %s", name, error)
            return value

    return convert


def _integer(_name: str, value: Any) -> Any:
    """JSON does not tell 3 from 3.0, and some models write the latter."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _plain(annotation: Any) -> Any:
    """The annotation without `Annotated` and without `| None`."""
    bare = _bare(annotation)
    members = _members(bare)
    return _plain(members[0]) if len(members) == 1 else bare


def _bare(annotation: Any) -> Any:
    """The annotation without `Annotated`."""
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    return annotation


def _holds_models(annotation: Any) -> bool:
    """Whether the annotation is a pydantic model, or a union of nothing but models."""
    members = _members(annotation) or (annotation,)
    return all(isinstance(member, type) and issubclass(member, BaseModel) for member in members)


def _members(annotation: Any) -> tuple[Any, ...]:
    """The members of a union but None; empty for anything else."""
    if get_origin(annotation) not in (Union, UnionType):
        return ()
    return tuple(member for member in get_args(annotation) if member is not type(None))
