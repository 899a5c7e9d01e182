"""Summarizes events, once, when they arrive.

A summary is a pure function of the event in ADK's wire form (seed: events, "identify the source
and type"). Its kinds are those that the page shows.
"""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias

from devui.debugger.events.artifact_parts import noted_file
from devui.debugger.events.nodes import node_of, says_end
from devui.debugger.events.preview import arguments, json_in, one_line, preview
from devui.debugger.events.usage import total_of, usage_of
from devui.debugger.questions.questions import (
    CONFIRMATION,
    HUMAN_CALLS,
    REFUSAL,
    question_of,
    questions_in,
)
from devui.store.summaries import (
    CallSummary,
    Intervention,
    Kind,
    ResponseSummary,
    Summary,
)
from devui.wire.events import Event, Fields, Part, Response, fields_in
from devui.wire.gates import EDITED

TEXT_LIMIT = 200
PREVIEW_LIMIT = 96
_WHOLE = frozenset({"", "STOP", "FINISH_REASON_UNSPECIFIED"})
"""Finish reasons of complete answers."""
KEYS_KEPT = 8
_PART_KINDS = frozenset(
    {
        *("text", "functionCall", "functionResponse", "inlineData", "fileData"),
        *("executableCode", "codeExecutionResult"),
    }
)
_ABOUT_PART = frozenset({"thought", "thoughtSignature"})
_OF_MARKS = ("action", "gate", "by", "call", "ran")
_WAITING = {"confirmation": "waits for confirmation", "sign_in": "waits for a sign-in"}
"""The text shown for a result until a person has answered."""


Changes: TypeAlias = Mapping[int | None, str]
"""Descriptions of what people changed in events, by the ids of their edits. An edit copied into a
fork has no id; its key is None."""


def summarize(
    event: Event,
    *,
    final: bool,
    path: str = "",
    lane: int = 0,
    changes: Changes = MappingProxyType({}),
) -> Summary:
    """Summarize an event.

    `final` is the event's `is_final_response()`, which only the runtime can determine. `path` and
    `lane` come from the run, see `Summary`; a path in the event itself takes precedence.
    """
    delta, artifacts, marks = event.state_delta, event.artifact_delta, event.metadata
    calls, responses = _calls(event), _responses(event)
    kind, edits = _kind(event, calls, responses), _edits(marks.get(EDITED), changes)
    return Summary(
        kind=kind,
        text=_text(kind, event, calls, responses, edits),
        final=final,
        partial=event.is_partial,
        state_keys=tuple(str(key) for key in list(delta)[:KEYS_KEPT]),
        state_count=len(delta),
        artifacts=tuple(str(name) for name in list(artifacts)[:KEYS_KEPT]),
        tokens=total_of(event),
        calls=calls,
        responses=responses,
        long_running=bool(event.long_running_ids),
        error_code=event.error_code,
        transfer_to=event.transfer_to,
        escalate=event.escalates,
        node=node_of(event),
        usage=usage_of(event),
        edited=EDITED in marks,
        edits=edits,
        path=event.node_path or path,
        lane=lane,
        cut=cut_of(event),
    )


def cut_of(event: Event) -> str:
    """Return the finish reason of an answer that was cut off; "" for others."""
    reason = event.finish_reason
    return "" if reason in _WHOLE or event.is_partial else reason[:PREVIEW_LIMIT]


def transcriptions(event: Event) -> dict[str, str]:
    """Return the transcribed speech: `heard` from the user, `spoken` by the model."""
    sides = {"heard": "inputTranscription", "spoken": "outputTranscription"}
    texts = {word: fields_in(event.fields.get(side)).get("text") for word, side in sides.items()}
    return {word: str(text) for word, text in texts.items() if text}


def kind_of_other(fields: Fields) -> tuple[str, str]:
    """Name what has no kind of its own by its keys, such as `tool call`, and preview its value."""
    names = ", ".join(re.sub("(?<=[a-z])(?=[A-Z])", " ", key).lower() for key in fields)
    value = next(iter(fields.values())) if len(fields) == 1 else fields
    is_mapping = isinstance(value, Mapping)
    short = arguments(value, PREVIEW_LIMIT) if is_mapping else preview(value, PREVIEW_LIMIT)
    return names[:PREVIEW_LIMIT], short


def other_fields(part: Part) -> Fields:
    """Return what a part contains besides a text, call, result, file or code; {} for those."""
    if part.fields.keys() & _PART_KINDS:
        return {}
    return {key: value for key, value in part.fields.items() if key not in _ABOUT_PART}


