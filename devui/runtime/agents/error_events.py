"""Exceptions in the history (events seed; adk-runtime 12.4)."""

from __future__ import annotations

from google.genai.errors import APIError

from devui.runtime.agents.invocation_events import FAILED_CALL, Invocation
from devui.runtime.events.event import Event, NodeInfo
from devui.runtime.mistakes import lines_of, raised_together, text_of


def error_event(author: str, ctx: Invocation, error: Exception) -> Event:
    """Return the event that records an exception that ends an agent's or a tool's work."""
    failed = vars(error).get(FAILED_CALL)
    return Event(
        invocation_id=ctx.invocation_id,
        author=author,
        branch=ctx.branch,
        node_info=NodeInfo(path=ctx.node_path or ""),
        error_code=error_code(error),
        error_message=error_message(error),
        custom_metadata={FAILED_CALL: failed} if failed else None,
    )


def error_code(error: Exception) -> str:
    """Return the status that a provider gave an exception, or else the name of its class."""
    status = error.status if isinstance(error, APIError) else None
    return status or type(error).__name__


def error_message(error: Exception) -> str:
    """Return the message of an exception, and those of the exceptions that it groups.

    Its notes are left to the traceback: they may name places in the source, and clients see this
    text.
    """
    members = lines_of(raised_together(error)) if isinstance(error, ExceptionGroup) else ()
    return "\n".join([text_of(error), *members])
