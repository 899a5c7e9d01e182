"""A session's spans in the format that `adk web`'s front end reads (adk-web 1.7).

Its Request and Response panes read the log of the `generate_content` span whose attributes name the
event. Its waterfall reads names, times and parents. If one span lacks an attribute, it drops all of
them, so only finished spans are returned, with "" for unknown values.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final

from devui.debugger.events.usage import usage_of
from devui.store.rows import EventRow, SessionRow, SpanRow
from devui.wire.events import Event

Json = dict[str, Any]

DETAILS: Final = "gen_ai.client.inference.operation.details"
"""The name of the log with a model call's messages."""
_EVENT, _INVOCATION = "gcp.vertex.agent.event_id", "gcp.vertex.agent.invocation_id"
_OPERATIONS: Final = {
    "agent": "invoke_agent",
    "model": "generate_content",
    "tool": "execute_tool",
}
_NANOSECONDS: Final = 1_000_000_000
_NUMBER_BYTES: Final = 6
"""The size of an id in bytes; JavaScript's integers have at most 53 bits."""
_ROLES: Final = {"user": "user", "model": "assistant"}
_FINISHES: Final = {"STOP": "stop", "MAX_TOKENS": "length", "OTHER": "error"}
_UNREPORTED: Final = {None, "", "FINISH_REASON_UNSPECIFIED"}


@dataclass(frozen=True, slots=True)
class RecordedSpan:
    """A span with what was sent and returned, as from `sent_and_result`."""

    row: SpanRow
    payload: Any
    result: Any


