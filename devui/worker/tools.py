"""What a tool says of itself: its arguments, its result, and what it does to the world."""

import inspect
import json
import re
from collections.abc import Mapping
from typing import Any

from google.genai import types

from devui.runtime.plugins.base_plugin import BasePlugin
from devui.runtime.tools.base_tool import effect_of
from devui.wire.gates import EFFECTS, Effect
from devui.wire.trials import Confirmation
from devui.worker.engines.kit import BaseTool, Context, Event, LlmRequest
from devui.worker.output import current_run


def schema_of(tool: BaseTool | None) -> str | None:
    """The JSON text of the schema of the tool's arguments; None for a tool that declares none."""
    declared = declaration_of(tool)
    return _text(declared.parameters_json_schema, declared.parameters) if declared else None


def result_schema_of(tool: BaseTool | None) -> str | None:
    """The same of what it returns."""
    declared = declaration_of(tool)
    return _text(declared.response_json_schema, declared.response) if declared else None


def declaration_of(tool: BaseTool | None) -> types.FunctionDeclaration | None:
    """What the model is told of the tool; None for a tool that declares nothing."""
    if tool is None:
        return None
    try:
        declared = tool._get_declaration()
    except Exception:  # noqa: BLE001  agent code; it is told when the model is asked
        return None
    return declared if isinstance(declared, types.FunctionDeclaration) else None  # told there, too


def _text(as_json: Any, as_schema: types.Schema | None) -> str | None:
    if as_json is not None:
        return json.dumps(as_json)
    return as_schema.model_dump_json(by_alias=True, exclude_none=True) if as_schema else None


def returns_of(tool: BaseTool) -> str:
    """What the tool's function is annotated to return, as Python writes it; "" if it isn't."""
    function = getattr(tool, "func", None)
    if function is None:
        return ""
    try:
        returns = inspect.get_annotations(function).get("return", "")
    except (TypeError, NameError):  # no function after all; a name that its module doesn't have
        return ""
    text = returns if isinstance(returns, str) else inspect.formatannotation(returns)
    return _MODULES.sub("", text)


_MODULES = re.compile(r"\b(?:[A-Za-z_]\w*\.)+(?=[A-Za-z_])")
"""`travel.tools.` in `list[travel.tools.Leg]`."""


def confirmation_of(tool: BaseTool) -> Confirmation:
    """Whether calls of the tool wait until a person confirms them."""
    required = getattr(tool, "_require_confirmation", False)
    if callable(required):
        return "sometimes"
    return "always" if required else "never"


class Effects(BasePlugin):
    """Sees the tools that models are offered; comes first, so that no answer hides them."""

    def __init__(self) -> None:
        super().__init__("devui_effects")
        self._marks: dict[str, dict[tuple[str, str], str]] = {}
        """By run, then by agent and tool."""

    async def before_model_callback(
        self, *, callback_context: Context, llm_request: LlmRequest
    ) -> None:
        """Learn which of the agent's tools are marked."""
        run = current_run.get()
        marks = _marks(llm_request.tools_dict)
        if run is not None and marks:
            agent = callback_context.agent_name
            run_marks = self._marks.setdefault(run, {})
            run_marks.update({(agent, tool): mark for tool, mark in marks.items()})

    def note(self, event: Event) -> None:
        """Note the marks of the event's calls on it."""
        marks = self._marks.get(current_run.get() or "")
        if not marks:
            return
        noted = {
            call.id: mark
            for call in event.get_function_calls()
            if call.id and (mark := marks.get((event.author, call.name or "")))
        }
        if noted:
            event.custom_metadata = {**(event.custom_metadata or {}), EFFECTS: noted}

    def forget(self, run: str) -> None:
        """The run is over."""
        self._marks.pop(run, None)


def _marks(tools: Mapping[str, BaseTool]) -> dict[str, str]:
    marks = ((name, effect_of_tool(tool)) for name, tool in tools.items())
    return {name: mark for name, mark in marks if mark}


def effect_of_tool(tool: object) -> Effect | None:
    """What a tool, or a plain function among an agent's tools, says it does to the world.

    Tools of google-adk say nothing, but the functions they are made of may carry a mark.
    """
    own: Effect | None = getattr(tool, "effect", None)
    function = getattr(tool, "func", tool)
    return own or (effect_of(function) if callable(function) else None)
