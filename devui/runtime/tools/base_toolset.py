"""`BaseToolset`: tools that are determined when they are needed."""

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable
from functools import partial
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Protocol, Self

from google.genai import types

from devui.runtime.auth.auth_tool import AuthConfig
from devui.runtime.copying import copy_with
from devui.runtime.exports import lazy
from devui.runtime.mistakes import brief, check_takes, not_awaited, place
from devui.runtime.models.llm_request import LlmRequest
from devui.runtime.tools.base_tool import BaseTool

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context, ReadonlyContext
    from devui.runtime.tools.tool_configs import ToolArgsConfig

_load = lazy("devui.runtime.agents", {"tool_from_config": "yaml_agents"})


class ToolPredicate(Protocol):
    """Decides whether a tool is offered; any such function will do (adk-runtime 8.9)."""

    def __call__(
        self, tool: BaseTool, readonly_context: "ReadonlyContext | None" = None
    ) -> bool: ...


ToolFilter = Collection[str] | Callable[[BaseTool, "ReadonlyContext | None"], bool]


class ToolsetError(TypeError):
    """A toolset listed something other than tools, which ends the run (adk-runtime 8.9)."""


class BaseToolset(ABC):
    """A source of tools, queried once per invocation (adk-runtime 8.9).

    If its tools change during an invocation, set `_use_invocation_cache` to False: it is then
    queried at every step.
    """

    _use_invocation_cache = True

    # Defaults, since a custom toolset may set none of these.
    tool_filter: ToolFilter | None = None
    """The names of the tools to offer, or a predicate; None or an empty list offers all."""
    tool_name_prefix: str | None = None
    """A prefix for each name, followed by an underscore."""
    _cached_prefixed_tools: list[BaseTool] | None = None
    _cached_invocation_id: str | None = None

    def __init__(
        self, *, tool_filter: ToolFilter | None = None, tool_name_prefix: str | None = None
    ) -> None:
        """Choose and rename tools.

        Args:
            tool_filter: The names of the tools to offer, or a predicate; None or an empty list
                offers all. Subclasses apply it through `_is_tool_selected`.
            tool_name_prefix: A prefix for each name, followed by an underscore.
        """
        self.tool_filter = [tool_filter] if isinstance(tool_filter, str) else tool_filter
        self.tool_name_prefix = tool_name_prefix

    @abstractmethod
    async def get_tools(self, readonly_context: "ReadonlyContext | None" = None) -> list[BaseTool]:
        """Return the tools that the agent may use in this context."""

    async def get_tools_with_prefix(
        self, readonly_context: "ReadonlyContext | None" = None
    ) -> list[BaseTool]:
        """Return the tools of `get_tools` under prefixed names, by default cached per invocation.

        Raises ToolsetError if they aren't a list of tools, TypeError if `get_tools` is a plain
        function or takes other arguments, and whatever `get_tools` raises.
        """
        invocation_id = readonly_context.invocation_id if readonly_context else None
        prefixed_tools = self._cached_prefixed_tools if self._use_invocation_cache else None
        if prefixed_tools is None or self._cached_invocation_id != invocation_id:
            tools = await _tools_of(self, readonly_context)
            prefixed_tools = [_prefixed(tool, self.tool_name_prefix) for tool in tools]
            self._cached_prefixed_tools, self._cached_invocation_id = prefixed_tools, invocation_id
        return prefixed_tools

    def get_auth_config(self) -> AuthConfig | None:
        """Return the credential needed to list or call the tools; None if none is needed.

        It is obtained before the tools are listed, and `readonly_context.get_credential(key)`
        returns it for the config's `credential_key`. If the user has to be asked, the turn ends
        there.
        """
        return None

    async def process_llm_request(  # noqa: B027  most toolsets have nothing to prepare
        self, *, tool_context: "Context", llm_request: LlmRequest
    ) -> None:
        """Prepare a request before it is sent, and before the tools themselves do so."""

    async def close(self) -> None:  # noqa: B027  most toolsets hold nothing
        """Release the toolset's resources; called when its runner closes."""

    @classmethod
    def from_config(cls, config: "ToolArgsConfig", config_abs_path: str) -> Self:
        """Create the toolset that an entry of `tools` in a YAML file describes.

        See `BaseTool.from_config`.
        """
        toolset: Self = _load("tool_from_config")(cls, config, config_abs_path)
        return toolset

    def _tools_at_load(self) -> list[BaseTool]:
        """Return the tools that it lists in every context, under the names that a model sees."""
        return []

    def _unconditional_tools(self, tools: Iterable[BaseTool]) -> list[BaseTool]:
        """Return those of the tools that are offered in every context, for `_tools_at_load`."""
        if callable(self.tool_filter):
            return []
        selection = (tool for tool in tools if self._is_tool_selected(tool, None))
        return [_prefixed(tool, self.tool_name_prefix) for tool in selection]

    def _is_tool_selected(self, tool: BaseTool, readonly_context: "ReadonlyContext | None") -> bool:
        if not self.tool_filter:  # an empty list, too
            return True
        if callable(self.tool_filter):
            return self.tool_filter(tool, readonly_context)
        return tool.name in self.tool_filter


def toolsets_of(tools: Iterable[Any]) -> list[BaseToolset]:
    """Return the toolsets among an agent's `tools`, which may also be functions and tools.

    See adk-runtime 8.9.
    """
    return [entry for entry in tools if isinstance(entry, BaseToolset)]


# Functions, since methods could clash with those of subclasses.


def _prefixed(tool: BaseTool, prefix: str | None) -> BaseTool:
    if not prefix:
        return tool
    renamed = copy.copy(tool)
    renamed.name = f"{prefix}_{tool.name}"
    vars(renamed)["_get_declaration"] = partial(_declaration, tool, renamed.name)
    return renamed


def _declaration(tool: BaseTool, name: str) -> types.FunctionDeclaration | None:
    """Return the tool's declaration under another name, for code that ignores the tool's name.

    Anything that isn't a declaration is returned unchanged, and reported where it is used.
    """
    declared = tool._get_declaration()
    if not isinstance(declared, types.FunctionDeclaration):
        return declared
    return copy_with(declared, name=name)


async def _tools_of(toolset: BaseToolset, ctx: "ReadonlyContext | None") -> Iterable[BaseTool]:
    """Return what a toolset lists, checked to be an iterable."""
    try:
        listing = toolset.get_tools(ctx)
    except TypeError:
        role = f"which lists the tools of {type(toolset).__name__}"
        check_takes(toolset.get_tools, 1, "a ReadonlyContext", role)
        raise
    if not isawaitable(listing):
        raise TypeError(not_awaited(toolset.get_tools))
    tools = await listing
    if not isinstance(tools, Iterable):
        raise ToolsetError(
            f"{place(toolset.get_tools)} of {type(toolset).__name__} returned {brief(tools)}; it"
            " must return a list of tools."
        )
    return tools
