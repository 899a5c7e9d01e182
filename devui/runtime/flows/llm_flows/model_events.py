"""From a model's responses to events (adk-runtime 7.1, 7.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from devui.runtime.copying import altered
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
        self._common: dict[str, Any] = {
            "invocation_id": ctx.invocation_id,
            "author": ctx.agent.name if ctx.agent else "",
            "branch": ctx.branch,
        }
        # What all fragments of an answer have in common, and the whole, which has their id.
        self._fragment: Event | None = None

    def event(self, response: LlmResponse) -> Event | None:
        """The event of a response; None if it says nothing."""
        given = vars(response)
        values = {
            name: given[name] for name in response.model_fields_set if given[name] is not None
        }
        if not any(values.get(name) for name in _SAYS):
            return None
        if response.partial:
            return self._of_fragment(values)
        if self._fragment is not None:
            values.setdefault("id", self._fragment.id)
            self._fragment = None
        return Event.made(**{**self._common, **values, "actions": self._actions})

    def _of_fragment(self, values: dict[str, Any]) -> Event:
        """The first is made; the others are copies of it, since a stream has many."""
        if self._fragment is None:
            self._fragment = Event.made(**self._common)
        return altered(self._fragment, **{**values, "timestamp": get_time()})
