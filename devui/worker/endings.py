"""Ends one call of a model or a tool by itself, in the way of `asyncio.timeout`.

The call's task is cancelled; what stands around the call takes the cancellation for its own and
goes on with what the person wants in place of what the call would have returned.
"""

import json
import time
from collections.abc import Callable
from typing import Any

from devui.runtime.agents.context import Context
from devui.runtime.agents.llm_agent import LlmAgent
from devui.runtime.calling import end_of_plain_function
from devui.runtime.models.llm_response import LlmResponse
from devui.runtime.plugins.base_plugin import BasePlugin
from devui.wire.endings import CallEnded, EndCall
from devui.wire.gates import Verdict
from devui.wire.messages import Output, ToServer
from devui.worker.calls import Call, CallKind, Calls, Instead
from devui.worker.gates import Gates, place_of_marks
from devui.worker.revisions import response, result, what_is_wrong

ENDED = "CALL_ENDED"
"""The error code of the answer of a model whose call was ended."""


class CallEndedError(RuntimeError):
    """A person has ended the call."""


class Endings:
    """Carries out what people order about calls under way."""

    def __init__(self, calls: Calls, gates: Gates, send: Callable[[ToServer], None]) -> None:
        self._calls = calls
        self._gates = gates
        self._send = send

    def end(self, order: EndCall) -> None:
        """Carry the order out, or refuse it."""
        self._send(self._ended(order))

    def _ended(self, order: EndCall) -> CallEnded:
        call = self._calls.get(order.call)
        if call is None or call.run != order.run or call.task is None:
            return CallEnded(order=order.order, refused="gone")
        if call.instead is not None:
            return CallEnded(order=order.order, refused="told")
        if call.task.cancelling() > call.cancelled_before:
            return CallEnded(order=order.order, refused="stopping")
        try:
            instead = _instead(call, order)
        except (ValueError, TypeError) as error:
            return CallEnded(order=order.order, refused="wrong", problem=what_is_wrong(error))
        self._gates.mark_next(order.run, place_of_marks(call.context), order.mark)
        plain = end_of_plain_function(call.task)
        if plain is not None:
            plain.add_done_callback(lambda _: self._say_late(call, "in its thread"))
        else:
            call.ignored = lambda: self._say_late(call, "although it was told to end")
        call.end(instead)
        return CallEnded(order=order.order, thread=plain is not None)

    def _say_late(self, call: Call, how: str) -> None:
        after = f"after {call.seconds:.1f} s"
        text = f"{call.name} has come to its end {how}, {after}: its result is dropped"
        self._send(Output(run=call.run, stream="debugger", text=text, at=time.time()))


def _instead(call: Call, order: EndCall) -> Instead:
    """What takes the place of the call's result. Raises ValueError or TypeError."""
    if order.action == "mock":
        verdict = Verdict(action="mock", value=order.value, mark=order.mark)
        return Instead(response(verdict) if call.kind == "model" else result(verdict))
    why = json.loads(order.value)
    if _is_handled(call.kind, call.context):
        return Instead(None, CallEndedError(why))
    if call.kind == "model":
        return Instead(LlmResponse(error_code=ENDED, error_message=why))
    return Instead({"error": why})


def _is_handled(kind: CallKind, context: Context) -> bool:
    """Whether callbacks of the app answer for such a call's errors.

    An error that nobody answers for would end the run, and not the call alone.
    """
    invocation = context._invocation_context
    name = f"on_{kind}_error_callback"
    plain = getattr(BasePlugin, name)
    if any(getattr(type(each), name) is not plain for each in invocation.plugin_manager.plugins):
        return True
    agent = invocation.agent
    return isinstance(agent, LlmAgent) and bool(_CALLBACKS[kind](agent))


_CALLBACKS: dict[CallKind, Callable[[LlmAgent], list[Any]]] = {
    "model": lambda agent: agent.canonical_on_model_error_callbacks,
    "tool": lambda agent: agent.canonical_on_tool_error_callbacks,
}
