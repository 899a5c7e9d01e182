"""`ToolNode`: a node that passes its input to a tool and outputs the result (adk-runtime 12.2)."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from functools import partial
from typing import TYPE_CHECKING, Any

from google.genai import types
from pydantic import BaseModel

from devui.runtime.platform.uuid import new_uuid
from devui.runtime.tools.base_tool import BaseTool
from devui.runtime.workflow.base_node import BaseNode
from devui.runtime.workflow.consents import (
    consent_request,
    request_event,
    take_consent,
    take_credentials,
)
from devui.runtime.workflow.errors import WorkflowDataError
from devui.runtime.workflow.values import json_or_text, text_of

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context


class ToolNode(BaseNode):
    """Calls a tool with the keys of its input as arguments, and runs the plugins' tool callbacks.

    Required arguments that the input lacks are read from the state. An input that isn't a dict is
    used as the only argument, or the only required one.
    """

    tool: BaseTool
    rerun_on_resume: bool = True

    def taken_as_tool(self) -> Any:
        """Return the schema of the tool's parameters."""
        declaration = self.tool._get_declaration()
        if self.input_schema is not None or declaration is None:
            return super().taken_as_tool()
        return declaration.parameters_json_schema or declaration.parameters

    async def _run_impl(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
        args = self._arguments(ctx, node_input)
        call_id = ctx.function_call_id = new_uuid()
        take_consent(ctx)
        take_credentials(ctx)
        plugins = ctx.get_invocation_context().plugin_manager
        about: dict[str, Any] = {"tool": self.tool, "tool_args": args, "tool_context": ctx}
        result = await plugins.run_before_tool_callback(**about)
        if result is None:
            result = await self._result(ctx, args, about)
            confirmation = ctx.actions.requested_tool_confirmations.pop(call_id, None)
            if confirmation is not None:
                ctx.actions.skip_summarization = None
                yield consent_request(
                    ctx, self.tool.name, args, hint=confirmation.hint, payload=confirmation.payload
                )
                return
            auth_config = ctx.actions.requested_auth_configs.pop(call_id, None)
            if auth_config is not None:
                yield request_event(ctx, auth_config)
                return
        changed = await plugins.run_after_tool_callback(**about, result=result)
        yield result if changed is None else changed

    async def _result(self, ctx: Context, args: dict[str, Any], about: dict[str, Any]) -> Any:
        plugins = ctx.get_invocation_context().plugin_manager
        run = partial(self.tool.run_async, args=args, tool_context=ctx)
        try:
            return await plugins.around_tool_call(self.tool, args, ctx, run)
        except Exception as error:
            result = await plugins.run_on_tool_error_callback(**about, error=error)
            if result is None:
                raise
            return result

    def _arguments(self, ctx: Context, value: Any) -> dict[str, Any]:
        """Return the arguments for the call.

        Raises:
            WorkflowDataError: the input isn't a dict, and could be meant for several arguments or
                none.
        """
        declared, mandatory = self._declared()
        args = _as_dict(value)
        if not isinstance(args, dict):
            only = declared if len(declared) == 1 else mandatory
            if len(only) != 1:
                raise WorkflowDataError(
                    f"Tool {self.tool.name!r} as a node takes a dict of its arguments"
                    f" ({', '.join(declared)}), but got {value!r:.200}; return one from the"
                    " previous node."
                )
            args = {only[0]: args}
        return {name: ctx.state[name] for name in mandatory if name in ctx.state} | args

    def _declared(self) -> tuple[list[str], list[str]]:
        """Return the names of all arguments, and of the required ones."""
        declaration = self.tool._get_declaration()
        if declaration is None:
            return [], []
        if isinstance(schema := declaration.parameters_json_schema, dict):
            return list(schema.get("properties") or ()), list(schema.get("required") or ())
        parameters = declaration.parameters or types.Schema()
        return list(parameters.properties or ()), list(parameters.required or ())


def _as_dict(value: Any) -> Any:
    """Return the input as a dict if it is a model, JSON or empty; otherwise return it as it is."""
    if isinstance(value, types.Content):
        value = text_of(value)
    if isinstance(value, BaseModel):
        return value.model_dump()
    if isinstance(value, str):
        value = value.strip() or None
        parsed_value = json_or_text(value) if value else None
        value = parsed_value if isinstance(parsed_value, dict) else value
    return {} if value is None else value
