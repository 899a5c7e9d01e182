"""`BaseAgent`: what every agent is and how it is run (adk-runtime 5.1, 5.2)."""

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
    """A copy without parent, some of its fields set to others; see `BaseAgent.clone`."""
    fields = type(agent).model_fields
    unknown = sorted(update.keys() - (fields.keys() - {"parent_agent"}))
    if unknown:
        raise ValueError(f"clone() of {type(agent).__name__} cannot set {unknown}.")
    clone = agent.model_copy(update=update)
    for name in fields.keys() - update.keys() - {"sub_agents"}:
        setattr(clone, name, _rebound(getattr(agent, name), agent, clone))
    if "sub_agents" not in update:
        clone.sub_agents = [sub_agent.clone() for sub_agent in agent.sub_agents]
    clone.__pydantic_fields_set__ = agent.model_fields_set | update.keys()  # not what was rebound
    for sub_agent in clone.sub_agents:
        adopt(clone, sub_agent)
    clone.parent_agent = None
    return clone


def _rebound(value: Any, old: object, new: object) -> Any:
    """`value` for the copy: lists of its own, and its own methods instead of the original's."""
    if isinstance(value, list):
        return [_rebound(item, old, new) for item in value]
    if inspect.ismethod(value) and value.__self__ is old:
        return value.__func__.__get__(new)
    return value


# What agents yield when they are run: often code of others.


