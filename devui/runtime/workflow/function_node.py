"""`FunctionNode`: a function as a node (adk-runtime 12.5)."""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from types import CodeType
from typing import Any, Literal, Self, get_args, get_origin, get_type_hints

from google.genai import types
from pydantic import (
    BaseModel,
    PrivateAttr,
    PydanticSchemaGenerationError,
    PydanticUserError,
    TypeAdapter,
    ValidationError,
)

from devui.runtime.agents.context import Context
from devui.runtime.auth.auth_tool import AuthConfig
from devui.runtime.calling import annotated, call, doc_of, name_of, stepped_in_threads, unpartialled
from devui.runtime.events.event import Event
from devui.runtime.events.request_input import RequestInput
from devui.runtime.mistakes import brief
from devui.runtime.sessions.state import State
from devui.runtime.tools.function_signature import parameters_schema
from devui.runtime.workflow.base_node import BaseNode
from devui.runtime.workflow.consents import (
    REJECTED,
    consent_request,
    credential_request,
    take_consent,
)
from devui.runtime.workflow.errors import WorkflowConfigurationError, WorkflowDataError
from devui.runtime.workflow.retry_config import RetryConfig
from devui.runtime.workflow.values import retitle, unwrapped

# Where the parameters of a node's function get their values from (adk-runtime 12.5).


