"""An event that a plugin gave in place of another (adk-runtime 3.3)."""

from typing import Any

from devui.runtime.agents.invocation_context import INTERNAL_METADATA
from devui.runtime.events.event import Event

_KEPT = frozenset({"id", "invocation_id", "timestamp"})


def replaced(event: Event, replacement: Event) -> Event:
    """`event` with every field that was set on `replacement`.

    Id, invocation and time stay, and so does the author if the replacement names none, and the
    metadata that is the runtime's own.
    """
    if replacement is event:
        return event
    changes = {name: getattr(replacement, name) for name in replacement.model_fields_set - _KEPT}
    if not replacement.author:
        changes.pop("author", None)
    internal = internal_metadata(event)
    if internal and "custom_metadata" in changes:
        changes["custom_metadata"] = {**(changes["custom_metadata"] or {}), **internal}
    return event.model_copy(update=changes)


def internal_metadata(event: Event) -> dict[str, Any]:
    """What the runtime itself has noted on the event."""
    metadata = event.custom_metadata or {}
    return {key: value for key, value in metadata.items() if key.startswith(INTERNAL_METADATA)}
