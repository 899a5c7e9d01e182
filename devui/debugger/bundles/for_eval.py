"""Converts a bundle to a google-adk eval set with one case, for `adk eval` and its pytest runner.

The case has what google-adk's own "add session to eval set" takes from a session, without what a
rewind has undone. Its initial state is the session's; google-adk's version has empty texts instead.
"""

import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from devui.debugger.bundles.writing import compact_json, values_of
from devui.debugger.history.rewinds import EffectiveRewinds
from devui.store.rows import Rewind

Json = dict[str, Any]


@dataclass(slots=True)
class _Turn:
    """An invocation: the user's message and the agents' events."""

    user_content: Json | None = None
    timestamp: float = 0.0
    events: list[Json] = field(default_factory=list)

    def add(self, event: Json) -> None:
        """Add an event. Of several user messages, the first that isn't only answers counts."""
        if event.get("author") != "user":
            if _parts(event) or event.get("groundingMetadata"):
                self.events.append(event)
        elif _parts(event) and (self.user_content is None or _only_answers(self.user_content)):
            self.user_content = event["content"]
            self.timestamp = event.get("timestamp") or 0.0

    def invocation(self, invocation_id: str) -> Json:
        """Return google-adk's Invocation: intermediate calls, results and texts, and the final
        response."""
        finals = [event for event in self.events if _parts(event) and _is_final(event)]
        final = next((e for e in reversed(finals) if _has(e, "text")), None) or (
            finals[-1] if finals else None
        )
        events = [
            _step(event, with_content=event is not final or _has(event, "functionCall"))
            for event in self.events
        ]
        return {
            "invocation_id": invocation_id,
            "user_content": self.user_content,
            "final_response": final["content"] if final else None,
            "intermediate_data": {"invocation_events": events},
            "creation_timestamp": self.timestamp,
        }


async def eval_set(lines: AsyncIterator[str]) -> AsyncIterator[str]:
    """Yield the text of the file: an eval set with the session as its only case."""
    values = values_of(lines)
    header = await anext(values)
    state: Json = {}
    events: list[Json] = []
    async for record in values:
        if record["type"] == "start":
            state |= record["state"]
        elif record["type"] == "write" and not events:
            state[f"{record['scope']}:{record['key']}"] = record["value"]
        elif record["type"] == "event":
            events.append(record["event"])
    turns: dict[str, _Turn] = {}
    for event in _effective(events):
        turns.setdefault(_invocation(event), _Turn()).add(event)
    name = re.sub(r"\W", "_", header["id"], flags=re.ASCII)
    case = {
        "eval_id": name,
        "conversation": [turn.invocation(id_) for id_, turn in turns.items() if turn.user_content],
        "session_input": {"app_name": header["app"], "user_id": header["user"], "state": state},
        "creation_timestamp": header["created"],
    }
    yield compact_json({"eval_set_id": name, "name": header["title"], "eval_cases": [case]}) + "\n"


def _effective(events: Sequence[Json]) -> Iterator[Json]:
    """Return the events that no rewind has taken back."""
    firsts: dict[str, int] = {}
    rewinds: list[Rewind] = []
    for number, event in enumerate(events, 1):
        before = (event.get("actions") or {}).get("rewindBeforeInvocationId")
        if before in firsts:
            rewinds.append(Rewind(number, firsts[before]))
        firsts.setdefault(_invocation(event), number)
    back = EffectiveRewinds.of(rewinds)
    return (event for number, event in enumerate(events, 1) if back.by(number) is None)


def _invocation(event: Mapping[str, Any]) -> str:
    return event.get("invocationId") or ""


def _step(event: Json, *, with_content: bool) -> Json:
    """Return an InvocationEvent; the text of the final response isn't repeated in it."""
    step = {
        "author": event.get("author") or "agent",
        "content": event.get("content") if with_content else None,
        "grounding_metadata": event.get("groundingMetadata"),
        "usage_metadata": event.get("usageMetadata"),
        "model_version": event.get("modelVersion"),
    }
    return {name: value for name, value in step.items() if value is not None}


def _is_final(event: Mapping[str, Any]) -> bool:
    """Whether it is a final response, as in google-adk's `Event.is_final_response`."""
    actions = event.get("actions") or {}
    if actions.get("skipSummarization") or event.get("longRunningToolIds"):
        return True
    if event.get("partial") or _has(event, "functionCall"):
        return False
    is_result = "codeExecutionResult" in _parts(event)[-1]
    return bool(event.get("errorCode")) or not (_has(event, "functionResponse") or is_result)


def _parts(event: Mapping[str, Any]) -> list[Json]:
    return (event.get("content") or {}).get("parts") or []


def _has(event: Mapping[str, Any], member: str) -> bool:
    return any(part.get(member) for part in _parts(event))


def _only_answers(content: Mapping[str, Any]) -> bool:
    return all("functionResponse" in part for part in content["parts"])