def voice_activity(event: Event) -> Fields:
    """Return the signal of a live model that it hears a voice, under its key; {} without one."""
    return {key: value for key, value in event.fields.items() if key == "voiceActivity" and value}


def _edits(marks: object, changes: Changes) -> tuple[Intervention, ...]:
    """Return the interventions marked in an event; agents may write anything under their key."""
    mark_fields = [fields_in(mark) for mark in marks] if isinstance(marks, list) else []
    return tuple(
        Intervention(
            *(
                *(str(mark.get(name, ""))[:PREVIEW_LIMIT] for name in _OF_MARKS),
                _change(mark.get("edit"), changes),
            )
        )
        for mark in mark_fields[:KEYS_KEPT]
        if mark
    )


def _change(number: object, changes: Changes) -> str:
    return changes.get(number, "") if number is None or isinstance(number, int) else ""


def _kind(
    event: Event, calls: tuple[CallSummary, ...], responses: tuple[ResponseSummary, ...]
) -> Kind:
    asks = not responses and (event.confirmations or event.credentials)
    tests: tuple[tuple[bool, Kind], ...] = (
        (bool(event.error_code or event.error_message), "error"),
        (event.author == "user" and _speaks(event) and not responses, "user"),
        (bool(asks) or any(call.name in HUMAN_CALLS for call in calls), "human"),
        (bool(event.transfer_to), "transfer"),
        (event.escalates, "escalate"),
        (bool(calls), "call"),
        (bool(responses), "result"),
    )
    return next((kind for holds, kind in tests if holds), None) or _content_kind(event)


def _speaks(event: Event) -> bool:
    """Whether the user says something or rewinds; otherwise state was set in the user's name."""
    return bool(event.parts or event.rewinds_before)


def _content_kind(event: Event) -> Kind:
    parts, actions = event.parts, event.actions
    if any({"executableCode", "codeExecutionResult"} & part.fields.keys() for part in parts):
        return "code"
    texts = [part for part in parts if part.text]
    if not texts and (transcriptions(event) or any(_is_file(part) for part in parts)):
        return "text"
    if texts:
        return "thought" if all(part.is_thought for part in texts) else "text"
    if parts:
        return "other"
    if event.output is not None:
        return "result"
    if event.state_delta:
        return "state"
    if event.artifact_delta:
        return "artifact"
    is_checkpoint = (
        actions.get("endOfAgent") or actions.get("agentState") is not None or says_end(event)
    )
    return "checkpoint" if is_checkpoint else "other"


def _is_file(part: Part) -> bool:
    """Whether a part is a file. Files count as something said, as texts do."""
    return bool(part.inline_data or part.file_data)


def _text(
    kind: Kind,
    event: Event,
    calls: tuple[CallSummary, ...],
    responses: tuple[ResponseSummary, ...],
    edits: tuple[Intervention, ...],
) -> str:
    words = _words_of(event)
    match kind:
        case "error":
            text = ": ".join(str(each) for each in (event.error_code, event.error_message) if each)
        case "human":
            text = questions_in(event, calls, responses)
        case "transfer":
            text = f"→ {event.transfer_to}"
        case "escalate":
            text = words or "leaves the loop"
        case "call":
            text = ", ".join(f"{call.name}({call.args})" for call in calls)
        case "result":
            response_files = _response_files(event)
            ran = {edit.call: f"({edit.ran})" for edit in edits if edit.ran}
            results = [
                " ".join([_response_text(each, args), *response_files[place]])
                for place, each in enumerate(responses)
                for args in [ran.get(each.id or "", "")]
            ]
            text = ", ".join(results) or preview(event.output, TEXT_LIMIT)
        case "state":
            text = _assignments(event.state_delta)
        case "artifact":
            text = _file_versions(event.artifact_delta)
        case _:
            files = ", ".join(filter(None, map(_file, event.parts)))
            text = f"{words} {files}".strip() or _wordless_text(event)
    return one_line(text, TEXT_LIMIT)


def _response_text(response: ResponseSummary, args: str) -> str:
    """Describe a result; a person's answer leaves out the framework's name for the question."""
    if response.name == CONFIRMATION:
        return response.preview
    if response.name in HUMAN_CALLS:
        return f"answer → {response.preview}"
    return f"{response.name}{args} → {response.preview}"


