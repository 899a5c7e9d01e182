"""Matches a replay's calls with recorded ones: by place in the tree of calls, not by time.

Calls of agents that run in parallel arrive in any order; within one agent on one branch, their
order is fixed. Whether the requests are equal is checked after the match.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

from devui.wire.recordings import RecordedCall, Recording


class CallTree:
    """The recorded calls that the replay hasn't reached yet."""

    def __init__(self, recording: Recording, *, anywhere: bool = False) -> None:
        """`anywhere`: match an agent's calls inside any call, and on any branch.

        Two runtimes nest the same agents differently.
        """
        self._anywhere = anywhere
        self._calls = {call.number: call for call in recording.calls}
        self._remaining = dict(self._calls)
        self.turns: Counter[str] = Counter()
        """By agent, how many of its runs and calls the replay has reached or skipped."""
        self._inside: defaultdict[int | None, list[RecordedCall]] = defaultdict(list)
        """The calls made inside a call, by its number."""
        for call in recording.calls:
            self._inside[call.parent].append(call)

    def agent(self, parent: int | None, name: str, branch: str | None) -> RecordedCall | None:
        """Match and remove the recorded run of an agent."""
        return self._take(call for call in self._of("agent", parent, branch) if call.name == name)

    def model(self, parent: int | None, agent: str, branch: str | None) -> RecordedCall | None:
        """Match and remove the recorded call of a model."""
        return self._take(call for call in self._of("model", parent, branch) if call.agent == agent)

    def tool(
        self, parent: int | None, branch: str | None, *, name: str, call: str | None
    ) -> RecordedCall | None:
        """Match and remove the recorded call of a tool, by its recorded id or else by order."""
        calls = [each for each in self._of("tool", parent, branch) if each.name == name]
        by_id = [each for each in calls if call is not None and each.call == call]
        return self._take(iter(by_id or calls))

    def skip_inside(self, call: RecordedCall) -> None:
        """Skip the calls made inside a tool call that was answered from the recording."""
        for inside in self._inside.pop(call.number, ()):
            if self._remaining.pop(inside.number, None):
                self.turns[inside.agent] += 1
            self.skip_inside(inside)

    def is_open(self, number: int | None) -> bool:
        """Return whether the call of this number was cut off."""
        call = self._calls.get(number or 0)
        return call is not None and call.open

    def within_tool(self, call: RecordedCall) -> bool:
        """Return whether a tool made the call, so that the surrounding events don't show when."""
        parent = self._calls.get(call.parent or 0)
        return parent is not None and (parent.type == "tool" or self.within_tool(parent))

    def next_of(self, agent: str) -> RecordedCall | None:
        """Return the next model or tool call, of this agent if it has one left."""
        calls = list(self.remaining())
        return next((call for call in calls if call.agent == agent), calls[0] if calls else None)

    def remaining(self) -> Iterator[RecordedCall]:
        """Yield the model and tool calls that are still to come."""
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
    """Describe a call so that a person can identify it."""
    fields = asdict(call)
    names = ("type", "name", "agent", "branch", "args", "event")
    return {name: fields[name] for name in names if fields[name] is not None}


STALL = 10.0
"""Seconds without progress after which waiting ends: something recorded will not come."""


class CommitCounter:
    """Counts committed events, and lets code wait for its place among them."""

    def __init__(self, busy: Callable[[], bool]) -> None:
        """`busy` returns whether something slow is under way, such as a person's decision."""
        self.count = 0
        self._busy = busy
        self._moves = 0
        self._progress = asyncio.Event()
        self._open = False

    async def wait_for(self, place: int) -> None:
        """Wait until `place` events are committed, or the replay has stalled."""
        while not self._open and self.count < place:
            moves = self._moves
            try:
                # `asyncio.wait_for` loses a cancellation that coincides with the awaited event.
                async with asyncio.timeout(STALL):
                    await self._progress.wait()
            except TimeoutError:
                if moves == self._moves and not self._busy():
                    self.open()

    def advance(self) -> None:
        """Count one more committed event."""
        self.count += 1
        self.progress()

    def progress(self) -> None:
        """Note that the run has made progress."""
        self._moves += 1
        self._progress.set()
        self._progress = asyncio.Event()

    def open(self) -> None:
        """End all waiting, now and later."""
        self._open = True
        self.progress()
