"""Exceptions in the history (events seed; adk-runtime 12.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.genai.errors import APIError

from devui.runtime.agents.open_calls import FAILED_CALL
from devui.runtime.events.event import Event
from devui.runtime.events.node_info import NodeInfo
from devui.runtime.mistakes import lines_of, raised_together, text_of

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext


def error_event(author: str, ctx: InvocationContext, error: Exception) -> Event:
    """What the history keeps of an exception that ends the work of an agent or of a tool."""
    failed = vars(error).get(FAILED_CALL)
    return Event(
        invocation_id=ctx.invocation_id,
        author=author,
        branch=ctx.branch,
        node_info=NodeInfo(path=ctx.node_path or ""),
        error_code=error_code(error),
        error_message="\n".join(error_lines(error)),
        custom_metadata={FAILED_CALL: failed} if failed else None,
    )


def error_code(error: Exception) -> str:
    """The status that a provider gave to an exception, or else the name of its class."""
    status = error.status if isinstance(error, APIError) else None
    return status or type(error).__name__


def error_lines(error: Exception) -> list[str]:
    """What an exception says, and each of those that it groups, and the notes on it."""
    text = str(error.args[0]) if isinstance(error, KeyError) and error.args else text_of(error)
    together = isinstance(error, ExceptionGroup)
    members = lines_of(raised_together(error)) if together else ()
    return [text, *members, *vars(error).get("__notes__", [])]
