"""Pages for state that is too large for a panel."""

from dataclasses import dataclass
from typing import ClassVar

from devui.web.basic_parts import JsonTree, Theme
from devui.web.panels.inspector.parts import StateKeys


@dataclass(frozen=True, slots=True)
class StateKeysPage:
    """`/sessions/{key}/state/keys`: the keys of one scope, some at a time."""

    template: ClassVar[str] = "pages/state_keys.html"
    theme: Theme
    name: str
    session_href: str
    action: str
    scopes: tuple[tuple[str, str], ...]
    """Values and labels of the scopes to choose from."""
    scope: str
    at: int | None
    """The event that the state is as of; None for now."""
    find: str
    start: str
    """The first key to show; "" for the beginning."""
    count: str
    """`10,000 keys`."""
    keys: StateKeys


@dataclass(frozen=True, slots=True)
class ValuePage:
    """Part of a large value of the state or of an event."""

    template: ClassVar[str] = "pages/value.html"
    theme: Theme
    name: str
    session_href: str
    """The session page that shows the value."""
    place: str
    """`plan.steps[2]`."""
    items: JsonTree
    beginning_href: str
    """The same value from its beginning; "" on that page itself."""
    whole_href: str
    """The whole value as JSON."""
