"""A session over HTTP: its events as rows, its state, and a live stream of what happens in it.

The data of the session page, as JSON (docs/guide/api.md).
"""

import json
from bisect import bisect_right
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from dataclasses import asdict
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response
from typing_extensions import TypedDict

from devui.debugger.events.feed import Batch, TooFarBehind, follow
from devui.debugger.events.matches import matches, words
from devui.debugger.events.news import (
    EventCommitted,
    News,
    OutputArrived,
    PositionChanged,
    RunChanged,
    SessionChanged,
)
from devui.debugger.history.key_history import Writer
from devui.debugger.history.rewinds import effective_rewinds
from devui.debugger.history.state_diff import StateChange, state_changes, writer
from devui.debugger.predicates.filters import Filter, FilterError
from devui.debugger.runs.live import LiveRun
from devui.debugger.runs.uncommitted import touch_outcomes
from devui.store.rows import EventRow, SessionRow, Value
from devui.store.state import prefixed
from devui.store.summaries import Kind
from devui.web.adk.event_json import AdkEventJson
from devui.web.adk.public_events import public_event
from devui.web.errors import BadRequest, NotFound
from devui.web.json_answers import answer, large_answer
from devui.web.lookup import event_of, no_such_event, session_of
from devui.web.operation import Query, operation
from devui.web.panels.runs.api import number_in
from devui.web.panels.runs.schemas import PositionJson
from devui.web.panels.state.addresses import moment_of
from devui.web.panels.state.history_api import DifferenceJson, change_json
from devui.web.services import Services, services_of
from devui.web.sse import Message, stream_response
from devui.web.stream_offset import ForeignOffset, StreamOffset
from devui.web.text.numbers import whole_number

_EVENTS = 200
_MOST_EVENTS = 1000
_RESET = "reset"
"""Event name: the missed news can't be sent; the reader has to read the events again."""


class InterventionJson(TypedDict):
    """What a person did at a gate on the way to an event."""

    action: str
    gate: str
    by: str
    call: NotRequired[str]
    ran: NotRequired[str]
    """The arguments that the tool ran with, one line; absent or "" if unchanged."""
    change: NotRequired[str]
    """What changed in an edited result: `temperature 22 → 72`; absent or "" otherwise."""


class StateNoteJson(TypedDict):
    """Something that the debugger noticed about the state at an event."""

    kind: Literal["dirty", "silent", "overlap"]
    key: str
    by: str


class RowJson(TypedDict):
    """An event in one line."""

    number: int
    seq: int
    id: str
    run: str | None
    invocationId: str
    author: str
    branch: str | None
    timestamp: float
    kind: Kind
    final: bool
    text: str
    """One line, at most 200 characters."""
    edits: list[InterventionJson]
    notes: list[StateNoteJson]


class EventRowJson(RowJson):
    """An event as the timeline shows it."""

    rewoundBy: int | None
    """The number of the rewind that removed it, or null."""


class EventRowsJson(TypedDict):
    """Events as rows, oldest first."""

    events: list[EventRowJson]


class EventJson(TypedDict):
    """One complete event, in ADK's form."""

    event: AdkEventJson


class FilterWordJson(TypedDict):
    """A value that a filter can use, such as `kind:call`."""

    word: str
    events: int


class FilterWordsJson(TypedDict):
    """The values that a filter can use, most frequent first."""

    words: list[FilterWordJson]


class StateValueJson(TypedDict):
    """A state key and who wrote it."""

    key: str
    """With its prefix."""
    value: Any
    number: int | None
    """The event that wrote it; null for the initial state and for writes of other sessions."""
    writer: Writer


class PendingValueJson(TypedDict):
    """A key that is written but not committed; `old` is absent if the key didn't exist."""

    key: str
    old: NotRequired[Any]
    new: Any
    original: NotRequired[Any]
    """What the agent's code wrote, if an edit of the held event replaces it with `new`."""
    hold: int | None
    """The held event that will write it; null if no held event does."""


class KeyChangeJson(TypedDict):
    """A key that differs; `old` or `new` is absent if the key didn't exist then."""

    key: str
    number: int | None
    writer: Writer | None
    changes: list[DifferenceJson]
    old: NotRequired[Any]
    new: NotRequired[Any]


_From = TypedDict("_From", {"from": int}, total=False)


class StateJson(_From):
    """The state as of an event, or now."""

    at: int | None
    values: list[StateValueJson]
    pending: list[PendingValueJson]
    changes: NotRequired[list[KeyChangeJson]]


class EventNewsJson(RowJson):
    """A row with the whole event."""

    type: Literal["event"]
    event: AdkEventJson


class OutputNewsJson(TypedDict):
    """A line of a run's output."""

    type: Literal["output"]
    run: str
    number: int
    stream: str
    text: str
    at: float


class PositionNewsJson(PositionJson):
    """The position of a run."""

    type: Literal["position"]


class DeletedNewsJson(TypedDict):
    """The session was deleted."""

    type: Literal["deleted"]


