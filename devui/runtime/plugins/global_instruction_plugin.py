"""`GlobalInstructionPlugin`: one instruction for all agents of an app (adk-runtime 10.4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from devui.runtime.calling import call
from devui.runtime.mistakes import brief, place
from devui.runtime.models.llm_request import prepended
from devui.runtime.plugins.base_plugin import BasePlugin
from devui.runtime.utils.instructions_utils import inject_session_state

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context
    from devui.runtime.models.llm_request import LlmRequest


class GlobalInstructionPlugin(BasePlugin):
    """Prepends an instruction to the system instruction of every request."""

    def __init__(
        self,
        global_instruction: str | Callable[..., Any] = "",
        name: str = "global_instruction",
    ) -> None:
        """Set the instruction for all agents.

        Args:
            global_instruction: A text, in which `{key}` is filled from the state, or a sync or
                async function that gets a ReadonlyContext and returns the text.
            name: The plugin's name.

        Raises:
            TypeError: the instruction is neither a text nor a function.
        """
        super().__init__(name)
        if not isinstance(global_instruction, str) and not callable(global_instruction):
            raise TypeError(
                f"`global_instruction` is {brief(global_instruction)}; pass a string, or a"
                " function that takes a ReadonlyContext and returns one."
            )
        self.global_instruction = global_instruction

    async def before_model_callback(
        self, *, callback_context: Context, llm_request: LlmRequest
    ) -> None:
        """Put the instruction first.

        Raises:
            TypeError: the function returned something other than a text or None.
        """
        text = await _text(self, callback_context)
        if text:
            config = llm_request.config
            config.system_instruction = prepended(text, config.system_instruction)


async def _text(plugin: GlobalInstructionPlugin, context: Context) -> str:
    if not isinstance(plugin.global_instruction, str):
        text = await call(plugin.global_instruction, context)
        if text is not None and not isinstance(text, str):
            raise TypeError(
                f"{place(plugin.global_instruction)} returned {brief(text)}; it must return"
                " a string."
            )
        return text or ""
    if not plugin.global_instruction:
        return ""
    return await inject_session_state(plugin.global_instruction, context)
