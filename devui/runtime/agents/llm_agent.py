"""`LlmAgent`: an agent that a model drives (LlmAgent seed; adk-runtime 6)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from pydantic import BaseModel, Field, PrivateAttr, model_validator

from devui.runtime.agents.base_agent import BaseAgent
from devui.runtime.agents.hand_over import takes_turns, up_to_transfer
from devui.runtime.agents.instruction_providers import provided
from devui.runtime.agents.llm_agent_callbacks import AfterModelCallback as AfterModelCallback
from devui.runtime.agents.llm_agent_callbacks import AfterToolCallback as AfterToolCallback
from devui.runtime.agents.llm_agent_callbacks import BeforeModelCallback as BeforeModelCallback
from devui.runtime.agents.llm_agent_callbacks import BeforeToolCallback as BeforeToolCallback
from devui.runtime.agents.llm_agent_callbacks import LlmAgentCallbacks
from devui.runtime.agents.llm_agent_callbacks import OnModelErrorCallback as OnModelErrorCallback
from devui.runtime.agents.llm_agent_callbacks import OnToolErrorCallback as OnToolErrorCallback
from devui.runtime.agents.llm_agent_node import run_as_node
from devui.runtime.agents.llm_agent_output import OutputSaver, TaskOutput
from devui.runtime.agents.llm_agent_resume import Left, Turn, what_is_left
from devui.runtime.agents.llm_agent_settings import (
    GenerationConfig,
    check_config,
    check_default_model,
    check_given,
    check_mode,
    check_task,
    check_tools,
    no_parent_of_tasks,
    refuse_misplaced,
)
from devui.runtime.agents.llm_agent_tools import listed_by, made_of
from devui.runtime.agents.task_scopes import awaits_words, in_own_scope
from devui.runtime.agents.tasks import run_with_tasks
from devui.runtime.agents.transfers import target_of, transfers
from devui.runtime.code_executors.base_code_executor import BaseCodeExecutor
from devui.runtime.events.event import Event
from devui.runtime.flows.llm_flows.auto_flow import AutoFlow
from devui.runtime.flows.llm_flows.base_llm_flow import BaseLlmFlow
from devui.runtime.flows.llm_flows.single_flow import SingleFlow
from devui.runtime.models.base_llm import BaseLlm
from devui.runtime.models.registry import LLMRegistry
from devui.runtime.planners.base_planner import BasePlanner
from devui.runtime.tools.base_tool import BaseTool
from devui.runtime.tools.base_toolset import BaseToolset, toolsets_of
from devui.runtime.tools.delegated_agent_tool import DelegatedAgentTool, DelegatedNodeTool
from devui.runtime.tools.finish_task_tool import FinishTaskTool
from devui.runtime.tools.task_agent_tool import TaskAgentTool

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.agents.readonly_context import ReadonlyContext

InstructionProvider = Callable[..., Any]
ToolUnion = Callable[..., Any] | BaseTool | BaseToolset
"""What `tools` may hold; for annotations, by ADK's name."""
Instruction = str | InstructionProvider


