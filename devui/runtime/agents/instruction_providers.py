"""Instructions that are functions of one's own (LlmAgent seed; adk-runtime 6.3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from devui.runtime.calling import call
from devui.runtime.mistakes import check_takes, given, place

if TYPE_CHECKING:
    from devui.runtime.agents.readonly_context import ReadonlyContext


async def provided(instruction: Callable[..., Any], ctx: ReadonlyContext) -> tuple[str, bool]:
    """The text that the function gives, and that it is to be left as it is.

    Raises TypeError for a function that does not take a context, or gives no text.
    """
    check_takes(instruction, 1, "a ReadonlyContext", f"the instruction of agent {ctx.agent_name!r}")
    try:
        text = await call(instruction, ctx)
    except (AttributeError, TypeError) as error:
        if "mappingproxy" in str(error):  # what the context's mappings are
            error.add_note(
                f"{place(instruction)} gets a context that can only be read; write state in a"
                " callback, such as before_agent_callback, or in a tool."
            )
        raise
    if text is not None and not isinstance(text, str):
        raise TypeError(
            f"The instruction of agent {ctx.agent_name!r}, {place(instruction)}, returned"
            f" {given(text)}; it must return a text."
        )
    return text or "", True
