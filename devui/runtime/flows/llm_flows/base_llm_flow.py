"""The agentic loop: ask the model, run its tools, and ask again (LlmAgent seed; adk-runtime 7)."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING

from google.genai import types

from devui.runtime.agents.invocation_events import (
    WAITING_CALLS,
    awaits_anyone,
    failed_calls,
    has_work_below,
    lost_calls,
)
from devui.runtime.agents.llm_agent_turn import gives_one_answer
from devui.runtime.copying import assign, copy_with
from devui.runtime.events.event import Event, NodeInfo
from devui.runtime.events.event_actions import EventActions
from devui.runtime.flows.llm_flows._code_execution import code_execution, code_execution_response
from devui.runtime.flows.llm_flows._nl_planning import nl_planning, nl_planning_response
from devui.runtime.flows.llm_flows.contents import contents
from devui.runtime.flows.llm_flows.functions import (
    get_long_running_function_calls,
    give_ids,
    run_calls,
)
from devui.runtime.flows.llm_flows.model_call import ModelCall
from devui.runtime.flows.llm_flows.processors import (
    Extensible,
    RequestProcessor,
    RequestStep,
    ResponseProcessor,
    ResponseStep,
    agent_of,
    as_request_processor,
    as_response_processor,
)
from devui.runtime.flows.llm_flows.request_steps import (
    basic,
    compaction,
    context_cache,
    identity,
    instructions,
)
from devui.runtime.flows.llm_flows.tool_steps import (
    agent_tools,
    agent_transfer,
    lost_answer,
    output_schema,
    toolset_auth,
)
from devui.runtime.flows.llm_flows.user_answers import auth, request_confirmation
from devui.runtime.models.llm_request import LlmRequest
from devui.runtime.platform.time import get_time

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.models.llm_response import LlmResponse


# Turns a model's responses into events (adk-runtime 7.1, 7.4).


_SAYS = ("content", "error_code", "interrupted", "grounding_metadata")


def base_of(ctx: InvocationContext, actions: EventActions | None = None) -> Event:
    """Return what all events of one model call share; its callbacks write to its actions."""
    return Event.assemble(
        invocation_id=ctx.invocation_id,
        author=ctx.agent.name if ctx.agent else "",
        branch=ctx.branch,
        node_info=NodeInfo(path=ctx.node_path or ""),
        actions=actions or EventActions.assemble(),
    )


def event_of(response: LlmResponse, base: Event) -> Event | None:
    """Return the event for a response, or None if the response says nothing.

    A whole answer is written into `base`, a fragment into a copy of it. They have the same id, so
    that a client can replace the fragments with the answer. Only the whole answer carries the
    actions, because fragments are never committed (events seed).
    """
    fields = vars(response)
    values = {name: fields[name] for name in response.model_fields_set if fields[name] is not None}
    if not any(map(values.get, _SAYS)):
        return None
    values["timestamp"] = get_time()
    if response.partial:
        return copy_with(
            base, **{"actions": EventActions.assemble(), "node_info": NodeInfo(), **values}
        )
    return assign(base, **values)


logger = logging.getLogger(__name__)


class BaseLlmFlow(Extensible):
    """The loop of every agent with a model; processors build its requests.

    Each event is committed before the loop continues: the event with the function
    calls before the tools run, the event with their responses before the model is
    called again (runtime seed).
    """

    # Code that every step runs closes its generators with `try` and `finally`: `aclosing` makes
    # three calls and two coroutines each time, which adds up to more than 1 % of a turn.

    def __init__(self) -> None:
        """Start with the agent's tools alone: no instructions, no history."""
        self.request_processors = []
        self.tool_request_processors = [toolset_auth, agent_tools]
        self.response_processors = []

    async def run_async(self, invocation_context: InvocationContext) -> AsyncGenerator[Event, None]:
        """Run steps until one ends in a final response or a transfer, or yields nothing."""
        ctx = invocation_context
        has_question = False
        while not (ctx.is_aborted or ctx.end_invocation):
            last = None
            events = self._run_one_step_async(ctx)
            try:
                async for event in events:
                    last = event
                    has_question = has_question or bool(event.long_running_tool_ids)
                    yield event
            finally:
                await events.aclose()
            if last is None or ctx.delegating or _ends_loop(last):
                return
            if has_question and _gives_all(ctx) and awaits_anyone(ctx, agent_of(ctx).name):
                return

    # Custom flows may override these methods; google-adk's flow has the same ones.

    async def _run_one_step_async(
        self, invocation_context: InvocationContext
    ) -> AsyncGenerator[Event, None]:
        """Send one request, and run the tools that its answer calls."""
        ctx = invocation_context
        llm_request = LlmRequest.blank()
        is_answered = False
        events = self._preprocess_async(ctx, llm_request)
        try:
            async for event in events:
                is_answered = is_answered or _is_last_answer(event)
                yield event
        finally:
            await events.aclose()
        if ctx.end_invocation or is_answered:
            return
        rest = _what_is_left(self, ctx, llm_request)
        if rest is not None:
            async with aclosing(rest) as events:
                async for event in events:
                    yield event
            return
        base, is_told = base_of(ctx), False
        responses = self._call_llm_async(ctx, llm_request, base)
        try:
            async for response in responses:
                if is_told:
                    base, is_told = base_of(ctx, base.actions), False
                events = self._postprocess_async(ctx, llm_request, response, base)
                async for event in events:
                    is_told = is_told or event is base  # base has become the whole answer
                    yield event
        finally:
            try:
                await events.aclose()
            finally:
                await responses.aclose()

    async def _preprocess_async(
        self, invocation_context: InvocationContext, llm_request: LlmRequest
    ) -> AsyncGenerator[Event, None]:
        """Run the steps before the model call, up to one that ends the invocation."""
        ctx = invocation_context
        for step in self._iter_request_processors():
            processor = step if isinstance(step, RequestProcessor) else as_request_processor(step)
            if processor.applies is not None and not processor.applies(ctx):
                continue
            if processor.prepare is not None:
                await processor.prepare(ctx, llm_request)
            if processor.run is not None:
                async with aclosing(processor.run(ctx, llm_request)) as events:
                    async for event in events:
                        yield event
                if ctx.end_invocation:
                    return

    def _call_llm_async(
        self,
        invocation_context: InvocationContext,
        llm_request: LlmRequest,
        model_response_event: Event,
    ) -> AsyncGenerator[LlmResponse, None]:
        """Call the model and its callbacks, whose changes go into `model_response_event`."""
        return ModelCall(invocation_context, llm_request, model_response_event).responses()

    async def _postprocess_async(
        self,
        invocation_context: InvocationContext,
        llm_request: LlmRequest,
        llm_response: LlmResponse,
        model_response_event: Event,
    ) -> AsyncGenerator[Event, None]:
        """Yield the events of one response, a fragment or a whole answer, and of its calls.

        `model_response_event` holds what all events of the model call share.
        """
        ctx, agent = invocation_context, agent_of(invocation_context)
        for step in self.response_processors:
            processor = step if isinstance(step, ResponseProcessor) else as_response_processor(step)
            if processor.applies(agent):
                async with aclosing(processor.run(ctx, llm_response)) as events:
                    async for before in events:
                        yield before
        event = event_of(llm_response, model_response_event)
        if event is None:
            return
        calls = _calls(event, llm_request)
        yield event
        if not calls:
            return
        events = self._postprocess_handle_function_calls_async(ctx, event, llm_request)
        try:
            async for response_event in events:
                yield response_event
        finally:
            await events.aclose()

    def _postprocess_handle_function_calls_async(
        self,
        invocation_context: InvocationContext,
        function_call_event: Event,
        llm_request: LlmRequest,
    ) -> AsyncGenerator[Event, None]:
        """Run the calls of a committed event."""
        calls = function_call_event.get_function_calls()
        return run_calls(invocation_context, calls, llm_request.tools_dict)


