"""What a function's signature says: the parameters a model fills, and the context.

See adk-runtime 8.2.
"""

import inspect
import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from devui.runtime.agents.context import Context
from devui.runtime.callables import annotated, doc_of, name_of, unpartialled
from devui.runtime.mistakes import given, place
from devui.runtime.tools.argument_converters import Converter, converter

logger = logging.getLogger(__name__)

CONTEXT_NAME = "tool_context"
"""The parameter that gets the context if none is annotated as one."""
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
    """The docstring, unindented; empty without one."""
    parameters: Mapping[str, inspect.Parameter]
    """What the model fills; annotations are resolved where they can be."""
    by_position: Mapping[str, inspect.Parameter]
    """The positional-only parameters in their order, the one of the context among them."""
    context: str | None
    """The parameter that gets the context and that the model does not see."""
    mandatory: tuple[str, ...]
    """The names of the parameters without a default."""
    converters: Mapping[str, Converter]
    """For each parameter whose arguments may have to be converted, how."""
    resolved: bool
    """Whether every annotation could be resolved."""
    is_generator: bool
    """Whether it yields, sync or async."""
    is_async: bool
    """Whether it is an `async def` that returns."""
    takes_any: bool
    """Whether it has a `**` parameter, which a model is not told of."""
    collecting: frozenset[str]
    """The names of its `*` and `**` parameters, if it has the latter: what a model calls so is an
    argument like any other, and goes into the `**` parameter."""

    @classmethod
    def of(cls, function: Callable[..., Any]) -> "FunctionSignature":
        """Read a function, method, partial or callable object.

        Raises:
            ValueError: the signature cannot be read.
        """
        target = unpartialled(function)
        name = name_of(function) or type(target).__name__
        parameters, resolved = _parameters(function, target, name)
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
            _converters(fillable),
            resolved,
            is_generator=_is_generator(target),
            is_async=_is_async(target),
            takes_any=takes_any,
            collecting=frozenset(_collecting(parameters) if takes_any else ()),
        )

    def without(self, names: Collection[str]) -> "FunctionSignature":
        """The same, but for parameters that nobody is to be told of."""
        told = {key: each for key, each in self.parameters.items() if key not in names}
        return replace(self, parameters=told)


def warn_of_contexts(signature: FunctionSignature, function: Callable[..., Any]) -> None:
    """Warn of parameters that are named like a context, but would be filled by the model."""
    for name, parameter in signature.parameters.items():
        if name in _LIKE_CONTEXTS and parameter.annotation is inspect.Parameter.empty:
            logger.warning(
                "Tool %r: the model is asked for `%s` of %s. If that is to be the context, annotate"
                " it: `%s: ToolContext`.",
                signature.name,
                name,
                place(function),
                name,
            )


def warn_of_wrappers(signature: FunctionSignature, function: Callable[..., Any]) -> None:
    """Warn of a decorator's function that hides the parameters of the one that it calls."""
    if signature.parameters or not signature.takes_any:
        return
    taken = inspect.signature(function).parameters.values()
    if any(parameter.kind is _SEVERAL for parameter in taken):
        logger.warning(
            "Tool %r: the model is told of no parameters, since %s takes whatever it is given. If a"
            " decorator has made it, put @functools.wraps(function) above it there.",
            signature.name,
            place(function),
        )


def _collecting(parameters: Mapping[str, inspect.Parameter]) -> list[str]:
    return [key for key, each in parameters.items() if each.kind in (_SEVERAL, _ANY)]


def _without_default(parameters: Mapping[str, inspect.Parameter]) -> tuple[str, ...]:
    empty = inspect.Parameter.empty
    return tuple(name for name, parameter in parameters.items() if parameter.default is empty)


def _converters(parameters: Mapping[str, inspect.Parameter]) -> dict[str, Converter]:
    made = {name: converter(parameter.annotation) for name, parameter in parameters.items()}
    return {name: convert for name, convert in made.items() if convert is not None}


def _is_generator(target: Callable[..., Any]) -> bool:
    kinds = (inspect.isgeneratorfunction, inspect.isasyncgenfunction)
    return any(kind(target) or kind(type(target).__call__) for kind in kinds)


def _is_async(target: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(target) or inspect.iscoroutinefunction(type(target).__call__)


def _parameters(
    function: Callable[..., Any], target: Callable[..., Any], name: str
) -> tuple[dict[str, inspect.Parameter], bool]:
    """The parameters with resolved annotations, and whether all could be resolved."""
    try:
        parameters = inspect.signature(function).parameters
    except TypeError as error:
        if not callable(function):
            raise ValueError(  # noqa: TRY004  as what cannot be read
                f"A tool is to be made of {given(function)}; give a function without calling it."
            ) from error
        raise ValueError(
            f"The signature of {name!r} cannot be read, so it cannot be declared to a model."
            " Wrap it in a Python function with annotated parameters."
        ) from error
    asked = {
        key
        for key, parameter in parameters.items()
        if key != CONTEXT_NAME and parameter.kind in _FILLABLE
    }
    hints, resolved = _hints(target, name, asked)
    return {
        key: parameter.replace(annotation=hints.get(key, parameter.annotation))
        for key, parameter in parameters.items()
    }, resolved


def _hints(
    target: Callable[..., Any], name: str, asked: Collection[str]
) -> tuple[dict[str, Any], bool]:
    """What the annotations stand for, and whether all are known that a model is told of."""
    source = annotated(target)
    try:
        return get_type_hints(source, include_extras=True), True
    except (NameError, AttributeError, TypeError):
        pass
    try:
        return _hints_of(source, asked), True
    except (NameError, AttributeError, TypeError) as error:
        logger.warning(
            "Tool %r has an annotation that cannot be resolved (%s): its parameters are not"
            " declared to the model. Import the type at the top of the tool's module.",
            name,
            error,
        )
        return {}, False


def _hints_of(source: Any, asked: Collection[str]) -> dict[str, Any]:
    """The hints of some parameters: many import under TYPE_CHECKING what the others are."""

    def stand_in() -> None:
        """Has the annotations that are asked for, and no others."""

    annotations = {key: hint for key, hint in source.__annotations__.items() if key in asked}
    stand_in.__annotations__ = annotations
    known = inspect.unwrap(source).__globals__
    return get_type_hints(stand_in, globalns=known, include_extras=True)


def _context_parameter(parameters: Mapping[str, inspect.Parameter]) -> str | None:
    for name, parameter in parameters.items():
        if _is_context(parameter.annotation):
            return name
    return CONTEXT_NAME if CONTEXT_NAME in parameters else None


def _is_context(annotation: Any) -> bool:
    """Whether an annotation is the context class, also as `Context | None`."""
    if get_origin(annotation) in (Union, UnionType):
        return any(_is_context(member) for member in get_args(annotation))
    return isinstance(annotation, type) and issubclass(annotation, Context)
