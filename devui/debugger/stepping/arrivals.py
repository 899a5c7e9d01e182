"""What has come to a gate: which gate, whose, and what is held there as JSON (design 6)."""

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
    """A run at a gate, before it is decided whether it is held there."""

    gate: GateKind
    agent: str
    """The agent at work; of an event its author, `user` included."""
    branch: str | None
    path: tuple[str, ...]
    """The agents from the root to this one; to the root alone for an event of the user."""
    payload: Any
    """The event, request, response, arguments or result, as parsed JSON."""
    message: Append | Gate | None
    """What is not answered while it is held; None of an arrival in the past."""
    tool: str | None = None
    schema: Any = None
    """What the tool declares of its arguments, as parsed JSON; None for nothing."""
    call: str | None = None
    """Common to the gates before and after one call of a model or tool."""
    event: NewEvent | None = None
    summary: Summary | None = None
    """Of an event."""
    size: int | None = None
    """Bytes of an event as JSON."""
    changes: tuple[Mapping[str, Any], ...] = ()
    """What the commit of the event will do to the state: `key`, `new`, and `old` if it is there."""
    state: Mapping[str, Any] | None = None
    """The committed state before it, as far as it was needed."""
    number: int | None = None
    """Of a committed event."""
    problem: str | None = None
    """Why what a person wanted in place of it cannot be."""
    reply: Reply | None = None
    """The answer that is withheld; None if it is still to be made."""

    def before(self, state: Mapping[str, Any]) -> "Arrival":
        """The same event, with what it will do to this state."""
        changes = [
            {"key": key, "new": value, **({"old": state[key]} if key in state else {})}
            for key, value in self.delta.items()
        ]
        return replace(self, changes=tuple(changes), state=state)

    @property
    def delta(self) -> Mapping[str, Any]:
        """The state delta of an event."""
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
        """What conditions speak of; `state` is the committed one, `run` what the run has used."""
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
        """The same event after its commit."""
        return replace(self, gate="after_commit", reply=reply, number=number, problem=None)


def arrival_of(message: Append | Gate, agents: Sequence[AgentInfo]) -> Arrival | None:
    """What came; None for an event that is none: the commit will say what is wrong with it.

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
    """An event before its commit; without a message it is one of the past."""
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
    if agent not in parents:  # the user, or an agent that was made while the app runs
        return (agents[0].name,) if agent == "user" and agents else (agent,)
    path = [agent]
    while (above := parents[path[-1]]) is not None and above not in path:
        path.append(above)
    return tuple(reversed(path))


def _parse(text: str) -> Any:
    """JSON that can be written again: NaN and the infinities become texts."""
    return json.loads(text, parse_constant=str)
