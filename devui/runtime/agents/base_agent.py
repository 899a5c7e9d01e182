"""`BaseAgent`: the base class of all agents, and how an agent is run (adk-runtime 5.1, 5.2)."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections import Counter
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import aclosing
from functools import partial
from types import AsyncGeneratorType
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self, TypeVar

from google.genai import types
from pydantic import ConfigDict, Field, PrivateAttr, field_validator, model_validator

from devui.runtime.agents.agent_state import BaseAgentState, load_state
from devui.runtime.agents.agent_tree import is_in_tree
from devui.runtime.agents.context import Context
from devui.runtime.agents.error_events import error_event
from devui.runtime.calling import (
    Callback,
    Callbacks,
    as_list,
    check_callbacks,
    check_result,
    first_result,
    is_truthy,
)
from devui.runtime.cancellation import check_cancelled
from devui.runtime.events.event import Event
from devui.runtime.events.event_actions import EventActions
from devui.runtime.left_out import explanation
from devui.runtime.mistakes import brief, check_takes, place, refuse_unknown, yielding
from devui.runtime.telemetry.switch import instruments
from devui.runtime.workflow.base_node import BaseNode

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext


# Copies of agents (adk-runtime 5.1).


A = TypeVar("A", bound="BaseAgent")


def cloned(agent: A, update: dict[str, Any]) -> A:
    """Copy the agent without its parent, with `update`'s fields replaced; see `BaseAgent.clone`."""
    fields = type(agent).model_fields
    unknown = sorted(update.keys() - (fields.keys() - {"parent_agent"}))
    if unknown:
        raise ValueError(f"clone() of {type(agent).__name__} cannot set {unknown}.")
    clone = agent.model_copy(update=update)
    for name in fields.keys() - update.keys() - {"sub_agents"}:
        setattr(clone, name, _rebound(getattr(agent, name), agent, clone))
    if "sub_agents" not in update:
        clone.sub_agents = [sub_agent.clone() for sub_agent in agent.sub_agents]
    clone.__pydantic_fields_set__ = agent.model_fields_set | update.keys()  # without rebound fields
    for sub_agent in clone.sub_agents:
        adopt(clone, sub_agent)
    clone.parent_agent = None
    return clone


def _rebound(value: Any, old: object, new: object) -> Any:
    """Return `value` for the copy: lists are copied, and methods of the original are rebound."""
    if isinstance(value, list):
        return [_rebound(item, old, new) for item in value]
    if inspect.ismethod(value) and value.__self__ is old:
        return value.__func__.__get__(new)
    return value


# The events of agents, whose code is often third-party.


