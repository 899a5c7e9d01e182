"""A node of a graph, or a whole `Workflow`, as a tool for an agent's model (adk-runtime 8.8)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.genai import types
from pydantic import TypeAdapter, ValidationError

from devui.runtime.agents.agent_tree import branch_below
from devui.runtime.models.output_schema import json_schema
from devui.runtime.tools.agent_schemas import REQUEST, ValueParameters
from devui.runtime.tools.base_tool import BaseTool
from devui.runtime.workflow.values import retitle

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context
    from devui.runtime.workflow.base_node import BaseNode


class NodeTool(BaseTool):
    """Runs a node when a model calls it, in the agent's session, on a branch of the call.

    The arguments are the node's input, and its output is the result. The nodes' events belong to
    the session. While a node waits for an answer the call stays open, and continues where it was
    once the answer arrives.
    """

    emits_events = True

    def __init__(
        self, node: BaseNode, name: str | None = None, description: str | None = None
    ) -> None:
        """Create a tool from a node; name and description default to those of the node.

        Raises:
            WorkflowConfigurationError: the node's input is unknown.
        """
        self.node = node.for_tool()
        name = name or node.name
        description = description or node.description or f"Runs {name}."
        super().__init__(name=name, description=description)
        schema = self.node.taken_as_tool()
        self._schema = schema
        self._parameters: ValueParameters | None = None
        if schema is not None:
            one_value = json_schema(schema).get("type") != "object"
            self._parameters = ValueParameters(schema, REQUEST if one_value else None)

    def _origin(self) -> str:
        return f"node {self.node.name!r}"

    def _get_declaration(self) -> types.FunctionDeclaration:
        parameters, output = self._parameters, self.node.output_schema
        return types.FunctionDeclaration(
            name=self.name,
            description=self.description,
            parameters_json_schema=parameters.declared() if parameters else None,
            response_json_schema=None if output is None else json_schema(output),
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: Context) -> Any:
        """Run the node, or return an error that lets the model correct arguments that don't fit."""
        try:
            node_input = self._input(args)
        except ValidationError as error:
            return self._correct(retitle(error, "the arguments"))
        except ValueError as error:
            return self._correct(error)
        call_id = tool_context.function_call_id
        return await tool_context.run_node(
            self.node,
            node_input,
            run_id=call_id,
            override_branch=branch_below(tool_context.branch, f"{self.name}@{call_id}"),
        )

    def _correct(self, error: ValueError) -> dict[str, str]:
        message = f"The arguments of {self.name}() do not fit; correct them and call again. {error}"
        return {"error": message}

    def _input(self, args: dict[str, Any]) -> Any:
        """Return the node's input from the arguments.

        Raises:
            ValueError: they don't fit.
        """
        value: Any = args
        if self._parameters is not None and self._parameters.wrapped_in:
            if REQUEST not in args:
                raise ValueError(f"The argument {REQUEST} is missing.")
            value = args[REQUEST]
        if value is None and not isinstance(self._schema, dict | types.Schema):
            TypeAdapter(self._schema).validate_python(None)
        return self.node.checked_as_tool(value)
