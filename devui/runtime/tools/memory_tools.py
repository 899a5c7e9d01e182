"""`load_memory` and `preload_memory`: give a model access to earlier sessions (adk-runtime 8.8)."""

import logging
from collections.abc import Iterator

from google.genai import types
from pydantic import BaseModel, Field

from devui.runtime.memory.memory_entry import MemoryEntry
from devui.runtime.models.llm_request import LlmRequest, RequestOnlyContent
from devui.runtime.tools.base_tool import BaseTool
from devui.runtime.tools.function_tool import FunctionTool
from devui.runtime.tools.tool_context import ToolContext

# `load_memory`: lets a model search the user's memory (adk-runtime 8.8).


_INSTRUCTION = (
    "You have a memory of earlier conversations with this user. When an answer may depend on it,"
    " call `load_memory` with what to look for."
)


class LoadMemoryResponse(BaseModel):
    """The matching memories, best first."""

    memories: list[MemoryEntry] = Field(default_factory=list)


async def load_memory(query: str, tool_context: ToolContext) -> LoadMemoryResponse:
    """Search the memory of earlier conversations with the user.

    Args:
        query: What to look for.
    """
    response = await tool_context.search_memory(query)
    return LoadMemoryResponse(memories=response.memories)


class LoadMemoryTool(FunctionTool):
    """`load_memory` with an instruction to use it."""

    def __init__(self) -> None:
        super().__init__(load_memory)

    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(
            name=self.name,
            description=self.description,
            parameters_json_schema={
                "type": "object",
                "properties": {"query": {"type": "string"}},
                "required": ["query"],
            },
        )

    async def process_llm_request(
        self, *, tool_context: ToolContext, llm_request: LlmRequest
    ) -> None:
        """Declare the tool and tell the model what it is for."""
        await super().process_llm_request(tool_context=tool_context, llm_request=llm_request)
        llm_request.append_instructions([_INSTRUCTION])


load_memory_tool = LoadMemoryTool()


# `preload_memory`: shows a model relevant memories before it asks (adk-runtime 8.8).


logger = logging.getLogger(__name__)

_TEMPLATE = (
    "These passages of earlier conversations with the user may help with what is asked now.\n"
    "<PAST_CONVERSATIONS>\n{memories}\n</PAST_CONVERSATIONS>"
)


class PreloadMemoryTool(BaseTool):
    """Searches memory for the user's message and adds the results to each request.

    The model neither sees nor calls it. If the memory can't be searched, the agent runs without it.
    """

    def __init__(self) -> None:
        super().__init__(name="preload_memory", description="Not shown to the model.")

    async def process_llm_request(
        self, *, tool_context: ToolContext, llm_request: LlmRequest
    ) -> None:
        """Insert memories that match the user's message before it."""
        query = _text(tool_context.user_content)
        if not query:
            return
        try:
            response = await tool_context.search_memory(query)
        except Exception:
            logger.warning(
                "The memory could not be searched; continuing without it.", exc_info=True
            )
            return
        lines = [line for memory in response.memories for line in _lines(memory)]
        if not lines:
            return
        text = _TEMPLATE.format(memories="\n".join(lines))
        aside = RequestOnlyContent(role="user", parts=[types.Part(text=text)])
        llm_request.insert_before_user_turn([aside])


def _lines(memory: MemoryEntry) -> Iterator[str]:
    if memory.timestamp:
        yield f"Time: {memory.timestamp}"
    if text := _text(memory.content):
        yield f"{memory.author}: {text}" if memory.author else text


def _text(content: types.Content | None) -> str:
    parts = (content.parts if content else None) or []
    return " ".join(part.text for part in parts if part.text)


preload_memory_tool = PreloadMemoryTool()
