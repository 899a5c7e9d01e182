"""Writes the summaries of events, once, when they arrive.

A summary is a pure function of the event in ADK's wire form (seed: events, "identify the source
and type"); kinds are those of the page.
"""

from collections.abc import Iterable, Mapping

from devui.debugger.events.nodes import node_of, says_end
from devui.debugger.events.preview import arguments, json_in, one_line, preview
from devui.debugger.events.usage import total_of, usage_of
from devui.debugger.questions.questions import (
    CONFIRMATION,
    HUMAN_CALLS,
    question_of,
    questions_in,
)
from devui.store.summaries import (
    WAITS_FOR_CONFIRMATION,
    WAITS_FOR_SIGN_IN,
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
"""Finish reasons of answers that are whole."""
KEYS_KEPT = 8


def summarise(event: Event, *, final: bool, path: str = "", lane: int = 0) -> Summary:
    """The summary of an event.

    `final` is the event's `is_final_response()`, which only the runtime decides. Its run knows
    `path` and `lane`, as in `Summary`; the path that an event brings itself counts first.
    """
    delta, artifacts, marks = event.state_delta, event.artifact_delta, event.metadata
    calls, responses = _calls(event), _responses(event)
    kind, edits = _kind(event, calls, responses), _edits(marks.get(EDITED))
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
    """The finish reason of an answer that the model did not end by itself; "" of others."""
    reason = event.finish_reason
    return "" if reason in _WHOLE or event.is_partial else reason[:PREVIEW_LIMIT]


def transcriptions(event: Event) -> dict[str, str]:
    """What was said aloud, by the word for it: `heard` of the user, `spoken` by the model."""
    sides = {"heard": "inputTranscription", "spoken": "outputTranscription"}
    texts = {word: fields_in(event.fields.get(side)).get("text") for word, side in sides.items()}
    return {word: str(text) for word, text in texts.items() if text}


def _edits(marks: object) -> tuple[Intervention, ...]:
    """The marks of an event; agents may write what they like under their key."""
    mark_fields = [fields_in(mark) for mark in marks] if isinstance(marks, list) else []
    return tuple(
        Intervention(
            *(
                str(mark.get(name, ""))[:PREVIEW_LIMIT]
                for name in ("action", "gate", "by", "call", "ran")
            )
        )
        for mark in mark_fields[:KEYS_KEPT]
        if mark
    )


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
    """Whether the user says or orders something; else state was set in the user's name."""
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
    """A file says something to a person, as a text does."""
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
    """An answer of a person isn't told under the framework's name of the question."""
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
    """What an event without words and files says."""
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
    return next((text for holds, text in notes if holds), "no content")


def _file(part: Part) -> str:
    data = part.inline_data or part.file_data
    name = data.get("displayName") or data.get("fileUri") or data.get("mimeType")
    return f"[{name}]" if name else ""


def _response_files(event: Event) -> list[list[str]]:
    """The files in each tool response of the event."""
    return [[name for part in each.parts if (name := _file(part))] for each in event.responses]


def _words_of(event: Event) -> str:
    texts = [part.text for part in event.parts if part.text and not part.is_thought]
    words: Iterable[str] = texts or [part.text for part in event.parts if part.text]
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
        )
        for response in event.responses
    )


def _outcome(response: Response, event: Event) -> str:
    """What came of a call, in a line; a tool that asks first returns a stand-in for its result."""
    if response.id in event.confirmations:
        return WAITS_FOR_CONFIRMATION
    if response.id in event.credentials:
        return WAITS_FOR_SIGN_IN
    if "response" not in response.fields:
        return "not recorded"
    answer = response.result
    if response.name == CONFIRMATION and isinstance(answer.get("confirmed"), bool):
        word = "confirmed" if answer["confirmed"] else "rejected"
        payload = answer.get("payload")
        return word if payload is None else f"{word} with {preview(payload, PREVIEW_LIMIT)}"
    return preview(decode_text(unwrapped(response.value)), PREVIEW_LIMIT)


def unwrapped(response: object) -> object:
    """A tool's value without the `{"result": …}` that the framework puts around plain values."""
    if isinstance(response, Mapping) and list(response) == ["result"]:
        return response["result"]
    return response


def decode_text(value: object) -> object:
    """What a text of JSON holds, such as the answer of an MCP tool; other values as they are."""
    inner = json_in(value) if isinstance(value, str) else None
    return value if inner is None else inner
