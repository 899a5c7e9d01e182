"""`MultimodalToolResultsPlugin`: lets tools return parts of a content (adk-runtime 10.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from google.genai import types

from devui.runtime.flows.llm_flows.tool_calls import as_media
from devui.runtime.plugins.base_plugin import BasePlugin

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context
    from devui.runtime.models.llm_request import LlmRequest
    from devui.runtime.tools.base_tool import BaseTool

PARTS_RETURNED_BY_TOOLS_ID = "temp:PARTS_RETURNED_BY_TOOLS_ID"
"""State key of the parts for the next request."""
SESSION_PARTS_RETURNED_BY_TOOLS_ID = "multimodal_tool_results_plugin:PARTS_RETURNED_BY_TOOLS_ID"
"""State key of the parts kept for the session."""

_NEW = "temp:multimodal_tool_results_plugin:current_turn_parts"
_BEGUN = "temp:multimodal_tool_results_plugin:updated_in_invocation"


class MultimodalToolResultsPlugin(BasePlugin):
    """Sends parts that a tool returned to the model, as parts of the request.

    Images, audio and files of a known type are sent with the function response anyway; this
    plugin is for others, such as texts, and for parts that should stay in later requests.
    """

    def __init__(
        self,
        name: str = "multimodal_tool_results_plugin",
        *,
        retention: Literal["next_model_call", "session"] = "next_model_call",
    ) -> None:
        """Choose how long the model sees parts.

        Args:
            name: The plugin's name.
            retention: `next_model_call` sends parts once. `session` also sends the latest ones
                with every later request of the session, except for bytes, which are sent once.

        Raises:
            ValueError: `retention` is something else.
        """
        if retention not in ("next_model_call", "session"):
            raise ValueError(f"retention is {retention!r}; use 'next_model_call' or 'session'.")
        super().__init__(name)
        self._keeps_for_session = retention == "session"

    async def after_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: Context, result: Any
    ) -> None:
        """Store the parts that a tool returned; leave other results alone."""
        parts = [result] if isinstance(result, types.Part) else result
        if not isinstance(parts, list) or not parts or not isinstance(parts[0], types.Part):
            return
        state = tool_context.state
        if not self._keeps_for_session:
            rest = [part for part in parts if as_media(part) is None]
            if rest:
                state[PARTS_RETURNED_BY_TOOLS_ID] = [
                    *state.get(PARTS_RETURNED_BY_TOOLS_ID, []),
                    *rest,
                ]
            return
        lasting = [part for part in parts if part.inline_data is None]
        part_dicts = [part.model_dump(mode="json", exclude_none=True) for part in lasting]
        if part_dicts:
            earlier = state.get(SESSION_PARTS_RETURNED_BY_TOOLS_ID, []) if _BEGUN in state else []
            state[_BEGUN] = True
            state[SESSION_PARTS_RETURNED_BY_TOOLS_ID] = [*earlier, *part_dicts]
        state[_NEW] = [*state.get(_NEW, []), *parts]

    async def before_model_callback(
        self, *, callback_context: Context, llm_request: LlmRequest
    ) -> None:
        """Add the parts to the request's last content."""
        if not llm_request.contents:
            return
        state = callback_context.state
        where = _NEW if self._keeps_for_session else PARTS_RETURNED_BY_TOOLS_ID
        new: list[types.Part] = state.get(where, [])
        part_dicts = (
            state.get(SESSION_PARTS_RETURNED_BY_TOOLS_ID, []) if self._keeps_for_session else []
        )
        session_parts = [types.Part.model_validate(part) for part in part_dicts]
        all_parts = [*(part for part in session_parts if part not in new), *new]
        if new:
            state[where] = []
        if all_parts:
            # The content is also the event's, which must stay as it is.
            last = llm_request.contents[-1]
            parts = [*(last.parts or []), *all_parts]
            llm_request.contents[-1] = last.model_copy(update={"parts": parts})
