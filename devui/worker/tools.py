"""What tools declare: their arguments, their results and their effects."""

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
    """Return the schema of the tool's arguments as JSON text; None if it declares none."""
    declared = declaration_of(tool)
    return _text(declared.parameters_json_schema, declared.parameters) if declared else None


def result_schema_of(tool: BaseTool | None) -> str | None:
    """Return the schema of the tool's result as JSON text; None if it declares none."""
    declared = declaration_of(tool)
    return _text(declared.response_json_schema, declared.response) if declared else None


def declaration_of(tool: BaseTool | None) -> types.FunctionDeclaration | None:
    """Return what the model is told about the tool; None if it declares nothing."""
    if tool is None:
        return None
    try:
        declared = tool._get_declaration()
    except Exception:  # noqa: BLE001  agent code; reported when the model is called
        return None
    return declared if isinstance(declared, types.FunctionDeclaration) else None  # as above


def _text(as_json: Any, as_schema: types.Schema | None) -> str | None:
    if as_json is not None:
        return json.dumps(as_json)
    return as_schema.model_dump_json(by_alias=True, exclude_none=True) if as_schema else None


def returns_of(tool: BaseTool) -> str:
    """Return the annotated result type of the tool's function, as Python source; "" without one."""
    function = getattr(tool, "func", None)
    if function is None:
        return ""
    try:
        returns = inspect.get_annotations(function).get("return", "")
    except (TypeError, NameError):  # not a function, or an unknown name in the annotation
        return ""
    text = returns if isinstance(returns, str) else inspect.formatannotation(returns)
    return _MODULES.sub(lambda match: match["string"] or "", text)


_MODULES = re.compile(
    r"""(?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*') | \b(?:[A-Za-z_]\w*\.)+(?=[A-Za-z_])""",
    re.VERBOSE,
)
"""Matches `travel.tools.` in `list[travel.tools.Leg]`, and strings, which may contain dots."""


def confirmation_of(tool: BaseTool) -> Confirmation:
    """Return whether calls of the tool wait until a person confirms them."""
    required = getattr(tool, "_require_confirmation", False)
    if callable(required):
        return "sometimes"
    return "always" if required else "never"


class Effects(BasePlugin):
    """Collects the effects of tools offered to models; comes first, so that no answer skips it."""

    def __init__(self) -> None:
        super().__init__("devui_effects")
        self._marks: dict[str, dict[tuple[str, str], str]] = {}
        """The effects, by run and then by agent and tool."""

    async def before_model_callback(
        self, *, callback_context: Context, llm_request: LlmRequest
    ) -> None:
        """Collect the declared effects of the agent's tools."""
        run = current_run.get()
        marks = _marks(llm_request.tools_dict)
        if run is not None and marks:
            agent = callback_context.agent_name
            run_marks = self._marks.setdefault(run, {})
            run_marks.update({(agent, tool): mark for tool, mark in marks.items()})

    def note(self, event: Event) -> None:
        """Add the effects of the event's calls to its metadata."""
        marks = self._marks.get(current_run.get() or "")
        if not marks:
            return
        effects = {
            call.id: mark
            for call in event.get_function_calls()
            if call.id and (mark := marks.get((event.author, call.name or "")))
        }
        if effects:
            event.custom_metadata = {**(event.custom_metadata or {}), EFFECTS: effects}

    def forget(self, run: str) -> None:
        """Discard the data of a run that has ended."""
        self._marks.pop(run, None)


def _marks(tools: Mapping[str, BaseTool]) -> dict[str, str]:
    marks = ((name, effect_of_tool(tool)) for name, tool in tools.items())
    return {name: mark for name, mark in marks if mark}


def effect_of_tool(tool: object) -> Effect | None:
    """Return the effect that a tool declares, or a plain function among an agent's tools.

    Tools of google-adk declare none, but the functions they wrap may.
    """
    own: Effect | None = getattr(tool, "effect", None)
    function = getattr(tool, "func", tool)
    return own or (effect_of(function) if callable(function) else None)
