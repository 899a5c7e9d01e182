"""Tools that a Gemini model runs on its own side (adk-runtime 8.8)."""

from google.genai import types

from devui.runtime.models.llm_request import LlmRequest
from devui.runtime.tools.base_tool import BaseTool
from devui.runtime.tools.tool_context import ToolContext
from devui.runtime.utils.model_name_utils import takes_server_tools


def add_server_tool(llm_request: LlmRequest, name: str, tool: types.Tool) -> None:
    """Let the model use a tool of its provider.

    Raises:
        ValueError: the model is not one of Gemini's.
    """
    if not takes_server_tools(llm_request.model):
        raise ValueError(
            f"{name} runs inside Gemini models only, and {llm_request.model!r} is none. Use a"
            " Gemini model, or give the agent a function that does the same."
        )
    llm_request.config.tools = [*(llm_request.config.tools or []), tool]


class ServerTool(BaseTool):
    """A tool that is switched on in the request; no call of it ever comes back."""

    def __init__(self, name: str, tool: types.Tool, *, model: str | None = None) -> None:
        """Switch on `tool`, and ask `model` in place of the agent's if it is given."""
        super().__init__(name=name, description=name)
        self.model = model
        self._tool = tool

    async def process_llm_request(
        self, *, tool_context: ToolContext, llm_request: LlmRequest
    ) -> None:
        """Switch the tool on; ValueError for models that do not have it."""
        if self.model is not None:
            llm_request.model = self.model
        add_server_tool(llm_request, self.name, self._tool.model_copy())
