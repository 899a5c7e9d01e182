"""`BaseToolset`: tools that are found out when they are needed."""

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable
from functools import partial
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Protocol

from google.genai import types

from devui.runtime.auth.auth_tool import AuthConfig
from devui.runtime.copying import copy_with
from devui.runtime.mistakes import brief, check_takes, not_awaited, place
from devui.runtime.models.llm_request import LlmRequest
from devui.runtime.tools.base_tool import BaseTool

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context, ReadonlyContext


class ToolPredicate(Protocol):
    """Decides whether a tool is offered; any function of this form is one (adk-runtime 8.9)."""

    def __call__(
        self, tool: BaseTool, readonly_context: "ReadonlyContext | None" = None
    ) -> bool: ...


ToolFilter = Collection[str] | Callable[[BaseTool, "ReadonlyContext | None"], bool]


class ToolsetError(TypeError):
    """A toolset lists something else than tools, which ends the run (adk-runtime 8.9)."""


class BaseToolset(ABC):
    """A source of tools, queried once per invocation (adk-runtime 8.9).

    If its tools change during an invocation, set `_use_invocation_cache` to False: it is then
    queried at every step.
    """

    _use_invocation_cache = True

    # A toolset of one's own may set none of these.
    tool_filter: ToolFilter | None = None
    """The names of the tools to offer, or a predicate; all are if it is empty."""
    tool_name_prefix: str | None = None
    """Put before each name, with an underscore."""
    _cached_prefixed_tools: list[BaseTool] | None = None
    _cached_invocation_id: str | None = None

    def __init__(
        self, *, tool_filter: ToolFilter | None = None, tool_name_prefix: str | None = None
    ) -> None:
        """Choose and rename tools.

        Args:
            tool_filter: The names of the tools to offer, or a predicate; all are if it is
                empty. Subclasses apply it through `_is_tool_selected`.
            tool_name_prefix: Put before each name, with an underscore.
        """
        self.tool_filter = [tool_filter] if isinstance(tool_filter, str) else tool_filter
        self.tool_name_prefix = tool_name_prefix

    @abstractmethod
    async def get_tools(self, readonly_context: "ReadonlyContext | None" = None) -> list[BaseTool]:
        """The tools that the agent may use in this context."""

    async def get_tools_with_prefix(
        self, readonly_context: "ReadonlyContext | None" = None
    ) -> list[BaseTool]:
        """`get_tools` under prefixed names; mostly remembered until the invocation changes.

        Raises ToolsetError for what is no list of tools, TypeError for a `get_tools` that is a
        plain function or takes something else, or whatever `get_tools` raises.
        """
        invocation_id = readonly_context.invocation_id if readonly_context else None
        prefixed_tools = self._cached_prefixed_tools if self._use_invocation_cache else None
        if prefixed_tools is None or self._cached_invocation_id != invocation_id:
            tools = await _tools_of(self, readonly_context)
            prefixed_tools = [_prefixed(tool, self.tool_name_prefix) for tool in tools]
            self._cached_prefixed_tools, self._cached_invocation_id = prefixed_tools, invocation_id
        return prefixed_tools

    def get_auth_config(self) -> AuthConfig | None:
        """The credential that the toolset needs to list or call its tools; None if it needs none.

        It is got ready before the tools are listed: `readonly_context.get_credential(key)` gives
        it, by the config's `credential_key`. If the user has to be asked, the turn ends there.
        """
        return None

    async def process_llm_request(  # noqa: B027  most toolsets have nothing to prepare
        self, *, tool_context: "Context", llm_request: LlmRequest
    ) -> None:
        """Prepare a request that goes out, before the tools themselves do."""

    async def close(self) -> None:  # noqa: B027  most toolsets hold nothing
        """Release what the toolset holds; called when its runner closes."""

    def _tools_at_load(self) -> list[BaseTool]:
        """Those that it lists in every context, under the names that a model is told."""
        return []

    def _unconditional_tools(self, tools: Iterable[BaseTool]) -> list[BaseTool]:
        """Those of the tools that are offered in every context, as `_tools_at_load` gives them."""
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
    """The toolsets among an agent's `tools`, where functions and tools stand beside them.

    See adk-runtime 8.9.
    """
    return [entry for entry in tools if isinstance(entry, BaseToolset)]


# Functions, since toolsets of one's own have methods of such names.


def _prefixed(tool: BaseTool, prefix: str | None) -> BaseTool:
    if not prefix:
        return tool
    renamed = copy.copy(tool)
    renamed.name = f"{prefix}_{tool.name}"
    vars(renamed)["_get_declaration"] = partial(_declaration, tool, renamed.name)
    return renamed


def _declaration(tool: BaseTool, name: str) -> types.FunctionDeclaration | None:
    """The tool's own under another name, for code that does not go by the tool's.

    What is no declaration stays as it is, and is told where it is used.
    """
    declared = tool._get_declaration()
    if not isinstance(declared, types.FunctionDeclaration):
        return declared
    return copy_with(declared, name=name)


async def _tools_of(toolset: BaseToolset, ctx: "ReadonlyContext | None") -> Iterable[BaseTool]:
    """What a toolset lists, checked."""
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
