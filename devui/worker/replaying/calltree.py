"""Which recorded call a call of the replay is: by its place in the tree of calls, not by its time.

The same calls of agents that run side by side come in any order; within one agent on one branch
they come in theirs. Whether the request is the recorded one is checked when the call is found.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from devui.wire.recordings import RecordedCall, Recording


class CallTree:
    """The recorded calls that the replay has not come to yet."""

    def __init__(self, recording: Recording) -> None:
        self._known = {call.number: call for call in recording.calls}
        self._left = dict(self._known)
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
        found = [each for each in self._of("tool", parent, branch) if each.name == name]
        named = [each for each in found if call is not None and each.call == call]
        return self._take(iter(named or found))

    def answered(self, call: RecordedCall) -> None:
        """A tool was answered from the recording: what it called inside is not called again."""
        for inside in self._inside.pop(call.number, ()):
            if self._left.pop(inside.number, None):
                self.turns[inside.agent] += 1
            self.answered(inside)

    def is_open(self, number: int | None) -> bool:
        """Whether the call of this number was broken off."""
        call = self._known.get(number or 0)
        return call is not None and call.open

    def within_tool(self, call: RecordedCall) -> bool:
        """Whether it was made for a tool, so that the events around do not tell when."""
        parent = self._known.get(call.parent or 0)
        return parent is not None and (parent.type == "tool" or self.within_tool(parent))

    def next_of(self, agent: str) -> RecordedCall | None:
        """The call of a model or tool that was to come next, of this agent if it has one left."""
        left = list(self.left())
        return next((call for call in left if call.agent == agent), left[0] if left else None)

    def left(self) -> Iterator[RecordedCall]:
        """Calls of models and tools that were to come."""
        return (call for call in self._left.values() if call.type != "agent" and not call.open)

    def _of(self, kind: str, parent: int | None, branch: str | None) -> Iterator[RecordedCall]:
        return (
            call
            for call in self._left.values()
            if (call.type, call.parent, call.branch) == (kind, parent, branch)
        )

    def _take(self, found: Iterator[RecordedCall]) -> RecordedCall | None:
        call = next(found, None)
        if call is not None:
            del self._left[call.number]
            self.turns[call.agent] += 1
        return call


def call_told(call: RecordedCall) -> dict[str, Any]:
    """A call so that a person knows which one it is."""
    told = asdict(call)
    names = ("type", "name", "agent", "branch", "args", "event")
    return {name: told[name] for name in names if told[name] is not None}
