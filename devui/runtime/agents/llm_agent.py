"""`LlmAgent`: an agent that a model drives (LlmAgent seed; adk-runtime 6)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from pydantic import PrivateAttr, model_validator

from devui.runtime.agents.agent_runs import awaits_words, in_own_scope, run_with_tasks
from devui.runtime.agents.base_agent import BaseAgent, target_of, transfers
from devui.runtime.agents.hand_over import takes_turns, up_to_transfer
from devui.runtime.agents.llm_agent_settings import AfterModelCallback as AfterModelCallback
from devui.runtime.agents.llm_agent_settings import AfterToolCallback as AfterToolCallback
from devui.runtime.agents.llm_agent_settings import BeforeModelCallback as BeforeModelCallback
from devui.runtime.agents.llm_agent_settings import BeforeToolCallback as BeforeToolCallback
from devui.runtime.agents.llm_agent_settings import InstructionProvider as InstructionProvider
from devui.runtime.agents.llm_agent_settings import (
    LlmAgentSettings,
    check_config,
    check_default_model,
    check_given,
    check_mode,
    check_task,
    check_tools,
    no_parent_of_tasks,
    refuse_misplaced,
)
from devui.runtime.agents.llm_agent_settings import OnModelErrorCallback as OnModelErrorCallback
from devui.runtime.agents.llm_agent_settings import OnToolErrorCallback as OnToolErrorCallback
from devui.runtime.agents.llm_agent_settings import ToolUnion as ToolUnion
from devui.runtime.agents.llm_agent_turn import (
    NextStep,
    OutputSaver,
    TaskOutput,
    Turn,
    run_as_node,
    what_is_left,
)
from devui.runtime.calling import name_of
from devui.runtime.duplicate_tools import check_names, origin_of
from devui.runtime.events.event import Event
from devui.runtime.flows.llm_flows.base_llm_flow import AutoFlow, BaseLlmFlow, SingleFlow
from devui.runtime.mistakes import message_of
from devui.runtime.models.base_llm import BaseLlm
from devui.runtime.tools.base_tool import BaseTool
from devui.runtime.tools.base_toolset import BaseToolset, ToolsetError, toolsets_of
from devui.runtime.tools.delegated_agent_tool import (
    DelegatedAgentTool,
    DelegatedNodeTool,
    TaskAgentTool,
)
from devui.runtime.tools.finish_task_tool import FinishTaskTool
from devui.runtime.tools.function_tool import FunctionTool
from devui.runtime.tools.node_tool import NodeTool
from devui.runtime.workflow.base_node import BaseNode

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context, ReadonlyContext
    from devui.runtime.agents.invocation_context import InvocationContext


# The tools of an agent's model, made from `tools` (adk-runtime 6.1).


logger = logging.getLogger(__name__)


def made_of(entry: Any, agent: LlmAgent) -> BaseTool:
    """Return the tool for an entry of `tools`.

    Functions and nodes are wrapped once, since their declarations take a while to build.
    """
    pair = agent._made_tools.get(id(entry))
    if pair is not None and pair[0] is entry:
        return pair[1]
    if isinstance(entry, BaseTool):
        return entry.beside_others(agent)
    tool = NodeTool(entry) if isinstance(entry, BaseNode) else FunctionTool(entry)
    agent._made_tools[id(entry)] = (entry, tool)
    return tool


def origins_at_load(agent: LlmAgent) -> Iterator[tuple[str, str]]:
    """Yield the names and origins of the tools that are known before a run.

    A toolset may know its tools only later, and so may a tool that prepares requests in its own
    way.
    """
    for entry in agent.tools:
        if isinstance(entry, BaseToolset):
            yield from ((tool.name, tool._origin()) for tool in entry._tools_at_load())
        elif isinstance(entry, BaseTool):
            if type(entry).process_llm_request is BaseTool.process_llm_request:
                yield entry.name, entry._origin()
        elif isinstance(entry, BaseNode):
            yield entry.name, f"node {entry.name!r}"
        else:
            yield name_of(entry) or type(entry).__name__, origin_of(entry)
    for each in agent.sub_agents:
        # Looked up by name, since agents of any class may have a mode.
        if dict(each).get("mode") in {"single_turn", "task"}:
            yield each.name, f"agent {each.name!r}"


async def listed_by(
    toolset: BaseToolset, agent: LlmAgent, ctx: ReadonlyContext | None
) -> list[BaseTool]:
    """Return the tools of a toolset; if it cannot list them, log that and return none.

    Raises:
        ToolsetError: it lists something other than tools.
    """
    try:
        return await toolset.get_tools_with_prefix(ctx)
    except ToolsetError:
        raise
    except Exception as error:
        logger.exception(
            "Agent %r runs without the tools of %s, which could not be listed: %s",
            agent.name,
            type(toolset).__name__,
            message_of(error),  # noqa: TRY401  a traceback of groups is long, and ends with it
        )
        return []


class LlmAgent(LlmAgentSettings):
    """An agent with a model, instructions and tools. `Agent` is an alias.

    The fields hold what you configure; the `canonical_*` members resolve it when a
    run needs it.
    """

    _kept_flow: BaseLlmFlow | None = PrivateAttr(default=None)

    @model_validator(mode="before")
    @classmethod
    def _check_llm_agent_arguments(cls, values: Any) -> Any:
        if isinstance(values, dict):
            refuse_misplaced(values, cls.model_fields)
            check_given(values)
        return values

    @model_validator(mode="after")
    def _check_settings(self) -> Self:
        check_mode(self.mode)
        check_config(self.generate_content_config, self.planner)
        check_tools(self.tools)
        check_names(origins_at_load(self))
        if self.mode == "task":
            check_task(self.tools, self.output_schema)
        for agent in self.sub_agents:
            if isinstance(agent, LlmAgent) and agent.mode is None:
                agent.mode = "chat"
        return self

    @classmethod
    def set_default_model(cls, model: str | BaseLlm) -> None:
        """Set the model of agents without one. Raises TypeError or ValueError if it is unusable."""
        check_default_model(model)
        LlmAgentSettings._default_model = model

    def taken_as_tool(self) -> Any:
        """Return the schema of its input as a tool; without an input schema, it takes text."""
        return self.input_schema or str

    async def _run_impl(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
        async with aclosing(run_as_node(self, ctx, node_input)) as events:
            async for event in events:
                yield event

    def run_async(self, parent_context: InvocationContext) -> AsyncGenerator[Event, None]:
        """Run the agent between its callbacks and yield its events.

        If its model gives tasks to sub-agents of mode `task`, the agent's run stops there; it is
        run again when the tasks are done.
        """
        run = super().run_async
        ctx = in_own_scope(self, parent_context)
        return run_with_tasks(self, ctx, run) if self.sub_agents_given_tasks else run(ctx)

    @property
    def sees_transfers_through(self) -> bool:
        """Whether the agent runs `LlmAgent`'s own code."""
        return type(self)._run_async_impl is LlmAgent._run_async_impl

    def _run_async_impl_events(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        events = super()._run_async_impl_events(ctx)
        if self.sees_transfers_through or not takes_turns(self, ctx):
            return events
        return up_to_transfer(self, ctx, events)

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        next_step, name = what_is_left(self, ctx)
        turn = Turn(ctx, target=target_of(self, name) if name else None)
        if next_step is NextStep.WAIT:
            return
        if next_step is NextStep.TURN:
            async with aclosing(_take_turn(self, ctx, turn)) as events:
                async for event in events:
                    yield event
        if turn.target is not None:
            # Where agents take turns, the conversation has moved on, and this agent's callbacks
            # have nothing to add. Below a workflow agent, the target's work is part of this agent's
            # run.
            ctx.handed_over = takes_turns(self, ctx)
            async with aclosing(turn.hand_over(anew=next_step is NextStep.TURN)) as events:
                async for event in events:
                    yield event
            ctx.end_invocation = ctx.end_invocation or ctx.handed_over
        if ctx.delegating:
            ctx.end_invocation = True
            return  # the agent hasn't ended
        if ctx.is_resumable and not turn.paused(self.name) and not awaits_words(ctx, self):
            yield self._create_agent_state_event(ctx, end_of_agent=True)

    def _tells_of_agent_errors(self, ctx: InvocationContext) -> bool:
        """Return True: the history must show why the run ended (events seed; adk-runtime 12.4)."""
        return True

    async def _handle_before_agent_callback(self, ctx: InvocationContext) -> Event | None:
        event = await super()._handle_before_agent_callback(ctx)
        if event is not None:
            path = ctx.node_path if self.answers_once else None
            OutputSaver(self.name, self.output_key, path=path).save(event)
            if transfers(self, event) and takes_turns(self, ctx):
                ctx.end_invocation = True
        return event

    @property
    def _llm_flow(self) -> BaseLlmFlow:
        """The flow, kept for the histories that it caches (adk-runtime 6.2)."""
        alone = (
            self.disallow_transfer_to_parent
            and self.disallow_transfer_to_peers
            and not self.sub_agents
        )
        flow_class = SingleFlow if alone else AutoFlow
        flow = self._kept_flow
        if type(flow) is not flow_class:
            flow = self._kept_flow = flow_class()
        return flow

    # Resolved settings

    async def canonical_tools(self, ctx: ReadonlyContext | None = None) -> list[BaseTool]:
        """Return all tools, with functions wrapped and toolsets listed concurrently.

        If a toolset fails, that is logged, and the agent runs without its tools. Raises
        ToolsetError if one lists something other than tools.
        """
        toolsets = toolsets_of(self.tools)
        listing = (listed_by(toolset, self, ctx) for toolset in toolsets)
        tool_lists = iter(await asyncio.gather(*listing) if toolsets else ())
        tools: list[BaseTool] = []
        for entry in self.tools:
            if toolsets and isinstance(entry, BaseToolset):
                tools += next(tool_lists)
            else:
                tools.append(made_of(entry, self))
        if self.mode == "task":
            tools.append(FinishTaskTool(self.output_schema))
        return [*tools, *self.sub_agents_as_tools] if self.sub_agents else tools

    @property
    def may_hand_over_to(self) -> list[BaseAgent]:
        """The agents that this one may hand over to (adk-runtime 6.6)."""
        targets = [agent for agent in self.sub_agents if not agent.is_called_by_model]
        parent = self.parent_agent
        if parent is None or self.is_called_by_model or not isinstance(parent, LlmAgent):
            return targets
        if not self.disallow_transfer_to_parent:
            targets.append(parent)
        if not self.disallow_transfer_to_peers:
            peers = (agent for agent in parent.sub_agents if agent is not self)
            targets.extend(peer for peer in peers if not peer.is_called_by_model)
        return targets

    @property
    def is_called_by_model(self) -> bool:
        """Whether the model of the agent above calls this one like a function."""
        return self.mode in {"single_turn", "task"} and isinstance(self.parent_agent, LlmAgent)

    @property
    def sub_agents_given_tasks(self) -> Sequence[LlmAgent]:
        """The sub-agents that carry out tasks for this agent's model."""
        return [
            each for each in self.sub_agents if isinstance(each, LlmAgent) and each.mode == "task"
        ]

    def check_parent(self, parent: BaseAgent) -> None:
        """Raise ValueError if this is a task agent and `parent` has no model to give it tasks."""
        can_wait = isinstance(parent, LlmAgent) and parent.mode != "single_turn"
        if self.mode == "task" and not can_wait:
            raise ValueError(no_parent_of_tasks(self.name, parent.name))

    @property
    def sub_agents_as_tools(self) -> list[BaseTool]:
        """The sub-agents that this agent's model calls like functions, as tools."""
        delegated = (agent for agent in self.sub_agents if agent.is_called_by_model)
        return [_as_tool(agent) for agent in delegated if not agent._came_late]

    @cached_property
    def _made_tools(self) -> dict[int, tuple[Any, BaseTool]]:
        """Functions and nodes with the tools made from them, by the `id()` of the former."""
        return {}


# Functions rather than methods, since users' agent classes may have members of these names.


async def _take_turn(
    agent: LlmAgent, ctx: InvocationContext, turn: Turn
) -> AsyncGenerator[Event, None]:
    output = _output_of(agent, ctx)
    async with aclosing(agent._llm_flow.run_async(ctx)) as events:
        async for event in events:
            problem = output.save(event)
            yield event
            if problem is not None:
                raise problem
            if output.complete:
                return
            turn.watch(event)


def _output_of(agent: LlmAgent, ctx: InvocationContext) -> OutputSaver | TaskOutput:
    if agent.mode == "task":
        return TaskOutput(ctx, agent.output_key)
    path = ctx.node_path if agent.answers_once else None
    again = agent.retry_config is not None
    return OutputSaver(agent.name, agent.output_key, agent.output_schema, path, again)


def _as_tool(agent: BaseAgent) -> BaseTool:
    if not isinstance(agent, LlmAgent):
        return DelegatedNodeTool(agent)
    return TaskAgentTool(agent) if agent.mode == "task" else DelegatedAgentTool(agent)


Agent = LlmAgent
