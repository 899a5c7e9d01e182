"""Reads a function's signature: the parameters that a model fills in, and the context.

See adk-runtime 8.2.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from google.genai import types
from pydantic import BaseModel, Field, create_model
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticUserError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind

from devui.runtime.agents.context import Context
from devui.runtime.calling import annotated, doc_of, name_of, unpartialled
from devui.runtime.mistakes import brief, place
from devui.runtime.tools.argument_converters import (
    ArgumentError,
    Converter,
    annotation_of,
    converters,
)

logger = logging.getLogger(__name__)

CONTEXT_NAME = "tool_context"
"""The parameter that gets the context if none is annotated as such."""
_LIKE_CONTEXTS = frozenset({"ctx", "context", "toolcontext", "callback_context"})
_BY_POSITION = inspect.Parameter.POSITIONAL_ONLY
_FILLABLE = (
    _BY_POSITION,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.KEYWORD_ONLY,
)
_SEVERAL = inspect.Parameter.VAR_POSITIONAL
_ANY = inspect.Parameter.VAR_KEYWORD


@dataclass(frozen=True, slots=True)
class FunctionSignature:
    """A function as a tool sees it; read once, when the tool is made."""

    name: str
    """`__name__`, or the class name of a callable object."""
    doc: str
    """The docstring, unindented; empty if there is none."""
    parameters: Mapping[str, inspect.Parameter]
    """The parameters that the model fills in; annotations are resolved where possible."""
    by_position: Mapping[str, inspect.Parameter]
    """The positional-only parameters in order, including one for the context."""
    context: str | None
    """The parameter that gets the context and is hidden from the model."""
    mandatory: tuple[str, ...]
    """The names of the parameters without a default."""
    converters: Mapping[str, Converter]
    """For each annotated parameter, its converter."""
    is_resolved: bool
    """Whether every annotation could be resolved."""
    is_generator: bool
    """Whether it is a generator, sync or async."""
    is_async: bool
    """Whether it is a coroutine function."""
    takes_any: bool
    """Whether it has a `**` parameter, which is hidden from the model."""
    collecting: frozenset[str]
    """The names of its `*` and `**` parameters, if it has the latter. An argument that a model
    gives such a name is like any other, and goes into the `**` parameter."""

    @classmethod
    def of(cls, function: Callable[..., Any]) -> FunctionSignature:
        """Read a function, method, partial or callable object.

        Raises:
            ValueError: the signature can't be read.
        """
        target = unpartialled(function)
        name = name_of(function) or type(target).__name__
        parameters, is_resolved = _parameters(function, target, name)
        context = _context_parameter(parameters)
        fillable = {
            key: parameter
            for key, parameter in parameters.items()
            if key != context and parameter.kind in _FILLABLE
        }
        takes_any = any(each.kind is _ANY for each in parameters.values())
        return cls(
            name,
            doc_of(function),
            fillable,
            {key: each for key, each in parameters.items() if each.kind is _BY_POSITION},
            context,
            _without_default(fillable),
            converters(fillable) if is_resolved else {},
            is_resolved,
            is_generator=_is_generator(target),
            is_async=_is_async(target),
            takes_any=takes_any,
            collecting=frozenset(_collecting(parameters) if takes_any else ()),
        )

    def without(self, names: Collection[str]) -> FunctionSignature:
        """Return a copy without the parameters that are hidden from the model."""
        remaining = {key: each for key, each in self.parameters.items() if key not in names}
        return replace(self, parameters=remaining)


def warn_of_contexts(signature: FunctionSignature, function: Callable[..., Any]) -> None:
    """Warn about parameters that are named like a context, but would be filled in by the model."""
    for name, parameter in signature.parameters.items():
        if name in _LIKE_CONTEXTS and parameter.annotation is inspect.Parameter.empty:
            logger.warning(
                "Tool %r: the model has to fill in `%s` of %s. If it is meant to be the context,"
                " annotate it: `%s: ToolContext`.",
                signature.name,
                name,
                place(function),
                name,
            )


def warn_of_wrappers(signature: FunctionSignature, function: Callable[..., Any]) -> None:
    """Warn about a decorator's wrapper that hides the parameters of the wrapped function."""
    if signature.parameters or not signature.takes_any:
        return
    parameters = inspect.signature(function).parameters.values()
    if any(parameter.kind is _SEVERAL for parameter in parameters):
        logger.warning(
            "Tool %r declares no parameters to the model, because %s takes any arguments. If it is"
            " a decorator's wrapper, add @functools.wraps(function) to it.",
            signature.name,
            place(function),
        )


