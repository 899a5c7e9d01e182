"""Makes a recording of a run out of the journal: for a replay here, or for a file beside a test."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from devui.debugger.artifact_parts import part_of
from devui.debugger.byhand import Made, edits_by_hand
from devui.store.journal import Journal
from devui.store.rows import CallRecord, RunRow, SessionRow
from devui.store.state import prefixed
from devui.wire.gates import EDITED
from devui.wire.recordings import Asked, RecordedCall, RecordedFile, Recording
from devui.wire.spans import CANCELLED

_LOST = frozenset({"WorkerDied", "ServerStopped"})
"""Errors that say nothing of what the run's code did."""


class NotRecorded(ValueError):
    """The run cannot be executed again, and why."""


async def recording_of(
    journal: Journal, session: SessionRow, run: RunRow, *, whole: bool = False
) -> Recording:
    """The recording of a run that has ended.

    `whole` puts in what was before the run, too: history, state and files, so that it can be
    executed without this journal. Raises NotRecorded.
    """
    if run.ended is None:
        raise NotRecorded("the run goes on: stop it or wait for its end")
    asked = json.loads(await journal.replays.asked(run.id) or "{}")
    told = [(n, json.loads(data)) for n, data in await journal.replays.events(session.key, run.id)]
    events = _without_answers(told)
    calls = await journal.replays.calls(session.key, run.id)
    if not events:
        raise NotRecorded("the run committed no event: there is nothing to execute again")
    first = events[0][0]
    places = {number: place for place, (number, _) in enumerate(events)}
    recorded = [_call(call, places) for call in calls]
    before = await _before(journal, session, first) if whole else {}
    files = [*_files(recorded), *_files_of(before.get("history", []))]
    pieces = await _pieces(journal, session, recorded)
    return Recording(
        app=session.app,
        user=session.user,
        session=session.id,
        **_request(asked, events, run, recorded),
        first=first,
        **_end(run),
        **before,
        files=await _load(journal, session, files),
        pieces=pieces,
        calls=recorded,
        edits=await edits_by_hand(journal, run, Made(events, recorded, pieces)),
        fragments=[
            json.loads(text) for text in await journal.replays.fragments(session.key, run.id)
        ],
        events=[event for _, event in events],
    )


def _without_answers(events: list[tuple[int, dict[str, Any]]]) -> list[tuple[int, dict[str, Any]]]:
    """The run's own events: what a person answered for lost calls was there before it began."""
    start = 0
    while start < len(events) and any(
        mark.get("gate") == "resume"
        for mark in (events[start][1].get("customMetadata") or {}).get(EDITED) or []
    ):
        start += 1
    return events[start:]


def _request(
    asked: dict[str, Any],
    events: list[tuple[int, dict[str, Any]]],
    run: RunRow,
    calls: list[RecordedCall],
) -> dict[str, Any]:
    """What the run was asked; of a run that did not keep it, what its first event tells."""
    if asked.get("rewind"):
        raise NotRecorded("the run only took the session back: there is nothing to execute again")
    first = events[0][1]
    spoken = first.get("author") == "user" and first.get("content")
    message = asked.get("message") or (first["content"] if spoken else None)
    delta = (first.get("actions") or {}).get("stateDelta") if spoken else None
    streams = any(call.request.stream for call in calls if call.request is not None)
    return {
        "message": {**message, "role": "user"} if message else None,
        "invocation": asked.get("invocation") if asked else (None if spoken else run.invocation_id),
        "state_delta": asked.get("stateDelta") if asked else (delta or None),
        "streaming": asked.get("streaming", streams),
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
    sent = json.loads(record.sent) if record.sent else None
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
        request=Asked(**sent) if is_model and sent else None,
        args=sent if is_tool else None,
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
    return {
        "state": {prefixed(each.scope, each.key): json.loads(each.value) for each in values},
        "history": [json.loads(data) for _, data in bodies],
    }


def _files(calls: Iterable[RecordedCall]) -> Iterator[tuple[str, int]]:
    for call in calls:
        yield from (call.effects.get("artifactDelta") or {}).items()


def _files_of(events: Iterable[dict[str, Any]]) -> Iterator[tuple[str, int]]:
    for event in events:
        yield from ((event.get("actions") or {}).get("artifactDelta") or {}).items()


async def _load(
    journal: Journal, session: SessionRow, files: Iterable[tuple[str, int]]
) -> list[RecordedFile]:
    loaded = []
    for name, version in sorted(set(files)):
        found = await journal.artifacts.load(
            session.app, session.user, session.id, name, version=version
        )
        if found is not None:
            loaded.append(RecordedFile(name=name, version=version, part=part_of(found)))
    return loaded


async def _pieces(
    journal: Journal, session: SessionRow, calls: Iterable[RecordedCall]
) -> dict[str, Any]:
    names = {
        name
        for call in calls
        if (asked := call.request) is not None
        for name in (asked.system, asked.tools, asked.config, *asked.contents)
        if name is not None
    }
    found = await journal.spans.pieces(session.key, sorted(names))
    return {name: json.loads(text) for name, text in found.items()}