# Resumption


def _what_is_left(
    flow: BaseLlmFlow, ctx: InvocationContext, llm_request: LlmRequest
) -> AsyncGenerator[Event, None] | None:
    """Return the events that a resumed run yields instead of calling the model.

    They redo what was lost; there are none if the run must wait. None: call the model.
    """
    agent = agent_of(ctx)
    goes_on = ctx.has_begun or bool(agent.sub_agents_given_tasks)
    if not goes_on and not ctx.waits_for_answers:
        return None
    if calls := lost_calls(ctx, agent.name):
        return _run_again(flow, ctx, calls, llm_request)
    if answer := lost_answer(ctx):
        return _each(answer)
    if goes_on and has_work_below(ctx, agent.name):
        ctx.delegating = True
        return _each()
    waits = ctx.waits_for_answers or _gives_all(ctx)
    return _each() if waits and awaits_anyone(ctx, agent.name) else None


async def _run_again(
    flow: BaseLlmFlow,
    ctx: InvocationContext,
    calls: Sequence[types.FunctionCall],
    llm_request: LlmRequest,
) -> AsyncGenerator[Event, None]:
    """Run the calls again, and record those that failed before and now wait for an answer."""
    waiting = {call.id for call in calls} & failed_calls(ctx)
    call_event = base_of(ctx)
    call_event.content = types.ModelContent([types.Part(function_call=call) for call in calls])
    results = flow._postprocess_handle_function_calls_async(ctx, call_event, llm_request)
    async with aclosing(results) as events:
        async for event in events:
            waiting.difference_update(each.id for each in event.get_function_responses())
            yield event
    if waiting:
        yield Event(
            invocation_id=ctx.invocation_id,
            author=agent_of(ctx).name,
            branch=ctx.branch,
            custom_metadata={WAITING_CALLS: sorted(str(each) for each in waiting)},
        )


