"""Where the parameters of a node's function get their values from (adk-runtime 12.5)."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import CodeType
from typing import Any, get_type_hints

from google.genai import types
from pydantic import BaseModel, PydanticSchemaGenerationError, TypeAdapter, ValidationError

from devui.runtime.agents.context import Context
from devui.runtime.callables import annotated, unpartialled
from devui.runtime.sessions.state import State
from devui.runtime.tools.function_declaration import parameters_schema
from devui.runtime.workflow.errors import WorkflowDataError
from devui.runtime.workflow.values import named, unwrapped

NODE_INPUT = "node_input"
_CONTEXT = "ctx"
_CONTEXTS = {"context", "tool_context", "callback_context"}
"""Names that the context has elsewhere."""
_VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(frozen=True, slots=True)
class FunctionParameters:
    """The parameters of one function, read once when its node is made."""

    name: str
    """The node's."""
    place: str
    """Where the function is defined, for messages: `agent.py:12`."""
    parameters: Mapping[str, inspect.Parameter]
    hints: Mapping[str, Any]
    context: str | None
    """The parameter that gets the context."""

    @classmethod
    def of(cls, function: Callable[..., Any], name: str) -> FunctionParameters:
        """Read a function, method, partial or callable object."""
        target = unpartialled(function)
        parameters = {
            key: parameter
            for key, parameter in inspect.signature(function).parameters.items()
            if parameter.kind not in _VARIABLE
        }
        hints = _hints(target)
        typed = (key for key in parameters if hints.get(key) is Context)
        context = next(typed, _CONTEXT if _CONTEXT in parameters else None)
        return cls(name, _place(target), parameters, hints, context)

    @property
    def from_state(self) -> list[str]:
        """The names of those that are read from the state."""
        return [key for key in self.parameters if key not in {self.context, NODE_INPUT}]

    def of_input(self, value: Any) -> Any:
        """The input of the node in the type that `node_input` asks for."""
        return self._fitted(NODE_INPUT, value)

    def bound(self, ctx: Context, node_input: Any, *, to_input: bool) -> dict[str, Any]:
        """The arguments for one call.

        Args:
            ctx: The node's context.
            node_input: The node's input.
            to_input: Parameters are read from the input's keys, and not from the state.

        Raises:
            WorkflowDataError: a value is missing.
            ValidationError: a value does not fit its parameter.
        """
        found = {} if self.context is None else {self.context: ctx}
        source = node_input if to_input else ctx.state
        return found | self._values(node_input, source, to_input=to_input)

    def declared(self) -> dict[str, Any] | None:
        """The parameters that a model fills, as a JSON schema; None without any."""
        filled = {
            key: parameter.replace(annotation=self.hints.get(key, parameter.annotation))
            for key, parameter in self.parameters.items()
            if key != self.context
        }
        return parameters_schema(self.name, filled)

    def checked(self, arguments: Any) -> None:
        """Check what a model gave for the parameters.

        Raises:
            WorkflowDataError: a value is missing.
            ValidationError: a value does not fit its parameter.
        """
        self._values(arguments, arguments, to_input=True)

    def _values(self, node_input: Any, source: Any, *, to_input: bool) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, parameter in self.parameters.items():
            if key == self.context:
                continue
            if key == NODE_INPUT and not to_input:
                found[key] = self.of_input(node_input)
            elif _has(source, key):
                found[key] = self._fitted(key, _get(source, key))
            elif parameter.default is inspect.Parameter.empty:
                raise WorkflowDataError(self._missing(key, to_input=to_input))
        return found

    def _fitted(self, key: str, value: Any) -> Any:
        hint = self.hints.get(key, Any)
        if isinstance(value, types.Content):
            value = unwrapped(value, hint)
        adapter = _adapter(hint)
        if adapter is None:
            return value
        try:
            return adapter.validate_python(value)
        except ValidationError as error:
            what = f"parameter {key!r} of node {self.name!r} ({self.place})"
            raise named(error, what) from None

    def _missing(self, key: str, *, to_input: bool) -> str:
        where = "the input of the node" if to_input else "the state"
        if key in _CONTEXTS:
            return (
                f"Node {self.name!r} ({self.place}) cannot be run: {where} has no {key!r}. If that"
                " parameter is for the context, name it 'ctx' or annotate it with Context."
            )
        remedy = (
            f"let the node before it give a dict with {key!r}"
            if to_input
            else f"write state[{key!r}] in an earlier node, name the parameter 'node_input' to get"
            " the output of the node before,"
        )
        return (
            f"Node {self.name!r} ({self.place}) cannot be run: {where} has no {key!r}, and the"
            f" parameter has no default; {remedy} or give it a default."
        )


def _has(source: Any, key: str) -> bool:
    if isinstance(source, BaseModel):
        return key in type(source).model_fields
    return isinstance(source, dict | State) and key in source


def _get(source: Any, key: str) -> Any:
    return dict(source)[key] if isinstance(source, BaseModel) else source[key]


@functools.lru_cache(maxsize=1024)
def _cached_adapter(hint: Any) -> TypeAdapter[Any] | None:
    try:
        return TypeAdapter(hint)
    except (TypeError, PydanticSchemaGenerationError):
        return None  # a type that pydantic does not know: taken as it comes


def _adapter(hint: Any) -> TypeAdapter[Any] | None:
    try:
        return _cached_adapter(hint)
    except TypeError:  # a hint that cannot be hashed
        return TypeAdapter(hint)


def _hints(target: Callable[..., Any]) -> dict[str, Any]:
    try:
        return get_type_hints(annotated(target), include_extras=True)
    except (NameError, AttributeError, TypeError):
        return {}


def _place(target: Callable[..., Any]) -> str:
    code = next(_codes(target), None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code else repr(target)


def _codes(target: Callable[..., Any]) -> Iterator[CodeType]:
    for each in (target, type(target).__call__):
        function = inspect.unwrap(each.__func__ if inspect.ismethod(each) else each)
        if inspect.isfunction(function):
            yield function.__code__
