"""Reduces events to what is compared: their place in the run, and what they say and do.

Ids, times and token counts differ in every run and are left out, as is bookkeeping of the runtime
and the debugger. The rest is sorted into aspects, since people ask whether the arguments differ or
the text (dev-uis 4.1, feature 13).
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha1
from typing import Final, Literal, TypeAlias, get_args

from devui.debugger.compare.alignment import SAME
from devui.store.rows import EventRow, Json
from devui.store.summaries import Kind
from devui.wire.events import Event, Fields, fields_in

Aspect: TypeAlias = Literal[
    "text", "calls", "results", "state", "artifacts", "actions", "error", "other"
]
ASPECTS: Final[tuple[Aspect, ...]] = get_args(Aspect)
SideNames: TypeAlias = "dict[Aspect, list[Json] | dict[str, Json]]"
"""What an event says and does, by aspect; empty aspects are missing."""

_ACTIONS: Final[Mapping[str, Aspect]] = {"stateDelta": "state", "artifactDelta": "artifacts"}
_BY_CALL: Final = frozenset({"requestedToolConfirmations", "requestedAuthConfigs"})
"""Objects whose keys are call ids."""
_VOLATILE: Final = frozenset({"id", "thoughtSignature"})
_NO_TEXT: Final = frozenset({*_VOLATILE, "functionCall", "functionResponse"})
_CALL_IDS: Final = frozenset({"functionCallId", "function_call_id", "interruptId", "interrupt_id"})
_TIMES: Final = frozenset({"startTimestamp", "endTimestamp"})
_LEFT_OUT: Final = frozenset(
    {
        *("id", "invocationId", "timestamp", "author", "branch", "content", "actions"),
        *("usageMetadata", "modelVersion", "avgLogprobs", "logprobsResult", "cacheMetadata"),
        *("longRunningToolIds", "interactionId", "liveSessionResumptionUpdate", "nodeInfo"),
        *("partial", "turnComplete", "isolationScope", "liveSessionId", "environmentId"),
    }
)

_USUAL: Final = ("finishReason", "STOP")
"""The normal end of an answer, which other events don't have."""
_ERROR: Final = frozenset({"errorCode", "errorMessage", "finishReason", "interrupted"})
_OWN: Final = ("devui_", "__adk_internal")
_OF_CALL: Final = re.compile(r"@[^./@]*[^./@\d][^./@]*")
"""The part of a branch that names the call by which an agent got its task. A plain number, which is
the run of a node, is kept."""
_WORD: Final = re.compile(r"\w+")
_WORDS: Final = 200
"""How many words of an event are used to choose between otherwise similar events."""

_SHAPE: Final = 60
_LIKENESS: Final = 30
_KIND: Final = 12
_PLACE: Final = 6


@dataclass(frozen=True, slots=True)
class Step:
    """An event in the form in which it is compared."""

    number: int
    place: tuple[str, str, str]
    """Where it comes from: the author, the branch, and the node of a workflow."""
    kind: Kind
    shape: str
    """A digest of the place, the kind, and the names of the tools that are called or responded."""
    digests: tuple[tuple[Aspect, str], ...]
    """A digest of each of its aspects."""
    words: frozenset[str]
    sign: str
    """Steps with the same sign say and do the same in the same place."""

    @property
    def branch(self) -> str:
        """The branch; "" outside of branches."""
        return self.place[1]


def step_of(row: EventRow, event: Event) -> Step:
    """Convert an event to a step."""
    summary = row.summary
    place = (row.author, _OF_CALL.sub("@", row.branch or ""), _OF_CALL.sub("@", summary.node))
    texts = {aspect: _text(value) for aspect, value in comparable(event).items()}
    calls = [*(call.name for call in summary.calls), ">", *(r.name for r in summary.responses)]
    shape = _digest(json.dumps([*place, summary.kind, *calls, summary.transfer_to]))
    digests = tuple((aspect, _digest(text)) for aspect, text in texts.items())
    words = (match.group() for text in texts.values() for match in _WORD.finditer(text))
    return Step(
        number=row.number,
        place=place,
        kind=summary.kind,
        shape=shape,
        digests=digests,
        words=frozenset(word for word, _ in zip(words, range(_WORDS), strict=False)),
        sign=_digest(json.dumps([shape, digests])),
    )


