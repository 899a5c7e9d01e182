"""`url_context`: lets a Gemini model read web pages (adk-runtime 8.8)."""

from google.genai import types

from devui.runtime.tools.server_tool import ServerTool


class UrlContextTool(ServerTool):
    """Lets the model read the pages behind the addresses that are in the conversation."""

    def __init__(self) -> None:
        super().__init__("url_context", types.Tool(url_context=types.UrlContext()))


url_context = UrlContextTool()
