"""The engine that executes an app, and the reason for its choice."""

from dataclasses import dataclass
from typing import Literal

EngineName = Literal["google-adk", "devui"]
EngineChoice = Literal["auto", "google-adk", "devui"]
"""A person's choice; `auto` decides by what the app imports and what is installed."""
ReplayEngine = Literal["google-adk", "devui", "other"]
"""Where a recorded run is replayed; `other` is the engine that its app doesn't run on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineInfo:
    """The engine of a loaded app."""

    name: EngineName
    version: str
    """The version of google-adk; for devui, the google-adk version that it is compatible with."""
    reason: str
    """The reason for the choice, as a sentence for people."""
    aliased: bool = False
    """Whether the `google.adk` that the app imports is devui.runtime."""
