"""Summaries of events, as shown in timeline rows, chat chips and ticks.

A summary is stored beside each event, so that lists of events can be shown without their bodies.
The debugger writes them (`devui.debugger.events.summary`); rows parse them on demand.
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
"""Kinds of events that can be an invocation's final answer; the others are only bookkeeping."""
OF_MODELS: Final[frozenset[Kind]] = frozenset(
    {"text", "thought", "call", "human", "transfer", "error"}
)
"""Kinds of events that a model's answer can produce."""
LONG_RUNNING: Final = '"long_running":true'
"""A text in the JSON summary of every event with a long-running call, and of few others."""
UNREADABLE: Final = "UNREADABLE_EVENT"
"""The `errorCode` of the event that replaces an unreadable one."""
ROW_WORDS: Final[Mapping[str, str]] = {"human": "asks", "checkpoint": "saved"}
"""Kinds that rows show by another word than their name; filters accept both words."""


_T = TypeVar("_T")


class Damaged(str):
    """A text of the journal that isn't valid UTF-8, with U+FFFD in place of invalid bytes."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens that a model counted for one answer, or for several together."""

    model: str
    """The model's name as reported by the provider; "" if unknown."""
    prompt: int
    """Tokens sent, including cached ones."""
    cached: int
    output: int
    """Tokens returned, including thinking."""
    thoughts: int


@dataclass(frozen=True, slots=True)
class CallSummary:
    id: str | None
    name: str
    args: str
    """The arguments as `city="London"`, on one line."""
    long_running: bool = False
    about: str = ""
    """What it asks a person, if it is one of `HUMAN_CALLS`: `pay(amount=5)`, on one line."""


@dataclass(frozen=True, slots=True)
class ResponseSummary:
    id: str | None
    name: str
    preview: str
    """The returned value on one line, without a lone `result` wrapper."""
    failed: bool = False
    """Whether the tool returned a non-empty `error`, unless its call is waiting for consent."""
    attempt: int = 0
    """The number of the attempt that returned it, from 2; 0 if the first one did."""
    args: str = ""
    """The arguments of a call that was made again, as in its summary; "" otherwise."""
    verdict: Literal["", "confirmed", "rejected"] = ""
    """A person's decision, if it answers a request for confirmation; "" in old journals."""
    waits_for: Literal["", "confirmation", "sign_in"] = ""
    """What its call needs from a person; until then, this response stands in for the result."""
    is_refused: bool = False
    """Whether the tool wasn't called because a person refused to confirm it."""


@dataclass(frozen=True, slots=True)
class Intervention:
    """What a person did at a gate that affected the event."""

    action: str
    """`edit`, `mock`, `skip`, `reject`."""
    gate: str
    by: str
    call: str = ""
    """The id of the affected tool call; "" if the event itself was edited, or in old journals."""
    ran: str = ""
    """The arguments that the tool was called with instead, on one line; "" if unchanged."""
    change: str = ""
    """What an edit of the event or a result changed, on one line: `temperature 22 → 72`; "" for
    anything else."""


@dataclass(frozen=True, slots=True)
class StateNote:
    """A finding about the state at the commit of the event."""

    kind: Literal["dirty", "silent", "overlap"]
    """`dirty` for a read of another's uncommitted write, `silent` for a change without a delta,
    `overlap` for a key that another was writing at the same time."""
    key: str
    """The key; for a change without a delta, the path of what changed."""
    by: str
    """Who had written it."""


