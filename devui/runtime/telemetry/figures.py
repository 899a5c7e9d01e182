"""The metrics of OpenTelemetry's GenAI conventions that google-adk emits (adk-runtime 13)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from opentelemetry import metrics

from devui.runtime.telemetry.messages import error_type, provider_of, system_of
from devui.runtime.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from devui.runtime.models.llm_response import LlmResponse
    from devui.runtime.telemetry.messages import TokenUsage
    from devui.runtime.tools.base_tool import BaseTool

_AGENT_SECONDS = [0.1 * 2**n for n in range(13)]
_TOOL_SECONDS = [0.01 * 2**n for n in range(14)]
_CALLS = [0, 1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 64, 128, 256, 512]


class Figures:
    """Histograms of durations, tokens and calls. Attributes that are None are left out."""

    def __init__(self, scope: str) -> None:
        """Create the histograms in the meter named `scope`."""
        self._meter = metrics.get_meter(scope, __version__)
        self._agent = self._histogram(
            "gen_ai.invoke_agent.duration", "s", "Duration of agent invocations.", _AGENT_SECONDS
        )
        self._workflow = self._histogram(
            "gen_ai.invoke_workflow.duration", "s", "Duration of workflow invocations.", None
        )
        self._tool = self._histogram(
            "gen_ai.execute_tool.duration", "s", "Duration of tool executions.", _TOOL_SECONDS
        )
        self._model = self._histogram(
            "gen_ai.client.operation.duration", "s", "GenAI operation duration.", None
        )
        self._tokens = self._histogram(
            "gen_ai.client.token.usage",
            "{token}",
            "Number of input and output tokens used.",
            None,
        )
        self._model_calls = self._histogram(
            "gen_ai.invoke_agent.inference_calls",
            "1",
            "Number of inference (model) calls per agent invocation.",
            _CALLS,
        )
        self._tool_calls = self._histogram(
            "gen_ai.invoke_agent.tool_calls",
            "1",
            "Number of tool calls per agent invocation.",
            _CALLS,
        )

    def _histogram(self, name: str, unit: str, about: str, bounds: Sequence[float] | None) -> Any:
        return self._meter.create_histogram(
            name, unit=unit, description=about, explicit_bucket_boundaries_advisory=bounds
        )

    def agent(
        self, name: str, seconds: float, error: BaseException | None, calls: tuple[int, int]
    ) -> None:
        """Record the end of an agent; `calls` are its own calls of models and tools."""
        about = {"gen_ai.agent.name": name}
        self._agent.record(seconds, _present(about, {"error.type": _type(error)}))
        self._model_calls.record(calls[0], about)
        self._tool_calls.record(calls[1], about)

    def workflow(
        self, name: str, seconds: float, error: BaseException | None, *, nested: bool
    ) -> None:
        """Record the end of a workflow, or of a whole turn."""
        about: dict[str, Any] = {"gen_ai.operation.name": "invoke_workflow"}
        about["error.type"] = _type(error)
        about |= {"gen_ai.workflow.name": name or None, "gen_ai.workflow.nested": nested or None}
        self._workflow.record(seconds, _present(about))

    def tool(self, agent: str, tool: BaseTool, seconds: float, *, error: str | None) -> None:
        """Record the end of a tool call."""
        about = {"gen_ai.agent.name": agent, "gen_ai.tool.name": tool.name, "error.type": error}
        self._tool.record(seconds, _present(about, {"gen_ai.tool.type": type(tool).__name__}))

    def model_call(
        self,
        agent: str,
        model: str | None,
        *,
        responses: Sequence[LlmResponse],
        usage: TokenUsage | None,
        seconds: float,
        error: BaseException | None,
        legacy: bool,
    ) -> None:
        """Record the end of a model call."""
        about = {
            "gen_ai.agent.name": agent,
            "gen_ai.operation.name": "generate_content",
            "gen_ai.provider.name": (system_of if legacy else provider_of)(model),
            "gen_ai.request.model": model or None,
            "gen_ai.response.model": responses[-1].model_version or model if responses else None,
        }
        self._model.record(seconds, _present(about, {"error.type": _type(error)}))
        if usage is None:
            return
        for kind, count in (("input", usage.input), ("output", usage.output)):
            if count:
                self._tokens.record(count, _present(about, {"gen_ai.token.type": kind}))


def _type(error: BaseException | None) -> str | None:
    return None if error is None else error_type(error)


def _present(*several: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for each in several for key, value in each.items() if value is not None}
