"""The session service of a worker: a client of the server's journal (Law 3, one writer).

`append_event` returns when the server has acknowledged the commit, so "yield, Runner commits,
agent resumes" is literally true. Sessions stay in memory between turns and are trusted as long as
their head is the journal's; so a turn on a long session reads nothing again.
"""

import copy
import json
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from devui.runtime.errors.already_exists_error import AlreadyExistsError
from devui.runtime.errors.session_not_found_error import SessionNotFoundError
from devui.runtime.events.event import Event
from devui.runtime.sessions.base_session_service import (
    BaseSessionService,
    GetSessionConfig,
    ListSessionsResponse,
)
from devui.runtime.sessions.session import Session
from devui.runtime.sessions.state import State
from devui.wire.gates import Verdict
from devui.wire.messages import (
    Append,
    CreateSession,
    DeleteSession,
    FetchEvents,
    FetchSession,
    ListSessions,
    StartRun,
)
from devui.worker.gates import Gates
from devui.worker.link import Link, Refused
from devui.worker.output import current_run
from devui.worker.revisions import mark, revise_event

_KEPT = 64
"""How many sessions stay in memory; the one unused for longest goes first."""


@dataclass(slots=True)
class _Held:
    session: Session
    key: int
    head: int | None
    """None while an append is under way: whether it was committed is not known here yet."""


