"""`google_maps_grounding`: lets a Gemini model look things up on maps (adk-runtime 8.8)."""

from google.genai import types

from devui.runtime.tools.server_tool import ServerTool


class GoogleMapsGroundingTool(ServerTool):
    """Lets the model ground its answers in Google Maps."""

    def __init__(self) -> None:
        super().__init__("google_maps_grounding", types.Tool(google_maps=types.GoogleMaps()))


google_maps_grounding = GoogleMapsGroundingTool()
