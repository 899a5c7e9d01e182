"""Makes recordings of runs from the journal: for a replay here, or for a file next to a test."""

import asyncio
import json
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from devui.debugger.background.jobs import UNWATCHED, Progress
from devui.debugger.events.artifact_parts import part_of
from devui.debugger.recovery.message_files import with_files
from devui.debugger.replays.interventions import RunHistory, edits_by_hand
from devui.debugger.runs.options import settings_in
from devui.store.journal import Journal
from devui.store.rows import CallRecord, RunRow, SessionRow
from devui.store.state import prefixed
from devui.wire.events import Event
from devui.wire.gates import EDITED
from devui.wire.recordings import (
    ModelRequest,
    RecordedCall,
    RecordedEngine,
    RecordedFile,
    Recording,
)
from devui.wire.spans import CANCELLED

T = TypeVar("T")

_LOST = frozenset({"WorkerDied", "ServerStopped"})
"""Errors that say nothing about what the run's code did."""


class NotRecorded(ValueError):
    """The run can't be executed again; the message says why."""


async def recording_of(
    journal: Journal,
    session: SessionRow,
    run: RunRow,
    *,
    whole: bool = False,
    progress: Progress = UNWATCHED,
) -> Recording:
    """Return the recording of a run that has ended.

    `whole` includes what preceded the run (history, state and files), so that it can be executed
    without this journal. `progress` counts events and calls. Raises NotRecorded and JobStopped.
    """
    if run.ended is None:
        raise NotRecorded("the run is in progress: stop it or wait for it to end")
    request = json.loads(await journal.replays.request_of(run.id) or "{}")
    stored_events = await journal.replays.events(session.key, run.id)
    calls = await journal.replays.calls(session.key, run.id)
    progress.begin(len(stored_events) + len(calls) + 1)  # the last step is the recording's text
    # A run may have produced megabytes, so they are parsed in a thread, text by text.
    await asyncio.to_thread(
        lambda: [event.read() for _, event in _with_progress(stored_events, progress)]
    )
    events = _without_answers(stored_events)
    if not events:
        raise NotRecorded("the run committed no events: there is nothing to replay")
    first = events[0][0]
    places = {number: place for place, (number, _) in enumerate(events)}
    recorded = await asyncio.to_thread(
        lambda: [_call(call, places) for call in _with_progress(calls, progress)]
    )
    before = await _before(journal, session, first) if whole else {}
    files = [*_files(recorded), *_files_of(before.get("history", []))]
    pieces = await _pieces(journal, session, recorded)
    order = _request(request, events, run, recorded)
    if order["save_files"] and order["message"] and not request.get("message"):
        message = events[0][1].content.fields  # too large to be stored twice
        message = await with_files(journal, session, events[0][1], message)
        order["message"] = {**message, "role": "user"}
    fragments = await journal.replays.fragments(session.key, run.id)
    engine = json.loads(await journal.replays.engine_of(run.id) or "null")
    return Recording(
        engine=RecordedEngine(**engine) if engine else None,
        app=session.app,
        user=session.user,
        session=session.id,
        **order,
        first=first,
        **_end(run),
        **before,
        files=await _load(journal, session, files),
        pieces=pieces,
        calls=recorded,
        edits=await edits_by_hand(journal, run, RunHistory(events, recorded, pieces)),
        fragments=await asyncio.to_thread(lambda: [json.loads(text) for text in fragments]),
        events=[dict(event.fields) for _, event in events],
    )


def _with_progress(items: Iterable[T], progress: Progress) -> Iterator[T]:
    for item in items:
        yield item
        progress.advance()


def _without_answers(events: list[tuple[int, Event]]) -> list[tuple[int, Event]]:
    """Return the run's own events, without people's answers to lost calls, which precede it."""
    start = 0
    while start < len(events) and any(
        mark.get("gate") == "resume" for mark in events[start][1].metadata.get(EDITED) or []
    ):
        start += 1
    return events[start:]