HAS_FAILED: Final = """(kind = 'error' OR instr(summary, '"failed":true') > 0)"""
"""`Summary.has_failed` as an SQL condition on `events`, worded like the index `events_failed`, so
that SQLite can use it."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The summary of one event, a few hundred bytes long."""

    kind: Kind
    text: str
    """A single line of at most 200 characters."""
    final: bool = False
    partial: bool = False
    state_keys: tuple[str, ...] = ()
    """The first keys of the state delta, with their prefixes."""
    state_count: int = 0
    artifacts: tuple[str, ...] = ()
    tokens: int | None = None
    """The model's total token count for this answer."""
    calls: tuple[CallSummary, ...] = ()
    responses: tuple[ResponseSummary, ...] = ()
    long_running: bool = False
    error_code: str | None = None
    transfer_to: str | None = None
    escalate: bool = False
    node: str = ""
    """The path of the node that produced it, if the author doesn't identify it: `wf@1/pay@1`."""
    usage: Usage | None = None
    """The tokens by type, with the model that counted them."""
    edited: bool = False
    """Whether a person changed it while the run was held."""
    edits: tuple[Intervention, ...] = ()
    """What people did; empty in journals older than this field."""
    notes: tuple[StateNote, ...] = ()
    path: str = ""
    """The agents or nodes from the root to the one that it is from: `Team/Writers/Critic`, or
    `flow@1/pay@1` in a workflow; "" if unknown."""
    lane: int = 0
    """The place of its branch among the parallel ones of its run, from 1; 0 without a branch."""
    seconds: float | None = None
    """How long its branch worked on it, in seconds; None without a branch or if unknown."""
    cut: str = ""
    """Why the model stopped before the end of its answer, such as `MAX_TOKENS`; "" if it didn't."""
    attempt: int = 0
    """The number of the attempt at a call that ended in this error, from 2; otherwise 0."""
    round: int = 0
    """The round that begins with it, from 2, of an agent that runs others repeatedly, such as a
    loop; otherwise 0."""
    changed: bool = False
    """Whether the app's code changed the model's answer."""

    @property
    def has_failed(self) -> bool:
        """Whether it is an error, or a tool returned one (`HAS_FAILED`)."""
        return self.kind == "error" or any(each.failed for each in self.responses)

    def to_json(self) -> str:
        """Return JSON without empty members, and without a text that follows from the calls or
        responses."""
        members = _members(self)
        if self.text == _plain_text(self.kind, self.calls, self.responses):
            members.pop("text", None)
        return _ENCODER.encode(members)

    @staticmethod
    def may_ask(text: str) -> bool:
        """Return whether a summary's JSON may contain a long-running call.

        False is certain; True is rarely wrong.
        """
        return LONG_RUNNING in text

    @classmethod
    def from_json(cls, text: str) -> "Summary":
        """Parse the output of `to_json`. Raises ValueError for any other text.

        A text that was damaged in the journal becomes a summary that says so.
        """
        if isinstance(text, Damaged):
            return cls(kind="error", text="damaged in the journal", error_code=UNREADABLE)
        members: dict[str, Any] = json.loads(text)
        try:
            members["calls"] = _all(CallSummary, members.get("calls", ()))
            members["responses"] = _all(
                ResponseSummary, map(_response, members.get("responses", ()))
            )
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


_OLD_PREVIEWS: Final[Mapping[str, Mapping[str, Any]]] = {
    "waits for confirmation": {"waits_for": "confirmation"},
    "waits for a sign-in": {"waits_for": "sign_in"},
    '{"error": "This tool call is rejected."}': {"is_refused": True},
}
"""Members that old journals only express through a response's preview."""


def _response(members: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the members of a response, with those that an old journal only has in the preview."""
    return {**_OLD_PREVIEWS.get(members.get("preview", ""), {}), **members}


def _plain_text(
    kind: Kind, calls: tuple[CallSummary, ...], responses: tuple[ResponseSummary, ...]
) -> str:
    """Return the text that `debugger.events.summary` gives most events with calls or results."""
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
"""The empty values of members without a default."""


def _members(item: Any) -> dict[str, Any]:
    return {name: value for name in _MEMBERS[type(item)] if (value := getattr(item, name))}


def _all(kind: type[_T], items: Iterable[Mapping[str, Any]]) -> tuple[_T, ...]:
    blank = _BLANKS[kind]
    return tuple(kind(**{**blank, **item}) for item in items)


# Not dataclasses.asdict, which would copy every text while an event waits to be committed.
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_members)


class SummarizedRow:
    """A row with the JSON of a summary, which is parsed once, on first access."""

    __slots__ = ("_summary",)
    summary_json: str
    _summary: Summary

    @property
    def summary(self) -> Summary:
        """The parsed summary. Raises ValueError if the JSON isn't one."""
        try:
            return self._summary
        except AttributeError:
            summary = Summary.from_json(self.summary_json)
            object.__setattr__(self, "_summary", summary)
            return summary
