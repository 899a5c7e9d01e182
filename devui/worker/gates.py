"""Where a run asks the server before it goes on: around agents, model calls and tool calls (Law 6).

The hooks are those of plugins, so the runtime knows no debugger. A gate that is not armed costs a
look-up. What is held goes to the server as JSON; the run goes on when the server has answered.
"""

import asyncio
import json
from collections.abc import Callable, Iterable
from typing import Any

from pydantic_core import to_json

from devui.runtime.agents.base_agent import BaseAgent
from devui.runtime.agents.context import Context
from devui.runtime.models.llm_request import LlmRequest
from devui.runtime.models.llm_response import LlmResponse
from devui.runtime.plugins.base_plugin import BasePlugin
from devui.runtime.plugins.plugin_manager import PluginManager
from devui.runtime.tools.base_tool import BaseTool
from devui.wire.framing import FrameTooLarge
from devui.wire.messages import Gate, GateLeft, WorkerGate
from devui.worker.link import Link
from devui.worker.output import current_run

_UNARMED: frozenset[WorkerGate] = frozenset()


class Gates:
    """Which gates are armed for which run, and the question that is asked at them."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._armed: dict[str, frozenset[WorkerGate]] = {}

    def arm(self, run: str, gates: Iterable[WorkerGate]) -> None:
        """Ask at these gates of the run, and at no others."""
        self._armed[run] = frozenset(gates)

    def forget(self, run: str) -> None:
        """The run is over."""
        self._armed.pop(run, None)

    async def ask(
        self,
        gate: WorkerGate,
        context: Context,
        held: Callable[[], Any],
        *,
        agent: str | None = None,
        tool: BaseTool | None = None,
    ) -> Any:
        """Wait at the gate until the server lets go; its answer, or None at once if not armed."""
        run = current_run.get()
        if run is None or gate not in self._armed.get(run, _UNARMED):
            return None
        text = _as_json(held())
        asked = 0

        def make(number: int, text: str = text) -> Gate:
            nonlocal asked
            asked = number
            return Gate(
                id=number,
                run=run,
                gate=gate,
                agent=agent or context.agent_name,
                branch=context.branch,
                held=text,
                call=context.function_call_id or f"model-{id(context):x}",
                tool=tool.name if tool else None,
            )

        try:
            return await self._link.request(make)
        except FrameTooLarge as error:
            note = _as_json({"tooLarge": str(error)})
            return await self._link.request(lambda number: make(number, note))
        except asyncio.CancelledError:
            self._link.send(GateLeft(run=run, gate=asked))
            raise


class GatesBefore(BasePlugin):
    """Comes after the app's plugins: what they answer in its place is not called, so not held."""

    def __init__(self, gates: Gates) -> None:
        super().__init__("devui_gates_before")
        self._gates = gates

    async def before_agent_callback(self, *, agent: BaseAgent, callback_context: Context) -> None:
        """Gate `enter_agent`."""
        about = {"name": agent.name, "type": type(agent).__name__}
        await self._gates.ask("enter_agent", callback_context, lambda: about, agent=agent.name)

    async def before_model_callback(
        self, *, callback_context: Context, llm_request: LlmRequest
    ) -> LlmResponse | None:
        """Gate `before_model`."""
        await self._gates.ask("before_model", callback_context, lambda: llm_request)
        return None

    async def before_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: Context
    ) -> dict[str, Any] | None:
        """Gate `before_tool`."""
        about = {"name": tool.name, "args": tool_args}
        await self._gates.ask("before_tool", tool_context, lambda: about, tool=tool)
        return None


class GatesAfter(BasePlugin):
    """Comes before the app's plugins: what it holds is what arrived."""

    def __init__(self, gates: Gates) -> None:
        super().__init__("devui_gates_after")
        self._gates = gates

    async def after_model_callback(
        self, *, callback_context: Context, llm_response: LlmResponse
    ) -> LlmResponse | None:
        """Gate `after_model`; fragments pass, a stream that stops would look frozen."""
        if not llm_response.partial:
            await self._gates.ask("after_model", callback_context, lambda: llm_response)
        return None

    async def after_tool_callback(
        self,
        *,
        tool: BaseTool,
        tool_args: dict[str, Any],
        tool_context: Context,
        result: dict[str, Any],
    ) -> dict[str, Any] | None:
        """Gate `after_tool`."""
        about = {"name": tool.name, "args": tool_args, "result": result}
        await self._gates.ask("after_tool", tool_context, lambda: about, tool=tool)
        return None

    async def after_agent_callback(self, *, agent: BaseAgent, callback_context: Context) -> None:
        """Gate `leave_agent`."""
        about = {"name": agent.name, "type": type(agent).__name__}
        await self._gates.ask("leave_agent", callback_context, lambda: about, agent=agent.name)


def with_gates(plugins: PluginManager, gates: Gates) -> PluginManager:
    """The plugins of an app between the gates."""
    return PluginManager([GatesAfter(gates), *plugins.plugins, GatesBefore(gates)])


def _as_json(value: Any) -> str:
    """The value as JSON text in wire form; what JSON cannot hold is shown by its repr."""
    try:
        return to_json(
            value,
            by_alias=True,
            exclude_none=True,
            bytes_mode="base64",
            inf_nan_mode="strings",
            serialize_unknown=True,
        ).decode()
    except ValueError:  # half a surrogate pair, a circle
        return json.dumps(repr(value))
