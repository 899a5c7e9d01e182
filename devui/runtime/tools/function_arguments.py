"""From the arguments a model wrote to those a function takes (adk-runtime 8.2)."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Mapping
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError

from devui.runtime.tools.function_signature import FunctionSignature

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context

logger = logging.getLogger(__name__)


def convert(signature: FunctionSignature, args: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that the function knows, in the types it asks for.

    Dicts become pydantic models where a parameter is annotated so (also optional,
    in a union of models, or in a list), and integral floats become ints. What
    cannot be converted is logged and passed as it is; unknown arguments are
    dropped (adk-runtime 8.2).
    """
    return {
        name: _converted(name, value, signature)
        for name, value in args.items()
        if name in signature.parameters
    }


def bound(
    signature: FunctionSignature, args: dict[str, Any], tool_context: Context
) -> tuple[list[Any], dict[str, Any]]:
    """What the function is called with, by position and by name."""
    named = convert(signature, args)
    positional = _take_positional(signature, named)
    if signature.context:
        named[signature.context] = tool_context
    return positional, named


def _take_positional(signature: FunctionSignature, named: dict[str, Any]) -> list[Any]:
    """Move the arguments of positional-only parameters out of `named`, in order."""
    positional = []
    for name, parameter in signature.parameters.items():
        if parameter.kind is not inspect.Parameter.POSITIONAL_ONLY:
            break
        positional.append(named.pop(name, parameter.default))
    return positional


def missing(signature: FunctionSignature, args: Mapping[str, Any]) -> list[str]:
    """The mandatory parameters without an argument."""
    return [name for name in signature.mandatory if name not in args]


def _converted(name: str, value: Any, signature: FunctionSignature) -> Any:
    wanted = _plain(signature.parameters[name].annotation)
    if wanted is int:
        return _integer(value)
    if get_origin(wanted) is list and isinstance(value, list):
        return [_element(name, item, get_args(wanted)) for item in value]
    if value is not None and _holds_models(wanted):
        return _model(name, value, wanted)
    return value


def _element(name: str, item: Any, arguments: tuple[Any, ...]) -> Any:
    wanted = _plain(arguments[0]) if arguments else Any
    if wanted is int:
        return _integer(item)
    return _model(name, item, wanted) if _holds_models(wanted) else item


def _integer(value: Any) -> Any:
    """JSON does not tell 3 from 3.0, and some models write the latter."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _model(name: str, value: Any, wanted: Any) -> Any:
    try:
        return TypeAdapter(wanted).validate_python(value)
    except ValidationError as error:
        logger.warning("Argument %r stays as the model wrote it: %s", name, error)
        return value


def _plain(annotation: Any) -> Any:
    """The annotation without `Annotated` and without `| None`."""
    if get_origin(annotation) is Annotated:
        return _plain(get_args(annotation)[0])
    members = _members(annotation)
    return _plain(members[0]) if len(members) == 1 else annotation


def _holds_models(annotation: Any) -> bool:
    """Whether the annotation is a pydantic model, or a union of nothing but models."""
    members = _members(annotation) or (annotation,)
    return all(isinstance(member, type) and issubclass(member, BaseModel) for member in members)


def _members(annotation: Any) -> tuple[Any, ...]:
    """The members of a union but None; empty for anything else."""
    if get_origin(annotation) not in (Union, UnionType):
        return ()
    return tuple(member for member in get_args(annotation) if member is not type(None))
