"""`enterprise_web_search`: a Gemini model's search for enterprises (adk-runtime 8.8)."""

from google.genai import types

from devui.runtime.tools.server_tool import ServerTool


class EnterpriseWebSearchTool(ServerTool):
    """Lets the model search the web under the rules for enterprises."""

    def __init__(self) -> None:
        tool = types.Tool(enterprise_web_search=types.EnterpriseWebSearch())
        super().__init__("enterprise_web_search", tool)


enterprise_web_search_tool = EnterpriseWebSearchTool()
