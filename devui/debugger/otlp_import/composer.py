"""Composes a session from received spans: runs, spans with prompts and answers, and events.

A trace becomes a run. The user's message is the last user text in the first model request. Each
model call becomes an event with its answer; tool calls that share an event become one with their
results. Nothing is made up: without contents, events say who did what, when and with how many
tokens.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final

from devui.debugger.otlp_import import conventions
from devui.debugger.otlp_import.conventions import Kind
from devui.debugger.otlp_import.spans import ReceivedSpan
from devui.debugger.runs.commit import event_of as row_of
from devui.debugger.runs.request import opening_title
from devui.store.imports import NewImport, SessionBuilder
from devui.store.rows import RunRow
from devui.store.runs.requests import NewSpan
from devui.wire.events import Event
from devui.wire.pieces import piece_name
from devui.wire.spans import Prompt

ANYBODY: Final = "user"
"""The user of the session if no span names one."""


@dataclass(slots=True)
class _Step:
    """An agent, model call or tool call in a run."""

    span: ReceivedSpan
    kind: Kind
    number: int
    parent: int | None
    agent: str
    event: int | None = None


@dataclass(slots=True)
class _Event:
    """An event without a number yet."""

    at: float
    body: dict[str, Any]
    steps: list[_Step] = field(default_factory=list)
    final: bool = False


def compose(
    texts: Sequence[str], words_of: Callable[[str], str]
) -> tuple[NewImport, Callable[[SessionBuilder], None]]:
    """Return the session of these spans and the function that stores it.

    `words_of` is as in `opening_title`.
    """
    spans = sorted(map(ReceivedSpan.from_json, texts), key=lambda span: (span.start, -span.end))
    users = (user for span in spans if (user := conventions.user_of(span)))
    app, user = spans[0].service, next(users, ANYBODY)
    session_id = next(
        (name for span in spans if (name := conventions.session_of(span))), spans[0].trace
    )
    whence = {"app": app, "user": user, "id": session_id}
    nothing: dict[str, Any] = {"forked": [], "forks": [], "redacted": 0, "extra": {}}
    new = NewImport(
        app=app,
        user=user,
        title=None,
        created=spans[0].start,
        updated=max(span.end for span in spans),
        data=json.dumps(whence | nothing),
    )
    return new, lambda builder: _land(builder, spans, words_of)


def _land(
    builder: SessionBuilder, spans: Sequence[ReceivedSpan], words_of: Callable[[str], str]
) -> None:
    builder.start({})
    traces: dict[str, list[ReceivedSpan]] = {}
    for span in spans:
        traces.setdefault(span.trace, []).append(span)
    pieces: set[str] = set()
    seen: set[str] = set()
    number = 0
    for trace, own in traces.items():
        run = _run(builder.key, trace, own)
        builder.run(run, None, 0.0)
        steps = _steps(own)
        for event in sorted(_events(run, steps), key=lambda event: event.at):
            number += 1
            _name(event, seen)
            for step in event.steps:
                step.event = number
            text = json.dumps(event.body, ensure_ascii=False)
            row = row_of(Event.of(event.body, text), final=event.final)
            builder.event(row, run.id)
            if not builder.has_title and (title := opening_title(row, words_of)):
                builder.title(title)
        for step in steps:
            _land_span(builder, run.id, step, pieces)


def _run(session: int, trace: str, spans: Sequence[ReceivedSpan]) -> RunRow:
    """Return the run of a trace; without a root span, it counts as `interrupted`."""
    span_ids = {span.id for span in spans}
    root = next((span for span in spans if span.parent is None), None)
    tops = [span for span in spans if span.parent not in span_ids]
    failed = root.error if root else None
    kind, _, message = (failed or "").partition(": ")
    error = {"type": kind, "message": message, "traceback": ""} if failed else None
    ids = (conventions.first(span, "gcp.vertex.agent.invocation_id") for span in spans)
    return RunRow(
        id=_run_id(spans[0]),
        session=session,
        invocation_id=next((str(each) for each in ids if each), trace),
        status="failed" if failed else "done" if root else "interrupted",
        error=json.dumps(error) if error else None,
        started=min(span.start for span in tops),
        ended=max(span.end for span in spans),
        seq=0,
        closed=1,
    )


def _run_id(span: ReceivedSpan) -> str:
    """Return a stable id, by trace and service: a trace of several services is a run of each."""
    return blake2b(f"{span.service} {span.trace}".encode(), digest_size=16).hexdigest()


def _steps(spans: Sequence[ReceivedSpan]) -> list[_Step]:
    """Return the agents, models and tools, each below the nearest one around it."""
    by_id = {span.id: span for span in spans}
    kinds = {span.id: kind for span in spans if (kind := conventions.kind_of(span)) is not None}
    for span in spans:  # google-adk's `call_llm` surrounds the call itself
        if kinds.get(span.id) == "model":
            _take_over(span, by_id, kinds)
    steps: dict[str, _Step] = {}
    for span in spans:
        kind = kinds.get(span.id)
        if kind is None:
            continue
        around = next((steps[each.id] for each in _around(span, by_id) if each.id in steps), None)
        name = conventions.name_of(span, kind)
        own_name = conventions.first(span, "gen_ai.agent.name") if kind != "agent" else name
        agent = str(own_name or (around.agent if around else span.service))
        parent = around.number if around else None
        steps[span.id] = _Step(span, kind, len(steps) + 1, parent, agent)
    return list(steps.values())


def _take_over(span: ReceivedSpan, by_id: dict[str, ReceivedSpan], kinds: dict[str, Kind]) -> None:
    """Merge the surrounding spans of the same model call into this one."""
    for outer in _around(span, by_id):
        kind = kinds.get(outer.id)
        if kind == "model":
            del kinds[outer.id]
            for name, value in outer.attributes.items():
                span.attributes.setdefault(name, value)
        elif kind is not None:
            return


def _around(span: ReceivedSpan, by_id: dict[str, ReceivedSpan]) -> Iterator[ReceivedSpan]:
    """Yield the surrounding spans, nearest first; a cycle ends where it closes."""
    seen = {span.id}
    while (outer := by_id.get(span.parent or "")) is not None and outer.id not in seen:
        seen.add(outer.id)
        yield outer
        span = outer


def _events(run: RunRow, steps: Sequence[_Step]) -> Iterable[_Event]:
    models = [step for step in steps if step.kind == "model"]
    if models and (content := _last_words(models[0])) is not None:
        body = _body(run, f"{models[0].span.id}-user", "user", run.started)
        yield _Event(run.started, {**body, "content": content})
    tools = [step for step in steps if step.kind == "tool"]
    for step in models:
        answer = conventions.answer_of(step.span)
        _give_ids(answer, step, tools)
        name = conventions.event_of(step.span) or step.span.id
        body = _body(run, name, step.agent, step.span.end) | answer
        if step.span.error is not None:
            code, _, message = step.span.error.partition(": ")
            body |= {"errorCode": code, "errorMessage": message or code}
        parts = (answer.get("content") or {}).get("parts") or []
        final = bool(parts) and not any("functionCall" in part for part in parts)
        yield _Event(step.span.end, body, [step], final=final)
    yield from _tool_events(run, steps)


def _give_ids(answer: dict[str, Any], model: _Step, tools: list[_Step]) -> None:
    """Give calls the ids that their tools' spans have.

    A model may return calls without ids; google-adk assigns them after the model's span has ended.
    """
    call_ids = {conventions.call_of(tool.span) for tool in tools}
    for part in (answer.get("content") or {}).get("parts") or ():
        call = part.get("functionCall")
        if call is None or call.get("id") in call_ids - {None}:
            continue
        for tool in tools:
            same = conventions.name_of(tool.span, "tool") == call.get("name")
            if same and tool.agent == model.agent and tool.span.start >= model.span.end:
                call["id"] = conventions.call_of(tool.span)
                tools.remove(tool)
                break


def _tool_events(run: RunRow, steps: Sequence[_Step]) -> Iterable[_Event]:
    """Return an event for each event id that tool spans name, else one for each call."""
    events: dict[str, _Event] = {}
    for step in steps:
        if step.kind != "tool" or step.span.error is not None:
            continue
        name = conventions.event_of(step.span) or step.span.id
        event = events.get(name)
        if event is None:
            body = _body(run, name, step.agent, step.span.end)
            body["content"] = {"role": "user", "parts": []}
            event = events[name] = _Event(step.span.end, body)
        event.at = event.body["timestamp"] = max(event.at, step.span.end)
        event.steps.append(step)
        event.body["content"]["parts"].append({"functionResponse": _response(step.span)})
    return events.values()


def _response(span: ReceivedSpan) -> dict[str, Any]:
    result, call = conventions.result_of(span), conventions.call_of(span)
    response = {"id": call, "name": conventions.name_of(span, "tool"), "response": result}
    if result is not None and not isinstance(result, dict):
        response["response"] = {"result": result}
    return {key: value for key, value in response.items() if value is not None}


def _last_words(step: _Step) -> dict[str, Any] | None:
    """Return the user's last message in a request."""
    request = conventions.request_of(step.span)
    for content in reversed(request["contents"] if request else []):
        texts = [part for part in content["parts"] if "text" in part]
        if content["role"] == "user" and texts:
            return {"role": "user", "parts": texts}
    return None


