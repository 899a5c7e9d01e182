"""The calls of models and tools that are under way, for whoever asks what a run waits for.

One entry for each call (Law 6: it is a plugin), and nobody looks at it unless somebody asks.
"""

import asyncio
import itertools
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Literal

from devui.runtime.agents.context import Context
from devui.runtime.models.llm_request import LlmRequest
from devui.runtime.models.llm_response import LlmResponse
from devui.runtime.plugins.base_plugin import BasePlugin
from devui.runtime.tools.base_tool import BaseTool
from devui.worker.output import current_run

CallKind = Literal["model", "tool"]


@dataclass(frozen=True, slots=True)
class Call:
    """One call."""

    kind: CallKind
    run: str | None
    task: "asyncio.Task[Any] | None"
    context: Context
    tool: str
    given: Any
    """The arguments, or the request."""
    since: float


class Calls(BasePlugin):
    """Stands around all calls, innermost: what others answer in its place is not called."""

    def __init__(self) -> None:
        super().__init__("devui_calls")
        self._calls: dict[int, Call] = {}
        self._numbers = itertools.count()

    def of_run(self, run: str) -> list[Call]:
        """The calls of a run that are under way, the oldest first. From any thread."""
        return [call for call in tuple(self._calls.values()) if call.run == run]

    async def around_model_call(
        self,
        *,
        callback_context: Context,
        llm_request: LlmRequest,
        stream: bool,
        proceed: Callable[[LlmRequest], AsyncGenerator[LlmResponse, None]],
    ) -> AsyncGenerator[LlmResponse, None]:
        """A model call is over with its whole answer: its tools run before the stream is closed."""
        number = self._begin("model", callback_context, llm_request)
        try:
            async with aclosing(proceed(llm_request)) as answers:
                async for answer in answers:
                    if not answer.partial:
                        self._calls.pop(number, None)
                    yield answer
        finally:
            self._calls.pop(number, None)

    async def around_tool_call(
        self,
        *,
        tool: BaseTool,
        tool_args: dict[str, Any],
        tool_context: Context,
        proceed: Callable[[], Awaitable[Any]],
    ) -> Any:
        """A tool call is over when the tool has returned or raised."""
        number = self._begin("tool", tool_context, tool_args, tool.name)
        try:
            return await proceed()
        finally:
            del self._calls[number]

    def _begin(self, kind: CallKind, context: Context, given: Any, tool: str = "") -> int:
        number = next(self._numbers)
        task, run = asyncio.current_task(), current_run.get()
        self._calls[number] = Call(kind, run, task, context, tool, given, time.time())
        return number
