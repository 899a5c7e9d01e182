"""`BaseTool`: anything that an agent's model may call (adk-runtime 8.1; effects: devui's own)."""

from __future__ import annotations

import logging
from abc import ABC
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeVar, get_args

from google.genai import types

from devui.runtime.exports import lazy
from devui.runtime.mistakes import place
from devui.runtime.models.llm_request import LlmRequest

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context
    from devui.runtime.sessions.state import State
    from devui.runtime.tools.tool_configs import ToolArgsConfig


# Marks by which authors declare the effects of a tool's function.
#
# They are read when a call may have to be repeated: in a run that was interrupted while the tool
# was running (resume seed), a fork, a replay (dev-uis 4.1, feature 19).


F = TypeVar("F", bound=Callable[..., Any])

Effect = Literal["read_only", "idempotent", "effects"]
"""`read_only` changes nothing, `idempotent` may be called twice with the effect of one call, and
`effects` changes something with each call."""

_MARK = "__devui_effect__"


def read_only(func: F) -> F:
    """Declare that a tool's function changes nothing, so that it can be repeated without asking.

    Returns the function itself. Its writes to the session's state don't count.
    """
    return _mark(func, "read_only")


def idempotent(func: F) -> F:
    """Declare that calling a tool's function twice has the same effect as calling it once.

    When a run is interrupted while the tool is running, the outcome is unknown. A tool with this
    mark is then simply run again; for others, a person is asked. The decorator returns the function
    itself.
    """
    return _mark(func, "idempotent")


def has_effects(func: F) -> F:
    """Declare that each call of a tool's function has effects: it books, sends or pays.

    A person is asked before it is called a second time. Returns the function itself.
    """
    return _mark(func, "effects")


def effect_of(func: Callable[..., Any]) -> Effect | None:
    """Return the mark of a function, or of the function in a partial; None if it has none."""
    while isinstance(func, partial):
        func = func.func
    mark: Effect | None = getattr(func, _MARK, None)
    return mark if mark in get_args(Effect) else None


def _mark(func: F, effect: Effect) -> F:
    setattr(func, _MARK, effect)
    return func


# Passes the sources of a tool's result on to the answer made from it (adk-runtime 8.7, 8.9).


_GROUNDING_KEY = "temp:_adk_grounding_metadata"


def keep_sources(state: State, sources: types.GroundingMetadata) -> None:
    """Keep the sources of a tool's result for the rest of the invocation."""
    state[_GROUNDING_KEY] = sources


def kept_sources(tools: Iterable[BaseTool], context: Context) -> types.GroundingMetadata | None:
    """Return the latest sources if one of these tools is set to pass on its own, else None."""
    for tool in tools:
        if tool.propagate_grounding_metadata:
            sources: types.GroundingMetadata | None = context.state.get(_GROUNDING_KEY)
            return sources
    return None


logger = logging.getLogger(__name__)

_load = lazy("devui.runtime.agents", {"tool_from_config": "yaml_agents"})
__getattr__ = lazy("devui.runtime.tools", {"ToolContext": "tool_context"})
"""Some code imports ToolContext from here; it is lazy, since its module imports tools."""


class BaseTool(ABC):  # noqa: B024  # a tool overrides what it needs; none of it is mandatory
    """A tool: a declaration for the model, and the code that runs on a call (adk-runtime 8.1)."""

    speaks_to_user: ClassVar[bool] = False
    """Whether the result of a call with `skip_summarization` is also added to the event as text."""
    emits_events: bool = False
    """Whether it emits events of the session while it runs, through the invocation's `emit`."""
    defers_response: ClassVar[bool] = False
    """Whether a call that returns nothing stays open, like that of a long-running tool."""

    propagate_grounding_metadata: bool = False
    """Whether answers based on the tool's result include the sources that it names."""
    effect: Effect | Literal["hint"] | None = None
    """The effect of a call, as declared by the author (`read_only`, `idempotent`, `effects`), or
    `hint`: the tool's server claims that calls may be repeated. None means unknown, so a person is
    asked before a call is repeated."""

    # Defaults, since a custom tool may set only its name and description.
    is_long_running: bool = False
    """Whether a call that returns nothing pauses the turn until a client sends the response."""
    custom_metadata: dict[str, Any] | None = None
    """Custom labels; must be JSON-serializable."""
    behavior: types.Behavior | None = None
    """For models with live audio; not used by the runtime."""
    response_scheduling: types.FunctionResponseScheduling | None = None
    """The scheduling that each function response requests, if any."""

    def __init__(
        self,
        *,
        name: str,
        description: str,
        is_long_running: bool = False,
        custom_metadata: dict[str, Any] | None = None,
        behavior: types.Behavior | None = None,
        response_scheduling: types.FunctionResponseScheduling | None = None,
    ) -> None:
        """Describe the tool.

        Args:
            name: The name by which the model calls it; unique within an agent.
            description: Tells the model what the tool does and when to use it.
            is_long_running: Whether the result comes later: a call that returns nothing pauses the
                turn until a client sends the function response.
            custom_metadata: Custom labels; must be JSON-serializable.
            behavior: For models with live audio; not used by the runtime.
            response_scheduling: The scheduling that each function response requests.
        """
        self.name = name
        self.description = description
        self.is_long_running = is_long_running
        self.custom_metadata = custom_metadata
        self.behavior = behavior
        self.response_scheduling = response_scheduling

    @classmethod
    def from_config(cls, config: ToolArgsConfig, config_abs_path: str) -> Self:
        """Create the tool that an entry of `tools` in a YAML file describes.

        Args:
            config: The entry's `args`, whose keys are the parameters of the class.
            config_abs_path: The path of the file.

        Raises:
            ValueError: the class has no such parameter, or something that the entry names doesn't
                exist.
        """
        tool: Self = _load("tool_from_config")(cls, config, config_abs_path)
        return tool

    def beside_others(self, agent: Any) -> BaseTool:
        """Return the tool to offer to the LlmAgent `agent` in place of this one, or itself."""
        return self

    def _origin(self) -> str:
        """Return where it comes from, for messages: `pay (agent.py:12)`."""
        return place(type(self))

    def _get_declaration(self) -> types.FunctionDeclaration | None:
        """Return the tool's declaration for the model; None for a tool that isn't declared."""
        if type(self).run_async is not BaseTool.run_async:
            logger.warning(
                "Tool %r is not offered to the model because %s does not declare it. Define"
                " _get_declaration(self) and return a types.FunctionDeclaration.",
                self.name,
                place(type(self)),
            )
        return None

    async def run_async(self, *, args: dict[str, Any], tool_context: Context) -> Any:
        """Do what the model asked for and return the result.

        A dict is the function response itself; any other value is wrapped as `{"result": value}`.
        """
        raise NotImplementedError(
            f"The model called tool {self.name!r}, but {type(self).__name__} does not define"
            " run_async(*, args, tool_context)."
        )

    async def check_require_confirmation(self, args: dict[str, Any], tool_context: Context) -> bool:
        """Return whether the user must agree to a call with these arguments before it runs."""
        return False

    async def process_llm_request(self, *, tool_context: Context, llm_request: LlmRequest) -> None:
        """Prepare a request before it is sent; by default, declare the tool in it."""
        llm_request.append_tools([self])
