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
        self._common: dict[str, Any] = {
            "invocation_id": ctx.invocation_id,
            "author": ctx.agent.name if ctx.agent else "",
            "branch": ctx.branch,
        }
        # The first of an answer's events is made; the others are copies, since a stream has many.
        self._template: Event | None = None

    def event(self, response: LlmResponse) -> Event | None:
        """The event of a response; None if it says nothing."""
        values = {name: value for name, value in vars(response).items() if value is not None}
        if not any(values.get(name) for name in _SAYS):
            return None
        if self._template is None:
            self._template = Event.made(**self._common)
        template = self._template
        if response.partial:
            values["actions"] = self._no_actions
        else:
            values["actions"] = self._actions
            self._template = None
        values["timestamp"] = get_time()
        return template.model_copy(update=values)