class WireSessionService(BaseSessionService):
    """Sessions of one app, kept by the server."""

    def __init__(self, link: Link, app_name: str, gates: Gates) -> None:
        self._link = link
        self._gates = gates
        self._app_name = app_name
        self._held: OrderedDict[tuple[str, str], _Held] = OrderedDict()
        self._leased: set[tuple[str, str]] = set()
        """Sessions that nobody else may write, since a run of this worker holds them."""

    @contextmanager
    def lease(self, start: StartRun) -> Iterator[None]:
        """While a run goes on, its session changes by this worker alone and is kept in memory."""
        name = (start.user, start.session)
        self._expect(start)
        self._leased.add(name)
        try:
            yield
        finally:
            self._leased.discard(name)

    def _expect(self, start: StartRun) -> None:
        """Forget a session that changed elsewhere; learn what others wrote to shared state."""
        held = self._held.get((start.user, start.session))
        if held is None:
            return
        if held.head != start.head or held.key != start.session_key:
            del self._held[start.user, start.session]
            return
        shared = json.loads(start.shared)
        state = held.session.state
        for key in [k for k in state if k.startswith((State.APP_PREFIX, State.USER_PREFIX))]:
            if key not in shared:
                del state[key]
        state.update(shared)

    async def create_session(
        self,
        *,
        app_name: str,
        user_id: str,
        state: dict[str, Any] | None = None,
        session_id: str | None = None,
    ) -> Session:
        """Create a session in the journal; raises AlreadyExistsError for an id that is taken."""
        text = json.dumps(state or {})
        try:
            told = await self._link.request(
                lambda i: CreateSession(id=i, user=user_id, session=session_id, state=text)
            )
        except Refused as refused:
            if refused.code == "session_exists":
                raise AlreadyExistsError(str(refused)) from refused
            raise
        held = self._hold(user_id, told["id"], told, [])
        return _copy(held.session)

    async def get_session(
        self,
        *,
        app_name: str,
        user_id: str,
        session_id: str,
        config: GetSessionConfig | None = None,
    ) -> Session | None:
        """The session with its history, or None.

        The events are shared with the cache and must not be changed; list and state are copies.
        """
        name = (user_id, session_id)
        held = self._held.get(name) if name in self._leased else None
        if held is None or held.head is None:
            held = await self._fetch(user_id, session_id)
        if held is None:
            return None
        self._held.move_to_end(name)
        session = _copy(held.session)
        if config is not None:
            session.events = _recent(session.events, config)
        return session

    async def list_sessions(
        self, *, app_name: str, user_id: str | None = None
    ) -> ListSessionsResponse:
        """The app's sessions, without events, of one user or of all."""
        rows = await self._link.request(lambda i: ListSessions(id=i, user=user_id))
        return ListSessionsResponse(
            sessions=[
                Session(
                    id=row["id"],
                    app_name=self._app_name,
                    user_id=row["user"],
                    state=row["state"],
                    last_update_time=row["updated"],
                )
                for row in rows
            ]
        )

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Delete a session; one that is not there is no error."""
        self._held.pop((user_id, session_id), None)
        await self._link.request(lambda i: DeleteSession(id=i, user=user_id, session=session_id))

    async def append_event(self, session: Session, event: Event) -> Event:
        """Commit `event`; returns once it is durable. Partial events pass untouched.

        Raises SessionNotFoundError, or Refused when the run may no longer write.
        """
        if event.partial:
            return event
        temp = self._take_temp(session, event)
        mark(event, self._gates.marks(current_run.get(), event))
        name = (session.user_id, session.id)
        known = self._held.get(name)
        head = known.head if known is not None else None
        if known is not None:
            known.head = None
        told = await self._commit(session, event, temp)
        if told is None:
            if known is not None:
                known.head = head
            return event
        appended = await super().append_event(session, event)
        if known is not None and head == told["previous"]:
            _apply(known.session, appended)
            known.head = told["seq"]
        elif known is not None:  # something came in between: read the session again when needed
            self._held.pop(name, None)
        return appended

    async def _commit(
        self, session: Session, event: Event, temp: str | None
    ) -> dict[str, Any] | None:
        """Have the event committed, as people revise it; None if they let it fall.

        Raises as `append_event`.
        """
        revised, problem = False, None
        while True:
            append = partial(
                Append,
                run=current_run.get(),
                user=session.user_id,
                session=session.id,
                final=event.is_final_response(),
                event=event.model_dump_json(by_alias=True, exclude_none=True),
                temp=temp,
                revised=revised,
                problem=problem,
            )
            told: dict[str, Any] = await self._appended(append)
            if "verdict" not in told:
                return told
            verdict, delta = Verdict(**told["verdict"]), set(event.actions.state_delta)
            if verdict.action == "drop":
                _undo(session, delta, verdict)
                return None
            try:
                revise_event(event, verdict)
            except (ValueError, TypeError) as error:
                revised, problem = False, str(error)
            else:
                revised, problem = True, None
                temp = self._take_temp(session, event) or temp
                _undo(session, delta - set(event.actions.state_delta), verdict)

    async def _appended(self, append: Callable[..., Append]) -> Any:
        try:
            return await self._link.request(lambda number: append(id=number))
        except Refused as refused:
            if refused.code == "session_not_found":
                raise SessionNotFoundError(str(refused)) from refused
            raise

    def _take_temp(self, session: Session, event: Event) -> str | None:
        """Move the event's `temp:` state into the live session; it is shown, never kept."""
        delta = event.actions.state_delta
        temp = {key: value for key, value in delta.items() if key.startswith(State.TEMP_PREFIX)}
        if not temp:
            return None
        session.state.update(temp)
        for key in temp:
            del delta[key]
        return json.dumps(temp, default=repr)

    async def _fetch(self, user: str, name: str) -> _Held | None:
        told = await self._link.request(lambda i: FetchSession(id=i, user=user, session=name))
        if told is None:
            return None
        events: list[Event] = []
        after, more, key = 0, True, told["key"]
        while more:
            page = await self._link.request(partial(_fetch_events, key=key, after=after))
            events += [Event.model_validate_json(text) for text in page["events"]]
            after, more = page["after"], page["more"]
        return self._hold(user, name, told, events)

    def _hold(self, user: str, name: str, told: dict[str, Any], events: list[Event]) -> _Held:
        session = Session(
            id=name,
            app_name=self._app_name,
            user_id=user,
            state=told["state"],
            last_update_time=told["updated"],
        )
        session.events = events
        held = _Held(session, told["key"], told["head"])
        self._held[user, name] = held
        while len(self._held) > _KEPT:
            self._held.popitem(last=False)
        return held


def _undo(session: Session, keys: set[str], verdict: Verdict) -> None:
    """Let the live state have what is committed under these keys: their writes are void."""
    committed = json.loads(verdict.committed)
    for key in keys:
        if key in committed:
            session.state[key] = committed[key]
        else:
            session.state.pop(key, None)


def _fetch_events(number: int, *, key: int, after: int) -> FetchEvents:
    return FetchEvents(id=number, key=key, after=after)


def _copy(session: Session) -> Session:
    copied = Session(
        id=session.id,
        app_name=session.app_name,
        user_id=session.user_id,
        state=copy.deepcopy(session.state),
        last_update_time=session.last_update_time,
    )
    copied.events = list(session.events)
    return copied


def _apply(session: Session, event: Event) -> None:
    session.events.append(event)
    session.state.update(event.actions.state_delta)
    session.last_update_time = event.timestamp


def _recent(events: list[Event], config: GetSessionConfig) -> list[Event]:
    if config.num_recent_events is not None:
        events = events[-config.num_recent_events :] if config.num_recent_events else []
    if config.after_timestamp:
        events = [event for event in events if event.timestamp >= config.after_timestamp]
    return events
