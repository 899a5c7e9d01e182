"""`BaseTool`: something that an agent's model may call (adk-runtime 8.1; effects: devui's own)."""

from __future__ import annotations

import logging
from abc import ABC
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, get_args

from google.genai import types

from devui.runtime.exports import lazy
from devui.runtime.mistakes import place
from devui.runtime.models.llm_request import LlmRequest

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context
    from devui.runtime.sessions.state import State


# What a tool's call does to the world, as its author says: marks for its function.
#
# Whoever has to decide about a call that is perhaps made a second time reads them: a run that was
# cut off while the tool was at work (resume seed), a fork, a replay (dev-uis 4.1, feature 19).


F = TypeVar("F", bound=Callable[..., Any])

Effect = Literal["read_only", "idempotent", "effects"]
"""It changes nothing; calling it twice does what calling it once does; each call changes something.
"""

_MARK = "__devui_effect__"


def read_only(func: F) -> F:
    """Say of a tool's function that it changes nothing; it is called again without a question.

    Returns the function itself. What it writes to the session's state does not count.
    """
    return _mark(func, "read_only")


def idempotent(func: F) -> F:
    """Say of a tool's function that calling it twice does what calling it once does.

    When a run is cut off while the tool is at work, its outcome is unknown. A tool with this mark
    is then simply run again; for others a person is asked. The decorator returns the function
    itself.
    """
    return _mark(func, "idempotent")


def has_effects(func: F) -> F:
    """Say of a tool's function that each call changes the world: it books, sends, pays.

    A person is asked before it is called a second time. Returns the function itself.
    """
    return _mark(func, "effects")


def effect_of(func: Callable[..., Any]) -> Effect | None:
    """The mark of the function, or of what a partial is made of; None for one without."""
    while isinstance(func, partial):
        func = func.func
    mark: Effect | None = getattr(func, _MARK, None)
    return mark if mark in get_args(Effect) else None


def _mark(func: F, effect: Effect) -> F:
    setattr(func, _MARK, effect)
    return func


# The sources of what a tool found go to the answer that is made of it (adk-runtime 8.7, 8.9).


_GROUNDING_KEY = "temp:_adk_grounding_metadata"


def keep_sources(state: State, sources: types.GroundingMetadata) -> None:
    """Keep the sources of a tool's result for the rest of the invocation."""
    state[_GROUNDING_KEY] = sources


def kept_sources(tools: Iterable[BaseTool], context: Context) -> types.GroundingMetadata | None:
    """The latest sources that were kept, if one of these tools is meant to hand on its own."""
    for tool in tools:
        if tool.propagate_grounding_metadata:
            sources: types.GroundingMetadata | None = context.state.get(_GROUNDING_KEY)
            return sources
    return None


logger = logging.getLogger(__name__)

__getattr__ = lazy("devui.runtime.tools", {"ToolContext": "tool_context"})
"""Some import ToolContext from here; it needs tools itself."""


class BaseTool(ABC):  # noqa: B024  # a tool overrides what it needs; none of it is mandatory
    """A tool: a declaration for the model, and the code that runs on a call (adk-runtime 8.1)."""

    speaks_to_user: ClassVar[bool] = False
    """With `skip_summarization` the result also stands in the event as a text to read."""
    emits_events: bool = False
    """It gives the session events while it runs, through `emit` of the invocation."""
    defers_response: ClassVar[bool] = False
    """A call that returns nothing stays open, as that of a long-running tool does."""

    propagate_grounding_metadata: bool = False
    """Whether answers made of the tool's result name the sources that it tells of."""
    effect: Effect | Literal["hint"] | None = None
    """What a call does to the world, as the author says (`read_only`, `idempotent`, `effects`), or
    `hint`: the server that the tool belongs to claims that it may be called twice. None: unknown,
    so somebody is asked before a call is made a second time."""

    # A tool of one's own may set no more than its name and description.
    is_long_running: bool = False
    """A call that returns nothing pauses the turn until a client sends the response."""
    custom_metadata: dict[str, Any] | None = None
    """Free labels; must be JSON-able."""
    behavior: types.Behavior | None = None
    """Kept for models that speak live."""
    response_scheduling: types.FunctionResponseScheduling | None = None
    """What each function response says of when to take it up."""

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
            name: What the model calls it by; unique within an agent.
            description: Tells the model what the tool does and when to use it.
            is_long_running: The result comes later: a call that returns nothing
                pauses the turn until a client sends the function response.
            custom_metadata: Free labels; must be JSON-able.
            behavior: Kept for models that speak live.
            response_scheduling: What each function response says of when to take it up.
        """
        self.name = name
        self.description = description
        self.is_long_running = is_long_running
        self.custom_metadata = custom_metadata
        self.behavior = behavior
        self.response_scheduling = response_scheduling

    def beside_others(self, agent: Any) -> BaseTool:
        """What the model of the LlmAgent `agent` is offered in its place: itself."""
        return self

    def _origin(self) -> str:
        """Where it comes from, for messages: `pay (agent.py:12)`."""
        return place(type(self))

    def _get_declaration(self) -> types.FunctionDeclaration | None:
        """How the tool is declared to the model; None for a tool that is not."""
        if type(self).run_async is not BaseTool.run_async:
            logger.warning(
                "Tool %r is not offered to the model, since %s does not declare it. Define"
                " _get_declaration(self), and return a types.FunctionDeclaration.",
                self.name,
                place(type(self)),
            )
        return None

    async def run_async(self, *, args: dict[str, Any], tool_context: Context) -> Any:
        """Do what the model asked for and return the result.

        A dict is the function response as it is; anything else is wrapped as
        `{"result": value}`.
        """
        raise NotImplementedError(
            f"The model called tool {self.name!r}, but {type(self).__name__} does not define"
            " run_async(*, args, tool_context)."
        )

    async def check_require_confirmation(self, args: dict[str, Any], tool_context: Context) -> bool:
        """Whether the user must agree to a call with these arguments before it is run."""
        return False

    async def process_llm_request(self, *, tool_context: Context, llm_request: LlmRequest) -> None:
        """Prepare a request that goes out; by default, declare the tool in it."""
        llm_request.append_tools([self])
