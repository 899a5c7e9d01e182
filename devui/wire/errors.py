"""Exceptions of agent code, as they travel and are kept."""

from dataclasses import dataclass
from typing import Final

LIMITED: Final = "RunLimited"
"""The type of the error that a run has which came to a limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentError:
    """An exception of agent code, told so that its author can act on it."""

    type: str
    message: str
    traceback: str
    """The formatted traceback, the frames of the agent's own files included."""
    file: str | None = None
    """The innermost file of the agent's own code, where one is known, from the agents' folder."""
    line: int | None = None
