"""The open calls of models and tools, for anyone who asks what a run waits for.

One entry per call, recorded by a plugin (Law 6); nothing reads it until someone asks.
"""

import asyncio
import itertools
import json
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Literal

from devui.runtime.calling import end_of_plain_function
from devui.runtime.plugins.base_plugin import BasePlugin
from devui.wire.endings import CallEnded, EndCall
from devui.wire.gates import Verdict
from devui.wire.messages import Output, ToServer
from devui.worker.engines.kit import BaseTool, Context, Kit, LlmAgent, LlmRequest, LlmResponse
from devui.worker.instruments.gates import (
    Gates,
    place_of_marks,
    response,
    revised_result,
    what_is_wrong,
)
from devui.worker.output import current_run

CallKind = Literal["model", "tool"]


@dataclass(frozen=True, slots=True)
class OutcomeOverride:
    """A person's replacement for the outcome of a call."""

    value: Any
    error: Exception | None = None
    """The exception that the call raises instead of returning a value."""

    def outcome(self) -> Any:
        """Return the value, or raise the error."""
        if self.error is not None:
            raise self.error
        return self.value


@dataclass(eq=False, slots=True)
class Call:
    """One open call of a model or tool."""

    number: int
    kind: CallKind
    run: str | None
    task: "asyncio.Task[Any] | None"
    context: Context
    tool: BaseTool | None
    payload: Any
    """The tool's arguments, or the request to the model."""
    since: float
    since_monotonic: float
    """The same moment on the monotonic clock."""
    cancelled_before: int
    """How often the task had been cancelled when the call began."""
    is_away: bool = False
    """Whether the consumer is processing a fragment of the answer, so that the call is idle."""
    override: OutcomeOverride | None = None
    """The replacement, if a person has ended the call."""
    ignored: Callable[[], None] | None = None
    """Called if the call returns in spite of its cancellation."""

    @property
    def name(self) -> str:
        """The tool's name; "" for a model."""
        return self.tool.name if self.tool else ""

    @property
    def seconds(self) -> float:
        """How long the call has been open."""
        return time.monotonic() - self.since_monotonic

    is_cancelled: bool = False
    """Whether its task was cancelled to end it."""

    def end(self, override: OutcomeOverride) -> None:
        """End the call at once, with this outcome."""
        self.override = override
        if self.task is not None and not self.is_away:
            self.is_cancelled = self.task.cancel()

    def was_cancelled(self) -> bool:
        """Return whether the cancellation that arrives was meant only for this call."""
        if not self.is_cancelled or self.task is None:
            return False
        return self.task.uncancel() <= self.cancelled_before

    def counts(self) -> bool:
        """Return whether its own outcome counts, because nobody has ended it."""
        if self.is_cancelled and self.task is not None:
            self.task.uncancel()
            if self.ignored is not None:
                self.ignored()
        return self.override is None

    def outcome(self) -> Any:
        """Return a person's replacement for its result; raise it if it is an error."""
        return self.override.outcome() if self.override else None


class Calls(BasePlugin):
    """Registers all calls that are really made; calls that other plugins answer don't get here."""

    def __init__(self) -> None:
        super().__init__("devui_calls")
        self._calls: dict[int, Call] = {}
        self._numbers = itertools.count()

    def get(self, number: int) -> Call | None:
        """Return the open call of this number, or None."""
        return self._calls.get(number)

    def of_run(self, run: str) -> list[Call]:
        """Return a run's open calls, oldest first. Any thread may call this."""
        return [call for call in tuple(self._calls.values()) if call.run == run]

    async def around_model_call(
        self,
        *,
        callback_context: Context,
        llm_request: LlmRequest,
        stream: bool,
        proceed: Callable[[LlmRequest], AsyncGenerator[LlmResponse, None]],
    ) -> AsyncGenerator[LlmResponse, None]:
        """Close the call with its full answer: tools run before the stream is closed."""
        call = self._begin("model", callback_context, llm_request)
        try:
            async with aclosing(proceed(llm_request)) as answers:
                async for answer in answers:
                    if not answer.partial:
                        self._calls.pop(call.number, None)
                    call.is_away = True
                    yield answer
                    if call.override is not None:
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
        """Close the call when the tool has returned or raised."""
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
        self, kind: CallKind, context: Context, payload: Any, tool: BaseTool | None = None
    ) -> Call:
        task = asyncio.current_task()
        call = Call(
            number=next(self._numbers),
            kind=kind,
            run=current_run.get(),
            task=task,
            context=context,
            tool=tool,
            payload=payload,
            since=time.time(),
            since_monotonic=time.monotonic(),
            cancelled_before=task.cancelling() if task else 0,
        )
        self._calls[call.number] = call
        return call


