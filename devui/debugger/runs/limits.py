"""Ends runs that exceed a limit, and says which limit it was (R34)."""

import asyncio
import contextlib
from collections.abc import Callable

from devui.debugger.events.bus import Bus
from devui.debugger.events.news import News
from devui.debugger.runs.live import LiveRun
from devui.debugger.runs.log_lines import note
from devui.debugger.runs.meter import Meter
from devui.settings import Limits
from devui.wire.errors import LIMITED, AgentError

_BYTES = 1_000_000
_NOUNS = {"calls": "tool calls", "seconds": "seconds"}


class TooManyRuns(Exception):
    """As many runs are in progress as the limit allows."""

    def __init__(self, most: int) -> None:
        """`most` is the limit."""
        super().__init__(
            f"{most} {'run is' if most == 1 else 'runs are'} in progress, which is the limit: wait "
            f"for one, stop one, or start devui with a higher limit: --limit runs={10 * most}"
        )


class RunLimiter:
    """Holds one run to its limits."""

    def __init__(
        self, live: LiveRun, limits: Limits, *, bus: Bus[News], stop: Callable[[], None]
    ) -> None:
        """`stop` begins to stop the run."""
        self.error: AgentError | None = None
        """The error that the run fails with, once it has reached a limit."""
        self._live = live
        self._limits = limits
        self._bus = bus
        self._stop = stop

    def check(self) -> None:
        """Stop the run if it has reached a limit other than its time."""
        if (name := _exceeded_limit(self._limits, self._live.meter)) is not None:
            self._end(name)

    async def run_out(self) -> None:
        """Stop the run when its time is over, not counting the time it was held or debugged."""
        loop, live = asyncio.get_running_loop(), self._live
        start, seconds = loop.time(), float(self._limits.seconds)

        def idle() -> float:
            return live.stepper.held_seconds + live.debugging.seconds

        while (remaining := seconds - (loop.time() - start - idle())) > 0:
            # A hold moves the end, so compute the remaining time again.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(max(remaining, 0.1)):
                    await live.ended.wait()
                    return
        self._end("seconds")

    def _end(self, name: str) -> None:
        message = _sentence(self._limits, name)
        self.error = AgentError(type=LIMITED, message=message, traceback="")
        note(self._live, self._bus, "debugger", message)
        self._stop()


def _exceeded_limit(limits: Limits, meter: Meter) -> str | None:
    """Return the name of the limit that a run has reached, if any."""
    counts = {
        "events": meter.events,
        "calls": meter.calls,
        "megabytes": meter.bytes // _BYTES,
    }
    return next((name for name, is_at in counts.items() if is_at >= getattr(limits, name)), None)


def _sentence(limits: Limits, name: str) -> str:
    """Return the message that a run has reached this limit, and what to do about it."""
    most = int(getattr(limits, name))
    return (
        f"the run reached its limit of {most:,} {_NOUNS.get(name, name)}; its events are saved. "
        f"Send another message to continue, or start devui with --limit {name}={10 * most}"
    )
