"""Arrivals of runs at gates: which gate, which agent, and what is held there as JSON (design 6)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from devui.debugger.events.checked import InvalidEvent
from devui.debugger.events.prices import Prices
from devui.debugger.predicates.facts import Facts
from devui.debugger.runs.commit import new_event
from devui.store.rows import NewEvent
from devui.store.summaries import Summary
from devui.wire.gates import WorkerGate
from devui.wire.messages import AgentInfo, Append, Gate, Reply

GateKind = Literal["before_commit", "after_commit"] | WorkerGate

COMMIT_GATES: tuple[GateKind, ...] = ("before_commit", "after_commit")
WORKER_GATES: tuple[WorkerGate, ...] = get_args(WorkerGate)
ALL_GATES: frozenset[GateKind] = frozenset((*COMMIT_GATES, *WORKER_GATES))


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """A run at a gate, before the decision whether to hold it there."""

    gate: GateKind
    agent: str
    """The agent at work; for an event, its author, which may be `user`."""
    branch: str | None
    path: tuple[str, ...]
    """The agents from the root to this one; only the root for an event of the user."""
    payload: Any
    """The event, request, response, arguments or result, as parsed JSON."""
    message: Append | Gate | None
    """The request that stays unanswered while it is held; None for an event of the past."""
    tool: str | None = None
    schema: Any = None
    """The schema that the tool declares for its arguments, as parsed JSON, if any."""
    call: str | None = None
    """The id shared by the gates before and after one model or tool call."""
    event: NewEvent | None = None
    summary: Summary | None = None
    """The summary of an event; None at the worker's gates."""
    size: int | None = None
    """The size of an event as JSON, in bytes."""
    changes: tuple[Mapping[str, Any], ...] = ()
    """The state changes of the event's commit: `key`, `new`, and `old` if the key has a value."""
    state: Mapping[str, Any] | None = None
    """The committed state before the event; None if it wasn't needed."""
    number: int | None = None
    """The number of a committed event."""
    problem: str | None = None
    """Why the last edit could not be applied, if it arrives again because of that."""
    reply: Reply | None = None
    """The answer being withheld; None if it hasn't been made yet."""

    def before(self, state: Mapping[str, Any]) -> "Arrival":
        """Return a copy with the changes that the event makes to this state."""
        changes = [
            {"key": key, "new": value, **({"old": state[key]} if key in state else {})}
            for key, value in self.delta.items()
        ]
        return replace(self, changes=tuple(changes), state=state)

    @property
    def delta(self) -> Mapping[str, Any]:
        """The state delta of an event; empty at the worker's gates."""
        if self.summary is None:
            return {}
        delta: Mapping[str, Any] = (self.payload.get("actions") or {}).get("stateDelta") or {}
        return delta

    def facts(
        self,
        state: Mapping[str, Any] | None = None,
        run: Mapping[str, Any] | None = None,
        prices: Prices | None = None,
    ) -> Facts:
        """Return the facts for conditions; `state` is the committed one, `run` the run's usage."""
        values = {
            "gate": self.gate,
            "agent": self.agent,
            "branch": self.branch,
            "held": self.payload,
            "delta": self.delta,
            "state": state,
            "run": run,
        }
        payload = self.payload if isinstance(self.payload, Mapping) else {}
        if self.tool is not None:
            values |= {"tool": self.tool, "tools": [self.tool]}
            values |= {"args": payload.get("args"), "result": payload.get("result")}
            values["calls" if self.gate == "before_tool" else "responses"] = [self.tool]
        if self.gate in {"before_model", "after_model"}:
            values["model"] = str(payload.get("model") or payload.get("modelVersion") or "")
        return Facts(
            values=values,
            summary=self.summary,
            author=self.agent,
            branch=self.branch,
            size=self.size,
            prices=prices,
            body=lambda: payload,
        )

    def committed(self, reply: Reply, number: int) -> "Arrival":
        """Return the arrival of the same event after its commit."""
        return replace(self, gate="after_commit", reply=reply, number=number, problem=None)


def arrival_of(message: Append | Gate, agents: Sequence[AgentInfo]) -> Arrival | None:
    """Return the arrival of a message; None for an invalid event, which the commit will refuse.

    `agents` are those of the app, the root first.
    """
    if isinstance(message, Gate):
        return Arrival(
            gate=message.gate,
            agent=message.agent,
            branch=message.branch,
            path=_path(message.agent, agents),
            payload=_parse(message.held),
            message=message,
            tool=message.tool,
            schema=_parse(message.schema) if message.schema else None,
            call=message.call,
            problem=message.problem,
        )
    try:
        event = new_event(message)
    except InvalidEvent:
        return None
    return of_event(event, agents, message=message)


def of_event(
    event: NewEvent, agents: Sequence[AgentInfo], *, message: Append | None = None
) -> Arrival:
    """Return the arrival of an event before its commit; without a message, of a past event."""
    return Arrival(
        gate="before_commit",
        agent=event.author,
        branch=event.branch,
        path=_path(event.author, agents),
        payload=_parse(event.data),
        message=message,
        event=event,
        problem=message.problem if message else None,
        summary=event.summary,
        size=len(event.data.encode()),
    )


def _path(agent: str, agents: Sequence[AgentInfo]) -> tuple[str, ...]:
    parents = {info.name: info.parent for info in agents}
    if agent not in parents:  # the user, or an agent created while the app runs
        return (agents[0].name,) if agent == "user" and agents else (agent,)
    path = [agent]
    while (above := parents[path[-1]]) is not None and above not in path:
        path.append(above)
    return tuple(reversed(path))


def _parse(text: str) -> Any:
    """Parse JSON into a value that can be serialized again: NaN and infinities become strings."""
    return json.loads(text, parse_constant=str)
