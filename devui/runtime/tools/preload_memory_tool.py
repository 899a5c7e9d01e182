"""`preload_memory`: shows a model what the memory holds before it asks (adk-runtime 8.8)."""

import logging
from collections.abc import Iterator

from google.genai import types

from devui.runtime.memory.memory_entry import MemoryEntry
from devui.runtime.models.asides import Aside
from devui.runtime.models.llm_request import LlmRequest
from devui.runtime.tools.base_tool import BaseTool
from devui.runtime.tools.tool_context import ToolContext

logger = logging.getLogger(__name__)

_TEMPLATE = (
    "These passages of earlier conversations with the user may help with what is asked now.\n"
    "<PAST_CONVERSATIONS>\n{memories}\n</PAST_CONVERSATIONS>"
)


class PreloadMemoryTool(BaseTool):
    """Searches the memory for the user's words and adds what it finds to each request.

    The model neither sees nor calls it. When the memory cannot be searched the agent does without.
    """

    def __init__(self) -> None:
        super().__init__(name="preload_memory", description="Not shown to the model.")

    async def process_llm_request(
        self, *, tool_context: ToolContext, llm_request: LlmRequest
    ) -> None:
        """Put memories that fit the user's message before the message."""
        query = _text(tool_context.user_content)
        if not query:
            return
        try:
            found = await tool_context.search_memory(query)
        except Exception:
            logger.warning("The memory could not be searched; going on without.", exc_info=True)
            return
        lines = [line for memory in found.memories for line in _lines(memory)]
        if not lines:
            return
        text = _TEMPLATE.format(memories="\n".join(lines))
        told = Aside(role="user", parts=[types.Part(text=text)])
        llm_request.insert_before_user_turn([told])


def _lines(memory: MemoryEntry) -> Iterator[str]:
    if memory.timestamp:
        yield f"Time: {memory.timestamp}"
    if text := _text(memory.content):
        yield f"{memory.author}: {text}" if memory.author else text


def _text(content: types.Content | None) -> str:
    parts = (content.parts if content else None) or []
    return " ".join(part.text for part in parts if part.text)


preload_memory_tool = PreloadMemoryTool()