ENDED = "CALL_ENDED"
"""The error code of a model's answer if its call was ended."""


class CallEndedError(RuntimeError):
    """A person ended the call."""


class Endings:
    """Executes people's orders about open calls."""

    def __init__(
        self, calls: Calls, gates: Gates, kit: Kit, send: Callable[[ToServer], None]
    ) -> None:
        self._kit = kit
        self._calls = calls
        self._gates = gates
        self._send = send

    def end(self, order: EndCall) -> None:
        """Execute the order, or refuse it."""
        self._send(self._carry_out(order))

    def _carry_out(self, order: EndCall) -> CallEnded:
        call = self._calls.get(order.call)
        if call is None or call.run != order.run or call.task is None:
            return CallEnded(order=order.order, refused="gone")
        if call.override is not None:
            return CallEnded(order=order.order, refused="ending")
        if call.task.cancelling() > call.cancelled_before:
            return CallEnded(order=order.order, refused="stopping")
        try:
            override = _override(self._kit, call, order)
        except (ValueError, TypeError) as error:
            return CallEnded(order=order.order, refused="wrong", problem=what_is_wrong(error))
        self._gates.mark_next(order.run, place_of_marks(call.context), order.mark)
        plain = end_of_plain_function(call.task)
        if plain is not None:
            plain.add_done_callback(lambda _: self._say_late(call, "in its thread"))
        else:
            call.ignored = lambda: self._say_late(call, "despite its cancellation")
        call.end(override)
        return CallEnded(order=order.order, thread=plain is not None)

    def _say_late(self, call: Call, how: str) -> None:
        after = f"after {call.seconds:.1f} s"
        text = f"{call.name} finished {how} {after}; its result is discarded"
        self._send(Output(run=call.run, stream="debugger", text=text, at=time.time()))


def _override(kit: Kit, call: Call, order: EndCall) -> OutcomeOverride:
    """Return the replacement for the call's outcome. Raises ValueError or TypeError."""
    if order.action == "mock":
        verdict = Verdict(action="mock", value=order.value, mark=order.mark)
        return OutcomeOverride(
            response(kit, verdict) if call.kind == "model" else revised_result(verdict)
        )
    why = json.loads(order.value)
    if _is_handled(kit, call.kind, call.context):
        return OutcomeOverride(None, CallEndedError(why))
    if call.kind == "model":
        return OutcomeOverride(kit.llm_response(error_code=ENDED, error_message=why))
    return OutcomeOverride({"error": why})


def _is_handled(kit: Kit, kind: CallKind, context: Context) -> bool:
    """Return whether the app's callbacks handle errors of such a call.

    An unhandled error would end the whole run.
    """
    invocation = context._invocation_context
    name = f"on_{kind}_error_callback"
    plain = {getattr(each, name) for each in (BasePlugin, kit.base_plugin)}
    plugins = invocation.plugin_manager.plugins
    if any(getattr(type(each), name) not in plain for each in plugins):
        return True
    agent = invocation.agent
    return isinstance(agent, kit.llm_agent) and bool(_CALLBACKS[kind](agent))


_CALLBACKS: dict[CallKind, Callable[[LlmAgent], list[Any]]] = {
    "model": lambda agent: agent.canonical_on_model_error_callbacks,
    "tool": lambda agent: agent.canonical_on_tool_error_callbacks,
}
