"""What a timeline row, a chat chip and a tick need to know of an event, without its body.

A summary is computed once, when the event arrives, and stored beside it as JSON. It is a pure
function of the event in ADK's wire form (seed: events, "identify the source and type"); kinds
are those of the page.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from devui.debugger.nodes import node_of, says_end
from devui.debugger.preview import arguments, one_line, preview
from devui.debugger.usage import total_of, usage_of
from devui.store.rows import Usage
from devui.wire.gates import EDITED

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

TEXT_LIMIT = 200
PREVIEW_LIMIT = 96
KEYS_KEPT = 8

CREDENTIAL = "adk_request_credential"
"""The name of the call by which the framework asks for a credential."""
HUMAN_CALLS = {
    "adk_request_confirmation": "asks for a confirmation",
    CREDENTIAL: "asks for a sign-in",
    "adk_request_input": "asks for input",
}
"""Calls by which the framework asks a person (adk-runtime 0), with what they ask for."""


@dataclass(frozen=True, slots=True)
class CallSummary:
    id: str | None
    name: str
    args: str
    """Arguments as `city="London"`, one line."""
    long_running: bool = False


@dataclass(frozen=True, slots=True)
class ResponseSummary:
    id: str | None
    name: str
    preview: str
    """The returned value, one line; a lone `result` wrapper is taken off."""
    failed: bool = False
    """The tool answered with a non-empty `error`, and not since its call waits for a consent."""


@dataclass(frozen=True, slots=True)
class Intervention:
    """What a person did, while the run was held, on the way to the event."""

    action: str
    """`edit`, `mock`, `skip`, `reject`."""
    gate: str
    by: str
    call: str = ""
    """The id of the tool call that it was done to; "" if it was done to the event, or is old."""


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

    def to_json(self) -> str:
        """JSON with the defaults left out."""
        kept = {k: v for k, v in asdict(self).items() if v not in (None, False, 0, (), "")}
        return json.dumps(kept, ensure_ascii=False, separators=(",", ":"))

    @staticmethod
    def may_ask(text: str) -> bool:
        """Whether what `to_json` wrote has a long-running call in it; true of few others."""
        return '"long_running":true' in text

    @classmethod
    def from_json(cls, text: str) -> "Summary":
        """Reads what `to_json` wrote. Raises `ValueError` if the text is something else."""
        fields: dict[str, Any] = json.loads(text)
        try:
            fields["calls"] = tuple(CallSummary(**call) for call in fields.get("calls", ()))
            fields["responses"] = tuple(ResponseSummary(**r) for r in fields.get("responses", ()))
            fields["edits"] = tuple(Intervention(**edit) for edit in fields.get("edits", ()))
            fields["notes"] = tuple(StateNote(**note) for note in fields.get("notes", ()))
            for name in ("state_keys", "artifacts"):
                fields[name] = tuple(fields.get(name, ()))
            if "usage" in fields:
                fields["usage"] = Usage(**fields["usage"])
            return cls(**{"text": "", **fields})
        except TypeError as error:
            raise ValueError(f"not the summary of an event: {text[:200]!r}") from error


def summarise(event: Mapping[str, Any], *, final: bool) -> Summary:
    """The summary of an event given as parsed ADK JSON (camelCase).

    `final` is the event's `is_final_response()`, which only the runtime decides.
    """
    actions = _mapping(event.get("actions"))
    delta = _mapping(actions.get("stateDelta"))
    artifacts = _mapping(actions.get("artifactDelta"))
    calls, responses = _calls(event), _responses(event)
    kind = _kind(event, actions, calls, responses)
    return Summary(
        kind=kind,
        text=_text(kind, event, calls, responses),
        final=final,
        partial=event.get("partial") is True,
        state_keys=tuple(str(key) for key in list(delta)[:KEYS_KEPT]),
        state_count=len(delta),
        artifacts=tuple(str(name) for name in list(artifacts)[:KEYS_KEPT]),
        tokens=total_of(event),
        calls=calls,
        responses=responses,
        long_running=bool(event.get("longRunningToolIds")),
        error_code=event.get("errorCode"),
        transfer_to=actions.get("transferToAgent"),
        escalate=actions.get("escalate") is True,
        node=node_of(event),
        usage=usage_of(event),
        edited=EDITED in _mapping(event.get("customMetadata")),
        edits=_edits(_mapping(event.get("customMetadata")).get(EDITED)),
    )


def _edits(marks: object) -> tuple[Intervention, ...]:
    """The marks of an event; agents may write what they like under their key."""
    told = [_mapping(mark) for mark in marks] if isinstance(marks, list) else []
    return tuple(
        Intervention(
            *(str(mark.get(name, ""))[:PREVIEW_LIMIT] for name in ("action", "gate", "by", "call"))
        )
        for mark in told[:KEYS_KEPT]
        if mark
    )


def _kind(
    event: Mapping[str, Any],
    actions: Mapping[str, Any],
    calls: tuple[CallSummary, ...],
    responses: tuple[ResponseSummary, ...],
) -> Kind:
    asked = actions.get("requestedToolConfirmations") or actions.get("requestedAuthConfigs")
    tests: tuple[tuple[bool, Kind], ...] = (
        (bool(event.get("errorCode") or event.get("errorMessage")), "error"),
        (event.get("author") == "user" and _speaks(event, actions) and not responses, "user"),
        (bool(asked) or any(call.name in HUMAN_CALLS for call in calls), "human"),
        (bool(actions.get("transferToAgent")), "transfer"),
        (actions.get("escalate") is True, "escalate"),
        (bool(calls), "call"),
        (bool(responses), "result"),
    )
    return next((kind for holds, kind in tests if holds), None) or _content_kind(event, actions)


def _speaks(event: Mapping[str, Any], actions: Mapping[str, Any]) -> bool:
    """Whether the user says or orders something; else state was set in the user's name."""
    return bool(_parts(event) or actions.get("rewindBeforeInvocationId"))


