"""The replay plugin: innermost, where live calls would be made."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import aclosing, contextmanager
from contextvars import ContextVar
from typing import Any

from devui.runtime.plugins.base_plugin import BasePlugin
from devui.worker.engines.kit import (
    BaseAgent,
    BaseTool,
    Context,
    Event,
    InvocationContext,
    Kit,
    LlmRequest,
    LlmResponse,
)
from devui.worker.output import current_run
from devui.worker.replay.interventions import RecordedEdits
from devui.worker.replay.network import guard, unguard
from devui.worker.replay.replay import Replay

_inside: ContextVar[int | None] = ContextVar("devui_replayed", default=None)
"""The recorded call of the agent or tool whose code is executing."""


class Replayer(BasePlugin):
    """Answers the calls of runs that are replays; all other runs pass through."""

    def __init__(self, kit: Kit) -> None:
        super().__init__("devui_replayer")
        self._kit = kit
        self._replays: dict[str, Replay] = {}

    def begin(self, run: str, replay: Replay) -> None:
        """Register a run as a replay."""
        self._replays[run] = replay
        if not replay.live_tools:
            guard(run, replay.connection)

    @property
    def is_active(self) -> bool:
        """Whether any run is a replay."""
        return bool(self._replays)

    def of(self, run: str | None) -> Replay | None:
        """Return the run's replay; None if it isn't one."""
        return self._replays.get(run or "")

    def recorded_edits(self) -> RecordedEdits | None:
        """Return the recorded edits for the current replay; None if the run isn't one."""
        replay = self.of(current_run.get())
        return replay.recorded_edits if replay else None

    def forget(self, run: str) -> None:
        """Discard the data of a run that has ended."""
        self._replays.pop(run, None)
        unguard(run)

    def around_agent(
        self,
        *,
        agent: BaseAgent,
        invocation_context: InvocationContext,
        proceed: Callable[[], AsyncGenerator[Event, None]],
    ) -> AsyncGenerator[Event, None]:
        """Yield an agent's events in the recorded order."""
        replay = self.of(current_run.get())
        return proceed() if replay is None else in_order(replay, agent, invocation_context, proceed)

    def around_model_call(
        self,
        *,
        callback_context: Context,
        llm_request: LlmRequest,
        stream: bool,
        proceed: Callable[[LlmRequest], AsyncGenerator[LlmResponse, None]],
    ) -> AsyncGenerator[LlmResponse, None]:
        """Yield the recorded responses; a replay never calls a model."""
        replay = self.of(current_run.get())
        if replay is None:
            return proceed(llm_request)
        return replay.model(_inside.get(), callback_context, llm_request, stream=stream)

    async def around_tool_call(
        self,
        *,
        tool: BaseTool,
        tool_args: dict[str, Any],
        tool_context: Context,
        proceed: Callable[[], Awaitable[Any]],
    ) -> Any:
        """Return the recorded result, unless the tool only runs agents, or tools are live."""
        replay = self.of(current_run.get())
        if replay is None:
            return await proceed()
        call = await replay.tool(_inside.get(), tool_context, tool.name, tool_args)
        is_steering = self._kit.steers(tool)
        if not (is_steering or replay.live_tools):
            return await replay.answer(call, tool_context)
        with _within(call.number):
            return await replay.live(call, proceed, real=not is_steering)

    async def around_summary(
        self, *, events: list[Event], proceed: Callable[[], Awaitable[Event | None]]
    ) -> Event | None:
        """Return the recorded summary of old events."""
        replay = self.of(current_run.get())
        if replay is None:
            return await proceed()
        return replay.summary(events)


async def in_order(
    replay: Replay,
    agent: BaseAgent,
    ctx: InvocationContext,
    proceed: Callable[[], AsyncGenerator[Event, None]],
) -> AsyncGenerator[Event, None]:
    """Yield an agent's events, each once all events before it are committed."""
    own = ctx.session.id == replay.session
    number = replay.agent(_inside.get(), agent.name, ctx.branch)
    with _within(number):
        try:
            async with aclosing(proceed()) as events:
                async for event in events:
                    # An event also passes through the agents around its own.
                    if own and not event.partial and replay.first_sight(event.id):
                        await replay.turn(number, event.author, event.branch)
                    yield event
        except Exception as error:
            await replay.failing(error)
            raise


@contextmanager
def _within(number: int) -> Iterator[None]:
    outer = _inside.get()
    _inside.set(number)
    try:
        yield
    finally:
        _inside.set(outer)
