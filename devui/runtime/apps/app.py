"""`App`: an agent tree and what belongs to all of it (adk-runtime 3.1)."""

import re

from pydantic import BaseModel, ConfigDict, Field, field_validator

from devui.runtime.agents.context_cache_config import ContextCacheConfig
from devui.runtime.apps.configs import EventsCompactionConfig, ResumabilityConfig
from devui.runtime.plugins.base_plugin import BasePlugin
from devui.runtime.workflow.base_node import BaseNode

__all__ = ["App", "EventsCompactionConfig", "ResumabilityConfig"]

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


class App(BaseModel):
    """One application: the root agent, plugins and settings."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True, defer_build=True)

    name: str
    """Letters, digits, `_` and `-`, beginning with a letter; not `user`."""
    root_agent: BaseNode
    """An agent or a Workflow."""
    plugins: list[BasePlugin] = Field(default_factory=list)
    events_compaction_config: EventsCompactionConfig | None = None
    context_cache_config: ContextCacheConfig | None = None
    resumability_config: ResumabilityConfig | None = None

    @field_validator("name")
    @classmethod
    def _check_name(cls, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise ValueError(
                f"{name!r} is no name for an app: use letters, digits, '_' and '-', "
                "beginning with a letter."
            )
        if name == "user":
            raise ValueError("An app cannot be named 'user'; that stands for the human.")
        return name