def _content_kind(event: Mapping[str, Any], actions: Mapping[str, Any]) -> Kind:
    parts = _parts(event)
    if any("executableCode" in part or "codeExecutionResult" in part for part in parts):
        return "code"
    texts = [part for part in parts if part.get("text")]
    if texts:
        return "thought" if all(part.get("thought") for part in texts) else "text"
    if parts:
        return "other"
    if event.get("output") is not None:
        return "result"
    if actions.get("stateDelta"):
        return "state"
    if actions.get("artifactDelta"):
        return "artifact"
    saved = actions.get("endOfAgent") or actions.get("agentState") is not None or says_end(event)
    return "checkpoint" if saved else "other"


def _text(
    kind: Kind,
    event: Mapping[str, Any],
    calls: tuple[CallSummary, ...],
    responses: tuple[ResponseSummary, ...],
) -> str:
    actions = _mapping(event.get("actions"))
    said = _said(event)
    match kind:
        case "error":
            text = ": ".join(str(event[k]) for k in ("errorCode", "errorMessage") if event.get(k))
        case "human":
            text = _asked(event, calls)
        case "transfer":
            text = f"→ {actions['transferToAgent']}"
        case "escalate":
            text = said or "leaves the loop"
        case "call":
            text = ", ".join(f"{call.name}({call.args})" for call in calls)
        case "result":
            results = [f"{r.name} → {r.preview}" for r in responses]
            text = ", ".join(results) or preview(event.get("output"), TEXT_LIMIT)
        case "state":
            text = _assignments(_mapping(actions["stateDelta"]))
        case "artifact":
            text = _saved(_mapping(actions["artifactDelta"]))
        case _:
            text = said or _unspoken(event, actions)
    return one_line(text, TEXT_LIMIT)


def _assignments(delta: Mapping[str, Any]) -> str:
    shown = list(delta.items())[:KEYS_KEPT]
    return ", ".join(f"{key} = {preview(value, PREVIEW_LIMIT)}" for key, value in shown)


def _saved(delta: Mapping[str, Any]) -> str:
    shown = list(delta.items())[:KEYS_KEPT]
    return "saved " + ", ".join(f"{name} v{version}" for name, version in shown)


