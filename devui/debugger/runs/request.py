"""Requests to run: what a run is to do, and how."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from devui.debugger.events.preview import one_line
from devui.debugger.guard.guard import Guard
from devui.debugger.runs.options import RunOptions
from devui.debugger.runs.orders import ReplayOrder
from devui.debugger.stepping.commands import Like
from devui.store.journal import Journal
from devui.store.rows import NewEvent
from devui.wire.events import Content
from devui.wire.settings import RunSettings

Opening = Callable[[Journal, int, str], Awaitable[list[NewEvent]]]
"""Returns the events to commit before the run continues, given a session and its run."""

_TITLE: Final = 60
"""How many characters of the first message become the session's title."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """What a run is to do: answer a message, or resume an invocation."""

    message: dict[str, Any] | None = None
    """The user's Content in wire form."""
    invocation: str | None = None
    state_delta: dict[str, Any] | None = None
    streaming: bool = True
    custom_metadata: dict[str, Any] | None = None
    """Labels for every event of the run, which the agent's code can read, too."""
    service_tier: str | None = None
    """The service tier of the run's model calls, for models that have tiers."""
    save_files: bool = False
    """Save the files in the message as artifacts, and send notes that name them."""
    settings: RunSettings | None = None
    """What its model calls use instead of the agents' own settings. If None, a run that continues
    an invocation uses the settings that invocation was started with; any other run sets nothing."""
    pause: bool = False
    """Hold the run before its first event is committed."""
    ignores_breakpoints: bool = False
    """Ignore the app's breakpoints and logpoints."""
    run_to: Like | None = None
    """Hold the first arrival like this."""
    watch: bool = False
    """Report uncommitted state even if nobody views the session."""
    last_seen: int | None = None
    """Start only if the user has said nothing after this seq."""
    opening: Opening | None = None
    """What was decided about calls of unknown outcome; committed before the run continues."""
    rewind: str | None = None
    """Only rewind the session to before this invocation."""
    then: "RunRequest | None" = None
    """The request of the next run, which ends this one."""
    actor: str = "api"
    """Who makes the request, as shown to others."""
    replay: ReplayOrder | None = None
    """The recorded run to execute again, if it is a replay."""
    queued: int | None = None
    """The number of its message in the session's queue, which the message leaves."""
    guard: Guard | None = None
    """The guard that asks before a tool with effects runs a second time, if any."""

    def with_options(self, options: RunOptions, *, streaming: bool | None = None) -> "RunRequest":
        """Return a copy with these options; `streaming`, if given, overrides theirs."""
        return replace(
            self,
            streaming=options.streaming if streaming is None else streaming,
            settings=options.settings,
            custom_metadata=options.custom_metadata,
            service_tier=options.service_tier,
            save_files=self.save_files or options.save_files,
        )

    @property
    def pending_message(self) -> dict[str, Any] | None:
        """The message that would be lost with the request."""
        return self.message or (self.then.pending_message if self.then else None)

    @property
    def is_continuation(self) -> bool:
        """Whether it continues what an earlier run began."""
        return self.invocation is not None or bool(Content(self.message or {}).responses)

    @property
    def start_note(self) -> str:
        """Who started it and how, for the run's log; "" if the message says it all."""
        answers = Content(self.message or {}).responses
        pause = ", held from the first" if self.pause else ""
        if answers:
            return f"answered by {self.actor}{pause}"
        if self.invocation and not self.message:
            return f"resumed by {self.actor}{pause}"
        return f"started by {self.actor}{pause}" if pause else ""

    def title(self, words_of: Callable[[str], str]) -> str:
        """Return a title for a session without a name: the words of the message's first text, else
        the name of its first file; "" without either."""
        parts = Content(self.message or {}).parts
        names = (str(part.inline_data.get("displayName") or "") for part in parts)
        texts = (part.text for part in parts)
        return one_line(words_of(next(filter(None, (*texts, *names)), "")), _TITLE)


def opening_title(event: NewEvent, words_of: Callable[[str], str]) -> str:
    """Return the title that an imported session takes from a user's event; "" for other events."""
    is_message = event.kind == "user" and event.says
    return one_line(words_of(event.summary.text), _TITLE) if is_message else ""