NewsJson = Annotated[
    EventNewsJson | OutputNewsJson | PositionNewsJson | DeletedNewsJson,
    Field(discriminator="type"),
]


@operation(
    EventRowsJson,
    query={
        "after": Query(int, "The number of an event"),
        "limit": Query(int, "The maximum number to return, starting after `after`"),
        "last": Query(int, "Return only the last N events"),
        "filter": Query(
            str, "Only events that match this filter, as in the field above the timeline"
        ),
    },
    refusals=(400,),
)
async def events(request: Request) -> Response:
    """List events as timeline rows.

    `rewoundBy` is the number of the rewind that removed the event, or null. An invalid
    [filter](debugging.md#filtering-the-timeline) is refused with the place of the error.
    """
    services, session = await session_of(request)
    if text := request.query_params.get("filter"):
        return answer({"events": await _matching(request, services, session, text)})
    last, page = number_in(request, "last"), services.journal.events.page
    if last is not None:
        rows = await page(session.key, limit=min(last, _MOST_EVENTS)) if last > 0 else []
    else:
        limit = max(1, min(number_in(request, "limit") or _EVENTS, _MOST_EVENTS))
        rows = await page(session.key, after=await _after(request), limit=limit)
    return answer({"events": await _rows_json(services, session, rows)})


@operation(EventJson)
async def event(request: Request) -> Response:
    """Get one event in full.

    The event is complete, whatever its size; pages show only the beginning of a long text.
    """
    services, session = await session_of(request)
    number = request.path_params["number"]
    index = whole_number(number)
    body = await services.journal.events.body(session.key, index) if index else None
    if body is None:
        raise no_such_event(session, number)
    text = body[1].text
    return await large_answer(lambda: {"event": json.loads(public_event(text))})


@operation(FilterWordsJson, refusals=(400,))
async def filter_terms(request: Request) -> Response:
    """List the values a filter can use, with the number of matching events."""
    services, session = await session_of(request)
    counts = await words(services.journal, session.key)
    return answer({"words": [{"word": text, "events": n} for text, n in counts.most_common()]})


@operation(
    StateJson,
    query={
        "at": Query(int, "The number of an event; 0 is before the first"),
        "from": Query(int, "Include the changes since this event; 0 is before the first"),
    },
    refusals=(400,),
)
async def state(request: Request) -> Response:
    """Get the state, now or as of an event, and what changed since another event.

    `writer` is `event`, `initial` or `elsewhere` (another session). `pending` is
    [state before its commit](debugging.md#state-before-its-commit).
    """
    services, session = await session_of(request)
    at = await moment_of(services, session, request.query_params.get("at"))
    since = await moment_of(services, session, request.query_params.get("from"))
    values = await services.journal.state.at(session.key, at.seq if at else None)
    live = None if at else services.runs.live(session.key)
    before = await services.journal.state.at(session.key, since.seq) if since is not None else []
    pending = list(_pending(live))

    def state_json() -> dict[str, Any]:
        state = {
            "at": at.number if at else None,
            "values": [_value(value) for value in values],
            "pending": pending,
        }
        if since is None:
            return state
        changes = [state_change_json(change) for change in state_changes(before, values)]
        return {**state, "from": since.number, "changes": changes}

    return await large_answer(state_json)


@operation(
    NewsJson,
    media="text/event-stream",
    query={
        "after": Query(int, "The number of an event"),
        "run": Query(str, "Send the position of this run first, even if it has ended"),
    },
    refusals=(400,),
)
async def stream(request: Request) -> Response:
    """Stream everything that happens, as server-sent events of JSON.

    Starts after the event `after` or the `Last-Event-ID`. A client that reconnects to a
    deleted session gets 204, after which an EventSource stops.
    """
    here = services_of(request)
    try:
        last_seq = StreamOffset.read(request.headers.get("last-event-id"), here.journal.id).seq
    except ForeignOffset:
        return stream_response(_reset(), streams=here.streams)
    try:
        services, session = await session_of(request)
    except NotFound:
        if not last_seq:
            raise
        return Response(status_code=204)
    run = request.query_params.get("run")
    if run is not None and (await services.runs.position(run))["session"] != session.key:
        raise NotFound(f"session {session.key} has no run {run!r}")
    messages = _messages(services, session, max(last_seq, await _after(request)), run)
    return stream_response(messages, streams=services.streams)


def row_json(row: EventRow) -> dict[str, Any]:
    """Return an event in one line, as the timeline shows it."""
    summary = row.summary
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
    request: Request, services: Services, session: SessionRow, text: str
) -> list[dict[str, Any]]:
    """Return the events past `?after=` that match a filter: the first ones, or the `?last=`."""
    try:
        event_filter = Filter.read(text)
    except FilterError as error:
        raise BadRequest(f"filter, character {error.at + 1}: {error}") from error
    last, after = number_in(request, "last"), await _event_after(request)
    numbers = (await matches(services.journal, session.key, event_filter, services.prices)).numbers
    numbers = numbers[bisect_right(numbers, after.number) :] if after else numbers
    if last is None:
        limit = max(1, min(number_in(request, "limit") or _EVENTS, _MOST_EVENTS))
        numbers = numbers[:limit]
    else:
        numbers = numbers[max(len(numbers) - min(max(last, 0), _MOST_EVENTS), 0) :]
    return await _rows_json(
        services, session, await services.journal.events.rows(session.key, numbers)
    )


