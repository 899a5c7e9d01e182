"""`FunctionTool`: a function as a tool (adk-runtime 8.2)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from google.genai import types
from pydantic import BaseModel

from devui.runtime.agents.agent_tree import branch_below
from devui.runtime.agents.context import Context
from devui.runtime.agents.error_events import error_event
from devui.runtime.calling import call, stepped_in_threads
from devui.runtime.copying import copy_with
from devui.runtime.duplicate_tools import origin_of
from devui.runtime.events.event import Event, NodeInfo
from devui.runtime.tools.argument_converters import ArgumentError, checked_fields, correction
from devui.runtime.tools.base_tool import BaseTool, effect_of
from devui.runtime.tools.confirmation_gate import is_required, requirement, withheld
from devui.runtime.tools.function_signature import (
    CONTEXT_NAME,
    FunctionSignature,
    bind,
    convert,
    declare,
    declare_model,
    warn_of_contexts,
    warn_of_wrappers,
)

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext


# Reports a tool's progress while it runs, as events of the session (adk-runtime 8.2).


_OWN = ("state_delta", "artifact_delta")
"""The actions that go with the tool's own events; all others go with the function response."""

Items = AsyncGenerator[Any, None] | Generator[Any, None, None]


class ToolProgress:
    """Commits what a generator yields; the generator continues once that is done.

    A Content or an Event is sent as it is, with the tool as its author, on a branch of the call:
    the user sees it, models don't. Any other value except None is the result, and there may be only
    one. The generator's state changes go with its next event.
    """

    def __init__(self, name: str, tool_context: Context) -> None:
        """Follow the call that `tool_context` belongs to, by the tool with that name."""
        self._name = name
        self._outer = tool_context
        self._ctx = _below(tool_context.get_invocation_context(), name, tool_context)
        self.context = Context(
            self._ctx,
            function_call_id=tool_context.function_call_id,
            tool_confirmation=tool_context.tool_confirmation,
        )
        """The context for the generator, with the branch of the call."""
        self._result: Any = None

    async def follow(self, items: Items) -> Any:
        """Commit all that the generator yields; return the result, or None without one.

        Raises:
            ValueError: it yielded several results.
            Exception: what it raised, which is also recorded as an event.
        """
        try:
            steps = items if isinstance(items, AsyncGenerator) else stepped_in_threads(items)
            async with aclosing(steps) as yielded:
                async for item in yielded:
                    await self._tell(self._event(item))
            await self._tell(self._event(None))
        except Exception as error:
            await self._tell(error_event(self._name, self._ctx, error))
            raise
        self._pass_on_signals()
        return self._result

    def _event(self, item: Any) -> Event | None:
        """Return the event for what was yielded; None if there is nothing to send."""
        actions = self.context.actions
        changed = any(getattr(actions, name) for name in _OWN)
        if item is None and not changed:
            return None
        event = item if isinstance(item, Event) else _event_of(item)
        event.invocation_id = self._ctx.invocation_id
        event.author = self._name
        event.branch = self._ctx.branch
        event.node_info = NodeInfo(path=self._ctx.node_path or "")
        if event.output is not None:
            self._conclude(event)
        if not event.partial:
            for name in _OWN:
                getattr(event.actions, name).update(getattr(actions, name))
                getattr(actions, name).clear()
        return event

    def _conclude(self, event: Event) -> None:
        if self._result is not None:
            raise ValueError(
                f"Tool {self._name!r} yielded two results, {self._result!r:.100} and"
                f" {event.output!r:.100}. A generator yields one value; yield Events or Contents"
                " to report progress."
            )
        self._result = event.output
        if path := self._ctx.node_path:
            event.node_info.output_for = [path]

    async def _tell(self, event: Event | None) -> None:
        if event is None:
            return
        emit = self._outer.get_invocation_context().emit
        if emit is None:
            raise RuntimeError(f"Tool {self._name!r} yields, so only a model can call it.")
        await emit(event)

    def _pass_on_signals(self) -> None:
        """Copy the actions that direct the flow to the function response, as for any tool."""
        for name, value in self.context.actions:
            if value and name not in _OWN:
                setattr(self._outer.actions, name, value)


def _below(ctx: InvocationContext, name: str, tool_context: Context) -> InvocationContext:
    """Return the invocation for the tool's events, with a branch and path of the call."""
    segment = f"{name}@{tool_context.function_call_id}"
    branch = branch_below(ctx.branch, segment)
    path = f"{ctx.node_path}/{segment}" if ctx.node_path else None
    return ctx.model_copy(update={"branch": branch, "node_path": path})


def _event_of(item: Any) -> Event:
    if item is None:
        return Event()
    if isinstance(item, types.Content):
        return Event(content=item)
    return Event(output=item.model_dump() if isinstance(item, BaseModel) else item)