def _asked(event: Mapping[str, Any], calls: tuple[CallSummary, ...]) -> str:
    actions = _mapping(event.get("actions"))
    confirmations = _mapping(actions.get("requestedToolConfirmations"))
    hints = [str(_mapping(c).get("hint", "")) for c in confirmations.values()]
    what = next((HUMAN_CALLS[c.name] for c in calls if c.name in HUMAN_CALLS), None)
    if what is None:
        what = HUMAN_CALLS["adk_request_confirmation" if hints else CREDENTIAL]
    hint = next((hint for hint in hints if hint), "") or _original_call(event)
    return f"{what}: {hint}" if hint else what


def _original_call(event: Mapping[str, Any]) -> str:
    """The tool call that a framework's question is about, where its arguments name it."""
    for part in _parts(event):
        args = _mapping(_mapping(part.get("functionCall")).get("args"))
        original = _mapping(args.get("originalFunctionCall"))
        if original:
            shown = arguments(_mapping(original.get("args")), PREVIEW_LIMIT)
            return f"{original.get('name', '?')}({shown})"
        if args.get("message"):
            return str(args["message"])
    return ""


def _unspoken(event: Mapping[str, Any], actions: Mapping[str, Any]) -> str:
    """What an event without words says."""
    files = [_file(part) for part in _parts(event)]
    if any(files):
        return ", ".join(name for name in files if name)
    notes = (
        (actions.get("endOfAgent"), "end of agent"),
        (actions.get("agentState") is not None, "agent checkpoint"),
        (actions.get("compaction"), "earlier events compacted"),
        (actions.get("rewindBeforeInvocationId"), "rewound the session"),
        (says_end(event), "end of node"),
        (actions.get("route") is not None, f"route {preview(actions.get('route'), PREVIEW_LIMIT)}"),
        (event.get("interrupted"), "interrupted"),
        (event.get("turnComplete"), "turn complete"),
    )
    return next((text for holds, text in notes if holds), "no content")


def _file(part: Mapping[str, Any]) -> str:
    data = _mapping(part.get("inlineData")) or _mapping(part.get("fileData"))
    name = data.get("displayName") or data.get("fileUri") or data.get("mimeType")
    return f"[{name}]" if name else ""


def _said(event: Mapping[str, Any]) -> str:
    parts = _parts(event)
    spoken = [part["text"] for part in parts if part.get("text") and not part.get("thought")]
    words: Iterable[str] = spoken or [part["text"] for part in parts if part.get("text")]
    said = " ".join(text[: TEXT_LIMIT * 4] for text in words)
    if said:
        return said
    for part in parts:
        code = _mapping(part.get("executableCode")).get("code")
        output = _mapping(part.get("codeExecutionResult")).get("output")
        if code or output:
            return str(code or output)[: TEXT_LIMIT * 4]
    return ""


def _calls(event: Mapping[str, Any]) -> tuple[CallSummary, ...]:
    long_running = set(event.get("longRunningToolIds") or ())
    found = (_mapping(part.get("functionCall")) for part in _parts(event))
    return tuple(
        CallSummary(
            id=call.get("id"),
            name=str(call.get("name", "")),
            args=arguments(_mapping(call.get("args")), PREVIEW_LIMIT),
            long_running=call.get("id") in long_running,
        )
        for call in found
        if call
    )


def _responses(event: Mapping[str, Any]) -> tuple[ResponseSummary, ...]:
    waiting = awaiting_consent(event)
    found = (_mapping(part.get("functionResponse")) for part in _parts(event))
    return tuple(
        ResponseSummary(
            id=response.get("id"),
            name=str(response.get("name", "")),
            preview=preview(unwrapped(response.get("response")), PREVIEW_LIMIT),
            failed=bool(_mapping(response.get("response")).get("error"))
            and response.get("id") not in waiting,
        )
        for response in found
        if response
    )


def awaiting_consent(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """By the ids of their calls: what the event asks a consent for, which answers as an error."""
    return _mapping(_mapping(event.get("actions")).get("requestedToolConfirmations"))


def unwrapped(response: object) -> object:
    """A tool's value without the `{"result": …}` that the framework puts around plain values."""
    if isinstance(response, Mapping) and list(response) == ["result"]:
        return response["result"]
    return response


def _parts(event: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    parts = _mapping(event.get("content")).get("parts")
    return [_mapping(part) for part in parts] if isinstance(parts, list) else []


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