def _request(
    request: dict[str, Any],
    events: list[tuple[int, Event]],
    run: RunRow,
    calls: list[RecordedCall],
) -> dict[str, Any]:
    """Return what the run was asked to do, from its request or else its first event.

    Raises NotRecorded for a rewind.
    """
    if request.get("rewind"):
        raise NotRecorded("the run only rewound the session: there is nothing to replay")
    first = events[0][1]
    is_message = first.author == "user" and first.content.fields
    message = request.get("message") or (first.content.fields if is_message else None)
    delta = first.state_delta if is_message else None
    streams = any(call.request.stream for call in calls if call.request is not None)
    return {
        "message": {**message, "role": "user"} if message else None,
        "invocation": request.get("invocation")
        if request
        else (None if is_message else run.invocation_id),
        "state_delta": request.get("stateDelta") if request else (dict(delta) if delta else None),
        "streaming": request.get("streaming", streams),
        "custom_metadata": request.get("customMetadata"),
        "service_tier": request.get("serviceTier"),
        "save_files": request.get("saveFiles", False),
        "settings": settings_in(request.get("settings")) or None,
    }


def _end(run: RunRow) -> dict[str, Any]:
    error = json.loads(run.error) if run.error else None
    if error is None or run.status != "failed":
        return {"outcome": run.status, "error": None}
    if error.get("type") in _LOST:
        return {"outcome": "interrupted", "error": None}
    return {"outcome": "failed", "error": f"{error.get('type')}: {error.get('message')}"}


def _call(record: CallRecord, places: dict[int, int]) -> RecordedCall:
    span = record.span
    payload = record.sent
    result = json.loads(record.result) if record.result else None
    is_model, is_tool = span.type == "model", span.type == "tool"
    return RecordedCall(
        number=span.number,
        parent=span.parent,
        type=span.type,  # type: ignore[arg-type]  # the journal's CHECK says so
        name=span.name,
        agent=span.agent,
        branch=span.branch,
        call=span.call,
        event=places.get(span.event) if span.event is not None else None,
        request=ModelRequest(**payload) if is_model and payload else None,
        args=payload if is_tool else None,
        responses=[(seconds, answer) for seconds, answer in result or []] if is_model else [],
        result=result if is_tool else None,
        effects=json.loads(record.effects) if record.effects else {},
        error=None if span.error == CANCELLED else span.error,
        open=span.seconds is None or span.error == CANCELLED,
    )


async def _before(journal: Journal, session: SessionRow, first: int) -> dict[str, Any]:
    moment = await journal.state.moment(session.key, first - 1)
    values = await journal.state.at(session.key, moment)
    bodies = await journal.events.bodies(session.key, range(1, first))

    def parse() -> dict[str, Any]:
        return {
            "state": {prefixed(each.scope, each.key): json.loads(each.value) for each in values},
            "history": [dict(event.fields) for _, event in bodies],
        }

    return await asyncio.to_thread(parse)


def _files(calls: Iterable[RecordedCall]) -> Iterator[tuple[str, int]]:
    for call in calls:
        yield from (call.effects.get("artifactDelta") or {}).items()


def _files_of(events: Iterable[dict[str, Any]]) -> Iterator[tuple[str, int]]:
    for event in events:
        yield from Event.of(event).artifact_delta.items()


async def _load(
    journal: Journal, session: SessionRow, files: Iterable[tuple[str, int]]
) -> list[RecordedFile]:
    recorded_files = []
    for name, version in sorted(set(files)):
        artifact = await journal.artifacts.load(
            session.app, session.user, session.id, name, version=version
        )
        if artifact is not None:
            recorded_files.append(RecordedFile(name=name, version=version, part=part_of(artifact)))
    return recorded_files


async def _pieces(
    journal: Journal, session: SessionRow, calls: Iterable[RecordedCall]
) -> dict[str, Any]:
    names = {
        name
        for call in calls
        if (request := call.request) is not None
        for name in (request.system, request.tools, request.config, *request.contents)
        if name is not None
    }
    texts = await journal.spans.pieces(session.key, sorted(names))
    return await asyncio.to_thread(lambda: {name: json.loads(text) for name, text in texts.items()})
