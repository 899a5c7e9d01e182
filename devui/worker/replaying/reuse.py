"""Answers calls that were recorded, and makes those for real that were not: to record a run anew.

Which recorded call one is, is told by what it asks, wherever it comes: each is handed out once. So
nothing that a tool did to the world is done a second time.
"""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any

from devui.runtime.agents.base_agent import BaseAgent
from devui.runtime.agents.context import Context
from devui.runtime.agents.invocation_context import InvocationContext
from devui.runtime.events.event import Event
from devui.runtime.models.llm_request import LlmRequest
from devui.runtime.models.llm_response import LlmResponse
from devui.runtime.plugins.base_plugin import BasePlugin
from devui.runtime.tools.base_tool import BaseTool
from devui.wire.recordings import RecordedCall, Recording
from devui.worker.jsontext import as_json
from devui.worker.replaying.differences import differences
from devui.worker.replaying.replay import Replay
from devui.worker.replaying.replayer import ordered, steers
from devui.worker.replaying.requests import SentNow, request_differences, request_in_full


class Reuse(BasePlugin):
    """The plugin of one run, innermost."""

    def __init__(self, recording: Recording) -> None:
        super().__init__("devui_reuse")
        self.replay = Replay(recording, recording.session, tolerant=True, busy=self._is_busy)
        """Keeps the recorded order as long as the run is like it."""
        self.live: list[str] = []
        """What was called for real, in words."""
        self._left = [call for call in recording.calls if not call.open]
        self._going = 0

    def around_agent(
        self,
        *,
        agent: BaseAgent,
        invocation_context: InvocationContext,
        proceed: Callable[[], AsyncGenerator[Event, None]],
    ) -> AsyncGenerator[Event, None]:
        """Its events in the recorded order."""
        return ordered(self.replay, agent, invocation_context, proceed)

    async def around_model_call(
        self,
        *,
        callback_context: Context,
        llm_request: LlmRequest,
        stream: bool,
        proceed: Callable[[LlmRequest], AsyncGenerator[LlmResponse, None]],
    ) -> AsyncGenerator[LlmResponse, None]:
        """The recorded responses to the same request; else the model's."""
        self.replay.turns.moved()
        agent = callback_context.agent_name
        call = self._model(agent, SentNow(llm_request, stream=stream))
        if call is None:
            self.live.append(f"the model of {agent}")
        answers = self._heard(proceed(llm_request)) if call is None else self.replay.responses(call)
        async with aclosing(answers) as told:
            async for answer in told:
                yield answer

    async def around_tool_call(
        self,
        *,
        tool: BaseTool,
        tool_args: dict[str, Any],
        tool_context: Context,
        proceed: Callable[[], Awaitable[Any]],
    ) -> Any:
        """The recorded result of the same arguments; else the tool's."""
        self.replay.turns.moved()
        if steers(tool):
            return await proceed()
        args = json.loads(as_json(tool_args))
        call = self._tool(tool.name, tool_context.agent_name, args)
        if call is not None:
            return await self.replay.answer(call, tool_context)
        self.live.append(f"{tool.name}({', '.join(f'{k}={as_json(v)}' for k, v in args.items())})")
        self._going += 1
        try:
            return await proceed()
        finally:
            self._going -= 1

    async def around_summary(
        self, *, events: list[Event], proceed: Callable[[], Awaitable[Event | None]]
    ) -> Event | None:
        """The recorded summary of old events, as long as all is as recorded."""
        return await proceed() if self.live else self.replay.summary(events)

    async def _heard(
        self, answers: AsyncGenerator[LlmResponse, None]
    ) -> AsyncGenerator[LlmResponse, None]:
        """A model's answers; it is busy only while one is awaited."""
        async with aclosing(answers):
            while True:
                self._going += 1
                try:
                    answer = await anext(answers, None)
                finally:
                    self._going -= 1
                if answer is None:
                    return
                yield answer

    def _is_busy(self) -> bool:
        return self._going > 0

    def _model(self, agent: str, sent: SentNow) -> RecordedCall | None:
        actual = sent.told(self.replay.ids)
        pieces = self.replay.recording.pieces

        def is_it(call: RecordedCall) -> bool:
            if call.type != "model" or call.agent != agent or call.request is None:
                return False
            known = call.request
            full = request_in_full(known, pieces)
            return known == sent.asked or not request_differences(full, actual)

        return self._take(is_it)

    def _tool(self, name: str, agent: str, args: Any) -> RecordedCall | None:
        about = ("tool", name, agent)
        return self._take(
            lambda call: (
                (call.type, call.name, call.agent) == about and not differences(call.args, args)
            )
        )

    def _take(self, is_it: Callable[[RecordedCall], bool]) -> RecordedCall | None:
        call = next((each for each in self._left if is_it(each)), None)
        if call is not None:
            self._left.remove(call)
        return call
