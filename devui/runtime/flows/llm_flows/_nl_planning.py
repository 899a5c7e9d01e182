"""Applies the agent's planner to requests and answers (adk-runtime 7.2, 10.5)."""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from google.genai import types

from devui.runtime.agents.context import Context, ReadonlyContext
from devui.runtime.events.event import Event
from devui.runtime.flows.llm_flows.processors import RequestProcessor, ResponseProcessor, agent_of
from devui.runtime.mistakes import brief, place
from devui.runtime.models.llm_request import own_contents
from devui.runtime.planners import BuiltInPlanner
from devui.runtime.sessions.latest_sessions import LatestSessions

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.agents.llm_agent_settings import LlmAgentSettings
    from devui.runtime.models.llm_request import LlmRequest
    from devui.runtime.models.llm_response import LlmResponse


# A list that is computed from another, member by member, and grows with it.


S = TypeVar("S")
T = TypeVar("T")


class GrowingMap(Generic[S, T]):
    """Caches a function's results for lists that mostly begin like the list before.

    The results are the same as if they were computed from the whole list: only those before the
    first changed member are reused. Finding that member is quick, since comparing lists only looks
    into members that are not the same objects.
    """

    def __init__(self) -> None:
        self._inputs: list[S] = []
        self._outputs: list[T] = []
        self._arguments: tuple[object, ...] = ()

    def __len__(self) -> int:
        return len(self._outputs)

    def __call__(self, function: Callable[..., T], inputs: list[S], *arguments: object) -> list[T]:
        """Return the function's result for each member, in a list that the caller may change.

        `arguments` are passed on. All calls must pass the same function.
        """
        common = common_length(self._inputs, inputs) if arguments == self._arguments else 0
        outputs = self._outputs[:common]
        outputs += [function(member, *arguments) for member in inputs[common:]]
        self._inputs, self._outputs, self._arguments = list(inputs), outputs, arguments
        return outputs.copy()


def common_length(one: list[S], other: list[S]) -> int:
    """Return how many members at the beginning of two lists are equal."""
    equal, unknown = 0, min(len(one), len(other))
    while equal < unknown:
        middle = (equal + unknown + 1) // 2
        if one[equal:middle] == other[equal:middle]:
            equal = middle
        else:
            unknown = middle - 1
    return equal


def _has_planner(ctx: InvocationContext) -> bool:
    return agent_of(ctx).planner is not None


class Planning:
    """Applies planners to requests, and caches the contents made for them."""

    def __init__(self) -> None:
        self._sessions = LatestSessions()

    async def prepare(self, ctx: InvocationContext, llm_request: LlmRequest) -> None:
        """Add the planner's instruction, and show the model its thoughts as plain text."""
        agent = agent_of(ctx)
        planner = agent.planner
        if planner is None:
            return
        if isinstance(planner, BuiltInPlanner):
            planner.apply_thinking_config(llm_request)
            return
        with own_contents(llm_request, by=f"the planner of agent {agent.name!r}"):
            instruction = planner.build_planning_instruction(ReadonlyContext(ctx), llm_request)
        if instruction:
            _check(instruction, str, planner.build_planning_instruction, agent)
            llm_request.append_instructions([instruction])
        # The model follows its own plan, and models skip parts that are marked as thoughts.
        transform = self._sessions.of(
            ctx.session, agent.name, GrowingMap[types.Content, types.Content]
        )
        llm_request.contents = transform(_without_marks, llm_request.contents)


def _without_marks(content: types.Content) -> types.Content:
    """Return the content with its thoughts as plain text; the content itself if it has none."""
    parts = content.parts or []
    if not any(part.thought for part in parts):
        return content
    plain = [part.model_copy(update={"thought": None}) for part in parts]
    return content.model_copy(update={"parts": plain})


def reads_answers(agent: LlmAgentSettings) -> bool:
    """Return whether the agent's planner processes answers."""
    planner = agent.planner
    ours = BuiltInPlanner.process_planning_response
    return planner is not None and type(planner).process_planning_response is not ours


async def _process(ctx: InvocationContext, response: LlmResponse) -> AsyncGenerator[Event, None]:
    planner = agent_of(ctx).planner
    content = response.content
    if planner is None or content is None or not content.parts:
        return
    context = Context(ctx)
    processed = planner.process_planning_response(context, content.parts)
    if processed:
        _check(processed, list, planner.process_planning_response, agent_of(ctx))
        response.content = content.model_copy(update={"parts": processed})
    if context.state.has_delta():
        yield Event(
            invocation_id=ctx.invocation_id,
            author=agent_of(ctx).name,
            branch=ctx.branch,
            actions=context.actions,
        )


def _check(
    result: Any, result_type: type, method: Callable[..., Any], agent: LlmAgentSettings
) -> None:
    """Raise TypeError if a planner's result has the wrong type."""
    if isinstance(result, result_type):
        return
    description = brief(result)
    if inspect.iscoroutine(result):
        result.close()
        description = "a coroutine"
    kind = "a string" if result_type is str else "a list of Parts"
    raise TypeError(
        f"{place(method)} of agent {agent.name!r} returned {description}; it must be a plain"
        f" function that returns {kind}, or None."
    )


def nl_planning() -> RequestProcessor:
    """Create the planning processor of one flow."""
    return RequestProcessor("nl_planning", prepare=Planning().prepare, applies=_has_planner)


request_processor = nl_planning()
"""For custom flows, which may share it."""
nl_planning_response = ResponseProcessor("nl_planning", applies=reads_answers, run=_process)
response_processor = nl_planning_response
