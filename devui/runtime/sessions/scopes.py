"""The scopes of state, told by the prefix of a key (adk-runtime 2.3)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from devui.runtime.sessions.state import State


@dataclass(slots=True)
class ScopedState:
    """State by scope, as it is stored: without prefixes, and without `temp:`."""

    app: dict[str, Any] = field(default_factory=dict)
    user: dict[str, Any] = field(default_factory=dict)
    session: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, delta: Mapping[str, Any]) -> "ScopedState":
        """Sort prefixed keys into scopes; `temp:` is dropped."""
        scoped = cls()
        for key, value in delta.items():
            if key.startswith(State.APP_PREFIX):
                scoped.app[key.removeprefix(State.APP_PREFIX)] = value
            elif key.startswith(State.USER_PREFIX):
                scoped.user[key.removeprefix(State.USER_PREFIX)] = value
            elif not key.startswith(State.TEMP_PREFIX):
                scoped.session[key] = value
        return scoped

    def merged(self) -> dict[str, Any]:
        """One dict again, with prefixes."""
        return {
            **self.session,
            **{State.APP_PREFIX + key: value for key, value in self.app.items()},
            **{State.USER_PREFIX + key: value for key, value in self.user.items()},
        }
