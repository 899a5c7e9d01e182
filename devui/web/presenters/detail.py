"""One event in full: labelled fields first, raw JSON last."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from devui.debugger.guard.effects import FRAMEWORK_CALLS
from devui.debugger.preview import preview
from devui.debugger.prices import Prices
from devui.debugger.summary import Summary
from devui.debugger.usage import usage_of
from devui.store.rows import Change, EditRow, NoteRow, Usage
from devui.store.rows import EventRow as StoredEvent
from devui.web.links import artifact_url, try_call_url, whole_event_url
from devui.web.parts.basics import Fact
from devui.web.parts.content import CallPart, ContentPart
from devui.web.parts.inspector import ArtifactLink, Chunks, EventDetail
from devui.web.parts.marks import EventNotes
from devui.web.presenters.breaking import like_this
from devui.web.presenters.content import content_parts, mapping, raw_parts
from devui.web.presenters.interventions import event_edits
from devui.web.presenters.kinds import WORDS, shape
from devui.web.presenters.noting import note_form
from devui.web.presenters.recovering import fork_form
from devui.web.presenters.statepanel import changed_values
from devui.web.text import formats
from devui.web.text.bounds import SHOWN
from devui.web.text.figures import money, plain
from devui.web.text.formats import moment
from devui.web.text.jsontext import json_text
from devui.web.text.visible import visible

CHUNKS_SHOWN: Final = 200
VALUE: Final = 400
"""Characters of an action's value; the raw JSON has all of it."""

ACTIONS: Final[dict[str, str]] = {
    "transferToAgent": "transfer to",
    "transferReason": "transfer reason",
    "escalate": "escalate",
    "skipSummarization": "skip summarization",
    "requestedToolConfirmations": "asks to confirm",
    "requestedAuthConfigs": "asks to sign in",
    "endOfAgent": "end of agent",
    "agentState": "agent state",
    "compaction": "compaction",
    "rewindBeforeInvocationId": "rewind before",
    "route": "route",
    "renderUiWidgets": "widgets",
    "setModelResponse": "model response set",
}
"""Actions besides state and artifacts (adk-runtime 1.3), and what they are called."""


def event_detail(
    event: Mapping[str, Any],
    row: StoredEvent,
    changes: Sequence[Change],
    *,
    summary: Summary,
    prices: Prices,
    chunks: Sequence[Mapping[str, Any]] = (),
    edits: Sequence[EditRow] = (),
    notes: EventNotes | None = None,
    note: NoteRow | None = None,
    fork: bool = False,
) -> EventDetail:
    """Everything about one event; `chunks` are its partial events as parsed JSON, in order.

    `edits` is what people did on the way to it, `notes` what was noticed of the
    state, `note` what somebody wrote about it.
    """
    return EventDetail(
        number=row.number,
        kind=summary.kind,
        word=WORDS[summary.kind],
        shape=shape(summary.kind, final=row.final),
        author=visible(row.author),
        moment=moment(row.timestamp),
        final=row.final,
        partial=event.get("partial") is True,
        error=_error(event),
        parts=tuple(_tried(part, row) for part in content_parts(event)),
        changes=changed_values(changes, session=row.session, number=row.number),
        artifacts=tuple(_artifacts(event, row.session)),
        actions=tuple(_actions(mapping(event.get("actions")))),
        model=tuple(_model(event, prices)),
        identity=tuple(_identity(event, row)),
        note=note_form(row.session, row.number, note),
        like=like_this(row, summary),
        fork=fork_form(event, row, opened=fork),
        chunks=_chunks(chunks),
        raw=json_text(event, whole_event_url(row.session, row.number)),
        whole=whole_event_url(row.session, row.number) if row.size > SHOWN else "",
        edits=event_edits(edits, summary),
        notes=notes,
    )


def _error(event: Mapping[str, Any]) -> Fact | None:
    code, message = event.get("errorCode"), event.get("errorMessage")
    if not code and not message:
        return None
    return Fact(visible(str(code or "")), visible(str(message or "")))


