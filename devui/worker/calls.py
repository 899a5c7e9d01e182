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
class Instead:
    """What a person puts in the place of what a call would return."""

    value: Any
    error: Exception | None = None
    """What the call raises; then there is no value."""

    def outcome(self) -> Any:
        """The value; raises the error."""
        if self.error is not None:
            raise self.error
        return self.value


@dataclass(eq=False, slots=True)
class Call:
    """One call."""

    number: int
    kind: CallKind
    run: str | None
    task: "asyncio.Task[Any] | None"
    context: Context
    tool: BaseTool | None
    given: Any
    """The arguments, or the request."""
    since: float
    begun: float
    """The same, on the clock that nobody sets."""
    cancelled_before: int
    """How often the task had been cancelled when the call began."""
    is_away: bool = False
    """A fragment of the model's answer is with those who asked for it: not the call is at work."""
    instead: Instead | None = None
    """It was told to end."""
    ignored: Callable[[], None] | None = None
    """Told when the call returns all the same."""

    @property
    def name(self) -> str:
        """Of the tool; "" of a model."""
        return self.tool.name if self.tool else ""

    @property
    def seconds(self) -> float:
        """For how long it goes on."""
        return time.monotonic() - self.begun

    is_cancelled: bool = False
    """Its task was cancelled for that."""

    def end(self, instead: Instead) -> None:
        """Let the call end at once, with this outcome."""
        self.instead = instead
        if self.task is not None and not self.is_away:
            self.is_cancelled = self.task.cancel()

    def was_cancelled(self) -> bool:
        """Whether the cancellation that arrives is meant for the call, and for nothing else."""
        if not self.is_cancelled or self.task is None:
            return False
        return self.task.uncancel() <= self.cancelled_before

    def counts(self) -> bool:
        """Whether what it has returned or raised counts, because nobody told it to end."""
        if self.is_cancelled and self.task is not None:
            self.task.uncancel()
            if self.ignored is not None:
                self.ignored()
        return self.instead is None

    def outcome(self) -> Any:
        """What a person put in the place of what it would return; raises it, if it is an error."""
        return self.instead.outcome() if self.instead else None


class Calls(BasePlugin):
    """Stands around all calls: what others answer in its place is not called."""

    def __init__(self) -> None:
        super().__init__("devui_calls")
        self._calls: dict[int, Call] = {}
        self._numbers = itertools.count()

    def get(self, number: int) -> Call | None:
        """The call of this number, if it is under way."""
        return self._calls.get(number)

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
        call = self._begin("model", callback_context, llm_request)
        try:
            async with aclosing(proceed(llm_request)) as answers:
                async for answer in answers:
                    if not answer.partial:
                        self._calls.pop(call.number, None)
                    call.is_away = True
                    yield answer
                    if call.instead is not None:
                        break
                    call.is_away = False
            if call.counts():
                return
        except asyncio.CancelledError:
            if not call.was_cancelled():
                raise
        except Exception:
            if call.counts():
                raise
        finally:
            self._calls.pop(call.number, None)
        yield call.outcome()

    async def around_tool_call(
        self,
        *,
        tool: BaseTool,
        tool_args: dict[str, Any],
        tool_context: Context,
        proceed: Callable[[], Awaitable[Any]],
    ) -> Any:
        """A tool call is over when the tool has returned or raised."""
        call = self._begin("tool", tool_context, tool_args, tool)
        try:
            result = await proceed()
            if call.counts():
                return result
        except asyncio.CancelledError:
            if not call.was_cancelled():
                raise
        except Exception:
            if call.counts():
                raise
        finally:
            del self._calls[call.number]
        return call.outcome()

    def _begin(
        self, kind: CallKind, context: Context, given: Any, tool: BaseTool | None = None
    ) -> Call:
        task = asyncio.current_task()
        call = Call(
            number=next(self._numbers),
            kind=kind,
            run=current_run.get(),
            task=task,
            context=context,
            tool=tool,
            given=given,
            since=time.time(),
            begun=time.monotonic(),
            cancelled_before=task.cancelling() if task else 0,
        )
        self._calls[call.number] = call
        return call
