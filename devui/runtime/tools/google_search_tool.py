"""`google_search`: lets a Gemini model search the web (adk-runtime 8.8)."""

from typing import TYPE_CHECKING

from google.genai import types

from devui.runtime.tools.base_tool import BaseTool
from devui.runtime.tools.google_search_agent_tool import (
    GoogleSearchAgentTool,
    create_google_search_agent,
)
from devui.runtime.tools.server_tool import ServerTool

if TYPE_CHECKING:
    from devui.runtime.agents.llm_agent import LlmAgent


class GoogleSearchTool(ServerTool):
    """Lets the model search the web while it answers."""

    def __init__(self, *, bypass_multi_tools_limit: bool = False, model: str | None = None) -> None:
        """Switch the search on.

        Args:
            bypass_multi_tools_limit: In an agent with other tools, which models before Gemini 3
                refuse, an agent with the same model and no other tool searches.
            model: The model to ask in place of the agent's, if the tool is not so replaced.
        """
        super().__init__(
            "google_search", types.Tool(google_search=types.GoogleSearch()), model=model
        )
        self.bypass_multi_tools_limit = bypass_multi_tools_limit

    def beside_others(self, agent: "LlmAgent") -> BaseTool:
        """With `bypass_multi_tools_limit` an agent that searches; else the tool itself.

        To hand over to other agents is a tool, too.
        """
        if not self.bypass_multi_tools_limit or not (
            len(agent.tools) > 1 or agent.may_hand_over_to
        ):
            return self
        return GoogleSearchAgentTool(create_google_search_agent(agent.canonical_model))


google_search = GoogleSearchTool()
