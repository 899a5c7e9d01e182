"""Summaries: what a timeline row, a chat chip and a tick need to know of an event.

One is stored beside each event, so that lists of events are shown without their bodies. The
debugger writes them (`devui.debugger.events.summary`); rows parse them when somebody asks.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Literal, TypeVar, get_args

Kind = Literal[
    "user",
    "text",
    "thought",
    "call",
    "result",
    "state",
    "artifact",
    "transfer",
    "escalate",
    "human",
    "error",
    "code",
    "checkpoint",
    "other",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
ANSWERS: Final[frozenset[Kind]] = frozenset({"text", "code", "call", "result", "human", "error"})
"""Kinds of events that can be what an invocation says in the end; others only keep the books."""
LONG_RUNNING: Final = '"long_running":true'
"""What `Summary.to_json` writes of a long-running call, and of few others."""
UNREADABLE: Final = "UNREADABLE_EVENT"
"""The `errorCode` of what stands in the place of an event that cannot be read."""
WAITS_FOR_CONFIRMATION: Final = "waits for confirmation"
WAITS_FOR_SIGN_IN: Final = "waits for a sign-in"
"""Previews of responses that stand in until a person has answered."""

ROW_WORDS: Final[Mapping[str, str]] = {"human": "asks", "checkpoint": "saved"}
"""Kinds whose rows show another word than their name; filters take both."""


_T = TypeVar("_T")


class Damaged(str):
    """A text of the journal that is no UTF-8 any more; U+FFFD stands for what is no character."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """What a model counted for one answer, or for several together."""

    model: str
    """Its name as the provider says it; "" if it does not."""
    prompt: int
    """Tokens that were sent, cached ones included."""
    cached: int
    output: int
    """Tokens that came back, thinking included."""
    thoughts: int


@dataclass(frozen=True, slots=True)
class CallSummary:
    id: str | None
    name: str
    args: str
    """Arguments as `city="London"`, one line."""
    long_running: bool = False
    about: str = ""
    """What it asks a person for, if it is one of `HUMAN_CALLS`: `pay(amount=5)`, one line."""


@dataclass(frozen=True, slots=True)
class ResponseSummary:
    id: str | None
    name: str
    preview: str
    """The returned value, one line; a lone `result` wrapper is taken off."""
    failed: bool = False
    """The tool answered with a non-empty `error`, and not since its call waits for a consent."""
    attempt: int = 0
    """2 and up: it is the result of this try of its call, after others had failed."""


@dataclass(frozen=True, slots=True)
class Intervention:
    """What a person did, while the run was held, on the way to the event."""

    action: str
    """`edit`, `mock`, `skip`, `reject`."""
    gate: str
    by: str
    call: str = ""
    """The id of the tool call that it was done to; "" if it was done to the event, or is old."""
    ran: str = ""
    """The arguments that the tool was called with instead, one line; "" if they stayed."""


@dataclass(frozen=True, slots=True)
class StateNote:
    """What the debugger noticed of the state at the commit of the event."""

    kind: Literal["dirty", "silent", "overlap"]
    """A read of what another had not committed; a change without a delta; a key that another
    wrote, too, at the same time."""
    key: str
    """The key, or of a change without a delta the path in it."""
    by: str
    """Who had written it."""


@dataclass(frozen=True, slots=True)
class Summary:
    """One event in a few hundred bytes."""

    kind: Kind
    text: str
    """One line, at most 200 characters."""
    final: bool = False
    partial: bool = False
    state_keys: tuple[str, ...] = ()
    """The first keys of the state delta, prefixes included."""
    state_count: int = 0
    artifacts: tuple[str, ...] = ()
    tokens: int | None = None
    """All tokens the model counted for this answer."""
    calls: tuple[CallSummary, ...] = ()
    responses: tuple[ResponseSummary, ...] = ()
    long_running: bool = False
    error_code: str | None = None
    transfer_to: str | None = None
    escalate: bool = False
    node: str = ""
    """The path of the node that it is from, where the author does not tell: `wf@1/pay@1`."""
    usage: Usage | None = None
    """The tokens in parts, with the model that counted them."""
    edited: bool = False
    """People had a hand in it while the run was held."""
    edits: tuple[Intervention, ...] = ()
    """What they did; empty in journals of before that was told."""
    notes: tuple[StateNote, ...] = ()
    path: str = ""
    """The agents or nodes from the root to what it is from: `Team/Writers/Critic`, or in a
    workflow `flow@1/pay@1`; "" if that is unknown."""
    lane: int = 0
    """The place of its branch among the parallel ones of its run, from 1; 0 without a branch."""
    cut: str = ""
    """Why the model stopped before the end of its answer: `MAX_TOKENS`; "" if it did not."""
    attempt: int = 0
    """Of an error, 2 and up: this try of a call ended in it."""

    def to_json(self) -> str:
        """JSON without members that say nothing, nor the text of calls and results that their
        members tell again.
        """
        members = _members(self)
        if self.text == _plain_text(self.kind, self.calls, self.responses):
            members.pop("text", None)
        return _ENCODER.encode(members)

    @staticmethod
    def may_ask(text: str) -> bool:
        """Whether what `to_json` wrote has a long-running call in it; true of few others."""
        return LONG_RUNNING in text

    @classmethod
    def from_json(cls, text: str) -> "Summary":
        """Reads what `to_json` wrote. Raises `ValueError` if the text is something else.

        A text that was damaged in the journal becomes a summary that says so.
        """
        if isinstance(text, Damaged):
            return cls(kind="error", text="damaged in the journal", error_code=UNREADABLE)
        members: dict[str, Any] = json.loads(text)
        try:
            members["calls"] = _all(CallSummary, members.get("calls", ()))
            members["responses"] = _all(ResponseSummary, members.get("responses", ()))
            members["edits"] = _all(Intervention, members.get("edits", ()))
            members["notes"] = _all(StateNote, members.get("notes", ()))
            for name in ("state_keys", "artifacts"):
                members[name] = tuple(members.get(name, ()))
            if "usage" in members:
                [members["usage"]] = _all(Usage, [members["usage"]])
            if "text" not in members:
                parts = (members["kind"], members["calls"], members["responses"])
                members["text"] = _plain_text(*parts)
            return cls(**members)
        except (KeyError, TypeError) as error:
            raise ValueError(f"not the summary of an event: {text[:200]!r}") from error


def _plain_text(
    kind: Kind, calls: tuple[CallSummary, ...], responses: tuple[ResponseSummary, ...]
) -> str:
    """The text of most events with calls or results, in the words of `debugger.events.summary`."""
    if kind == "call":
        return ", ".join(f"{call.name}({call.args})" for call in calls)
    if kind == "result":
        return ", ".join(f"{each.name} → {each.preview}" for each in responses)
    return ""


_MEMBERS: Final = {
    kind: tuple(field.name for field in fields(kind))
    for kind in (Summary, CallSummary, ResponseSummary, Intervention, StateNote, Usage)
}
_BLANKS: Final[Mapping[type, Mapping[str, Any]]] = {
    CallSummary: {"id": None, "name": "", "args": ""},
    ResponseSummary: {"id": None, "name": "", "preview": ""},
    Intervention: {"action": "", "gate": "", "by": ""},
    StateNote: {"kind": "dirty", "key": "", "by": ""},
    Usage: {"model": "", "prompt": 0, "cached": 0, "output": 0, "thoughts": 0},
}
"""Members without a default, as they are where they say nothing."""


def _members(item: Any) -> dict[str, Any]:
    return {name: value for name in _MEMBERS[type(item)] if (value := getattr(item, name))}


def _all(kind: type[_T], items: Iterable[Mapping[str, Any]]) -> tuple[_T, ...]:
    blank = _BLANKS[kind]
    return tuple(kind(**{**blank, **item}) for item in items)


# An event is waiting, and asdict would copy every text.
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_members)


class Summarised:
    """A row with the text of a summary, which is parsed once, and only if somebody asks."""

    __slots__ = ("_summary",)
    summary_json: str
    _summary: Summary

    @property
    def summary(self) -> Summary:
        """What the text says. Raises `ValueError` if it is no summary."""
        try:
            return self._summary
        except AttributeError:
            summary = Summary.from_json(self.summary_json)
            object.__setattr__(self, "_summary", summary)
            return summary