def likeness(first: Step, second: Step) -> int:
    """Return how well two steps with different signs match; 0 if they can't be paired.

    Calls of the same tools by the same agent match, whatever their arguments, and better the more
    words they share. Different actions of the same agent match as a last resort.
    """
    if first.place != second.place or (first.kind == "user") != (second.kind == "user"):
        return 0
    if first.shape == second.shape:
        every = len(first.words | second.words)
        similarity = _LIKENESS * len(first.words & second.words) // every if every else _LIKENESS
        return min(_SHAPE + similarity, SAME - 1)
    return _KIND if first.kind == second.kind else _PLACE


def differing(first: Step, second: Step) -> tuple[Aspect, ...]:
    """Return the aspects in which two steps differ."""
    old, new = dict(first.digests), dict(second.digests)
    return tuple(aspect for aspect in ASPECTS if old.get(aspect) != new.get(aspect))


def comparable(event: Event) -> SideNames:
    """Return what an event says and does, without what differs in every run."""
    lists: defaultdict[Aspect, list[Json]] = defaultdict(list)
    objects: defaultdict[Aspect, dict[str, Json]] = defaultdict(dict)
    for aspect, value in _content(event):
        lists[aspect].append(value)
    for aspect, members in (*_actions(event), *_rest(event)):
        objects[aspect] |= members
    return {**lists, **{aspect: members for aspect, members in objects.items() if members}}


def _content(event: Event) -> Iterator[tuple[Aspect, Json]]:
    for part in event.parts:
        if part.call:
            yield "calls", _call(part.call.fields)
        if part.response:
            yield "results", _call(part.response.fields)
        rest = {key: value for key, value in part.fields.items() if key not in _NO_TEXT}
        if rest:
            yield "text", rest


def _call(call: Fields) -> Json:
    """Remove the ids from a call or response, also in calls that the runtime's questions repeat."""
    stable = {key: value for key, value in call.items() if key not in _VOLATILE}
    args = stable.get("args")
    if str(call.get("name", "")).startswith("adk_request_") and isinstance(args, dict):
        stable_args = {key: value for key, value in args.items() if key not in _CALL_IDS}
        original = stable_args.get("originalFunctionCall")
        if isinstance(original, dict):
            stable_args["originalFunctionCall"] = _call(original)
        stable["args"] = stable_args
    return stable


def _actions(event: Event) -> Iterator[tuple[Aspect, dict[str, Json]]]:
    for key, value in event.actions.items():
        if value is None or value in ({}, []):
            continue
        if key in _ACTIONS:
            yield _ACTIONS[key], {**fields_in(value)}
        elif key in _BY_CALL:
            yield "actions", {key: list(fields_in(value).values())}
        elif key == "compaction":
            stable = {k: v for k, v in fields_in(value).items() if k not in _TIMES}
            yield "actions", {key: stable}
        else:
            yield "actions", {key: "…" if key == "rewindBeforeInvocationId" else value}


def _rest(event: Event) -> Iterator[tuple[Aspect, dict[str, Json]]]:
    for key, value in event.fields.items():
        if key in _LEFT_OUT or value is None or (key, value) == _USUAL:
            continue
        if key == "customMetadata":
            others = {k: v for k, v in fields_in(value).items() if not k.startswith(_OWN)}
            yield "other", {key: others} if others else {}
        else:
            yield "error" if key in _ERROR else "other", {key: value}


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _digest(text: str) -> str:
    return sha1(text.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()
