"""The spans of a run, with google-adk's names, parents and attributes (adk-runtime 13).

Schema 2, the default of google-adk 2.13: `invoke_workflow ROOT` around the turn, in it
`invoke_agent A`, `generate_content MODEL`, `execute_tool T`, `invoke_node N`, `compact_events WHY`.
Schema 1, with `ADK_TELEMETRY_SCHEMA_VERSION_OPT_IN=1`: `invocation` around the turn and `call_llm`
around `generate_content`.

Only `switch` may import this module, since it needs OpenTelemetry.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Awaitable, Iterator, Mapping
from contextlib import ExitStack, aclosing, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from opentelemetry import context as contexts
from opentelemetry import trace
from opentelemetry.trace import Span

from devui.runtime.telemetry.context import TelemetryConfig
from devui.runtime.telemetry.figures import Figures
from devui.runtime.telemetry.inference import Inference, Records, call_attributes, common_attributes
from devui.runtime.telemetry.messages import system_of
from devui.runtime.telemetry.tools import ToolSpan, attach, record, seconds_of, within
from devui.runtime.version import __version__
from devui.runtime.workflow.workflow import Workflow

if TYPE_CHECKING:
    from devui.runtime.agents.base_agent import BaseAgent
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.agents.run_config import RunConfig
    from devui.runtime.events.event import Event
    from devui.runtime.models.llm_request import LlmRequest
    from devui.runtime.models.llm_response import LlmResponse
    from devui.runtime.tools.base_tool import BaseTool
    from devui.runtime.workflow.base_node import BaseNode
    from devui.runtime.workflow.node_run import NodeRun

SCOPE = "gcp.vertex.agent"
"""google-adk's instrumentation scope, by which trace viewers recognize its spans."""

_AGENT = contexts.create_key("devui-agent")
_WORKFLOW = contexts.create_key("devui-workflow")
_CONVENTIONS = "https://opentelemetry.io/schemas/1.36.0"


@dataclass(slots=True)
class _AgentTurn:
    """An agent's work until it ends, or transfers to another agent."""

    agent: BaseAgent
    span: Span
    around: contexts.Context
    figures: Figures
    began: float = field(default_factory=time.monotonic)
    models: int = 0
    """The agent's own model calls, without those of its sub-agents."""
    tools: int = 0
    has_ended: bool = False

    def end(self, error: Exception | None = None) -> None:
        """End the span once; later errors are another agent's."""
        if self.has_ended:
            return
        self.has_ended = True
        if error is not None:
            record(self.span, error)
        self.span.end()
        seconds, calls = seconds_of(self.span, self.began), (self.models, self.tools)
        self.figures.agent(self.agent.name, seconds, error, calls)