def events_of(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
    """Run the agent and return its events. Raises TypeError if `run_async` gives something else."""
    events = agent.run_async(ctx)
    if type(events) is AsyncGeneratorType:  # the usual case, and quick to check
        return events
    return yielding(events, agent.run_async, f"agent {agent.name!r}", "Events")


__all__ = ["AfterAgentCallback", "BaseAgent", "BaseAgentState", "BeforeAgentCallback"]

BeforeAgentCallback = AfterAgentCallback = Callbacks
"""Types for annotations, under ADK's names (adk-runtime 6.5)."""

logger = logging.getLogger(__name__)


class BaseAgent(BaseNode):
    """An agent in a tree of agents. Subclasses implement its work in `_run_async_impl`.

    After each `yield`, the agent's code continues only once the event has been committed, and sees
    its changes (runtime seed).
    """

    model_config = ConfigDict(extra="forbid")

    has_own_branches: ClassVar[bool] = True

    name: str
    """An identifier, unique within the tree; not `user`."""
    description: str = ""
    """Tells models when to hand over to this agent."""
    parent_agent: BaseAgent | None = Field(default=None, init=False, exclude=True, repr=False)
    """The agent above; set when this agent is put into its `sub_agents`."""
    sub_agents: list[BaseAgent] = Field(default_factory=list)
    """The agents below this one; each gets it as its `parent_agent`."""
    before_agent_callback: Callbacks = None
    """Called with `callback_context` before the agent runs; returned Content is its answer."""
    after_agent_callback: Callbacks = None
    """Called with `callback_context` after the agent ran; returned Content is one more answer."""

    _came_late: bool = PrivateAttr(default=True)
    """Whether the agent above was created without it; if so, no model can call it."""

    @model_validator(mode="before")
    @classmethod
    def _check_agent_arguments(cls, values: Any) -> Any:
        if cls.model_config.get("extra") == "forbid":
            refuse_unknown(cls.__name__, values, cls.model_fields)
        for name in ("before_agent_callback", "after_agent_callback"):
            if isinstance(values, dict):
                check_callbacks(name, values.get(name))
        return values

    @field_validator("sub_agents", mode="before")
    @classmethod
    def _check_sub_agents(cls, agents: Any) -> Any:
        if isinstance(agents, BaseNode) or not isinstance(agents, Iterable):
            raise ValueError(f"expected a list of agents, got {brief(agents)}.")  # noqa: TRY004
        sub_agents = list(agents)
        for agent in sub_agents:
            if not isinstance(agent, BaseAgent):
                raise ValueError(  # noqa: TRY004  pydantic reports ValueErrors
                    f"expected a list of agents, but it contains {brief(agent)}. Pass the agents"
                    " themselves."
                )
        return sub_agents

    @field_validator("name")
    @classmethod
    def _check_name(cls, name: str) -> str:
        if not name.isidentifier():
            raise ValueError(
                f"{name!r} is not a valid agent name: use letters, digits and '_', "
                "and don't begin with a digit."
            )
        if name == "user":
            raise ValueError("An agent cannot be named 'user'; that name is reserved for the user.")
        return name

    def model_post_init(self, _context: Any) -> None:
        """Adopt the sub-agents. Raises ValueError if one of them already has a parent."""
        for sub_agent in self.sub_agents:
            check_place(sub_agent, self)
            sub_agent.check_parent(self)
            adopt(self, sub_agent)
        if self.sub_agents:
            warn_of_namesakes(self)

    def run_async(self, parent_context: InvocationContext) -> AsyncGenerator[Event, None]:
        """Run the agent between its callbacks and yield its events.

        Content returned by a before-callback replaces the run. If the run is cancelled, the
        after-callbacks are still called, to clean up; what they return is dropped.
        """
        events = parent_context.plugin_manager.around_agent(
            self, parent_context, partial(self._run_between_callbacks, parent_context)
        )
        spans = instruments()
        return events if spans is None else spans.agent(self, parent_context, events)

    async def _run_between_callbacks(
        self, parent_context: InvocationContext
    ) -> AsyncGenerator[Event, None]:
        ctx = self._create_invocation_context(parent_context)
        try:
            if event := await self._handle_before_agent_callback(ctx):
                yield _sign(self, event, ctx)
            if ctx.end_invocation:
                return
            try:
                async with aclosing(self._run_async_impl_events(ctx)) as events:
                    async for event in events:
                        yield _sign(self, event, ctx)
            except asyncio.CancelledError as cancelled:
                check_cancelled(cancelled, f"Agent {self.name!r}")
                await _clean_up(self, ctx)
                raise
            if ctx.end_invocation:
                return
            if event := await self._handle_after_agent_callback(ctx):
                yield _sign(self, event, ctx)
        except Exception as error:
            if ctx.handed_over:
                raise
            await ctx.plugin_manager.run_on_agent_error_callback(
                agent=self, callback_context=Context(ctx), error=error
            )
            if self._tells_of_agent_errors(ctx) and ctx.is_news(error):
                yield _sign(self, error_event(self.name, ctx, error), ctx)
            raise

    async def _run_impl(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
        """Run the agent as a node of a workflow; it works in the session and ignores the input."""
        async with aclosing(events_of(self, ctx.get_invocation_context())) as events:
            async for event in events:
                ctx.event_author = event.author
                yield event

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        """Do the agent's work; subclasses override this."""
        raise NotImplementedError(
            f"Agent {self.name!r} of class {place(type(self))} has no _run_async_impl; define"
            " `async def _run_async_impl(self, ctx)` and yield Events."
        )
        yield  # makes this an async generator

    def _run_async_impl_events(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        """Run `_run_async_impl` and check what it yields, since it is often third-party code."""
        try:
            events = self._run_async_impl(ctx)
        except TypeError:
            role = f"which runs agent {self.name!r}"
            check_takes(self._run_async_impl, 1, "an InvocationContext", role)
            raise
        return yielding(events, self._run_async_impl, f"agent {self.name!r}", "Events")

    def _tells_of_agent_errors(self, ctx: InvocationContext) -> bool:
        """Return whether the history records an exception that ends the agent (adk-runtime 12.4).

        By default, it doesn't in a tree whose root has no model.
        """
        return is_in_tree(ctx.node_path, self.root_agent.name)

    def _create_invocation_context(self, parent_context: InvocationContext) -> InvocationContext:
        own = {"agent": self, "handed_over": False, "delegating": False}
        return parent_context.model_copy(update=own)

    def run_live(self, *_: object, **__: object) -> NoReturn:
        """Raise NotImplementedError, which names alternatives: live mode is left out."""
        raise NotImplementedError(explanation("live"))

    @classmethod
    def from_config(cls, *_: object, **__: object) -> NoReturn:
        """Raise NotImplementedError, which says what to do instead: config classes are left out."""
        raise NotImplementedError(explanation("agents.agent_config"))

    # Callbacks

    @property
    def canonical_before_agent_callbacks(self) -> list[Callback]:
        """The before-agent callbacks as a list."""
        return as_list(self.before_agent_callback)

    @property
    def canonical_after_agent_callbacks(self) -> list[Callback]:
        """The after-agent callbacks as a list."""
        return as_list(self.after_agent_callback)

    async def _handle_before_agent_callback(self, ctx: InvocationContext) -> Event | None:
        """Ask plugins and callbacks for an answer that replaces the agent's run."""
        event = await _called_back(
            self,
            ctx,
            "before_agent_callback",
            ctx.plugin_manager.run_before_agent_callback,
            self.canonical_before_agent_callbacks,
        )
        if event is not None and event.content:
            ctx.end_invocation = True
        return event

    async def _handle_after_agent_callback(
        self, invocation_context: InvocationContext
    ) -> Event | None:
        """Ask plugins and callbacks for one more answer."""
        return await _called_back(
            self,
            invocation_context,
            "after_agent_callback",
            invocation_context.plugin_manager.run_after_agent_callback,
            self.canonical_after_agent_callbacks,
        )

    # Checkpoints

    def _load_agent_state(self, ctx: InvocationContext, state_type: Any) -> Any:
        """Return the agent's checkpoint in the invocation as `state_type`, or None."""
        raw = ctx.agent_states.get(ctx.agent_state_key(self.name))
        return None if raw is None else load_state(raw, state_type, self.name)

    def _create_agent_state_event(
        self,
        ctx: InvocationContext,
        agent_state: BaseAgentState | None = None,
        *,
        end_of_agent: bool = False,
    ) -> Event:
        """Create an event that records the agent's progress.

        Given a state or `end_of_agent=True` (resume seed), store it in `ctx` first; given `ctx`
        alone, record what `ctx.set_agent_state` has stored (adk-runtime 5.2).
        """
        if agent_state is not None or end_of_agent:
            ctx.set_agent_state(self.name, agent_state=agent_state, end_of_agent=end_of_agent)
        key = ctx.agent_state_key(self.name)
        return Event(
            invocation_id=ctx.invocation_id,
            author=self.name,
            branch=ctx.branch,
            actions=EventActions(
                agent_state=ctx.agent_states.get(key),
                end_of_agent=ctx.end_of_agents.get(key) or None,
            ),
        )

    # The tree

    @property
    def sub_agents_given_tasks(self) -> Sequence[BaseAgent]:
        """The sub-agents that carry out tasks for this agent's model, if it has one."""
        return ()

    @property
    def sees_transfers_through(self) -> bool:
        """Whether the agent's own code runs the agents it hands over to, as `LlmAgent`'s does."""
        return False

    @property
    def may_hand_over_to(self) -> list[BaseAgent]:
        """The agents that this one may hand over to: sub-agents, parent and peers."""
        parent = self.parent_agent
        beside = [peer for peer in parent.sub_agents if peer is not self] if parent else []
        return [*self.sub_agents, *([parent] if parent else []), *beside]

    @property
    def is_called_by_model(self) -> bool:
        """Whether the model of the agent above calls this one like a function."""
        # An agent of any class may have a mode. The agent above is recognized as an LlmAgent by its
        # `model` field: that class can't be imported here.
        above = self.parent_agent
        once = vars(self).get("mode") == "single_turn"
        return once and above is not None and "model" in type(above).model_fields

    async def described_for_models(self) -> str:
        """Return the description for models that may hand over to this agent."""
        return self.description

    def check_parent(self, parent: BaseAgent) -> None:
        """Check that the agent can work below `parent`; by default, it always can.

        Raises:
            ValueError: it cannot be a sub-agent of `parent`.
        """

    @property
    def root_agent(self) -> BaseAgent:
        """The top of the tree."""
        agent = self
        while agent.parent_agent is not None:
            agent = agent.parent_agent
        return agent

    def find_agent(self, name: str) -> BaseAgent | None:
        """Return the first agent of that name among this one and its descendants, depth first."""
        return self if self.name == name else self.find_sub_agent(name)

    def find_sub_agent(self, name: str) -> BaseAgent | None:
        """Return the first agent of that name among the descendants, depth first."""
        for sub_agent in self.sub_agents:
            if agent := sub_agent.find_agent(name):
                return agent
        return None

    def clone(self, update: Mapping[str, Any] | None = None) -> Self:
        """Copy the agent without its parent; sub-agents are cloned, too, unless `update` has them.

        Callbacks that are methods of this agent become methods of the copy. Raises ValueError for
        fields that do not exist, and for `parent_agent`.
        """
        return cloned(self, dict(update or {}))


# Functions rather than methods, since users' agent classes may have members of these names.


async def _called_back(
    agent: BaseAgent,
    ctx: InvocationContext,
    kind: str,
    ask_plugins: Callable[..., Awaitable[types.Content | None]],
    callbacks: list[Callback],
) -> Event | None:
    """Call the plugins and, unless one of them answers, the callbacks.

    Return an event with their content or, without any, their changes; None if there are neither.
    """
    context = Context(ctx)
    content = await ask_plugins(agent=agent, callback_context=context)
    if not content:
        content = await first_result(callbacks, is_truthy, callback_context=context)
        if content:
            check_result(content, types.Content, kind, callbacks)
    actions = context.actions
    changes = actions.state_delta or actions.artifact_delta or actions.route is not None
    if not content and not changes:
        return None
    return Event(
        invocation_id=ctx.invocation_id,
        author=agent.name,
        branch=ctx.branch,
        content=content or None,
        actions=actions,
    )


async def _clean_up(agent: BaseAgent, ctx: InvocationContext) -> None:
    """Call the after-callbacks of an agent that is being stopped, and drop what they return."""
    if ctx.end_invocation or ctx.handed_over:
        return
    try:
        await agent._handle_after_agent_callback(ctx)
    except Exception:
        logger.exception("after_agent_callback of %r failed when it was stopped.", agent.name)


def _sign(agent: BaseAgent, event: Event, ctx: InvocationContext) -> Event:
    """Fill in the event's invocation, author, path and scope where they are missing."""
    if not isinstance(event, Event):
        raise TypeError(
            f"Agent {agent.name!r} yielded {brief(event)}; agents must yield Events, such as"
            " Event(author=self.name, content=...)."
        )
    if not event.invocation_id:
        event.invocation_id = ctx.invocation_id
    if not event.author:
        event.author = agent.name
    if ctx.node_path and not event.node_info.path:
        event.node_info.path = ctx.node_path
    if event.isolation_scope is None and ctx.isolation_scope is not None:
        event.isolation_scope = ctx.isolation_scope
    return event


# Hand-overs: the events that cause them, and their targets (adk-runtime 6.6).


def transfers(agent: BaseAgent, event: Event) -> bool:
    """Return whether the agent hands over with this event."""
    return (
        event.actions.transfer_to_agent is not None
        and event.author == agent.name
        and not event.partial
    )


def target_of(agent: BaseAgent, name: str | None) -> BaseAgent:
    """Return the agent of that name, which `agent` hands over to.

    Raises:
        ValueError: `agent` may not hand over to it.
        TypeError: `name` isn't a string.
    """
    if not isinstance(name, str):
        raise TypeError(
            f"Agent {agent.name!r} cannot transfer to {brief(name)}; set `transfer_to_agent` to the"
            " name of an agent."
        )
    targets = {target.name: target for target in reversed(agent.may_hand_over_to)}
    if name not in targets:
        names = ", ".join(sorted(targets))
        may = f"; allowed targets: {names}." if names else "; it has no transfer targets."
        raise ValueError(
            f"Agent {agent.name!r} cannot transfer to {name!r}{may} Add an agent to `sub_agents`"
            " to make it a target."
        )
    return targets[name]


def family(agent: BaseAgent, above: tuple[BaseAgent, ...] = ()) -> Iterator[BaseAgent]:
    """Yield the agent and all its descendants.

    Args:
        agent: The agent.
        above: Its ancestors, as far as the walk has visited them.

    Raises:
        ValueError: an agent is its own descendant, since code may append to `sub_agents`.
    """
    yield agent
    for sub_agent in agent.sub_agents:
        line = (*above, agent)
        if any(sub_agent is each for each in line):
            raise _circle(sub_agent, line)
        yield from family(sub_agent, line)


def check_place(sub_agent: BaseAgent, parent: BaseAgent) -> None:
    """Check that the sub-agent has no parent yet.

    Raises:
        ValueError: it has one.
    """
    current_parent = sub_agent.parent_agent
    if current_parent is parent:
        raise ValueError(
            f"Agent {sub_agent.name!r} is in the `sub_agents` of {parent.name!r} twice; remove one,"
            ' or replace it with a copy, made with clone(update={"name": ...}).'
        )
    if current_parent is not None:
        raise ValueError(
            f"Agent {sub_agent.name!r} is already a sub-agent of {current_parent.name!r} and cannot"
            f" also be one of {parent.name!r}; give each its own copy, made with clone()."
        )


def adopt(parent: BaseAgent, sub_agent: BaseAgent) -> None:
    """Put a sub-agent below `parent`, which is being created with it."""
    sub_agent.parent_agent, sub_agent._came_late = parent, False


def warn_of_namesakes(root: BaseAgent) -> None:
    """Log a warning if agents share a name. Raises ValueError if one is its own descendant."""
    names = Counter(each.name for each in family(root))
    twice = [name for name, count in names.items() if count > 1]
    if twice:
        logger.warning(
            "Agents share the names %s; only the first of each is found. Rename the others.", twice
        )


def warn_if_idle(agent: BaseAgent) -> None:
    """Log a warning if an agent that only runs its sub-agents has none."""
    if not agent.sub_agents:
        logger.warning(
            "Agent %r has nothing to do: it runs its `sub_agents`, and has none.", agent.name
        )


def _circle(agent: BaseAgent, line: tuple[BaseAgent, ...]) -> ValueError:
    names = [each.name for each in line]
    start = next(number for number, each in enumerate(line) if each is agent)
    way = " > ".join([*names[start:], agent.name])
    return ValueError(
        f"Agent {agent.name!r} is its own descendant ({way}), so its tree would be infinite. Remove"
        " one of them from `sub_agents`."
    )
