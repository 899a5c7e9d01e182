"""What may happen in the middle of a run: an abort, a cancellation, a caller who leaves."""

import asyncio
import threading
from dataclasses import dataclass, field
from random import Random
from typing import Any

_ABORTS = ("signal", "signal soon", "signal from a thread", "code", "code in a thread")
TROUBLES = (*_ABORTS, "cancel", "leave", "raise", "stray cancel", "hang")
"""What may happen. After a "hang", the run is aborted unless a time limit ends it first."""
WORDS = "An interruption."
"""The message of the error that failing code raises."""
_AFTERWARDS = ("go on", "turns", "sleep")
MOMENT = 0.01
"""The length of a moment, in seconds."""


class InterruptedCallError(RuntimeError):
    """Raised by code that an interruption makes fail."""


@dataclass
class Interrupter:
    """One interruption, at a certain moment of a run.

    Models, tools, callbacks, nodes and the caller of the run report when they reach a moment.
    """

    kind: str = ""
    """What happens; empty for nothing."""
    at: int = 0
    """The number of the moment at which it happens."""
    then: str = "go on"
    """What the interrupted code does afterwards."""
    signal: asyncio.Event = field(default_factory=asyncio.Event)
    contexts: list[Any] = field(default_factory=list)
    """The active invocations, the outermost first."""
    caller: Any = None
    """The task that consumes the events."""
    left: bool = False
    """Whether it has told the caller to leave."""
    second: "Interrupter | None" = None
    """The interruption that follows this one."""
    came: bool = False
    """Whether it has happened."""
    where: str = ""
    """The moment at which it happened."""
    moments: int = 0
    """The number of moments so far."""
    patient: bool = False
    """Whether an abort cancels nothing, as below a workflow agent."""

    def __post_init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()

    def __str__(self) -> str:
        upon = f" and {self.second}" if self.second else ""
        return f"{self.kind}@{self.at} ({self.where}, {self.then}){upon}"

    @classmethod
    def of(cls, random: Random, kinds: Any, latest: int) -> "Interrupter":
        """Return a random interruption."""
        plan = cls(random.choice(kinds), random.randint(1, latest), random.choice(_AFTERWARDS))
        if random.random() < 0.3:
            plan.second = cls(
                random.choice(kinds), random.randint(1, 3), random.choice(_AFTERWARDS)
            )
            plan.second.signal = plan.signal
        return plan

    def _comes(self, where: str) -> bool:
        with self._lock:
            self.moments += 1
            if self.came or not self.kind or self.moments < self.at:
                return False
            self.came, self.where = True, where
            return True

    async def moment(self, where: str) -> None:
        """Report a moment, and interrupt if that is due."""
        if not self._comes(where):
            if self.came and self.second:
                await self._next().moment(where)
            return
        if self.kind == "hang" and where not in ("event", "on event"):
            self._loop.call_later(20 * MOMENT, self.signal.set)  # if nothing else has a limit
            await (asyncio.sleep(30 * MOMENT) if self.patient else asyncio.Event().wait())
        if self.kind == "code in a thread":
            await asyncio.to_thread(self._happen, where)
        else:
            self._happen(where)
        if self.then == "turns":
            for _ in range(7):
                await asyncio.sleep(0)
        elif self.then == "sleep":
            await asyncio.sleep(MOMENT)

    async def calm_moment(self, where: str) -> None:
        """Report a moment without raising: code that fails after its end must run again."""
        interrupter = self.second if self.came else self
        if interrupter is not None and interrupter.kind not in ("raise", "stray cancel"):
            await self.moment(where)

    def moment_in_thread(self, where: str) -> None:
        """Report a moment of a plain function."""
        if not self._comes(where):
            if self.came and self.second:
                self._next().moment_in_thread(where)
            return
        if self.kind.startswith("signal") or self.kind in ("cancel", "hang", "leave"):
            self._loop.call_soon_threadsafe(self._happen, "thread")
        else:
            self._happen(where)
        if self.then != "go on":
            threading.Event().wait(MOMENT)

    def _next(self) -> "Interrupter":
        second = self.second
        assert second is not None
        second.contexts, second.caller, second.patient = self.contexts, self.caller, self.patient
        return second

    @property
    def leaves(self) -> bool:
        """Whether the caller should leave."""
        return self.left or (self.second is not None and self.second.left)

    def has(self, kind: str) -> bool:
        """Return whether it, or the interruption that follows, is of this kind."""
        return self.kind == kind or (self.second is not None and self.second.kind == kind)

    def _happen(self, where: str) -> None:
        happens = {
            "signal": self.signal.set,
            "signal soon": lambda: self._loop.call_later(MOMENT / 2, self.signal.set),
            "signal from a thread": lambda: self._in_thread(self.signal.set),
            "code": lambda: self.contexts[-1].abort(),
            "code in a thread": lambda: self.contexts[-1].abort(),
            "cancel": lambda: self.caller.cancel(),
            "hang": self.signal.set,
        }
        if self.kind in happens:
            happens[self.kind]()
        elif self.kind == "leave" or where == "event":
            self.left = True
        elif self.kind == "raise":
            raise InterruptedCallError(WORDS)
        elif self.kind == "stray cancel":
            raise asyncio.CancelledError

    def _in_thread(self, act: Any) -> None:
        thread = threading.Thread(target=self._loop.call_soon_threadsafe, args=(act,))
        thread.start()
        thread.join()
