"""devui: the dev UI and debugger for agents, with an ADK-compatible runtime of its own."""

__version__ = "0.1.0"
