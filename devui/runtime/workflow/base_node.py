"""`BaseNode`: what every node of a graph is (adk-runtime 12.1)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from devui.runtime.events.event import Event
from devui.runtime.events.request_input import RequestInput
from devui.runtime.mistakes import Declared, Spelt, note_on_names, yielding
from devui.runtime.workflow.errors import WorkflowConfigurationError
from devui.runtime.workflow.requests import request_event
from devui.runtime.workflow.retry_config import RetryConfig
from devui.runtime.workflow.values import conform, retitle

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context


class BaseNode(Declared, Spelt):
    """A unit of work with an input and an output.

    Subclasses define it in `_run_impl`. Agents are nodes, too.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="ignore", defer_build=True)

    waits_for_all: ClassVar[bool] = False
    """It runs when all nodes before it have ended, and takes all their outputs."""
    finds_its_way: ClassVar[bool] = False
    """It is made of nodes: resumed, it is always run, and finds out which of them have ended."""
    has_own_branches: ClassVar[bool] = False
    """The branches of its events are its own business; those of other nodes name the branch
    on which the graph goes on."""

    name: str
    """An identifier, unique within the graph."""
    description: str = ""
    """Tells people, and models where the node is a tool, what it does."""
    rerun_on_resume: bool = False
    """What happens once the answer is there that the node has asked for: run the node again,
    with the answer in `ctx.resume_inputs`; or else take the answer for its output."""
    wait_for_output: bool = False
    """It has ended only when it gave an output or a route; until then it may be run again."""
    retry_config: RetryConfig | None = None
    """When the node is tried again after a failure; never by default."""
    timeout: float | None = None
    """Seconds that one attempt may take."""
    input_schema: Any = None
    """A type that the input is made to fit. A JSON schema is not enforced."""
    output_schema: Any = None
    """A type that the output is made to fit. A JSON schema is not enforced."""
    state_schema: type[BaseModel] | None = None
    """Which keys of the state this node, and the nodes in it, may write, and their types."""

    @field_validator("name")
    @classmethod
    def _check_name(cls, name: str) -> str:
        if not name.isidentifier():
            raise WorkflowConfigurationError(
                f"{name!r} is no name for a node: use letters, digits and '_', "
                "not beginning with a digit."
            )
        return name

    # Nodes are compared by identity: the same node may stand in several edges.
    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    async def run(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Event, None]:
        """Run the node and yield events: what it yields that is none is made one.

        A RequestInput becomes a call that a human answers, None nothing, and any other value an
        event with that output.

        Raises:
            ValidationError: the input or the output does not fit its schema.
        """
        node_input = self._validate_input_data(node_input)
        async with aclosing(yields_of(self._run_impl, self.name, ctx, node_input)) as items:
            async for item in items:
                if item is not None:
                    yield _as_event(self, item)

    async def _run_impl(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
        """What the node does; to be overridden."""
        raise NotImplementedError(f"{type(self).__name__} does not define _run_impl.")
        yield  # makes this an async generator

    # As a tool of an agent

    def for_tool(self) -> Self:
        """The node as it is when a model calls it."""
        return self

    def taken_as_tool(self) -> Any:
        """The schema of what a model gives when it calls the node; None if it gives nothing.

        Raises:
            WorkflowConfigurationError: the node does not tell.
        """
        if self.input_schema is None:
            raise WorkflowConfigurationError(
                f"Node {self.name!r} cannot be a tool: it does not tell what it takes. Give it an"
                " input_schema, such as a pydantic model or str."
            )
        return self.input_schema

    def checked_as_tool(self, value: Any) -> Any:
        """What a model gave, checked.

        Raises:
            ValueError: it does not fit.
        """
        return self._validate_input_data(value)

    # What a node of one's own may override; google-adk's has the same methods.

    def _validate_input_data(self, data: Any) -> Any:
        """The input, made to fit its schema."""
        return _fitted(self.input_schema, data, f"input_schema of node {self.name!r}")

    def _validate_output_data(self, data: Any) -> Any:
        """The output, made to fit its schema."""
        return _fitted(self.output_schema, data, f"output_schema of node {self.name!r}")


def _as_event(node: BaseNode, item: Any) -> Event:
    if isinstance(item, RequestInput):
        return request_event(item)
    if not isinstance(item, Event):
        return Event(output=node._validate_output_data(item))
    if item.output is not None:
        item.output = node._validate_output_data(item.output)
    return item


def _fitted(schema: Any, data: Any, what: str) -> Any:
    try:
        return conform(schema, data)
    except ValidationError as error:
        raise retitle(error, what) from None


def yields_of(
    implementation: Callable[..., Any], name: str, ctx: Context, node_input: Any
) -> AsyncGenerator[Any, None]:
    """What the method yields that says what the node of that name does.

    Raises:
        TypeError: it takes other parameters, or yields nothing.
    """
    try:
        items = implementation(ctx=ctx, node_input=node_input)
    except TypeError as error:
        note_on_names(error, implementation, "ctx", "node_input")
        raise
    return yielding(items, implementation, f"node {name!r}", "the output, or Events")


class _Start(BaseNode):
    """One object, in copies of a graph and in other processes too: it is told by its identity."""

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        return self

    def __reduce__(self) -> str:
        return "START"


START = _Start(name="__START__")
"""Where a graph begins; its outputs are the input of the workflow. It is never run."""
