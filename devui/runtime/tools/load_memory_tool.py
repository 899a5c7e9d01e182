"""`load_memory`: lets a model search the user's memory (adk-runtime 8.8)."""

from google.genai import types
from pydantic import BaseModel, Field

from devui.runtime.memory.memory_entry import MemoryEntry
from devui.runtime.models.llm_request import LlmRequest
from devui.runtime.tools.function_tool import FunctionTool
from devui.runtime.tools.tool_context import ToolContext

_INSTRUCTION = (
    "You have a memory of earlier conversations with this user. When an answer may depend on it,"
    " call `load_memory` with what to look for."
)


class LoadMemoryResponse(BaseModel):
    """What the memory holds, best first."""

    memories: list[MemoryEntry] = Field(default_factory=list)


async def load_memory(query: str, tool_context: ToolContext) -> LoadMemoryResponse:
    """Search the memory of earlier conversations with the user.

    Args:
        query: What to look for.
    """
    found = await tool_context.search_memory(query)
    return LoadMemoryResponse(memories=found.memories)


class LoadMemoryTool(FunctionTool):
    """`load_memory`, with an instruction to use it."""

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