def _assignments(delta: Fields) -> str:
    entries = list(delta.items())[:KEYS_KEPT]
    return ", ".join(f"{key} = {preview(value, PREVIEW_LIMIT)}" for key, value in entries)


def _file_versions(delta: Fields) -> str:
    entries = list(delta.items())[:KEYS_KEPT]
    return "saved " + ", ".join(f"{name} v{version}" for name, version in entries)


def _wordless_text(event: Event) -> str:
    """Describe an event without words and files."""
    actions = event.actions
    notes = (
        (actions.get("endOfAgent"), "end of agent"),
        (actions.get("agentState") is not None, "agent checkpoint"),
        (actions.get("compaction"), "earlier events compacted"),
        (event.rewinds_before, "rewound the session"),
        (says_end(event), "end of node"),
        (actions.get("route") is not None, f"route {preview(actions.get('route'), PREVIEW_LIMIT)}"),
        (event.fields.get("interrupted"), "interrupted"),
        (event.fields.get("turnComplete"), "turn complete"),
    )
    if text := next((text for holds, text in notes if holds), ""):
        return text
    others = [*map(other_fields, event.parts), voice_activity(event)]
    texts = [": ".join(filter(None, kind_of_other(fields))) for fields in others if fields]
    return "; ".join(texts) or "no content"


def _file(part: Part) -> str:
    data = part.inline_data or part.file_data
    name = data.get("displayName") or data.get("fileUri") or data.get("mimeType")
    name = name or noted_file(part.text)
    return f"[{name}]" if name else ""


def _response_files(event: Event) -> list[list[str]]:
    """Return the files in each tool response of the event."""
    return [[name for part in each.parts if (name := _file(part))] for each in event.responses]


def _words_of(event: Event) -> str:
    spoken = [part for part in event.parts if part.text and not noted_file(part.text)]
    texts = [part.text or "" for part in spoken if not part.is_thought]
    words: Iterable[str] = texts or [part.text or "" for part in spoken]
    if line := " ".join(text[: TEXT_LIMIT * 4] for text in words):
        return line
    if aloud := transcriptions(event):
        return "; ".join(f"{word}: {text[: TEXT_LIMIT * 4]}" for word, text in aloud.items())
    codes = (part.code.get("code") or part.code_result.get("output") for part in event.parts)
    return " ".join(str(code)[: TEXT_LIMIT * 4] for code in codes if code)


def _calls(event: Event) -> tuple[CallSummary, ...]:
    return tuple(
        CallSummary(
            id=call.id,
            name=call.name,
            args=arguments(call.args, PREVIEW_LIMIT),
            long_running=call.id in event.long_running_ids,
            about=question_of(call, event.confirmations),
        )
        for call in event.calls
    )


def _responses(event: Event) -> tuple[ResponseSummary, ...]:
    return tuple(
        ResponseSummary(
            id=response.id,
            name=response.name,
            preview=_outcome(response, event),
            failed=response.is_error and response.id not in event.confirmations,
            verdict=_verdict(response),
            waits_for=_waits_for(response, event),
            is_refused=response.result == REFUSAL,
        )
        for response in event.responses
    )


def _verdict(response: Response) -> Literal["", "confirmed", "rejected"]:
    decision = response.result.get("confirmed") if response.name == CONFIRMATION else None
    if not isinstance(decision, bool):
        return ""
    return "confirmed" if decision else "rejected"


def _waits_for(response: Response, event: Event) -> Literal["", "confirmation", "sign_in"]:
    if response.id in event.confirmations:
        return "confirmation"
    return "sign_in" if response.id in event.credentials else ""


def _outcome(response: Response, event: Event) -> str:
    """Describe the result of a call on one line; a tool that asks first returns a placeholder."""
    if waits_for := _waits_for(response, event):
        return _WAITING[waits_for]
    if "response" not in response.fields:
        return "not recorded"
    if verdict := _verdict(response):
        payload = response.result.get("payload")
        return verdict if payload is None else f"{verdict} with {preview(payload, PREVIEW_LIMIT)}"
    return preview(decode_text(unwrapped(response.value)), PREVIEW_LIMIT)


def unwrapped(response: object) -> object:
    """Return a tool's value without the `{"result": …}` that the framework adds to plain values."""
    if isinstance(response, Mapping) and list(response) == ["result"]:
        return response["result"]
    return response


def decode_text(value: object) -> object:
    """Parse a text that is JSON, such as an MCP tool's answer; return other values unchanged."""
    inner = json_in(value) if isinstance(value, str) else None
    return value if inner is None else inner
