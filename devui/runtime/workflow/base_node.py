"""`BaseNode`: the base class of all nodes in a graph (adk-runtime 12.1)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from devui.runtime.events.event import Event
from devui.runtime.events.request_input import RequestInput
from devui.runtime.mistakes import ExplainedModel, SpellCheckedModel, note_on_names, yielding
from devui.runtime.workflow.errors import WorkflowConfigurationError
from devui.runtime.workflow.requests import request_event
from devui.runtime.workflow.retry_config import RetryConfig
from devui.runtime.workflow.values import conform, retitle

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context


class BaseNode(ExplainedModel, SpellCheckedModel):
    """A unit of work with an input and an output.

    Subclasses define the work in `_run_impl`. Agents are nodes, too.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="ignore", defer_build=True)

    waits_for_all: ClassVar[bool] = False
    """Whether it runs once all its predecessors have ended, with all their outputs as input."""
    finds_its_way: ClassVar[bool] = False
    """Whether it consists of nodes. On resume it is always run, and finds out itself which of them
    have ended."""
    has_own_branches: ClassVar[bool] = False
    """Whether its events are on branches of its own. For other nodes, an event's branch is the one
    that the graph continues on."""

    name: str
    """An identifier, unique within the graph."""
    description: str = ""
    """What it does, for people and for models that call it as a tool."""
    rerun_on_resume: bool = False
    """Whether to run the node again once its question is answered, with the answer in
    `ctx.resume_inputs`. If false, the answer becomes its output."""
    wait_for_output: bool = False
    """Whether it ends only when it gives an output or a route. Until then it may be run again."""
    retry_config: RetryConfig | None = None
    """When to retry after a failure; None means never."""
    timeout: float | None = None
    """The time limit of one attempt, in seconds."""
    input_schema: Any = None
    """The type that the input is validated against. A JSON schema is not enforced."""
    output_schema: Any = None
    """The type that the output is validated against. A JSON schema is not enforced."""
    state_schema: type[BaseModel] | None = None
    """The state keys that this node and the nodes in it may write, with their types."""

    @field_validator("name")
    @classmethod
    def _check_name(cls, name: str) -> str:
        if not name.isidentifier():
            raise WorkflowConfigurationError(
                f"{name!r} is not a valid node name: use letters, digits and '_', "
                "and don't begin with a digit."
            )
        return name

    # Nodes are compared by identity: the same node may be in several edges.
    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    async def run(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Event, None]:
        """Run the node and yield its events; other values that it yields are converted to events.

        A RequestInput becomes a call that a person answers, None is skipped, and any other value
        becomes an event with that output.

        Raises:
            ValidationError: the input or the output doesn't fit its schema.
        """
        node_input = self._validate_input_data(node_input)
        async with aclosing(yields_of(self._run_impl, self.name, ctx, node_input)) as items:
            async for item in items:
                if item is not None:
                    yield _as_event(self, item)

    async def _run_impl(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
        """Do the work of the node; subclasses override this."""
        raise NotImplementedError(f"{type(self).__name__} does not define _run_impl.")
        yield  # makes this an async generator

    # As a tool of an agent

    def for_tool(self) -> Self:
        """Return the node that runs when a model calls this one."""
        return self

    def taken_as_tool(self) -> Any:
        """Return the schema of what a model passes to the node; None if it passes nothing.

        Raises:
            WorkflowConfigurationError: the schema is unknown.
        """
        if self.input_schema is None:
            raise WorkflowConfigurationError(
                f"Node {self.name!r} cannot be a tool: it does not declare its input. Set an"
                " input_schema, such as a pydantic model or str."
            )
        return self.input_schema

    def checked_as_tool(self, value: Any) -> Any:
        """Validate what a model passed, and return it.

        Raises:
            ValueError: the value doesn't fit.
        """
        return self._validate_input_data(value)

    # Subclasses may override these methods; google-adk has the same ones.

    def _validate_input_data(self, data: Any) -> Any:
        """Return the input, validated against its schema."""
        return _fitted(self.input_schema, data, f"input_schema of node {self.name!r}")

    def _validate_output_data(self, data: Any) -> Any:
        """Return the output, validated against its schema."""
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
    """Call the method that implements a node, and return its generator.

    Raises:
        TypeError: the method takes other parameters, or isn't an async generator.
    """
    try:
        items = implementation(ctx=ctx, node_input=node_input)
    except TypeError as error:
        note_on_names(error, implementation, "ctx", "node_input")
        raise
    return yielding(items, implementation, f"node {name!r}", "the output, or Events")


class _Start(BaseNode):
    """A singleton, even in copies of a graph and in other processes: it is compared by identity."""

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        return self

    def __reduce__(self) -> str:
        return "START"


START = _Start(name="__START__")
"""The beginning of a graph. It is never run; its output is the input of the workflow."""