def _artifacts(event: Mapping[str, Any], session: int) -> Iterator[ArtifactLink]:
    delta = mapping(mapping(event.get("actions")).get("artifactDelta"))
    for name, version in delta.items():
        yield ArtifactLink(visible(name), version, artifact_url(session, name, version))


def _actions(actions: Mapping[str, Any]) -> Iterator[Fact]:
    for key, label in ACTIONS.items():
        value = actions.get(key)
        if value is None or value in ({}, []):
            continue
        text = value if isinstance(value, str) else preview(value, VALUE)
        yield Fact(label, visible(text), mono=not isinstance(value, bool | str))


def _model(event: Mapping[str, Any], prices: Prices) -> Iterator[Fact]:
    usage = usage_of(event)
    if usage is not None:
        counted = (
            ("input", usage.prompt - usage.cached),
            ("cached", usage.cached),
            ("output", usage.output - usage.thoughts),
            ("thinking", usage.thoughts),
        )
        hint = " · ".join(
            f"{label} {formats.grouped(number)}" for label, number in counted if number
        )
        yield Fact("tokens", formats.grouped(usage.prompt + usage.output), hint=hint)
        yield _cost(usage, prices)
    for label, key in (("finish reason", "finishReason"), ("model", "modelVersion")):
        if event.get(key):
            yield Fact(label, visible(str(event[key])))


def _cost(usage: Usage, prices: Prices) -> Fact:
    price = prices.find(usage.model)
    if price is None:
        name = visible(usage.model) or "a model that does not say its name"
        return Fact("cost", "unknown", hint=f"no price is known of {name}")
    rates = price.for_prompt(usage.prompt)
    cached = "unknown" if rates.cached is None else f"${plain(rates.cached)}"
    told = f"${plain(rates.input)} in, {cached} cached, ${plain(rates.output)} out per 1M tokens"
    cost = rates.cost(usage)
    return Fact("cost", "unknown" if cost is None else money(cost), hint=f"{told}; {price.source}")


def _identity(event: Mapping[str, Any], row: StoredEvent) -> Iterator[Fact]:
    yield Fact("invocation", visible(row.invocation_id), mono=True)
    path = mapping(event.get("nodeInfo")).get("path")
    if path:
        yield Fact("node", visible(str(path)), mono=True)
    if event.get("output") is not None:
        yield Fact("output", visible(preview(event["output"], VALUE)), mono=True)
    yield Fact("branch", visible(row.branch or "none"), mono=bool(row.branch))
    yield Fact("id", visible(row.id), mono=True)
    if row.run:
        yield Fact("run", visible(row.run), mono=True)
    role = mapping(event.get("content")).get("role")
    if role:
        yield Fact("role", visible(str(role)), hint="as the model sees it")
    waiting = event.get("longRunningToolIds")
    if waiting:
        yield Fact("long-running", visible(", ".join(map(str, waiting))), mono=True)
    yield Fact("size", formats.size(row.size))


def _chunks(chunks: Sequence[Mapping[str, Any]]) -> Chunks | None:
    if not chunks:
        return None
    shown = tuple(visible(_chunk_text(chunk)) for chunk in chunks[:CHUNKS_SHOWN])
    return Chunks(len(chunks), shown, more=len(chunks) - len(shown))


def _chunk_text(chunk: Mapping[str, Any]) -> str:
    texts: Iterable[str] = (str(part["text"]) for part in raw_parts(chunk) if part.get("text"))
    return "".join(texts) or preview(mapping(chunk.get("content")), VALUE)


def _tried(part: ContentPart, row: StoredEvent) -> ContentPart:
    """A call of a tool can be made by itself; those of the framework's own ask people and such."""
    if not isinstance(part, CallPart) or not part.id or part.name in FRAMEWORK_CALLS:
        return part
    return replace(part, try_href=try_call_url(row.session, row.number, part.id))