class FunctionTool(BaseTool):
    """A tool that calls a function (adk-runtime 8.2).

    The declaration comes from the function's signature and docstring. Plain functions run in a
    thread, so they never block the event loop; `async def` functions run on it. A parameter
    annotated with `ToolContext` (or named `tool_context`) gets the context and is hidden from the
    model.

    A generator reports progress: what it yields becomes events, and the one value among them is the
    result; see `ToolProgress`. A function marked `idempotent` may be called again if its result was
    lost.
    """

    def __init__(
        self,
        func: Callable[..., Any],
        *,
        require_confirmation: bool | Callable[..., Any] = False,
    ) -> None:
        """Wrap a function, method, partial or callable object.

        Args:
            func: Called with the model's arguments.
            require_confirmation: Whether the user must agree to each call first, or a function of
                the same arguments that decides this.

        Raises:
            ValueError: its signature can't be read.
            TypeError: `require_confirmation` is a string.
        """
        self.func = func
        self.effect = effect_of(func)
        self._function_signature = FunctionSignature.of(func)
        self._require_confirmation = requirement(require_confirmation)
        signature = self._function_signature
        # An async function may run nodes, which emit events.
        self.emits_events = signature.is_generator or bool(signature.is_async and signature.context)
        self._ignore_params = [signature.context or CONTEXT_NAME, "input_stream"]
        """The parameters hidden from the model; a subclass appends those that it fills in
        itself."""
        self._declaration_cache: dict[tuple[str, ...], types.FunctionDeclaration] = {}
        """The declarations by the names of the hidden parameters."""
        super().__init__(
            name=self._function_signature.name, description=self._function_signature.doc
        )
        if signature.context is None:
            warn_of_contexts(signature, func)
            warn_of_wrappers(signature, func)

    def _origin(self) -> str:
        return origin_of(self.func)

    def _get_declaration(self) -> types.FunctionDeclaration:
        if self._model is not None:
            return declare_model(self._model, self.description)
        ignored_names = tuple(self._ignore_params)
        if ignored_names not in self._declaration_cache:
            signature = self._function_signature.without(ignored_names)
            self._declaration_cache[ignored_names] = declare(signature, self.description)
        return copy_with(self._declaration_cache[ignored_names])

    def _get_mandatory_args(self) -> list[str]:
        """Return the parameters without a default that the model sees."""
        return [
            name for name in self._function_signature.mandatory if name not in self._ignore_params
        ]

    async def run_async(self, *, args: dict[str, Any], tool_context: Context) -> Any:
        """Call the function with the arguments that the model wrote.

        If mandatory arguments are missing, or some can't be converted to their annotated types, the
        function isn't called, and an error is returned that lets the model correct them. Nor is it
        called before the user has agreed, if that is required. The function's exceptions are passed
        on.
        """
        if names := [name for name in self._get_mandatory_args() if name not in args]:
            return {
                "error": (
                    f"{self.name}() was not called: it needs {', '.join(names)}."
                    " Call it again with all mandatory arguments."
                )
            }
        try:
            values = self._arguments_for_call(args)
        except ArgumentError as error:
            return correction(self.name, error)
        if (instead := await withheld(self, args, tool_context)) is not None:
            return instead
        signature = self._function_signature
        if not signature.is_generator:
            positional, keywords = bind(signature, values, tool_context)
            return await call(self.func, *positional, **keywords)
        progress = ToolProgress(self.name, tool_context)
        positional, keywords = bind(signature, values, progress.context)
        return await progress.follow(self.func(*positional, **keywords))

    async def check_require_confirmation(self, args: dict[str, Any], tool_context: Context) -> bool:
        """Return whether the user must agree to a call with these arguments (adk-runtime 8.5).

        The user isn't asked if the arguments can't be converted, since the call won't be made.
        """
        required = self._require_confirmation
        if not required:
            return False
        try:
            values = self._arguments_for_call(args)
        except ArgumentError:
            return False
        return await is_required(required, args, tool_context, values)

    @property
    def _model(self) -> type[BaseModel] | None:
        """The function if it is a pydantic class, else None."""
        function: Any = self.func
        is_model = isinstance(function, type) and issubclass(function, BaseModel)
        return function if is_model else None

    def _arguments_for_call(self, args: dict[str, Any]) -> dict[str, Any]:
        """Return the function's arguments; those that a subclass fills in aren't converted."""
        values = convert(self._function_signature, args, ready=self._ignore_params)
        if self._model is not None:
            checked_fields(self._model, values)
        return values


# `LongRunningFunctionTool`: a function whose result arrives later.


_NOTE = (
    "NOTE: This operation takes long. If it has already answered with an intermediate or"
    " pending status, do not call it again."
)


class LongRunningFunctionTool(FunctionTool):
    """A function tool that may answer later (adk-runtime 8.4).

    Returning None pauses the turn after the function-call event; a client sends the function
    response when it has one. Returning a value gives the model an interim response.
    """

    def __init__(
        self,
        func: Callable[..., Any],
        *,
        require_confirmation: bool | Callable[..., Any] = False,
    ) -> None:
        """Wrap a function; the declaration says that it takes long."""
        super().__init__(func, require_confirmation=require_confirmation)
        self.is_long_running = True

    def _get_declaration(self) -> types.FunctionDeclaration:
        declared = super()._get_declaration()
        description = "\n\n".join(filter(None, [declared.description, _NOTE]))
        return copy_with(declared, description=description)