def _collecting(parameters: Mapping[str, inspect.Parameter]) -> list[str]:
    return [key for key, each in parameters.items() if each.kind in (_SEVERAL, _ANY)]


def _without_default(parameters: Mapping[str, inspect.Parameter]) -> tuple[str, ...]:
    empty = inspect.Parameter.empty
    return tuple(name for name, parameter in parameters.items() if parameter.default is empty)


def _is_generator(target: Callable[..., Any]) -> bool:
    kinds = (inspect.isgeneratorfunction, inspect.isasyncgenfunction)
    return any(kind(target) or kind(type(target).__call__) for kind in kinds)


def _is_async(target: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(target) or inspect.iscoroutinefunction(type(target).__call__)


def _parameters(
    function: Callable[..., Any], target: Callable[..., Any], name: str
) -> tuple[dict[str, inspect.Parameter], bool]:
    """Return the parameters with resolved annotations, and whether all could be resolved."""
    try:
        parameters = inspect.signature(function).parameters
    except TypeError as error:
        if not callable(function):
            raise ValueError(  # noqa: TRY004  like other signatures that can't be read
                f"{brief(function)} can't be a tool; pass the function itself, without calling it."
            ) from error
        raise ValueError(
            f"The signature of {name!r} cannot be read, so it cannot be declared to a model."
            " Wrap it in a Python function with annotated parameters."
        ) from error
    names = {
        key
        for key, parameter in parameters.items()
        if key != CONTEXT_NAME and parameter.kind in _FILLABLE
    }
    hints, is_resolved = _hints(target, name, names)
    return {
        key: parameter.replace(annotation=hints.get(key, parameter.annotation))
        for key, parameter in parameters.items()
    }, is_resolved


def _hints(
    target: Callable[..., Any], name: str, names: Collection[str]
) -> tuple[dict[str, Any], bool]:
    """Return the resolved annotations, and whether those for the model are complete."""
    source = annotated(target)
    try:
        return get_type_hints(source, include_extras=True), True
    except (NameError, AttributeError, TypeError):
        pass
    try:
        return _hints_of(source, names), True
    except (NameError, AttributeError, TypeError) as error:
        logger.warning(
            "Tool %r has an annotation that cannot be resolved (%s): its parameters are not"
            " declared to the model. Import the type at the top of the tool's module.",
            name,
            error,
        )
        return {}, False


def _hints_of(source: Any, names: Collection[str]) -> dict[str, Any]:
    """Return the hints of some parameters; those of others may only exist for type checkers."""

    def stand_in() -> None:
        """Carry only the annotations of those parameters."""

    annotations = {key: hint for key, hint in source.__annotations__.items() if key in names}
    stand_in.__annotations__ = annotations
    namespace = inspect.unwrap(source).__globals__
    return get_type_hints(stand_in, globalns=namespace, include_extras=True)


def _context_parameter(parameters: Mapping[str, inspect.Parameter]) -> str | None:
    for name, parameter in parameters.items():
        if _is_context(parameter.annotation):
            return name
    return CONTEXT_NAME if CONTEXT_NAME in parameters else None


def _is_context(annotation: Any) -> bool:
    """Whether an annotation is the context class, including `Context | None`."""
    if get_origin(annotation) in (Union, UnionType):
        return any(_is_context(member) for member in get_args(annotation))
    return isinstance(annotation, type) and issubclass(annotation, Context)


# Turns the arguments that a model wrote into those that a function takes (adk-runtime 8.2).


def convert(
    signature: FunctionSignature, args: Mapping[str, Any], ready: Collection[str] = ()
) -> dict[str, Any]:
    """Return the arguments that the function knows, in the types it asks for, without the others.

    The names of a `*` and a `**` parameter count as known if there is a `**` parameter (as in ADK).
    Arguments in `ready` don't come from the model, and aren't converted.

    Raises:
        ArgumentError: some can't be converted; the message lists all of them.
    """
    values: dict[str, Any] = {}
    mistakes: list[str] = []
    for name, value in args.items():
        if name not in signature.parameters and name not in signature.collecting:
            continue
        converter = None if name in ready else signature.converters.get(name)
        try:
            values[name] = converter(value) if converter else value
        except ArgumentError as error:
            mistakes.append(str(error))
    if mistakes:
        raise ArgumentError("\n".join(mistakes))
    return values


def bind(
    signature: FunctionSignature, keywords: dict[str, Any], tool_context: Context
) -> tuple[list[Any], dict[str, Any]]:
    """Return the positional and keyword arguments of the call, from the result of `convert`."""
    keywords = dict(keywords)
    if signature.context:
        keywords[signature.context] = tool_context
    return _take_positional(signature, keywords), keywords


def _take_positional(signature: FunctionSignature, keywords: dict[str, Any]) -> list[Any]:
    """Move the arguments of positional-only parameters out of `keywords`, in order."""
    positional = []
    for name, parameter in signature.by_position.items():
        value = keywords.pop(name, parameter.default)
        if value is inspect.Parameter.empty:
            break  # the function itself reports the missing argument
        positional.append(value)
    return positional


# The declaration of a function for a model, from its signature and docstring.


def declare(signature: FunctionSignature, description: str) -> types.FunctionDeclaration:
    """Declare a function; its parameters become a JSON schema (adk-runtime 8.2).

    The whole docstring is the description. A function without parameters, or with an annotation
    that can't be resolved, is declared without a schema.

    Raises:
        ValueError: an annotation can't be expressed in JSON.
    """
    return types.FunctionDeclaration(
        name=signature.name,
        description=description or None,
        parameters_json_schema=parameters_schema(signature.name, signature.parameters)
        if signature.is_resolved
        else None,
    )


def declare_model(model: type[BaseModel], description: str) -> types.FunctionDeclaration:
    """Declare a pydantic class by its fields, with their constraints (adk-runtime 8.2)."""
    return types.FunctionDeclaration(
        name=model.__name__,
        description=description or None,
        parameters_json_schema=model.model_json_schema(schema_generator=_Schema),
    )


class _Schema(GenerateJsonSchema):
    # A default that JSON can't express is left out: the model doesn't need it.
    ignored_warning_kinds: set[JsonSchemaWarningKind] = {  # noqa: RUF012  pydantic's declaration
        "skipped-choice",
        "non-serializable-default",
    }


def parameters_schema(
    function: str, parameters: Mapping[str, inspect.Parameter]
) -> dict[str, Any] | None:
    """Return the JSON schema of a function's parameters; None if it has none (adk-runtime 8.2).

    Raises:
        ValueError: an annotation can't be expressed in JSON.
    """
    if not parameters:
        return None
    # Fields are numbered, with the parameter's name as alias: pydantic rejects some names that
    # functions may use (`_id`, `schema`, `copy`).
    fields: dict[str, Any] = {
        f"p{number}": (annotation_of(parameter), _field(parameter))
        for number, parameter in enumerate(parameters.values())
        if not _is_private(parameter)
    }
    try:
        return _schema(function, fields)
    except (PydanticInvalidForJsonSchema, PydanticUserError) as error:
        culprit = _culprit(fields)
        raise ValueError(
            f"Tool {function!r} cannot be declared to a model:"
            f"{culprit and f' parameter {culprit!r}:'} {error.message.partition('. ')[0]}."
            " Use types that JSON can express (str, int, float, bool, list, dict, enums,"
            " pydantic models)."
        ) from error


def _is_private(parameter: inspect.Parameter) -> bool:
    """Whether its name and default mark it as internal to the code: `_cache=None`."""
    return parameter.name.startswith("_") and parameter.default is not inspect.Parameter.empty


def _schema(function: str, fields: dict[str, Any]) -> dict[str, Any]:
    model = create_model(f"{function}Params", **fields)
    return model.model_json_schema(schema_generator=_Schema)


def _culprit(fields: dict[str, Any]) -> str:
    """Return the name of the first parameter that can't be declared on its own, or ""."""
    for number, field in fields.items():
        try:
            _schema("", {number: field})
        except (PydanticInvalidForJsonSchema, PydanticUserError):
            return str(field[1].alias)
    return ""


def _field(parameter: inspect.Parameter) -> Any:
    default = parameter.default
    if isinstance(default, FieldInfo):  # as in a model: `city: str = Field(description=…)`
        default = ... if default.is_required() else default.default
    if default is inspect.Parameter.empty or default is ...:
        return Field(alias=parameter.name)
    return Field(alias=parameter.name, default=default)
