"""`App`: an agent tree with its plugins and settings (adk-runtime 3.1)."""

import re
from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from devui.runtime.agents.context_cache_config import ContextCacheConfig
from devui.runtime.apps.configs import EventsCompactionConfig, ResumabilityConfig
from devui.runtime.mistakes import brief, refuse_unknown
from devui.runtime.plugins.base_plugin import BasePlugin
from devui.runtime.workflow.base_node import BaseNode

__all__ = ["App", "EventsCompactionConfig", "ResumabilityConfig", "validate_app_name"]

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


def validate_app_name(name: str) -> None:
    """Raise ValueError if an app cannot have this name (adk-runtime 3.1)."""
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"{name!r} is not a valid app name: use letters, digits, '_' and '-', "
            "and begin with a letter."
        )
    if name == "user":
        raise ValueError("An app cannot be named 'user'; that name is reserved for the user.")


class App(BaseModel):
    """One application: the root agent, plugins and settings."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True, defer_build=True)

    name: str
    """Letters, digits, `_` and `-`, beginning with a letter; not `user`."""
    root_agent: BaseNode
    """An agent or a Workflow."""
    plugins: list[BasePlugin] = Field(default_factory=list)
    """Their hooks are called in this order, before the callbacks of agents."""
    events_compaction_config: EventsCompactionConfig | None = None
    """When old events are summarized; None: never."""
    context_cache_config: ContextCacheConfig | None = None
    """What the provider should cache; None: nothing."""
    resumability_config: ResumabilityConfig | None = None
    """Whether agents record checkpoints; None: they do not."""

    @model_validator(mode="before")
    @classmethod
    def _check_given(cls, values: Any) -> Any:
        if isinstance(values, dict) and "agent" in values and "agent" not in cls.model_fields:
            raise ValueError("App has no `agent`; pass it as `root_agent`.")
        refuse_unknown("App", values, cls.model_fields)
        return values

    @field_validator("root_agent", mode="before")
    @classmethod
    def _check_root(cls, root: Any) -> Any:
        if not isinstance(root, BaseNode):
            raise ValueError(f"expected an agent or a Workflow, got {brief(root)}.")  # noqa: TRY004
        return root

    @field_validator("plugins", mode="before")
    @classmethod
    def _check_plugins(cls, plugins: Any) -> Any:
        if not isinstance(plugins, Iterable):
            raise ValueError(f"expected a list of plugins, got {brief(plugins)}.")  # noqa: TRY004
        plugin_list = list(plugins)
        for plugin in plugin_list:
            if not isinstance(plugin, BasePlugin):
                raise ValueError(  # noqa: TRY004  pydantic reports ValueErrors
                    f"expected a list of plugins, but it contains {brief(plugin)}. Pass plugin"
                    " instances, such as LoggingPlugin()."
                )
        return plugin_list

    @field_validator("name")
    @classmethod
    def _check_name(cls, name: str) -> str:
        validate_app_name(name)
        return name