NODE_INPUT = "node_input"
_CONTEXT = "ctx"
_CONTEXTS = {"context", "tool_context", "callback_context"}
"""Names of the context parameter outside of nodes."""
_VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(frozen=True, slots=True)
class FunctionParameters:
    """The parameters of a function, read once when its node is created."""

    name: str
    """The name of the node."""
    place: str
    """Where the function is defined, for messages: `agent.py:12`."""
    parameters: Mapping[str, inspect.Parameter]
    hints: Mapping[str, Any]
    context: str | None
    """The name of the parameter that gets the context, if any."""

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
        contexts = (key for key in parameters if hints.get(key) is Context)
        context = next(contexts, _CONTEXT if _CONTEXT in parameters else None)
        return cls(name, _place(target), parameters, hints, context)

    @property
    def from_state(self) -> list[str]:
        """The names of the parameters that are read from the state."""
        return [key for key in self.parameters if key not in {self.context, NODE_INPUT}]

    def of_input(self, value: Any) -> Any:
        """Return the node's input, converted to the type of the parameter `node_input`."""
        return self._fitted(NODE_INPUT, value)

    def bind(self, ctx: Context, node_input: Any, *, to_input: bool) -> dict[str, Any]:
        """Return the arguments for one call.

        Args:
            ctx: The node's context.
            node_input: The node's input.
            to_input: Whether parameters are read from the keys of the input instead of the state.

        Raises:
            WorkflowDataError: a value is missing.
            ValidationError: a value doesn't fit its parameter.
        """
        arguments = {} if self.context is None else {self.context: ctx}
        source = node_input if to_input else ctx.state
        return arguments | self._values(node_input, source, to_input=to_input)

    def declared(self) -> dict[str, Any] | None:
        """Return the JSON schema of the parameters for a model; None if there are none."""
        inputs = {
            key: parameter.replace(annotation=self.hints.get(key, parameter.annotation))
            for key, parameter in self.parameters.items()
            if key != self.context
        }
        return parameters_schema(self.name, inputs)

    def check(self, arguments: Any) -> None:
        """Check the values that a model passed for the parameters.

        Raises:
            WorkflowDataError: a value is missing.
            ValidationError: a value doesn't fit its parameter.
        """
        self._values(arguments, arguments, to_input=True)

    def _values(self, node_input: Any, source: Any, *, to_input: bool) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key, parameter in self.parameters.items():
            if key == self.context:
                continue
            if key == NODE_INPUT and not to_input:
                values[key] = self.of_input(node_input)
            elif _has(source, key):
                values[key] = self._fitted(key, _get(source, key))
            elif parameter.default is inspect.Parameter.empty:
                raise WorkflowDataError(self._missing(key, to_input=to_input))
        return values

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
            raise retitle(error, what) from None

    def _missing(self, key: str, *, to_input: bool) -> str:
        where = "the input of the node" if to_input else "the state"
        if key in _CONTEXTS:
            return (
                f"Node {self.name!r} ({self.place}) cannot be run: {where} has no {key!r}. If that"
                " parameter is for the context, name it 'ctx' or annotate it with Context."
            )
        remedy = (
            f"Return a dict with {key!r} from the previous node"
            if to_input
            else f"Set state[{key!r}] in an earlier node, name the parameter 'node_input' to get"
            " the previous node's output,"
        )
        return (
            f"Node {self.name!r} ({self.place}) cannot be run: {where} has no {key!r}, and the"
            f" parameter has no default. {remedy} or give it a default."
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
        return None  # pydantic doesn't know the type; values aren't validated


def _adapter(hint: Any) -> TypeAdapter[Any] | None:
    try:
        return _cached_adapter(hint)
    except TypeError:  # the hint isn't hashable
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


class FunctionNode(BaseNode):
    """A node that calls a function, sync or async, or runs a generator.

    What the function returns or yields is the output, except that a message goes to the user, an
    Event is passed on, and a RequestInput asks a person. The parameter `ctx`, or one annotated with
    `Context`, gets the context, `node_input` the previous node's output, and any other its value in
    the state. Plain functions and generators run in threads, so they never block the event loop.
    """

    auth_config: AuthConfig | None = None
    """A credential to ask the user for first; `ctx.get_auth_response()` returns it."""
    require_confirmation: bool | Callable[..., Any] = False
    """Whether the user must agree first, or a function of the same arguments that decides this."""
    parameter_binding: Literal["state", "node_input"] = "state"
    """Where parameters get their values from: the state, or the keys of the input."""

    _function: Callable[..., Any] = PrivateAttr()
    _parameters: FunctionParameters = PrivateAttr()

    def __init__(
        self,
        *,
        func: Callable[..., Any],
        name: str | None = None,
        rerun_on_resume: bool = False,
        retry_config: RetryConfig | None = None,
        timeout: float | None = None,
        auth_config: AuthConfig | None = None,
        require_confirmation: bool | Callable[..., Any] = False,
        parameter_binding: Literal["state", "node_input"] = "state",
        state_schema: type[BaseModel] | None = None,
    ) -> None:
        """Wrap a function; `name` defaults to the name of the function.

        Raises:
            WorkflowConfigurationError: it can't be called, has no name, or asks for consent or a
                credential without `rerun_on_resume`.
        """
        if not callable(func):
            raise WorkflowConfigurationError(f"{func!r:.200} is not callable; pass a function.")
        if (require_confirmation or auth_config) and not rerun_on_resume:
            raise WorkflowConfigurationError(
                "A node with require_confirmation or auth_config has to run again once the user has"
                " answered; set rerun_on_resume=True."
            )
        node_name = name or name_of(func)
        if not node_name or node_name == "<lambda>":
            raise WorkflowConfigurationError(
                f"{brief(func)} has no name: give its node one, node(..., name='...')."
            )
        own = {
            "auth_config": auth_config,
            "require_confirmation": require_confirmation,
            "parameter_binding": parameter_binding,
        }
        super().__init__(
            name=node_name,
            description=doc_of(func),
            rerun_on_resume=rerun_on_resume,
            retry_config=retry_config,
            timeout=timeout,
            state_schema=state_schema,
            **own,
        )
        self._read(func)

    def _read(self, func: Callable[..., Any]) -> None:
        self._function = func
        self._parameters = FunctionParameters.of(func, self.name)
        hints = self._parameters.hints
        self.output_schema = _model(_item_of(hints.get("return")))
        self.input_schema = _model(hints.get(NODE_INPUT))

    @property
    def parameters(self) -> FunctionParameters:
        """The parameters of the function, by name."""
        return self._parameters

    def model_copy(self, *, update: Any = None, deep: bool = False) -> Self:
        """Return a copy with other fields and the same function."""
        copy = super().model_copy(update=update, deep=deep)
        copy._function = self._function
        copy._parameters = self._parameters
        return copy

    def for_tool(self) -> Self:
        """Return a copy that takes the function's parameters as the arguments of a call."""
        update: dict[str, Any] = {"parameter_binding": "node_input"}
        if self.parameter_binding != "node_input":
            update["input_schema"] = None
        if self.output_schema is None:
            update["output_schema"] = _return_schema(self._parameters.hints)
        return self.model_copy(update=update)

    def taken_as_tool(self) -> Any:
        """Return the schema of `node_input` in a graph, or else of all parameters."""
        if self.parameter_binding == "node_input":
            return self._parameters.declared()
        if self.input_schema is not None:
            return self.input_schema
        if NODE_INPUT not in self._parameters.parameters:
            return None
        hint = self._parameters.hints.get(NODE_INPUT)
        return super().taken_as_tool() if hint in (None, Any, object) else hint

    def checked_as_tool(self, value: Any) -> Any:
        """Return the value if the function can be called with it."""
        if self.parameter_binding == "node_input":
            self._parameters.check(value)
            return value
        value = super().checked_as_tool(value)
        return self._parameters.of_input(value) if self._takes_input() else value

    def _takes_input(self) -> bool:
        return NODE_INPUT in self._parameters.parameters

    async def _run_impl(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
        to_input = self.parameter_binding == "node_input"
        arguments = self._parameters.bind(ctx, node_input, to_input=to_input)
        question = await self._question(ctx, node_input, arguments)
        if question is not None:
            yield question
            return
        target = _target_of(self._function)
        if inspect.isasyncgenfunction(target):
            items = self._function(**arguments)
        elif inspect.isgeneratorfunction(target):
            items = stepped_in_threads(self._function(**arguments))
        else:
            item = await call(self._function, **arguments)
            if item is None and ctx.output is None and ctx.route is None:
                return  # its state changes are sent when it ends
            yield _as_output(ctx, item)
            return
        async with aclosing(items):
            async for item in items:
                yield _as_output(ctx, item)

    async def _question(
        self, ctx: Context, node_input: Any, arguments: dict[str, Any]
    ) -> RequestInput | Event | None:
        """Return what to yield instead of calling the function; None if it may be called."""
        if not self.require_confirmation:
            return self._credential_request(ctx)
        decision = take_consent(ctx)
        if decision is not None:
            confirmed = decision.confirmed
            return self._credential_request(ctx) if confirmed else Event(output=dict(REJECTED))
        if callable(self.require_confirmation):
            asks = FunctionParameters.of(self.require_confirmation, self.name)
            values = {NODE_INPUT: node_input, **ctx.state.to_dict(), **arguments}
            if not await call(self.require_confirmation, **asks.bind(ctx, values, to_input=True)):
                return self._credential_request(ctx)
        visible_arguments = {key: each for key, each in arguments.items() if each is not ctx}
        return consent_request(ctx, self.name, visible_arguments)

    def _credential_request(self, ctx: Context) -> Event | None:
        return credential_request(ctx, self.auth_config) if self.auth_config else None

    def _validate_output_data(self, data: Any) -> Any:
        return data if data == REJECTED else super()._validate_output_data(data)


def _as_output(ctx: Context, item: Any) -> Any:
    """Convert a function's result to what a node yields; a message isn't an output."""
    if item is None and ctx.actions.state_delta:
        return Event()  # carries the changes
    if isinstance(item, types.Content):
        return Event(content=item)
    if isinstance(item, BaseModel) and not isinstance(item, Event | RequestInput):
        return item.model_dump()
    return item


def _target_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function itself: what a partial wraps, or the `__call__` of an object."""
    target = unpartialled(function)
    return target if inspect.isroutine(target) else type(target).__call__


def _item_of(hint: Any) -> Any:
    """Return the type of a function's result or a generator's items, from its annotation."""
    if get_origin(hint) in _GENERATORS:
        return next(iter(get_args(hint)), None)
    return hint


def _return_schema(hints: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the JSON schema of the return type; None if there is no annotation or JSON form."""
    if "return" not in hints:
        return None
    try:
        return TypeAdapter(_item_of(hints["return"])).json_schema()
    except PydanticUserError:
        return None


def _model(hint: Any) -> type[BaseModel] | None:
    """Return the annotation if it is a data model, so that values can be validated."""
    if not (isinstance(hint, type) and issubclass(hint, BaseModel)):
        return None
    return None if issubclass(hint, types.Content | Event | RequestInput) else hint


_GENERATORS = (get_origin(AsyncGenerator[Any, None]), get_origin(Generator[Any, None, None]))
