"""The server as an ASGI application, by the name it has in google-adk (adk-runtime 14)."""

from devui.fast_api import get_fast_api_app as get_fast_api_app

__all__ = ["get_fast_api_app"]
