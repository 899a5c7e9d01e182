"""Which recorded call a call of the replay is: by its place in the tree of calls, not by its time.

The same calls of agents that run side by side come in any order; within one agent on one branch
they come in theirs. Whether the request is the recorded one is checked when the call is found.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

from devui.wire.recordings import RecordedCall, Recording


class CallTree:
    """The recorded calls that the replay has not come to yet."""

    def __init__(self, recording: Recording, *, anywhere: bool = False) -> None:
        """`anywhere`: an agent's calls count in whatever call they are made, and on any branch.

        Two runtimes nest the same agents in different ways.
        """
        self._anywhere = anywhere
        self._calls = {call.number: call for call in recording.calls}
        self._remaining = dict(self._calls)
        self.turns: Counter[str] = Counter()
        """By agent: how many of its runs and calls the replay has come to, or passed over."""
        self._inside: defaultdict[int | None, list[RecordedCall]] = defaultdict(list)
        """By the number of a call: what was called in it."""
        for call in recording.calls:
            self._inside[call.parent].append(call)

    def agent(self, parent: int | None, name: str, branch: str | None) -> RecordedCall | None:
        """The recorded run of an agent; it is taken, and found no more."""
        return self._take(call for call in self._of("agent", parent, branch) if call.name == name)

    def model(self, parent: int | None, agent: str, branch: str | None) -> RecordedCall | None:
        """The recorded call of a model."""
        return self._take(call for call in self._of("model", parent, branch) if call.agent == agent)

    def tool(
        self, parent: int | None, branch: str | None, *, name: str, call: str | None
    ) -> RecordedCall | None:
        """The recorded call of a tool, by its recorded id; by its turn if that is unknown."""
        calls = [each for each in self._of("tool", parent, branch) if each.name == name]
        by_id = [each for each in calls if call is not None and each.call == call]
        return self._take(iter(by_id or calls))

    def skip_inside(self, call: RecordedCall) -> None:
        """A tool was answered from the recording: what it called inside is not called again."""
        for inside in self._inside.pop(call.number, ()):
            if self._remaining.pop(inside.number, None):
                self.turns[inside.agent] += 1
            self.skip_inside(inside)

    def is_open(self, number: int | None) -> bool:
        """Whether the call of this number was broken off."""
        call = self._calls.get(number or 0)
        return call is not None and call.open

    def within_tool(self, call: RecordedCall) -> bool:
        """Whether it was made for a tool, so that the events around do not tell when."""
        parent = self._calls.get(call.parent or 0)
        return parent is not None and (parent.type == "tool" or self.within_tool(parent))

    def next_of(self, agent: str) -> RecordedCall | None:
        """The call of a model or tool that was to come next, of this agent if it has one left."""
        calls = list(self.remaining())
        return next((call for call in calls if call.agent == agent), calls[0] if calls else None)

    def remaining(self) -> Iterator[RecordedCall]:
        """Calls of models and tools that were to come."""
        return (call for call in self._remaining.values() if call.type != "agent" and not call.open)

    def _of(self, kind: str, parent: int | None, branch: str | None) -> Iterator[RecordedCall]:
        return (
            call
            for call in self._remaining.values()
            if call.type == kind
            and (self._anywhere or (call.parent, call.branch) == (parent, branch))
        )

    def _take(self, candidates: Iterator[RecordedCall]) -> RecordedCall | None:
        call = next(candidates, None)
        if call is not None:
            del self._remaining[call.number]
            self.turns[call.agent] += 1
        return call


def call_summary(call: RecordedCall) -> dict[str, Any]:
    """A call so that a person knows which one it is."""
    fields = asdict(call)
    names = ("type", "name", "agent", "branch", "args", "event")
    return {name: fields[name] for name in names if fields[name] is not None}


STALL = 10.0
"""Seconds without any progress after which nobody waits for the others any more: something
that the recording has will not come."""


class Turns:
    """Counts the committed events."""

    def __init__(self, busy: Callable[[], bool]) -> None:
        """`busy` tells whether something goes on that may take its time, such as a person."""
        self.committed = 0
        self._busy = busy
        self._moves = 0
        self._progress = asyncio.Event()
        self._open = False

    async def wait_for(self, place: int) -> None:
        """Wait until `place` events are committed."""
        while not self._open and self.committed < place:
            moves = self._moves
            try:
                # `asyncio.wait_for` forgets that it was cancelled if what it waits for comes then.
                async with asyncio.timeout(STALL):
                    await self._progress.wait()
            except TimeoutError:
                if moves == self._moves and not self._busy():
                    self.open()

    def advance(self) -> None:
        """One more event is committed."""
        self.committed += 1
        self.progress()

    def progress(self) -> None:
        """The run came on."""
        self._moves += 1
        self._progress.set()
        self._progress = asyncio.Event()

    def open(self) -> None:
        """Nobody waits any more."""
        self._open = True
        self.progress()
