"""The tool with which an agent of mode `task` reports that its task is done (adk-runtime 12.8)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.genai import types
from pydantic import BaseModel, ConfigDict

from devui.runtime.agents.invocation_events import FINISH_TASK, TASK_DONE
from devui.runtime.models.output_schema import json_schema
from devui.runtime.tools.agent_schemas import ValueParameters
from devui.runtime.tools.base_tool import BaseTool

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context
    from devui.runtime.models.llm_request import LlmRequest

_WRAPPER = "result"
_INSTRUCTION = (
    f"You have been given a task. Do all of it before you call `{FINISH_TASK}`; what is unclear,"
    f" ask the user first. When it is done, call `{FINISH_TASK}`, as the only call of your answer"
    " and without a text."
)


class _Summary(BaseModel):
    """What came of the task."""

    model_config = ConfigDict(extra="forbid")

    result: str


class FinishTaskTool(BaseTool):
    """`finish_task`, with the fields of the agent's output schema as parameters, or a `result`.

    If the output doesn't fit, the model gets an error and can correct it.
    """

    def __init__(self, output_schema: Any = None) -> None:
        """Accept outputs of this type; None accepts text as `result`."""
        super().__init__(
            name=FINISH_TASK, description="Say that your task is done, and what has come of it."
        )
        schema = _Summary if output_schema is None else output_schema
        self._parameters = ValueParameters(schema, _wrapper(schema))

    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(
            name=self.name,
            description=self.description,
            parameters_json_schema=self._parameters.declared(),
        )

    async def process_llm_request(self, *, tool_context: Context, llm_request: LlmRequest) -> None:
        """Declare the tool, and tell the model when to call it."""
        await super().process_llm_request(tool_context=tool_context, llm_request=llm_request)
        llm_request.append_instructions([_INSTRUCTION])

    async def run_async(self, *, args: dict[str, Any], tool_context: Context) -> Any:
        """Validate the output and keep it for the event that finishes the task."""
        try:
            output = self._parameters.value(args)
        except ValueError as error:
            message = (
                f"The output does not fit; correct it and call `{FINISH_TASK}()` again:\n{error}"
            )
            return {"error": message}
        tool_context.get_invocation_context().task_output = output
        return TASK_DONE


def _wrapper(schema: Any) -> str | None:
    return None if json_schema(schema).get("type") in {"object", "OBJECT"} else _WRAPPER