def events_of(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
    """The events of the agent's `run_async`; TypeError if that gives something else."""
    events = agent.run_async(ctx)
    if type(events) is AsyncGeneratorType:  # mostly so, and quick to find out
        return events
    return yielding(events, agent.run_async, f"agent {agent.name!r}", "Events")


__all__ = ["AfterAgentCallback", "BaseAgent", "BaseAgentState", "BeforeAgentCallback"]

BeforeAgentCallback = AfterAgentCallback = Callbacks
"""For annotations; ADK's names (adk-runtime 6.5)."""

logger = logging.getLogger(__name__)


class BaseAgent(BaseNode):
    """An agent in a tree of agents. Subclasses define what it does in `_run_async_impl`.

    After each `yield`, the agent's code continues only once the event has been committed, and
    sees its changes (runtime seed).
    """

    model_config = ConfigDict(extra="forbid")

    has_own_branches: ClassVar[bool] = True

    name: str
    """An identifier, unique within the tree; not `user`."""
    description: str = ""
    """Tells a model when to hand over to this agent."""
    parent_agent: BaseAgent | None = Field(default=None, init=False, exclude=True, repr=False)
    """Set when the agent is put into another's `sub_agents`."""
    sub_agents: list[BaseAgent] = Field(default_factory=list)
    """The agents below this one, which get it as their `parent_agent`."""
    before_agent_callback: Callbacks = None
    """Called with `callback_context` before the agent; Content returned stands for its answer."""
    after_agent_callback: Callbacks = None
    """Called with `callback_context` after the agent; Content returned is one more answer."""

    _came_late: bool = PrivateAttr(default=True)
    """Whether the agent above was made without it: then no model is told of it as a function."""

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
            raise ValueError(f"This is {brief(agents)}; put agents into a list.")  # noqa: TRY004
        sub_agents = list(agents)
        for agent in sub_agents:
            if not isinstance(agent, BaseAgent):
                raise ValueError(  # noqa: TRY004  pydantic tells ValueErrors
                    f"This holds {brief(agent)}; put the agents themselves there, in a list."
                )
        return sub_agents

    @field_validator("name")
    @classmethod
    def _check_name(cls, name: str) -> str:
        if not name.isidentifier():
            raise ValueError(
                f"{name!r} is no name for an agent: use letters, digits and '_', "
                "not beginning with a digit."
            )
        if name == "user":
            raise ValueError("An agent cannot be named 'user'; that stands for the human.")
        return name

    def model_post_init(self, _context: Any) -> None:
        """Take the sub-agents into the tree; ValueError if one has a parent already."""
        for sub_agent in self.sub_agents:
            check_place(sub_agent, self)
            sub_agent.check_parent(self)
            adopt(self, sub_agent)
        if self.sub_agents:
            warn_of_namesakes(self)

    def run_async(self, parent_context: InvocationContext) -> AsyncGenerator[Event, None]:
        """Run the agent between its callbacks and yield its events.

        A before-callback's Content replaces the run. When the run is cancelled the after-callbacks
        still get their call, for cleaning up; what they return is dropped.
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
        """The agent as a node of a workflow: it talks in the session, and takes no input."""
        async with aclosing(events_of(self, ctx.get_invocation_context())) as events:
            async for event in events:
                ctx.event_author = event.author
                yield event

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        """What the agent does; to be overridden."""
        raise NotImplementedError(
            f"Agent {self.name!r} is of {place(type(self))}, which has no _run_async_impl; define"
            " `async def _run_async_impl(self, ctx)` and yield Events."
        )
        yield  # makes this an async generator

    def _run_async_impl_events(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        """What `_run_async_impl` yields, checked: it is often code of others."""
        try:
            events = self._run_async_impl(ctx)
        except TypeError:
            role = f"which runs agent {self.name!r}"
            check_takes(self._run_async_impl, 1, "an InvocationContext", role)
            raise
        return yielding(events, self._run_async_impl, f"agent {self.name!r}", "Events")

    def _tells_of_agent_errors(self, ctx: InvocationContext) -> bool:
        """Whether the history keeps an exception that ends the agent (adk-runtime 12.4).

        Not in a tree whose root has no model, by default.
        """
        return is_in_tree(ctx.node_path, self.root_agent.name)

    def _create_invocation_context(self, parent_context: InvocationContext) -> InvocationContext:
        own = {"agent": self, "handed_over": False, "delegating": False}
        return parent_context.model_copy(update=own)

    def run_live(self, *_: object, **__: object) -> NoReturn:
        """Live mode is left out: NotImplementedError says what there is instead."""
        raise NotImplementedError(explanation("live"))

    @classmethod
    def from_config(cls, *_: object, **__: object) -> NoReturn:
        """Agents in YAML are left out: NotImplementedError says what there is instead."""
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
        """Ask plugins and callbacks for an answer in the agent's place, which ends its run."""
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
        """The checkpoint of this agent in the invocation as `state_type`, or None."""
        raw = ctx.agent_states.get(ctx.agent_state_key(self.name))
        return None if raw is None else load_state(raw, state_type, self.name)

    def _create_agent_state_event(
        self,
        ctx: InvocationContext,
        agent_state: BaseAgentState | None = None,
        *,
        end_of_agent: bool = False,
    ) -> Event:
        """An event that records the agent's progress.

        Called with a state or `end_of_agent=True` (resume seed) it first notes that in `ctx`;
        called with `ctx` alone it records what `ctx.set_agent_state` has noted (adk-runtime 5.2).
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
        """Whether its code runs those that it hands over to, as that of `LlmAgent` does."""
        return False

    @property
    def may_hand_over_to(self) -> list[BaseAgent]:
        """The agents that this one may hand over to: below, above and beside it."""
        parent = self.parent_agent
        beside = [peer for peer in parent.sub_agents if peer is not self] if parent else []
        return [*self.sub_agents, *([parent] if parent else []), *beside]

    @property
    def is_called_by_model(self) -> bool:
        """Whether the model of the agent above calls it like a function."""
        # An agent of any class may have a mode; LlmAgent, which has a model, stands above this one.
        above = self.parent_agent
        once = vars(self).get("mode") == "single_turn"
        return once and above is not None and "model" in type(above).model_fields

    async def described_for_models(self) -> str:
        """What it is for, as models are told that may hand over to it."""
        return self.description

    def check_parent(self, parent: BaseAgent) -> None:
        """Refuse a place in the tree where the agent cannot work; any will do by default.

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
        """The first agent of that name among this one and its descendants, depth first."""
        return self if self.name == name else self.find_sub_agent(name)

    def find_sub_agent(self, name: str) -> BaseAgent | None:
        """The first agent of that name among the descendants, depth first."""
        for sub_agent in self.sub_agents:
            if agent := sub_agent.find_agent(name):
                return agent
        return None

    def clone(self, update: Mapping[str, Any] | None = None) -> Self:
        """A copy without parent; sub-agents are cloned too unless `update` gives others.

        Callbacks that are methods of this agent become methods of the copy. Raises ValueError
        for fields that do not exist, and for `parent_agent`.
        """
        return cloned(self, dict(update or {}))


# Functions, since agents of one's own have methods and attributes of such names.


async def _called_back(
    agent: BaseAgent,
    ctx: InvocationContext,
    kind: str,
    ask_plugins: Callable[..., Awaitable[types.Content | None]],
    callbacks: list[Callback],
) -> Event | None:
    """The event that plugins, or else callbacks, gave rise to: content, or changes alone."""
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
    """Call the after-callbacks of an agent that is stopped; what they return is dropped."""
    if ctx.end_invocation or ctx.handed_over:
        return
    try:
        await agent._handle_after_agent_callback(ctx)
    except Exception:
        logger.exception("after_agent_callback of %r raised while it was stopped.", agent.name)


def _sign(agent: BaseAgent, event: Event, ctx: InvocationContext) -> Event:
    """Fill in whose the event is, of which run, and from where; what is there stays."""
    if not isinstance(event, Event):
        raise TypeError(
            f"Agent {agent.name!r} yielded {brief(event)}; agents yield Events only, such as"
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


# Events by which an agent hands over, and whom it may hand over to (adk-runtime 6.6).


def transfers(agent: BaseAgent, event: Event) -> bool:
    """Whether the agent hands over by the event."""
    return (
        event.actions.transfer_to_agent is not None
        and event.author == agent.name
        and not event.partial
    )


def target_of(agent: BaseAgent, name: str | None) -> BaseAgent:
    """The agent of that name, which `agent` hands over to.

    Raises:
        ValueError: it may not.
        TypeError: this is no name.
    """
    if not isinstance(name, str):
        raise TypeError(
            f"Agent {agent.name!r} is to transfer to {brief(name)}; `transfer_to_agent` is the name"
            " of an agent."
        )
    targets = {target.name: target for target in reversed(agent.may_hand_over_to)}
    if name not in targets:
        names = ", ".join(sorted(targets))
        may = f"; it may transfer to: {names}." if names else ", nor to any other agent."
        raise ValueError(
            f"Agent {agent.name!r} cannot transfer to {name!r}{may} Put an agent into `sub_agents`"
            " to make it a target."
        )
    return targets[name]


def family(agent: BaseAgent, above: tuple[BaseAgent, ...] = ()) -> Iterator[BaseAgent]:
    """The agent and all below it.

    Args:
        agent: The agent.
        above: Those that were gone through to come to it.

    Raises:
        ValueError: an agent is below itself, for code may append to `sub_agents`.
    """
    yield agent
    for sub_agent in agent.sub_agents:
        line = (*above, agent)
        if any(sub_agent is each for each in line):
            raise _circle(sub_agent, line)
        yield from family(sub_agent, line)


def check_place(sub_agent: BaseAgent, parent: BaseAgent) -> None:
    """Refuse a sub-agent that is one already.

    Raises:
        ValueError: it has a parent.
    """
    current_parent = sub_agent.parent_agent
    if current_parent is parent:
        raise ValueError(
            f"Agent {sub_agent.name!r} is among the `sub_agents` of {parent.name!r} twice; leave"
            ' one out, or give it a copy, made with clone(update={"name": ...}).'
        )
    if current_parent is not None:
        raise ValueError(
            f"Agent {sub_agent.name!r} is a sub-agent of {current_parent.name!r} and cannot be"
            f" one of {parent.name!r} too; give each its own copy, made with clone()."
        )


def adopt(parent: BaseAgent, sub_agent: BaseAgent) -> None:
    """Put a sub-agent below its parent, which is being made with it."""
    sub_agent.parent_agent, sub_agent._came_late = parent, False


def warn_of_namesakes(root: BaseAgent) -> None:
    """Log a warning if agents of the tree share a name; ValueError if one is below itself."""
    names = Counter(each.name for each in family(root))
    twice = [name for name, count in names.items() if count > 1]
    if twice:
        logger.warning(
            "Agents share the names %s; only the first of each is found. Rename the others.", twice
        )


def warn_if_idle(agent: BaseAgent) -> None:
    """Log a warning if an agent that does nothing but run its sub-agents has none."""
    if not agent.sub_agents:
        logger.warning(
            "Agent %r has nothing to do: it runs its `sub_agents`, and has none.", agent.name
        )


def _circle(agent: BaseAgent, line: tuple[BaseAgent, ...]) -> ValueError:
    names = [each.name for each in line]
    start = next(number for number, each in enumerate(line) if each is agent)
    way = " > ".join([*names[start:], agent.name])
    return ValueError(
        f"Agent {agent.name!r} is below itself ({way}), so its tree would never end. Take one of"
        " them out of `sub_agents`."
    )
