"""Looking at a session over HTTP: its events as rows, its state, and all that happens in it, live.

What the session page shows, as JSON (docs/guide/api.md).
"""

import asyncio
import json
from bisect import bisect_right
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from dataclasses import asdict
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from devui.debugger.feed import Batch, TooFarBehind, follow
from devui.debugger.filters import Filter, FilterError
from devui.debugger.live import LiveRun
from devui.debugger.matches import matches, words
from devui.debugger.news import (
    EventCommitted,
    News,
    OutputArrived,
    PositionChanged,
    RunChanged,
    SessionChanged,
)
from devui.debugger.rewinds import taken_back
from devui.debugger.statediff import StateChange, state_changes, writer
from devui.debugger.summary import Summary
from devui.debugger.uncommitted import followed
from devui.store.rows import EventRow, SessionRow, Value
from devui.store.state import prefixed
from devui.web.api.debug import answer, number_in
from devui.web.api.keyhistory import change_told
from devui.web.api.public_events import public_event
from devui.web.cursor import Cursor, ForeignCursor
from devui.web.errors import BadRequest, NotFound
from devui.web.services import Services, services
from devui.web.sse import Message, stream_response
from devui.web.text.numbers import whole_number
from devui.web.views.lookup import event_of, session_of
from devui.web.views.moments import moment_of

_EVENTS = 200
_MOST_EVENTS = 1000
_RESET = "reset"
"""Event name: what was missed cannot be sent; the reader has to read the events anew."""


async def events(request: Request) -> Response:
    """The events after `?after=NUMBER`, or the `?last=` ones, as rows; `?limit=` at most.

    With `?filter=` those of them that it lets through.
    """
    found, session = await session_of(request)
    if text := request.query_params.get("filter"):
        return answer({"events": await _matching(request, found, session, text)})
    last, page = number_in(request, "last"), found.journal.events.page
    if last is not None:
        rows = await page(session.key, limit=min(last, _MOST_EVENTS)) if last > 0 else []
    else:
        limit = max(1, min(number_in(request, "limit") or _EVENTS, _MOST_EVENTS))
        rows = await page(session.key, after=await _after(request), limit=limit)
    return answer({"events": await _rows_told(found, session, rows)})


async def event(request: Request) -> Response:
    """All of one event, however large it is: pages show the beginnings of long texts."""
    found, session = await session_of(request)
    wanted = whole_number(request.path_params["number"])
    body = await found.journal.events.body(session.key, wanted) if wanted else None
    if body is None:
        raise NotFound("there is no such event")
    text = body[1]
    return await asyncio.to_thread(lambda: answer({"event": json.loads(public_event(text))}))


async def filter_terms(request: Request) -> Response:
    """What a filter of the session may ask for, and how many events each lets through."""
    found, session = await session_of(request)
    counted = await words(found.journal, session.key)
    return answer({"words": [{"word": text, "events": n} for text, n in counted.most_common()]})


async def state(request: Request) -> Response:
    """The state as of event `?at=NUMBER`, or now, with what is pending.

    With `?from=NUMBER`, too, what has changed since that event; 0 is before the first.
    """
    found, session = await session_of(request)
    at = await moment_of(found, session, request.query_params.get("at"))
    since = await moment_of(found, session, request.query_params.get("from"))
    values = await found.journal.state.at(session.key, at.seq if at else None)
    live = None if at else found.runs.live(session.key)
    told = {
        "at": at.number if at else None,
        "values": [_value(value) for value in values],
        "pending": list(_pending(live)),
    }
    if since is not None:
        before = await found.journal.state.at(session.key, since.seq)
        changes = await asyncio.to_thread(state_changes, before, values)
        told |= {"from": since.number, "changes": [state_change_told(change) for change in changes]}
    return answer(told)


async def stream(request: Request) -> Response:
    """All that happens in a session after `?after=NUMBER` or the `Last-Event-ID`, as it happens.

    An EventSource that comes back to a session that was deleted is told by 204 to come no more.
    """
    here = services(request)
    try:
        seen = Cursor.read(request.headers.get("last-event-id"), here.journal.id).seq
    except ForeignCursor:
        return stream_response(_reset(), streams=here.streams)
    try:
        found, session = await session_of(request)
    except NotFound:
        if not seen:
            raise
        return Response(status_code=204)
    messages = _messages(found, session, max(seen, await _after(request)))
    return stream_response(messages, streams=found.streams)


def row_told(row: EventRow) -> dict[str, Any]:
    """An event as one line: what the timeline shows of it."""
    summary = Summary.from_json(row.summary)
    return {
        "number": row.number,
        "seq": row.seq,
        "id": row.id,
        "run": row.run,
        "invocationId": row.invocation_id,
        "author": row.author,
        "branch": row.branch,
        "timestamp": row.timestamp,
        "kind": row.kind,
        "final": row.final,
        "text": summary.text,
        "edits": [asdict(edit) for edit in summary.edits],
        "notes": [asdict(note) for note in summary.notes],
    }