def _gives_all(ctx: InvocationContext) -> bool:
    """Return whether others wait for the agent's result.

    They must not continue with half of it, so the agent does nothing while a call is open.
    """
    return agent_of(ctx).mode == "task" or gives_one_answer(ctx)


async def _each(*events: Event) -> AsyncGenerator[Event, None]:
    for event in events:
        yield event


def _calls(event: Event, llm_request: LlmRequest) -> Sequence[types.FunctionCall]:
    """Give ids to the calls of a whole answer and return them; a fragment's calls are not run."""
    calls = [] if event.partial else event.get_function_calls()
    if calls:
        give_ids(calls)
        event.long_running_tool_ids = get_long_running_function_calls(calls, llm_request.tools_dict)
    return calls


def _is_last_answer(event: Event) -> bool:
    """Return whether a step before the model ran a call that ends the agent's turn."""
    hands_over = event.actions.transfer_to_agent is not None
    return bool(event.get_function_responses()) and (hands_over or event.is_final_response())


def _ends_loop(last: Event) -> bool:
    if last.partial:
        logger.warning(
            "The model of agent %r ended its stream with a fragment: a stream must end with the"
            " whole answer, without partial=True.",
            last.author,
        )
        return True
    return last.is_final_response() or last.actions.transfer_to_agent is not None


# The flow of an agent that works alone, with its tools.


class SingleFlow(BaseLlmFlow):
    """Instructions, history and tools; no other agents (adk-runtime 7.2)."""

    def __init__(self) -> None:
        super().__init__()
        self.request_processors += _create_request_processors()
        self.response_processors += _create_response_processors()


def _create_request_processors() -> list[RequestStep]:
    """Return the steps that build a request; those that work on the history follow `contents`."""
    return [
        basic,
        auth,
        request_confirmation,
        instructions,
        identity,
        compaction,
        contents(),
        context_cache(),
        nl_planning(),
        code_execution(),
        output_schema,
    ]


def _create_response_processors() -> list[ResponseStep]:
    """Return the steps that change a response before it becomes an event."""
    return [nl_planning_response, code_execution_response]


# The flow of an agent that may transfer the conversation to others.


class AutoFlow(SingleFlow):
    """A single flow that also offers transfers (adk-runtime 6.6)."""

    def __init__(self) -> None:
        super().__init__()
        self.request_processors.append(agent_transfer)
