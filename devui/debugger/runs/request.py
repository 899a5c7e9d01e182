"""What a run is asked to do."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from devui.debugger.events.preview import one_line
from devui.debugger.guard.guard import Guard
from devui.debugger.runs.orders import Replaying
from devui.debugger.stepping.commands import Like
from devui.store.journal import Journal
from devui.store.rows import NewEvent
from devui.wire.events import Content
from devui.wire.settings import RunSettings

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
    custom_metadata: dict[str, Any] | None = None
    """Labels for every event of the run, which the agent's code reads, too."""
    service_tier: str | None = None
    """How the run's model calls are to be served, for models that have tiers."""
    settings: RunSettings | None = None
    """What its model calls use in the place of the agents' own settings. None: a run that goes on
    with an invocation takes over what that was started with, any other sets nothing."""
    pause: bool = False
    """Begin held, before the first event is committed."""
    ignores_breakpoints: bool = False
    """Neither held nor logged at the app's breakpoints."""
    run_to: Like | None = None
    """Hold the first arrival like this."""
    watch: bool = False
    """Tell of state that is written and not committed, also if nobody looks."""
    last_seen: int | None = None
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
    queued: int | None = None
    """The number that its message has had in the session's queue, which it leaves."""
    guard: Guard | None = None
    """What asks before a tool that has run before runs again."""

    @property
    def pending_message(self) -> dict[str, Any] | None:
        """The message that would be lost with the request."""
        return self.message or (self.then.pending_message if self.then else None)

    @property
    def goes_on(self) -> bool:
        """Whether it goes on with what an earlier run began."""
        return self.invocation is not None or bool(Content(self.message or {}).responses)

    @property
    def start_note(self) -> str:
        """Who began it and how, for the run's log; "" where the message says it all."""
        answers = Content(self.message or {}).responses
        pause = ", held from the first" if self.pause else ""
        if answers:
            return f"answered by {self.actor}{pause}"
        if self.invocation and not self.message:
            return f"resumed by {self.actor}{pause}"
        return f"started by {self.actor}{pause}" if pause else ""

    def title(self, words_of: Callable[[str], str] = str) -> str:
        """What a session without a name is called: the words of the first text of the message, else
        the name of its first file; "" without either."""
        parts = Content(self.message or {}).parts
        names = (str(part.inline_data.get("displayName") or "") for part in parts)
        texts = (part.text for part in parts)
        return one_line(words_of(next(filter(None, (*texts, *names)), "")), _TITLE)