@dataclass(frozen=True, slots=True)
class Trace:
    """The spans of one session."""

    session: SessionRow
    events: Mapping[int, EventRow]
    """The events that spans led to, by number."""
    descriptions: Mapping[str, str]
    """The descriptions of agents, by name."""

    def spans(self, recorded: Iterable[RecordedSpan]) -> list[Json]:
        """Return the finished spans and a span around those of each run, by end time."""
        finished_spans = [each for each in recorded if each.row.seconds is not None]
        runs: dict[str, list[SpanRow]] = {}
        for each in finished_spans:
            runs.setdefault(each.row.run, []).append(each.row)
        spans = [
            self._span(each, self._tools_of(each.row, finished_spans)) for each in finished_spans
        ]
        spans += [self._around(run, rows) for run, rows in runs.items()]
        return sorted(spans, key=lambda span: (span["end_time"], -span["start_time"]))

    def attributes(self, each: RecordedSpan, among: Iterable[RecordedSpan]) -> Json:
        """Return all attributes of a span, including contents, as older front ends expect them."""
        attributes: Json = {**self._attributes(each, self._tools_of(each.row, among))}
        if each.row.type == "model":
            attributes["gcp.vertex.agent.llm_request"] = _text(_request(each.payload))
            attributes["gcp.vertex.agent.llm_response"] = _text(_last(each.result) or {})
        ids = {"trace_id": _id(each.row.run), "span_id": _span_id(each.row.run, each.row.number)}
        return {**attributes, **ids}

    def _span(self, each: RecordedSpan, tools: Mapping[str, str]) -> Json:
        row = each.row
        attributes = self._attributes(each, tools)
        return {
            "name": f"{_OPERATIONS[row.type]} {row.name}",
            "start_time": _nanoseconds(row.began),
            "end_time": _nanoseconds(row.began + (row.seconds or 0.0)),
            "trace_id": _id(row.run),
            "span_id": _span_id(row.run, row.number),
            "parent_span_id": _span_id(row.run, row.parent or 0),
            "attributes": attributes,
            "logs": [self._log(each, attributes)] if row.type == "model" else [],
        }

    def _around(self, run: str, rows: Sequence[SpanRow]) -> Json:
        """Return the span of a whole run, which contains the others."""
        name = next((row.name for row in rows if row.type == "agent"), self.session.app)
        return {
            "name": f"invoke_workflow {name}",
            "start_time": _nanoseconds(min(row.began for row in rows)),
            "end_time": _nanoseconds(max(row.began + (row.seconds or 0.0) for row in rows)),
            "trace_id": _id(run),
            "span_id": _span_id(run, 0),
            "parent_span_id": None,
            "attributes": {
                "gen_ai.operation.name": "invoke_workflow",
                "gen_ai.conversation.id": self.session.id,
                "gen_ai.workflow.name": name,
            },
            "logs": [],
        }

    def _attributes(self, each: RecordedSpan, tools: Mapping[str, str]) -> Json:
        row = each.row
        attributes: Json = {"gen_ai.operation.name": _OPERATIONS[row.type]}
        match row.type:
            case "agent":
                attributes["gen_ai.agent.description"] = self.descriptions.get(row.name, "")
                attributes["gen_ai.conversation.id"] = self.session.id
            case "model":
                attributes["gen_ai.request.model"] = row.name
                attributes |= self._place(row) | _counts(each.result)
                attributes["gen_ai.tool.definitions"] = _text(_definitions(each.payload, bare=True))
            case _:
                attributes["gen_ai.tool.description"] = tools.get(row.name, "")
                attributes |= {"gen_ai.tool.name": row.name, "gen_ai.tool.call.id": row.call or ""}
                attributes[_EVENT] = self._event(row)
                attributes["gcp.vertex.agent.tool_call_args"] = _text(each.payload)
                attributes["gcp.vertex.agent.tool_response"] = _text(each.result)
        attributes["gen_ai.agent.name"] = row.agent
        return attributes | ({"error.type": row.error.partition(":")[0]} if row.error else {})

    def _place(self, row: SpanRow) -> Json:
        event = self.events.get(row.event or 0)
        return {
            "gen_ai.conversation.id": self.session.id,
            _EVENT: self._event(row),
            _INVOCATION: event.invocation_id if event else "",
        }

    def _event(self, row: SpanRow) -> str:
        event = self.events.get(row.event or 0)
        return event.id if event else ""

    def _log(self, each: RecordedSpan, attributes: Mapping[str, Any]) -> Json:
        request, answers = _request(each.payload), _answers(each.result)
        record = {
            **{k: v for k, v in attributes.items() if k in _IN_LOGS},
            "gen_ai.tool.definitions": _definitions(each.payload, bare=False),
            "gen_ai.input.messages": [_message(each) for each in request.get("contents") or ()],
            "gen_ai.system_instructions": _instructions(request.get("system")),
            "user.id": self.session.user,
        }
        record["gen_ai.output.messages"] = [
            {**_message(answer["content"]), "finish_reason": _finish(answer) or ""}
            for answer in answers
            if answer.get("content")
        ]
        return {"event_name": DETAILS, "body": None, "attributes": record}

    def _tools_of(self, row: SpanRow, among: Iterable[RecordedSpan]) -> Mapping[str, str]:
        """Return the descriptions of the tools in the agent's last model call before this span."""
        if row.type != "tool":
            return {}
        requests = (
            each
            for each in among
            if each.row.type == "model" and each.row.agent == row.agent and each.row.id < row.id
        )
        last = max(requests, key=lambda each: each.row.id, default=None)
        tools = _definitions(last.payload, bare=True) if last else []
        return {each["name"]: each["description"] or "" for each in tools if "description" in each}


_IN_LOGS: Final = frozenset(
    {
        *(_EVENT, _INVOCATION, "gen_ai.agent.name", "gen_ai.conversation.id"),
        *("gen_ai.response.finish_reasons", "gen_ai.usage.input_tokens"),
        *("gen_ai.usage.output_tokens", "error.type"),
    }
)


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _request(value: Any) -> Mapping[str, Any]:
    """Return the request of a model call; empty if none was stored, or a bundle's is invalid."""
    return value if isinstance(value, Mapping) else {}