def _body(run: RunRow, name: str, author: str, at: float) -> dict[str, Any]:
    names = {"id": name, "author": author, "invocationId": run.invocation_id}
    return {**names, "timestamp": at, "actions": {}}


def _name(event: _Event, ids: set[str]) -> None:
    """Make the id of the event unique in the session, whatever the traces say."""
    name, again = event.body["id"], 1
    while event.body["id"] in ids:
        again += 1
        event.body["id"] = f"{name}-{again}"
    ids.add(event.body["id"])


def _land_span(builder: SessionBuilder, run: str, step: _Step, pieces: set[str]) -> None:
    span, payload, result = step.span, None, None
    prompt: Prompt | None = None
    if step.kind == "model":
        answer = conventions.answer_of(span)
        prompt = _request(builder, span, pieces)
        result = json.dumps([[span.seconds, answer]]) if answer else None
    elif step.kind == "tool":
        payload, result = (
            None if value is None else json.dumps(value, ensure_ascii=False)
            for value in (conventions.arguments_of(span), conventions.result_of(span))
        )
    new = NewSpan(
        run=run,
        number=step.number,
        parent=step.parent,
        type=step.kind,
        name=conventions.name_of(span, step.kind),
        agent=step.agent,
        branch=None,
        call=conventions.call_of(span) if step.kind == "tool" else None,
        began=span.start,
        sent=payload,
        prompt=prompt,
    )
    builder.span(new, step.event, (span.seconds, None, span.error, result, None))


def _request(builder: SessionBuilder, span: ReceivedSpan, pieces: set[str]) -> Prompt | None:
    """Return a request by the names of its pieces, each of which is stored once."""
    request = conventions.request_of(span)
    if request is None:
        return None

    def piece(value: Any) -> str | None:
        if value is None:
            return None
        text = json.dumps(value, ensure_ascii=False)
        name = piece_name(text)
        if name not in pieces:
            pieces.add(name)
            builder.piece(name, text)
        return name

    single = {name: piece(request[name]) for name in ("system", "tools", "config")}
    contents = [name for content in request["contents"] if (name := piece(content))]
    model = conventions.name_of(span, "model")
    return Prompt(
        model=model,
        system=single["system"],
        tools=single["tools"],
        config=single["config"],
        contents=contents,
        pieces={},
    )
