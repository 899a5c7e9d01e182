"""`google_search`: lets a Gemini model search the web (adk-runtime 8.8)."""

from google.genai import types

from devui.runtime.tools.server_tool import ServerTool


class GoogleSearchTool(ServerTool):
    """Lets the model search the web while it answers."""

    def __init__(self, *, bypass_multi_tools_limit: bool = False, model: str | None = None) -> None:
        """Switch the search on.

        Args:
            bypass_multi_tools_limit: Not supported in this version: give the search to an agent
                of its own and call that with an AgentTool.
            model: The model to ask in place of the agent's.

        Raises:
            ValueError: `bypass_multi_tools_limit` is set.
        """
        if bypass_multi_tools_limit:
            raise ValueError(
                "google_search cannot be mixed with other tools for models that refuse it:"
                " bypass_multi_tools_limit is not supported in this version. Give the search to"
                " an agent of its own and call it with an AgentTool."
            )
        super().__init__(
            "google_search", types.Tool(google_search=types.GoogleSearch()), model=model
        )


google_search = GoogleSearchTool()
