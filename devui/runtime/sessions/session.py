"""`Session`: one conversation (adk-runtime 2.1)."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr
from pydantic.alias_generators import to_camel

from devui.runtime.events.event import Event


class Session(BaseModel):
    """The state and the history of one conversation between a user and an app.

    What a service hands out is the caller's own copy: its list and its state may be changed, the
    events in it are shared and are not to be.
    """

    model_config = ConfigDict(
        extra="forbid", alias_generator=to_camel, populate_by_name=True, defer_build=True
    )

    id: str
    """Unique for the user and the app."""
    app_name: str
    """The app whose conversation it is."""
    user_id: str
    """The user whose conversation it is."""
    state: dict[str, Any] = Field(default_factory=dict)
    """All scopes in one; keys carry their prefix."""
    events: list[Event] = Field(default_factory=list)
    """Oldest first; changes only at its end."""
    last_update_time: float = 0.0
    """Unix seconds."""

    _initial_state: dict[str, Any] | None = PrivateAttr(default=None)
    """What the session was created with, if anything, as far as its service remembers."""
    _storage_update_marker: str | None = PrivateAttr(default=None)
    """What a service remembers of the stored revision, to notice a stale copy."""
