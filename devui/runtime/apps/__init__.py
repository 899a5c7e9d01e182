"""Apps: an agent tree with what belongs to it."""

from devui.runtime.apps.app import App
from devui.runtime.apps.configs import EventsCompactionConfig, ResumabilityConfig

__all__ = ["App", "EventsCompactionConfig", "ResumabilityConfig"]