async def _rows_json(
    services: Services, session: SessionRow, rows: Iterable[EventRow]
) -> list[dict[str, Any]]:
    """Return the rows as JSON, each with the number of the rewind that removed it."""
    rewinds = await effective_rewinds(services.journal, session.key)
    return [{**row_json(row), "rewoundBy": rewinds.by(row.number)} for row in rows]


async def _event_after(request: Request) -> EventRow | None:
    """Return the event that `after` names by its number; raises NotFound."""
    if number_in(request, "after") in {None, 0}:
        return None
    services, session = await session_of(request)
    return await event_of(services, session, request.query_params.get("after"))


async def _after(request: Request) -> int:
    """Return the seq of that event; 0 without one."""
    row = await _event_after(request)
    return row.seq if row else 0


async def _messages(
    services: Services, session: SessionRow, after: int, run: str | None
) -> AsyncGenerator[Message, None]:
    """Yield messages, each with the offset up to which its reader then has everything.

    The stream begins with the position of `run`, even if it has ended; None for the run in
    progress.
    """
    news, seq = follow(services.journal, services.bus, session.key, after), after
    try:
        with services.runs.viewing(session.key):
            async with aclosing(news) as batches:
                async for batch in batches:
                    live = services.runs.live(session.key)
                    if batch.begins and live:
                        batch.news.append(PositionChanged(live.row.id, live.stepper.position))
                    if batch.begins and run is not None and not (live and live.row.id == run):
                        batch.news.append(PositionChanged(run, 0))  # it has ended: no position
                    facts = await _facts(services, batch)
                    for value in facts:
                        seq = batch.seq if value is facts[-1] else value.get("seq", seq)
                        text = json.dumps(value, separators=(",", ":"))
                        yield Message(text, id=str(StreamOffset(services.journal.id, seq)))
                    if SessionChanged(None) in batch.news:
                        return
    except TooFarBehind:
        yield Message("", event=_RESET)


async def _facts(services: Services, batch: Batch) -> list[dict[str, Any]]:
    """Return the news of a batch as JSON; the position of each run comes last, and only once."""
    facts = [value for news in batch.news for value in _fact(news)]
    runs = {
        news.run if isinstance(news, PositionChanged) else news.run.id: news
        for news in batch.news
        if isinstance(news, PositionChanged | RunChanged)
    }
    for run, news in runs.items():
        position = await services.runs.position(run)
        # A newer position has its own news, which follows the events that lead to it.
        newer = isinstance(news, PositionChanged) and position["position"] != news.position
        if not newer or position["position"] is None:
            facts.append({"type": "position", **position})
    return facts


def _fact(news: News) -> Iterable[dict[str, Any]]:
    if isinstance(news, EventCommitted):
        event = json.loads(public_event(news.event.text))
        yield {"type": "event", **row_json(news.row), "event": event}
    elif isinstance(news, OutputArrived):
        for number, line in enumerate(news.lines, news.first):
            members = {"stream": line.stream, "text": line.text, "at": line.at}
            yield {"type": "output", "run": news.run, "number": number, **members}
    elif news == SessionChanged(None):
        yield {"type": "deleted"}


def _value(value: Value) -> StateValueJson:
    return {
        "key": prefixed(value.scope, value.key),
        "value": json.loads(value.value),
        "number": value.number,
        "writer": writer(value),
    }


def state_change_json(change: StateChange) -> KeyChangeJson:
    """Return a changed key as JSON; `old` or `new` is absent where the key didn't exist."""
    old, new = change.old, change.new
    entry: KeyChangeJson = {
        "key": prefixed(change.scope, change.key),
        "number": new.number if new else None,
        "writer": writer(new) if new else None,
        "changes": [change_json(each) for each in change.differences],
    }
    if old:
        entry["old"] = json.loads(old.value)
    if new:
        entry["new"] = json.loads(new.value)
    return entry


def _pending(live: LiveRun | None) -> Iterable[dict[str, Any]]:
    """Yield the writes of held events, then those that are in no event yet."""
    if live is None:
        return
    held_keys = set[str]()
    for hold in live.stepper.holds:
        if hold.arrival.gate == "before_commit":
            held_keys.update(change["key"] for change in hold.arrival.changes)
            for change in hold.changes:
                yield {**change, "hold": hold.id}
    for item in touch_outcomes(live.touches.rows(live.row.id, live.session.key), over=False):
        touch = item.touch
        if touch.reads is None and item.outcome == "pending" and touch.key not in held_keys:
            old = {} if touch.old is None else {"old": json.loads(touch.old)}
            new = None if touch.value is None else json.loads(touch.value)
            yield {"key": touch.key, **old, "new": new, "hold": None}


async def _reset() -> AsyncGenerator[Message, None]:
    yield Message("", event=_RESET)
