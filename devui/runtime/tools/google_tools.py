"""Tools that run on Google's side for a Gemini model: search, maps, web pages (adk-runtime 8.8)."""

from google.genai import types

from devui.runtime.agents.llm_agent import LlmAgent
from devui.runtime.models.base_llm import BaseLlm
from devui.runtime.models.llm_request import LlmRequest
from devui.runtime.tools.agent_tool import AgentTool
from devui.runtime.tools.base_tool import BaseTool
from devui.runtime.tools.tool_context import ToolContext
from devui.runtime.utils.model_name_utils import takes_server_tools

# Tools that run inside a Gemini model (adk-runtime 8.8).


def add_server_tool(llm_request: LlmRequest, name: str, tool: types.Tool) -> None:
    """Let the model use a tool of its provider.

    Raises:
        ValueError: the model isn't a Gemini model.
    """
    if not takes_server_tools(llm_request.model):
        raise ValueError(
            f"{name} only runs inside Gemini models; {llm_request.model!r} is not one. Use a"
            " Gemini model, or give the agent a function that does the same."
        )
    llm_request.config.tools = [*(llm_request.config.tools or []), tool]


class ServerTool(BaseTool):
    """A tool that is enabled in the request; the model never returns calls of it."""

    def __init__(self, name: str, tool: types.Tool, *, model: str | None = None) -> None:
        """Enable `tool`, and use `model` instead of the agent's if it is given."""
        super().__init__(name=name, description=name)
        self.model = model
        self._tool = tool

    async def process_llm_request(
        self, *, tool_context: ToolContext, llm_request: LlmRequest
    ) -> None:
        """Enable the tool; raise ValueError for models that don't have it."""
        if self.model is not None:
            llm_request.model = self.model
        add_server_tool(llm_request, self.name, self._tool.model_copy())


# `enterprise_web_search`: a Gemini model's search for enterprises (adk-runtime 8.8).


class EnterpriseWebSearchTool(ServerTool):
    """Lets the model search the web under the rules for enterprises."""

    def __init__(self) -> None:
        tool = types.Tool(enterprise_web_search=types.EnterpriseWebSearch())
        super().__init__("enterprise_web_search", tool)


enterprise_web_search_tool = EnterpriseWebSearchTool()


# `google_maps_grounding`: lets a Gemini model look things up on maps (adk-runtime 8.8).


class GoogleMapsGroundingTool(ServerTool):
    """Lets the model ground its answers in Google Maps."""

    def __init__(self) -> None:
        super().__init__("google_maps_grounding", types.Tool(google_maps=types.GoogleMaps()))


google_maps_grounding = GoogleMapsGroundingTool()


# `GoogleSearchAgentTool`: Google search for agents that have other tools too (adk-runtime 8.8).


def create_google_search_agent(model: str | BaseLlm) -> LlmAgent:
    """Create an agent that can only search the web, with a Gemini model."""
    return LlmAgent(
        name="google_search_agent",
        model=model,
        description="Searches the web with Google and answers from what it finds.",
        instruction="Search the web for what is asked, and answer from what you find. Search by"
        " yourself: there is no function to call.",
        tools=[ServerTool("google_search", types.Tool(google_search=types.GoogleSearch()))],
    )


class GoogleSearchAgentTool(AgentTool):
    """An agent that searches, as a tool: models before Gemini 3 reject search beside functions.

    The caller's answers include the sources that the search found.
    """

    def __init__(self, agent: LlmAgent) -> None:
        """Create a tool from an agent that searches, as `create_google_search_agent` returns."""
        super().__init__(agent, propagate_grounding_metadata=True)


# `google_search`: lets a Gemini model search the web (adk-runtime 8.8).


class GoogleSearchTool(ServerTool):
    """Lets the model search the web while answering."""

    def __init__(self, *, bypass_multi_tools_limit: bool = False, model: str | None = None) -> None:
        """Configure the search.

        Args:
            bypass_multi_tools_limit: Whether a separate agent with the same model does the search
                if the agent has other tools, which models before Gemini 3 reject.
            model: The model to use instead of the agent's, unless a separate agent does the search.
        """
        super().__init__(
            "google_search", types.Tool(google_search=types.GoogleSearch()), model=model
        )
        self.bypass_multi_tools_limit = bypass_multi_tools_limit

    def beside_others(self, agent: "LlmAgent") -> BaseTool:
        """Return an agent that searches if `bypass_multi_tools_limit` is set, else the tool itself.

        Transfers to other agents count as a tool, too.
        """
        if not self.bypass_multi_tools_limit or not (
            len(agent.tools) > 1 or agent.may_hand_over_to
        ):
            return self
        return GoogleSearchAgentTool(create_google_search_agent(agent.canonical_model))


google_search = GoogleSearchTool()


# `url_context`: lets a Gemini model read web pages (adk-runtime 8.8).


class UrlContextTool(ServerTool):
    """Lets the model read the pages at URLs in the conversation."""

    def __init__(self) -> None:
        super().__init__("url_context", types.Tool(url_context=types.UrlContext()))


url_context = UrlContextTool()
