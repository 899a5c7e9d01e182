"""From a model's responses to events (adk-runtime 7.1, 7.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from devui.runtime.events.event import Event
from devui.runtime.events.event_actions import EventActions
from devui.runtime.platform.time import get_time

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.models.llm_response import LlmResponse

_SAYS = ("content", "error_code", "interrupted", "grounding_metadata")


class ModelEvents:
    """Makes the events of one model call.

    All fragments and the whole answer have one id, so that a client can put the
    one in the place of the others. Only the whole answer carries actions:
    fragments are never committed (events seed).
    """

    def __init__(self, ctx: InvocationContext, actions: EventActions) -> None:
        """Make events whose whole answers carry `actions`."""
        self._actions = actions
        self._no_actions = EventActions()
        # One validated event; the others are copies of it, since a stream has very many.
        self._template = Event(
            invocation_id=ctx.invocation_id,
            author=ctx.agent.name if ctx.agent else "",
            branch=ctx.branch,
        )

    def event(self, response: LlmResponse) -> Event | None:
        """The event of a response; None if it says nothing."""
        values = {name: value for name, value in response if value is not None}
        if not any(values.get(name) for name in _SAYS):
            return None
        return self._partial(values) if response.partial else self._whole(values)

    def _partial(self, values: dict[str, Any]) -> Event:
        return self._template.model_copy(
            update={**values, "actions": self._no_actions, "timestamp": get_time()}
        )

    def _whole(self, values: dict[str, Any]) -> Event:
        whole = self._template.model_copy(
            update={**values, "actions": self._actions, "timestamp": get_time()}
        )
        self._template = self._template.model_copy(update={"id": Event.new_id()})
        return whole
