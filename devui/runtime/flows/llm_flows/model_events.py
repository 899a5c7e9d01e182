"""From a model's responses to events (adk-runtime 7.1, 7.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devui.runtime.copying import altered, filled
from devui.runtime.events.event import Event
from devui.runtime.events.event_actions import EventActions
from devui.runtime.events.node_info import NodeInfo
from devui.runtime.platform.time import get_time

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.models.llm_response import LlmResponse

_SAYS = ("content", "error_code", "interrupted", "grounding_metadata")


def base_of(ctx: InvocationContext, actions: EventActions | None = None) -> Event:
    """What the events of one model call have in common; its callbacks write to its actions."""
    return Event.made(
        invocation_id=ctx.invocation_id,
        author=ctx.agent.name if ctx.agent else "",
        branch=ctx.branch,
        node_info=NodeInfo(path=ctx.node_path or ""),
        actions=actions or EventActions.made(),
    )


def event_of(response: LlmResponse, base: Event) -> Event | None:
    """The event of a response; None if it says nothing.

    A whole answer is written into `base`, and a fragment into a copy of it: they have the same id,
    so that a client can put the one in the place of the others. Only the whole answer carries the
    actions: fragments are never committed (events seed).
    """
    given = vars(response)
    values = {name: given[name] for name in response.model_fields_set if given[name] is not None}
    if not any(map(values.get, _SAYS)):
        return None
    values["timestamp"] = get_time()
    if response.partial:
        return altered(base, **{"actions": EventActions.made(), "node_info": NodeInfo(), **values})
    return filled(base, **values)
