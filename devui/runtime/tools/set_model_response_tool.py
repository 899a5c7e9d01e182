"""A tool that lets a model with other tools return a structured answer."""

from typing import TYPE_CHECKING, Any, ClassVar, get_args, get_origin

from google.genai import types
from pydantic import BaseModel

from devui.runtime.tools.agent_schemas import ValueParameters
from devui.runtime.tools.base_tool import BaseTool

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context

NAME = "set_model_response"


class SetModelResponseTool(BaseTool):
    """`set_model_response`: its parameters are a model's fields, or one (adk-runtime 7.6).

    If the answer doesn't fit, the model gets an error and can correct it; if it does, it becomes
    `actions.set_model_response`.
    """

    NAME: ClassVar[str] = NAME

    def __init__(self, output_schema: Any) -> None:
        """Accept answers of this type: a pydantic model, any Python type, or a JSON schema."""
        super().__init__(
            name=NAME, description="Give your final answer, in the required structure."
        )
        self.output_schema = output_schema
        self._parameters = ValueParameters(output_schema, _wrapper(output_schema))

    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(
            name=self.name,
            description=self.description,
            parameters_json_schema=self._parameters.declared(),
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: "Context") -> Any:
        """Validate the answer and keep it as the agent's response."""
        try:
            response = self._parameters.value(args)
        except ValueError as error:
            return {"error": f"The answer does not fit; correct it and call again. {error}"}
        tool_context.actions.set_model_response = response
        return response


def _wrapper(schema: Any) -> str | None:
    """Return the parameter for an answer that isn't a pydantic model; None for a model."""
    if _is_model(schema):
        return None
    is_models = get_origin(schema) is list and any(map(_is_model, get_args(schema)))
    return "items" if is_models else "response"


def _is_model(schema: Any) -> bool:
    return isinstance(schema, type) and issubclass(schema, BaseModel)
