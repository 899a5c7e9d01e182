"""Apps: an agent tree with its plugins and settings."""

from devui.runtime.apps.app import App
from devui.runtime.apps.configs import EventsCompactionConfig, ResumabilityConfig

__all__ = ["App", "EventsCompactionConfig", "ResumabilityConfig"]