async def _matching(
    request: Request, found: Services, session: SessionRow, text: str
) -> list[dict[str, Any]]:
    """The events past `?after=` that a filter lets through: the first ones, or the `?last=`."""
    try:
        wanted = Filter.read(text)
    except FilterError as error:
        raise BadRequest(f"the filter, at {error.at}: {error}") from error
    last, after = number_in(request, "last"), await _event_after(request)
    numbers = (await matches(found.journal, session.key, wanted, found.prices)).numbers
    numbers = numbers[bisect_right(numbers, after.number) :] if after else numbers
    if last is None:
        limit = max(1, min(number_in(request, "limit") or _EVENTS, _MOST_EVENTS))
        numbers = numbers[:limit]
    else:
        numbers = numbers[max(len(numbers) - min(max(last, 0), _MOST_EVENTS), 0) :]
    return await _rows_told(found, session, await found.journal.events.rows(session.key, numbers))


async def _rows_told(
    found: Services, session: SessionRow, rows: Iterable[EventRow]
) -> list[dict[str, Any]]:
    """The rows, with the number of the event that took each of them back."""
    taken = await taken_back(found.journal, session.key)
    return [{**row_told(row), "takenBack": taken.by(row.number)} for row in rows]


async def _event_after(request: Request) -> EventRow | None:
    """The event that `after` names, by its number; raises NotFound."""
    if number_in(request, "after") in {None, 0}:
        return None
    found, session = await session_of(request)
    return await event_of(found, session, request.query_params.get("after"))


async def _after(request: Request) -> int:
    """Its seq; 0 without one."""
    row = await _event_after(request)
    return row.seq if row else 0


async def _messages(
    found: Services, session: SessionRow, after: int
) -> AsyncGenerator[Message, None]:
    """Each with the point up to which its reader has seen all: it may be cut off behind it."""
    news, seq = follow(found.journal, found.bus, session.key, after), after
    try:
        with found.runs.viewing(session.key):
            async with aclosing(news) as batches:
                async for batch in batches:
                    if batch.begins and (live := found.runs.live(session.key)):
                        batch.news.append(PositionChanged(live.row.id, live.stepper.position))
                    told = await _told(found, batch)
                    for value in told:
                        seq = batch.seq if value is told[-1] else value.get("seq", seq)
                        text = json.dumps(value, separators=(",", ":"))
                        yield Message(text, id=str(Cursor(found.journal.id, seq)))
                    if SessionChanged(None) in batch.news:
                        return
    except TooFarBehind:
        yield Message("", event=_RESET)


async def _told(found: Services, batch: Batch) -> list[dict[str, Any]]:
    """The news of a batch; where a run stands comes last, and once."""
    told = [value for news in batch.news for value in _fact(news)]
    runs = {
        news.run if isinstance(news, PositionChanged) else news.run.id: news
        for news in batch.news
        if isinstance(news, PositionChanged | RunChanged)
    }
    for run, news in runs.items():
        position = await found.runs.position(run)
        # One that is newer than the news has news of its own, which come behind its events.
        newer = isinstance(news, PositionChanged) and position["position"] != news.position
        if not newer or position["position"] is None:
            told.append({"type": "position", **position})
    return told


def _fact(news: News) -> Iterable[dict[str, Any]]:
    if isinstance(news, EventCommitted):
        yield {"type": "event", **row_told(news.row), "event": json.loads(public_event(news.data))}
    elif isinstance(news, OutputArrived):
        for number, line in enumerate(news.lines, news.first):
            said = {"stream": line.stream, "text": line.text, "at": line.at}
            yield {"type": "output", "run": news.run, "number": number, **said}
    elif news == SessionChanged(None):
        yield {"type": "deleted"}


def _value(value: Value) -> dict[str, Any]:
    return {
        "key": prefixed(value.scope, value.key),
        "value": json.loads(value.value),
        "number": value.number,
        "writer": writer(value),
    }


def state_change_told(change: StateChange) -> dict[str, Any]:
    """A key that differs; `old` or `new` is missing where the key was not there."""
    old, new = change.old, change.new
    told = {
        "key": prefixed(change.scope, change.key),
        "number": new.number if new else None,
        "writer": writer(new) if new else None,
        "changes": [change_told(each) for each in change.differences],
    }
    told |= {"old": json.loads(old.value)} if old else {}
    return told | ({"new": json.loads(new.value)} if new else {})


def _pending(live: LiveRun | None) -> Iterable[dict[str, Any]]:
    """What held events will write, then what is written and in no event yet."""
    if live is None:
        return
    carried = set()
    for hold in live.stepper.holds:
        if hold.arrival.gate == "before_commit":
            for change in hold.arrival.changes:
                carried.add(change["key"])
                yield {**change, "hold": hold.id}
    for item in followed(live.touches.rows(live.row.id, live.session.key), over=False):
        touch = item.touch
        if touch.reads is None and item.fate == "pending" and touch.key not in carried:
            old = {} if touch.old is None else {"old": json.loads(touch.old)}
            new = None if touch.value is None else json.loads(touch.value)
            yield {"key": touch.key, **old, "new": new, "hold": None}


async def _reset() -> AsyncGenerator[Message, None]:
    yield Message("", event=_RESET)