class LlmAgent(LlmAgentCallbacks):
    """An agent with a model, instructions and tools. `Agent` is another name of it.

    The fields say what is wanted; the `canonical_*` members make of it what a run
    needs, when it needs it.
    """

    DEFAULT_MODEL: ClassVar[str] = "gemini-3.5-flash"
    """The model of agents for which none is named, neither their own nor above them."""
    _default_model: ClassVar[str | BaseLlm] = DEFAULT_MODEL

    model: str | BaseLlm = ""
    """A model's name or a model; without one, that of the nearest agent above."""
    instruction: Instruction = ""
    """What the model is told to do. In a text `{key}` is filled from the state; a function gets
    a ReadonlyContext and returns the text, which is left as it is."""
    global_instruction: Instruction = ""
    """An instruction for all agents of the tree; only that of the root counts."""
    static_instruction: Any = None
    """What never changes, sent first and as it is, so that providers can cache it: text or
    Content. The `instruction` then goes to the contents."""
    tools: list[Any] = Field(default_factory=list)
    """Functions, tools, toolsets and nodes, such as a Workflow, that the model may call."""
    generate_content_config: GenerationConfig = None
    """Temperature, safety settings and the like."""
    disallow_transfer_to_parent: bool = False
    """Keep the model from handing over to the agent above."""
    disallow_transfer_to_peers: bool = False
    """Keep the model from handing over to the other sub-agents of the agent above."""
    include_contents: Literal["default", "none"] = "default"
    """`none`: the model sees the current turn only."""
    parallel_worker: bool | None = None
    """As a node of a graph, run for each item of its input, at the same time."""
    mode: str | None = None
    """`chat`: talks with the user and hands over by transfer, the default. `single_turn`: as a
    sub-agent, is called by its parent's model like a function and answers once. `task`: is called
    in the same way, may talk with the user, and answers with the tool `finish_task`."""
    input_schema: type[BaseModel] | None = None
    """What the agent takes when another agent calls it like a function."""
    output_schema: Any = None
    """The shape of the answer: a pydantic model, a list of one, a type or a JSON schema."""
    output_key: str | None = None
    """The state key that keeps the answer."""
    planner: BasePlanner | None = None
    """How the model thinks before it acts."""
    code_executor: BaseCodeExecutor | None = None
    """Runs the code that the model writes."""

    _kept_flow: BaseLlmFlow | None = PrivateAttr(default=None)
    _named_model: BaseLlm | None = PrivateAttr(default=None)
    _named_model_name: str = PrivateAttr(default="")

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
        if self.mode == "task":
            check_task(self.tools, self.output_schema)
        for agent in self.sub_agents:
            if isinstance(agent, LlmAgent) and agent.mode is None:
                agent.mode = "chat"
        return self

    @classmethod
    def set_default_model(cls, model: str | BaseLlm) -> None:
        """Set the model of agents without any; raises TypeError or ValueError for what is none."""
        check_default_model(model)
        LlmAgent._default_model = model

    def taken_as_tool(self) -> Any:
        """As a node of a workflow that is a tool: words, unless it has an input schema."""
        return self.input_schema or str

    async def _run_impl(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
        async with aclosing(run_as_node(self, ctx, node_input)) as events:
            async for event in events:
                yield event

    def run_async(self, parent_context: InvocationContext) -> AsyncGenerator[Event, None]:
        """Run the agent between its callbacks and yield its events.

        When its model gives tasks to sub-agents of mode `task`, the agent is run up to there, and
        again when the tasks are done.
        """
        run = super().run_async
        ctx = in_own_scope(self, parent_context)
        return run_with_tasks(self, ctx, run) if self.sub_agents_given_tasks else run(ctx)

    @property
    def sees_transfers_through(self) -> bool:
        """Whether its code is that of `LlmAgent`."""
        return type(self)._run_async_impl is LlmAgent._run_async_impl

    def _run_async_impl_events(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        events = super()._run_async_impl_events(ctx)
        if self.sees_transfers_through or not takes_turns(self, ctx):
            return events
        return up_to_transfer(self, ctx, events)

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        left, name = what_is_left(self, ctx)
        turn = Turn(ctx, target=target_of(self, name) if name else None)
        if left is Left.WAIT:
            return
        if left is Left.TURN:
            async with aclosing(_take_turn(self, ctx, turn)) as events:
                async for event in events:
                    yield event
        if turn.target is not None:
            # Where agents take turns the conversation has moved on, and this agent's callbacks have
            # nothing to add; below a workflow agent what its target does is part of its own run.
            ctx.handed_over = takes_turns(self, ctx)
            async with aclosing(turn.hand_over(anew=left is Left.TURN)) as events:
                async for event in events:
                    yield event
            ctx.end_invocation = ctx.end_invocation or ctx.handed_over
        if ctx.delegating:
            ctx.end_invocation = True
            return  # the agent has not come to its end
        if ctx.is_resumable and not turn.paused(self.name) and not awaits_words(ctx, self):
            yield self._create_agent_state_event(ctx, end_of_agent=True)

    def _tells_of_agent_errors(self, ctx: InvocationContext) -> bool:
        """Always: the history must show why the run ended (events seed; adk-runtime 12.4)."""
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
        """The flow, kept for the histories it has made (adk-runtime 6.2)."""
        alone = (
            self.disallow_transfer_to_parent
            and self.disallow_transfer_to_peers
            and not self.sub_agents
        )
        wanted = SingleFlow if alone else AutoFlow
        flow = self._kept_flow
        if type(flow) is not wanted:
            flow = self._kept_flow = wanted()
        return flow

    # What the fields stand for

    @property
    def canonical_model(self) -> BaseLlm:
        """The model: this agent's, else that of the nearest agent above, else the default.

        Raises:
            ValueError: no class is known for the model's name.
        """
        if model := self.model:
            return _model_of_name(self, model) if isinstance(model, str) else model
        ancestor = self.parent_agent
        while ancestor is not None:
            if isinstance(ancestor, LlmAgent):
                return ancestor.canonical_model
            ancestor = ancestor.parent_agent
        default = LlmAgent._default_model
        return default if isinstance(default, BaseLlm) else _model_of_name(self, default)

    async def canonical_model_async(self, ctx: ReadonlyContext) -> BaseLlm:
        """The model for one call, which is what the flow asks for: `canonical_model`.

        A class of one's own may choose by the state (adk-runtime 6.1).
        """
        return self.canonical_model

    async def canonical_instruction(self, ctx: ReadonlyContext) -> tuple[str, bool]:
        """The instruction, and whether it is to be left as it is."""
        text = self.instruction
        return (text, False) if isinstance(text, str) else await provided(text, ctx)

    async def canonical_global_instruction(self, ctx: ReadonlyContext) -> tuple[str, bool]:
        """The instruction for the tree, and whether it is to be left as it is."""
        text = self.global_instruction
        return (text, False) if isinstance(text, str) else await provided(text, ctx)

    async def canonical_tools(self, ctx: ReadonlyContext | None = None) -> list[BaseTool]:
        """All tools: functions wrapped, toolsets asked, all of them at the same time.

        A toolset that fails is logged, and the agent runs without its tools. ToolsetError for one
        that lists something else.
        """
        toolsets = toolsets_of(self.tools)
        listing = (listed_by(toolset, self, ctx) for toolset in toolsets)
        listed = iter(await asyncio.gather(*listing) if toolsets else ())
        tools: list[BaseTool] = []
        for entry in self.tools:
            if toolsets and isinstance(entry, BaseToolset):
                tools += next(listed)
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
    def answers_once(self) -> bool:
        """Whether the agent is called like a function and gets no more words than those."""
        return self.mode == "single_turn" and self.is_called_by_model

    @property
    def sub_agents_given_tasks(self) -> Sequence[LlmAgent]:
        """The sub-agents that carry out tasks for this agent's model."""
        return [
            each for each in self.sub_agents if isinstance(each, LlmAgent) and each.mode == "task"
        ]

    def check_parent(self, parent: BaseAgent) -> None:
        """Raise ValueError for the parent of a task agent that has no model to give it tasks."""
        can_wait = isinstance(parent, LlmAgent) and parent.mode != "single_turn"
        if self.mode == "task" and not can_wait:
            raise ValueError(no_parent_of_tasks(self.name, parent.name))

    @property
    def sub_agents_as_tools(self) -> list[BaseTool]:
        """The sub-agents that this agent's model calls like functions, as tools."""
        delegated = (agent for agent in self.sub_agents if agent.is_called_by_model)
        return [_as_tool(agent) for agent in delegated if not agent._came_late]

    @property
    def root_llm_agent(self) -> LlmAgent | None:
        """The root of the tree, if it is an agent with a model."""
        root = self.root_agent
        return root if isinstance(root, LlmAgent) else None

    @cached_property
    def _made_tools(self) -> dict[int, tuple[Any, BaseTool]]:
        """The tools made of functions and nodes, by the ids of those."""
        return {}


# Functions, since agents of one's own have methods and attributes of such names.


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


def _model_of_name(agent: LlmAgent, name: str) -> BaseLlm:
    """The model of that name, made once: it keeps connections."""
    if agent._named_model is None or agent._named_model_name != name:
        agent._named_model = LLMRegistry.new_llm(name)
        agent._named_model_name = name
    return agent._named_model


def _as_tool(agent: BaseAgent) -> BaseTool:
    if not isinstance(agent, LlmAgent):
        return DelegatedNodeTool(agent)
    return TaskAgentTool(agent) if agent.mode == "task" else DelegatedAgentTool(agent)


Agent = LlmAgent
