"""One event in full: labelled fields first, raw JSON last."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from devui.debugger.events.preview import preview
from devui.debugger.events.prices import Prices
from devui.debugger.events.usage import usage_of
from devui.debugger.guard.effects import FRAMEWORK_CALLS
from devui.store.rows import Change, EditRow, NoteRow
from devui.store.rows import EventRow as StoredEvent
from devui.store.summaries import Summary, Usage
from devui.web.basic_parts import Fact, JsonText
from devui.web.links import (
    artifact_url,
    event_file_url,
    event_value_url,
    file_version_url,
    fork_here_url,
    try_call_url,
    whole_event_url,
)
from devui.web.panels.artifacts.saved import NO_FILES, SavedFiles, file_facts
from devui.web.panels.breakpoints.from_event import like_this
from devui.web.panels.chat.content import content_parts
from devui.web.panels.chat.content_parts import CallPart, ContentPart, ResponsePart, ThoughtPart
from devui.web.panels.chat.file_data import without_file_data
from devui.web.panels.chat.previews import OPENS_IN_BROWSER
from devui.web.panels.inspector.edits import event_edits
from devui.web.panels.inspector.mark_parts import EventNotes
from devui.web.panels.inspector.parts import ArtifactLink, Chunks, EventDetail
from devui.web.panels.notes.parts import note_form
from devui.web.panels.recovery.panel import fork_form
from devui.web.panels.recovery.parts import ForkForm
from devui.web.panels.state.panel import changed_values
from devui.web.panels.timeline.kinds import WORDS, shape
from devui.web.text import formats
from devui.web.text.deceptive_characters import visible
from devui.web.text.formats import LONGEST_TEXT, moment, money, plain
from devui.web.text.jsontree import json_text
from devui.wire.events import USER, Event, Fields

CHUNKS_SHOWN: Final = 200
RAW_IN_FILE: Final = 131_072
"""How many characters of an event's JSON a session's HTML file contains."""
VALUE: Final = 400
"""How many characters of an action's value are shown; the raw JSON has all."""

ACTIONS: Final[dict[str, str]] = {
    "transferToAgent": "transfer to",
    "transferReason": "transfer reason",
    "escalate": "escalate",
    "skipSummarization": "skip summarization",
    "requestedToolConfirmations": "confirmation requested",
    "requestedAuthConfigs": "sign-in requested",
    "endOfAgent": "end of agent",
    "agentState": "agent state",
    "compaction": "compaction",
    "rewindBeforeInvocationId": "rewind before",
    "route": "route",
    "renderUiWidgets": "widgets",
    "setModelResponse": "model response set",
}
"""The labels of actions other than state and artifacts (adk-runtime 1.3)."""
_OWN_METADATA: Final = ("devui_", "__adk_internal")
"""How keys of the runtime and the debugger begin, which the page shows elsewhere."""


def event_detail(
    event: Event,
    row: StoredEvent,
    changes: Sequence[Change],
    *,
    summary: Summary,
    prices: Prices,
    chunks: Sequence[Event] = (),
    edits: Sequence[EditRow] = (),
    notes: EventNotes | None = None,
    note: NoteRow | None = None,
    saved_files: SavedFiles = NO_FILES,
    fork: str = "",
    in_file: bool = False,
) -> EventDetail:
    """Return everything about one event.

    `chunks` are its partial events in order, `edits` what people changed before its commit, `notes`
    what was noticed about the state, `note` what somebody wrote about it. `in_file` is for a page
    without a server: it has nothing to post, and its script colors the JSON when it is unfolded.
    """
    whole = whole_event_url(row.session, row.number)
    parts = _parts(event, row)
    calls = [part.try_href for part in parts if isinstance(part, CallPart | ResponsePart)]
    only_call = calls[0] if len(calls) == 1 and not in_file else ""
    form = None if in_file else fork_form(event, row, fork)
    return EventDetail(
        number=row.number,
        kind=summary.kind,
        word=WORDS[summary.kind],
        shape=shape(summary.kind, final=row.final, has_failed=summary.has_failed),
        author=visible(row.author),
        moment=moment(row.timestamp),
        final=row.final if row.author != USER else None,
        partial=event.is_partial,
        error=_error(event),
        parts=tuple(map(_without_try_link, parts)) if only_call else parts,
        changes=changed_values(changes, session=row.session, number=row.number),
        artifacts=tuple(_artifacts(row.number, event, row.session, saved_files)),
        actions=tuple(_actions(event.actions)),
        model=tuple(_model(event, prices)),
        identity=tuple(_identity(event, row)),
        place=tuple(_place(event, row)),
        note=note_form(row.session, row.number, note),
        like=None if in_file else like_this(row, summary),
        fork=form,
        edit_href=edit_url(row, form),
        try_href=only_call,
        chunks=_chunks(chunks),
        raw=_raw_in_file(event, row.size)
        if in_file
        else json_text(event.fields, whole, size=row.size),
        whole=whole if not in_file and _is_shortened(row, event) else "",
        edits=event_edits(edits, summary),
        notes=notes,
    )


def _is_shortened(row: StoredEvent, event: Event) -> bool:
    """Return whether the event may hold a text that is too long to show, besides its files."""
    return row.size > LONGEST_TEXT and len(without_file_data(event).text) > LONGEST_TEXT


def _raw_in_file(event: Event, size: int) -> JsonText:
    text = json_text(event.fields, size=size, limit=RAW_IN_FILE, colored=False)
    return replace(text, cut=f"{text.cut}; the JSON export has it all") if text.cut else text


