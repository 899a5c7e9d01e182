"""What a run is asked to do."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from devui.debugger.asked import Replaying
from devui.debugger.guard.guard import Guard
from devui.debugger.preview import one_line
from devui.store.journal import Journal
from devui.store.rows import NewEvent

Opening = Callable[[Journal, int, str], Awaitable[list[NewEvent]]]
"""Gives events, for a session and a run of it, which are committed before the run goes on."""

_TITLE: Final = 60
"""Characters of the first message that become the session's title."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """What a run is to do: answer a message, or resume an invocation."""

    message: dict[str, Any] | None = None
    """The user's Content in wire form."""
    invocation: str | None = None
    state_delta: dict[str, Any] | None = None
    streaming: bool = True
    pause: bool = False
    """Begin held, before the first event is committed."""
    watch: bool = False
    """Tell of state that is written and not committed, also if nobody looks."""
    seen: int | None = None
    """Begin only if the user has said nothing after this seq."""
    opening: Opening | None = None
    """What was decided about calls of unknown outcome, before the invocation goes on."""
    rewind: str | None = None
    """Only take the session back to before this invocation."""
    then: "RunRequest | None" = None
    """What to do when all this is done, in a run that ends this one."""
    actor: str = "api"
    """Who asks for it, as shown to others."""
    replay: Replaying | None = None
    """Execute a recorded run again."""
    guard: Guard | None = None
    """What asks before a tool that has run before runs again."""

    @property
    def said(self) -> dict[str, Any] | None:
        """The message that would be lost with the request."""
        return self.message or (self.then.said if self.then else None)

    @property
    def begun(self) -> str:
        """Who began it and how, for the run's log; "" where the message says it all."""
        parts = (self.message or {}).get("parts") or []
        held = ", held from the first" if self.pause else ""
        if any("functionResponse" in part for part in parts):
            return f"answered by {self.actor}{held}"
        if self.invocation and not self.message:
            return f"resumed by {self.actor}{held}"
        return f"started by {self.actor}{held}" if held else ""

    @property
    def title(self) -> str:
        """What a session that has no name yet is called after its first message; "" without."""
        parts = (self.message or {}).get("parts") or [{}]
        return one_line(str(parts[0].get("text") or ""), _TITLE)