class Instruments:
    """Makes the spans, metrics and log records of runs."""

    def __init__(self) -> None:
        """Get the tracer, the meter and the logger of the providers that are set up."""
        self._tracer = trace.get_tracer(SCOPE, __version__, schema_url=_CONVENTIONS)
        self._figures = Figures(SCOPE)
        self._records = Records(SCOPE, _CONVENTIONS)

    # Turns

    async def turn(
        self,
        root: BaseNode,
        session: str,
        run_config: RunConfig,
        events: AsyncGenerator[Event, None],
    ) -> AsyncGenerator[Event, None]:
        """Yield the events of a whole turn, within its span."""
        config, is_graph = _config(run_config), isinstance(root, Workflow)
        around = contexts.get_current()
        with ExitStack() as stack:
            if config.uses_legacy_schema:
                around = stack.enter_context(self._recording("invocation", around, {}))
            if is_graph or not config.uses_legacy_schema:
                around = stack.enter_context(self._workflow(root.name, session, around, root))
            async with aclosing(within(around, events)) as own:
                async for event in own:
                    yield event

    @contextmanager
    def _workflow(
        self, name: str, session: str, around: contexts.Context, entry: BaseNode | None
    ) -> Iterator[contexts.Context]:
        """Open the span of a workflow or a turn; `entry` is the root, which gets no other span."""
        nested = contexts.get_value(_WORKFLOW, around) is not None
        about: dict[str, Any] = {
            "gen_ai.operation.name": "invoke_workflow",
            "gen_ai.conversation.id": session,
            **({"gen_ai.workflow.nested": True} if nested else {}),
            **({"gen_ai.workflow.name": name} if name else {}),
        }
        error: BaseException | None = None
        began, span = time.monotonic(), None
        try:
            with self._recording(f"invoke_workflow {name}".strip(), around, about) as inner:
                span = trace.get_current_span(inner)
                yield contexts.set_value(_WORKFLOW, entry or False, inner)
        except BaseException as exception:
            error = exception
            raise
        finally:
            self._figures.workflow(name, seconds_of(span, began), error, nested=nested)

    # Agents

    async def agent(
        self, agent: BaseAgent, ctx: InvocationContext, events: AsyncGenerator[Event, None]
    ) -> AsyncGenerator[Event, None]:
        """Yield the events of an agent, within its span."""
        about = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.description": agent.description,
            "gen_ai.agent.name": agent.name,
            "gen_ai.conversation.id": ctx.session.id,
        }
        around = contexts.get_current()
        span = self._tracer.start_span(f"invoke_agent {agent.name}", around, attributes=about)
        turn = _AgentTurn(agent, span, around, self._figures)
        inner = contexts.set_value(_AGENT, turn, trace.set_span_in_context(span, around))
        try:
            async with aclosing(within(inner, events)) as own:
                async for event in own:
                    yield event
        except Exception as error:
            turn.end(error)
            raise
        finally:
            turn.end()

    def handed_over(
        self, source: BaseAgent, events: AsyncGenerator[Event, None]
    ) -> AsyncGenerator[Event, None]:
        """Return the events of an agent that `source` transferred to.

        The agent runs within the run of `source`, but traces show it after `source`, not below it.
        """
        turn = contexts.get_value(_AGENT)
        if not isinstance(turn, _AgentTurn) or turn.agent is not source:
            return events
        turn.end()
        return within(turn.around, events)

    # Nodes

    async def node(self, run: NodeRun, work: Awaitable[None]) -> None:
        """Run an attempt of a node in a span. Agents and root workflows have their own spans."""
        node, ctx = run.node, run.invocation
        around = contexts.get_current()
        if node is None or node.has_own_branches or contexts.get_value(_WORKFLOW) is node:
            await work
            return
        if isinstance(node, Workflow):
            span = self._workflow(node.name, ctx.session.id, around, None)
        else:
            about = {
                "gen_ai.operation.name": "invoke_node",
                "gen_ai.conversation.id": ctx.session.id,
            }
            span = self._recording(f"invoke_node {node.name}", around, about)
        with span as inner, attach(inner):
            await work
            if run.event_ids:
                active = trace.get_current_span(inner)
                active.set_attribute("gcp.vertex.agent.associated_event_ids", run.event_ids)

    # Models

    async def model_call(
        self,
        ctx: InvocationContext,
        request: LlmRequest,
        event: Event,
        answers: AsyncGenerator[LlmResponse, None],
    ) -> AsyncGenerator[LlmResponse, None]:
        """Yield the answers of a model call with its callbacks; only schema 1 has a span for it."""
        config = _config(ctx.run_config)
        if not config.uses_legacy_schema:
            async with aclosing(answers):
                async for answer in answers:
                    yield answer
            return
        with self._recording("call_llm", contexts.get_current(), {}) as inner:
            span, last, is_whole = trace.get_current_span(inner), None, False
            try:
                async with aclosing(within(inner, answers)) as own:
                    async for answer in own:
                        last, is_whole = answer, not answer.partial
                        if is_whole:
                            about = call_attributes(ctx, event, request, answer, config=config)
                            span.set_attributes(about)
                        yield answer
            finally:
                if last is not None and not is_whole:
                    span.set_attributes(call_attributes(ctx, event, request, last, config=config))

    async def inference(
        self,
        ctx: InvocationContext,
        request: LlmRequest,
        event: Event,
        answers: AsyncGenerator[LlmResponse, None],
    ) -> AsyncGenerator[LlmResponse, None]:
        """Yield the model's own answers. The span ends with the one that has a finish reason."""
        agent, config = ctx.agent.name if ctx.agent else "", _config(ctx.run_config)
        common = common_attributes(ctx, request, event, config)
        turn, began = contexts.get_value(_AGENT), time.monotonic()
        name = f"generate_content {request.model or ''}".strip()
        span = self._tracer.start_span(name, attributes=common.on_span)
        call = Inference(span, request, common, config, self._records)
        error: Exception | None = None
        inner = trace.set_span_in_context(span)
        try:
            async with aclosing(within(inner, answers)) as own:
                async for answer in own:
                    call.take(answer)
                    yield answer
        except Exception as exception:
            error = exception
            record(span, exception)
            raise
        finally:
            call.end()
            if isinstance(turn, _AgentTurn):
                turn.models += 1
            self._figures.model_call(
                agent,
                request.model,
                responses=call.responses,
                usage=call.usage,
                seconds=seconds_of(span, began),
                error=error,
                legacy=config.uses_legacy_schema,
            )

    # Tools

    def tool(
        self, ctx: InvocationContext, tool: BaseTool, arguments: Mapping[str, Any]
    ) -> ToolSpan:
        """Start the span of a tool call that is about to run."""
        turn, agent = contexts.get_value(_AGENT), ctx.agent.name if ctx.agent else ""
        span = self._tracer.start_span(f"execute_tool {tool.name}")
        config = _config(ctx.run_config)

        def count(seconds: float, failure: str | None) -> None:
            if isinstance(turn, _AgentTurn):
                turn.tools += 1
            self._figures.tool(agent, tool, seconds, error=failure)

        return ToolSpan(span, tool, arguments, agent, config, count)

    def record_merge(self, ctx: InvocationContext, event: Event) -> None:
        """Record that the responses of several calls became one event."""
        config = _config(ctx.run_config)
        with self._tracer.start_as_current_span("execute_tool (merged)") as span:
            span.set_attributes(ToolSpan.of_several(event, config))

    # Summaries

    async def summary(
        self, about: Mapping[str, Any], trigger: str, work: Awaitable[Event | None]
    ) -> Event | None:
        """Summarize old events in a span."""
        common = {"gen_ai.system": system_of(None), "gen_ai.operation.name": "compact_events"}
        common |= {key: value for key, value in about.items() if value is not None}
        common["gen_ai.compaction.trigger"] = trigger
        name = f"compact_events {trigger}"
        with self._tracer.start_as_current_span(name, attributes=common) as span:
            summary = await work
            compaction = summary.actions.compaction if summary else None
            if summary is not None and compaction is not None:
                span.set_attribute("gen_ai.compaction.result_event_id", summary.id)
                for each in ("start_timestamp", "end_timestamp"):
                    at = getattr(compaction, each)
                    if at is not None:
                        span.set_attribute(f"gen_ai.compaction.{each}", at)
            return summary

    @contextmanager
    def _recording(
        self, name: str, around: contexts.Context, about: Mapping[str, Any]
    ) -> Iterator[contexts.Context]:
        """Open a span without making it current, since other code runs when events are yielded."""
        span = self._tracer.start_span(name, context=around, attributes=dict(about))
        try:
            yield trace.set_span_in_context(span, around)
        except Exception as error:
            record(span, error)
            raise
        finally:
            span.end()


def _config(run_config: RunConfig | None) -> TelemetryConfig:
    config = run_config.telemetry if run_config else None
    return config if isinstance(config, TelemetryConfig) else TelemetryConfig()