def _error(event: Event) -> Fact | None:
    code, message = event.error_code, event.error_message
    if not code and not message:
        return None
    return Fact(visible(str(code or "")), visible(str(message or "")))


def _artifacts(
    number: int, event: Event, session: int, saved_files: SavedFiles
) -> Iterator[ArtifactLink]:
    for name, version in event.artifact_delta.items():
        href = artifact_url(session, name, version)
        mime, size = file_facts(saved_files, name, version)
        yield ArtifactLink(
            visible(name),
            version,
            href,
            visible(mime),
            size,
            opens=mime in OPENS_IN_BROWSER,
            tab_href=file_version_url(session, name, version, event=number),
        )


def _actions(actions: Fields) -> Iterator[Fact]:
    for key, label in ACTIONS.items():
        value = actions.get(key)
        if value is None or value in ({}, []):
            continue
        text = value if isinstance(value, str) else preview(value, VALUE)
        yield Fact(label, visible(text), mono=not isinstance(value, bool | str))


def _model(event: Event, prices: Prices) -> Iterator[Fact]:
    usage = usage_of(event)
    if usage is not None:
        counts = (
            ("input", usage.prompt - usage.cached),
            ("cached", usage.cached),
            ("output", usage.output - usage.thoughts),
            ("thinking", usage.thoughts),
        )
        hint = " · ".join(
            f"{label} {formats.group_digits(number)}" for label, number in counts if number
        )
        yield Fact("tokens", formats.group_digits(usage.prompt + usage.output), hint=hint)
        yield _cost(usage, prices)
    for label, value in (("finish reason", event.finish_reason), ("model", event.model)):
        if value:
            yield Fact(label, visible(value))


def _cost(usage: Usage, prices: Prices) -> Fact:
    price = prices.find(usage.model)
    if price is None:
        name = visible(usage.model) or "an unnamed model"
        return Fact("cost", "unknown", hint=f"no price known for {name}")
    rates = price.for_prompt(usage.prompt)
    cached = "unknown" if rates.cached is None else f"${plain(rates.cached)}"
    pricing = f"${plain(rates.input)} in, {cached} cached, ${plain(rates.output)} out per 1M tokens"
    cost = rates.cost(usage)
    return Fact(
        "cost", "unknown" if cost is None else money(cost), hint=f"{pricing}; {price.source}"
    )


def _identity(event: Event, row: StoredEvent) -> Iterator[Fact]:
    yield Fact("id", visible(row.id), mono=True)
    yield Fact("invocation", visible(row.invocation_id), mono=True)
    if row.run:
        yield Fact("run", visible(row.run), mono=True)
    waiting = event.fields.get("longRunningToolIds")
    if waiting:
        yield Fact("long-running", visible(", ".join(map(str, waiting))), mono=True)
    if role := event.content.role:
        yield Fact("role", visible(role), hint="as the model sees it")
    yield Fact("size", formats.size(row.size))


def _place(event: Event, row: StoredEvent) -> Iterator[Fact]:
    if row.branch:
        yield Fact("branch", visible(row.branch), mono=True)
    if event.node_path:
        yield Fact("node", visible(event.node_path), mono=True)
    if event.output is not None:
        yield Fact("output", visible(preview(event.output, VALUE)), mono=True)
    for field, label in (("interrupted", "interrupted"), ("turnComplete", "turn complete")):
        if event.fields.get(field) is not None:
            yield Fact(label, "yes" if event.fields[field] else "no")
    for key, value in event.metadata.items():
        if not key.startswith(_OWN_METADATA):
            text = value if isinstance(value, str) else preview(value, VALUE)
            yield Fact(visible(key), visible(text), mono=True, hint="custom metadata")


def edit_url(row: StoredEvent, form: ForkForm | None) -> str:
    """Return the page with the fork form open at the event's fields; "" if there are none to
    edit."""
    can_edit = form is not None and (form.event or form.sections)
    return fork_here_url(row.session, row.number, edit=True) if can_edit else ""


def _chunks(chunks: Sequence[Event]) -> Chunks | None:
    if not chunks:
        return None
    texts = tuple(visible(_chunk_text(chunk)) for chunk in chunks[:CHUNKS_SHOWN])
    return Chunks(len(chunks), texts, more=len(chunks) - len(texts))


def _chunk_text(chunk: Event) -> str:
    text = "".join(part.text for part in chunk.parts)
    return text or preview(chunk.content.fields, VALUE)


def _parts(event: Event, row: StoredEvent) -> tuple[ContentPart, ...]:
    rest = partial(event_value_url, row.session, row.number)
    file = partial(event_file_url, row.session, row.number)
    parts = content_parts(event, rest=rest, file=file)
    if len(parts) == 1 and isinstance(parts[0], ThoughtPart):
        return (replace(parts[0], open=True),)  # there is nothing else to see
    return tuple(_with_try_link(part, row) for part in parts)


def _with_try_link(part: ContentPart, row: StoredEvent) -> ContentPart:
    """Add the link that tries a tool by itself; the framework's own calls, such as questions, have
    none."""
    if not isinstance(part, CallPart | ResponsePart) or not part.id or part.name in FRAMEWORK_CALLS:
        return part
    return replace(part, try_href=try_call_url(row.session, row.number, part.id))


def _without_try_link(part: ContentPart) -> ContentPart:
    return replace(part, try_href="") if isinstance(part, CallPart | ResponsePart) else part