def _answers(result: Any) -> list[Json]:
    """Return a model's answers: the pieces, if it was streamed, and the whole one last."""
    answers = [pair[1] for pair in result or () if isinstance(pair, list) and len(pair) > 1]
    return [each for each in answers if isinstance(each, dict)]


def _last(result: Any) -> Json | None:
    return next(reversed(_answers(result)), None)


def _counts(result: Any) -> Json:
    answer = _last(result)
    attributes: Json = {}
    if answer and (finish := _finish(answer)):
        attributes["gen_ai.response.finish_reasons"] = [finish]
    if usage := usage_of(Event.of(answer or {})):
        attributes["gen_ai.usage.input_tokens"] = usage.prompt
        attributes["gen_ai.usage.output_tokens"] = usage.output
    return attributes


def _finish(answer: Mapping[str, Any]) -> str | None:
    reason = answer.get("finishReason")
    if reason in _UNREPORTED:
        return None
    return _FINISHES.get(str(reason), str(reason).lower())


def _definitions(request: Any, *, bare: bool) -> list[Json]:
    """Return the tools of a request, without their parameters if `bare`."""
    return [each for tool in _request(request).get("tools") or () for each in _tool(tool, bare)]


def _tool(tool: Mapping[str, Any], bare: bool) -> Iterator[Json]:
    for each in tool.get("functionDeclarations") or ():
        schema = each.get("parameters") or each.get("parametersJsonSchema")
        yield {
            "name": each.get("name", ""),
            "description": each.get("description"),
            "parameters": None if bare else schema,
            "type": "function",
        }
    for name in tool:
        if name != "functionDeclarations":
            yield {"name": name, "type": name}


def _message(content: Mapping[str, Any]) -> Json:
    parts = [_part(each, index) for index, each in enumerate(content.get("parts") or ())]
    return {
        "role": _ROLES.get(content.get("role") or "", ""),
        "parts": [each for each in parts if each is not None],
    }


def _part(part: Mapping[str, Any], index: int) -> Json | None:
    if part.get("text") is not None:
        return {"content": part["text"], "type": "text"}
    if blob := part.get("inlineData"):
        data = str(blob.get("data", "")).translate(_STANDARD)
        return {"mime_type": blob.get("mimeType", ""), "data": data, "type": "blob"}
    if file := part.get("fileData"):
        uri = file.get("fileUri", "")
        return {"mime_type": file.get("mimeType", ""), "uri": uri, "type": "file_data"}
    if call := part.get("functionCall"):
        about = {"name": call.get("name", ""), "arguments": call.get("args"), "type": "tool_call"}
        return {**_identity(call, index), **about}
    if answer := part.get("functionResponse"):
        about = {"response": answer.get("response"), "type": "tool_call_response"}
        return {**_identity(answer, index), **about}
    return None


_STANDARD: Final = str.maketrans("-_", "+/")
"""Translates URL-safe base64 to the standard alphabet, the only one that browsers read."""


def _identity(call: Mapping[str, Any], index: int) -> Json:
    """Return the id of a call or an answer, or else one made from its name and index."""
    name = call.get("name")
    return {"id": call.get("id") or (f"{name}_{index}" if name else str(index))}


def _instructions(system: Any) -> list[Json]:
    if isinstance(system, str):
        return [{"content": system, "type": "text"}] if system else []
    if isinstance(system, Mapping):
        parts: list[Json] = _message(system if "parts" in system else {"parts": [system]})["parts"]
        return parts
    return [each for part in system or () for each in _instructions(part)]


def _nanoseconds(seconds: float) -> int:
    return round(seconds * _NANOSECONDS)


def _span_id(run: str, number: int) -> int:
    """Return the id of a span from its number in its run; 0 is the run itself."""
    return _id(f"{run} {number}")


def _id(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=_NUMBER_BYTES).digest())
