"""The tools in a `root_agent.yaml`, as passed to the code that creates them (adk-web 2.2)."""

from pydantic import BaseModel, ConfigDict


class BaseToolConfig(BaseModel):
    """The base class of configurations with fields of their own."""

    model_config = ConfigDict(extra="forbid")


class ToolArgsConfig(BaseModel):
    """The `args` of a tool, with its keys as attributes."""

    model_config = ConfigDict(extra="allow")


class ToolConfig(BaseModel):
    """One entry of `tools`."""

    model_config = ConfigDict(extra="forbid")

    name: str
    """A name in `google.adk.tools`, or a dotted path."""
    args: ToolArgsConfig | None = None
    """The arguments for the class or function at that path."""
