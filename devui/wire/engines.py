"""Which runtime executes an app, and why."""

from dataclasses import dataclass
from typing import Literal

EngineName = Literal["google-adk", "devui"]
EngineChoice = Literal["auto", "google-adk", "devui"]
"""What a person chooses; `auto` leaves it to what the app imports and what is installed."""
ReplayEngine = Literal["google-adk", "devui", "other"]
"""Where a recorded run is executed again; `other` is the engine that its app does not run on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineInfo:
    """The engine of a loaded app."""

    name: EngineName
    version: str
    """Of google-adk; for devui, of the google-adk that it is compatible with."""
    reason: str
    """A sentence for people."""
    aliased: bool = False
    """`google.adk`, which the app imports, is devui.runtime."""
