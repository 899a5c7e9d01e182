"""`GoogleSearchAgentTool`: Google search for agents that have other tools too (adk-runtime 8.8)."""

from google.genai import types

from devui.runtime.agents.llm_agent import LlmAgent
from devui.runtime.models.base_llm import BaseLlm
from devui.runtime.tools.agent_tool import AgentTool
from devui.runtime.tools.server_tool import ServerTool


def create_google_search_agent(model: str | BaseLlm) -> LlmAgent:
    """An agent that can do nothing but search the web, with a Gemini model."""
    return LlmAgent(
        name="google_search_agent",
        model=model,
        description="Searches the web with Google and answers from what it finds.",
        instruction="Search the web for what is asked, and answer from what you find. Search by"
        " yourself: there is no function to call.",
        tools=[ServerTool("google_search", types.Tool(google_search=types.GoogleSearch()))],
    )


class GoogleSearchAgentTool(AgentTool):
    """An agent that searches, as a tool: models before Gemini 3 refuse the search beside functions.

    What the caller answers names the sources that the search found.
    """

    def __init__(self, agent: LlmAgent) -> None:
        """Make a tool of an agent with a search, such as `create_google_search_agent` makes."""
        super().__init__(agent, propagate_grounding_metadata=True)
