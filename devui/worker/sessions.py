"""The session service of a worker: a client of the server's journal (Law 3, one writer).

`append_event` returns when the server has acknowledged the commit, so "yield, Runner commits,
agent resumes" is literally true. Sessions stay in memory between turns and are reused as long as
their head is the journal's, so a turn in a long session doesn't read it again.
"""

import copy
import json
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from devui.runtime.collecting import collector_paused
from devui.runtime.sessions.state import State
from devui.runtime.sessions.storable import make_storable
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
from devui.worker.engines.kit import (
    BaseSessionService,
    Event,
    GetSessionConfig,
    ListSessionsResponse,
    Session,
)
from devui.worker.instruments.gates import mark, revise_event, what_is_wrong
from devui.worker.instruments.instruments import Instruments
from devui.worker.instruments.recorder import Origin
from devui.worker.json_text import as_json, wire_text
from devui.worker.link import Link, RequestRefused
from devui.worker.message_files import report
from devui.worker.output import current_run
from devui.worker.state.live import LiveState
from devui.worker.state.uncommitted import Uncommitted

_MOST_SESSIONS = 64
"""How many sessions stay in memory; the least recently used are dropped first."""


@dataclass(slots=True)
class _Entry:
    session: Session
    key: int
    head: int | None
    """The seq of the session's last change; None during an append, until its outcome is known."""


class WireSessionService(BaseSessionService):
    """The sessions of one app, stored by the server."""

    def __init__(
        self, link: Link, app_name: str, instruments: Instruments, *, agents: Path
    ) -> None:
        self._link = link
        self._instruments = instruments
        self._kit = instruments.kit
        self._app_name = app_name
        self._agents = agents
        self._uncommitted: dict[tuple[str, str], Uncommitted] = {}
        """The uncommitted state of this worker's runs, by user and session."""
        self._of_run: dict[str, tuple[tuple[str, str], Uncommitted]] = {}
        self._entries: OrderedDict[tuple[str, str], _Entry] = OrderedDict()
        self._saved_files: dict[tuple[str, str], dict[str, int]] = {}
        """The files that the next message says were saved with it, by user and session."""
        self._leased: set[tuple[str, str]] = set()
        """Sessions that only this worker may write, because one of its runs holds the lease."""

    @contextmanager
    def lease(self, start: StartRun) -> Iterator[None]:
        """Keep the run's session in memory; only this worker may change it during the run."""
        name = (start.user, start.session)
        self._expect(start)
        self._leased.add(name)
        bookkeeping = self._kit.frames.bookkeeping
        here = Uncommitted(start.run, self._link.send, self._agents, bookkeeping, on=start.watch)
        self._uncommitted[name] = here
        self._of_run[start.run] = (name, here)
        try:
            yield
        finally:
            here.end()
            self._leased.discard(name)
            self._saved_files.pop(name, None)
            del self._uncommitted[name], self._of_run[start.run]

    def report(self, start: StartRun, versions: dict[str, int]) -> None:
        """Add the files that were saved with the run's message to the event of that message."""
        if versions:
            self._saved_files[start.user, start.session] = versions

    def watch(self, run: str) -> None:
        """Report a run's uncommitted state; does nothing if the run has ended."""
        if run in self._of_run:
            name, here = self._of_run[run]
            entry = self._entries.get(name)
            here.begin(entry.session.state if entry is not None else None)

    def _expect(self, start: StartRun) -> None:
        """Drop a session that changed elsewhere; update the shared state that others wrote."""
        entry = self._entries.get((start.user, start.session))
        if entry is None:
            return
        if entry.head != start.head or entry.key != start.session_key:
            del self._entries[start.user, start.session]
            return
        shared_state = json.loads(start.shared)
        state = entry.session.state
        for key in [k for k in state if k.startswith((State.APP_PREFIX, State.USER_PREFIX))]:
            if key not in shared_state:
                del state[key]
        state.update(shared_state)

    async def create_session(
        self,
        *,
        app_name: str,
        user_id: str,
        state: dict[str, Any] | None = None,
        session_id: str | None = None,
    ) -> Session:
        """Create a session in the journal. Raises AlreadyExistsError if the id is taken."""
        text = json.dumps(state or {})
        try:
            answer = await self._link.request(
                lambda i: CreateSession(id=i, user=user_id, session=session_id, state=text)
            )
        except RequestRefused as refusal:
            if refusal.code == "session_exists":
                raise self._kit.already_exists_error(str(refusal)) from refusal
            raise
        entry = self._hold(user_id, answer["id"], answer, [])
        return _copy(entry.session)

    async def get_session(
        self,
        *,
        app_name: str,
        user_id: str,
        session_id: str,
        config: GetSessionConfig | None = None,
    ) -> Session | None:
        """Return the session with its history; None if it doesn't exist.

        The events are shared with the cache and must not be changed; list and state are copies.
        """
        name = (user_id, session_id)
        entry = self._entries.get(name) if name in self._leased else None
        if entry is None or entry.head is None:
            entry = await self._fetch(user_id, session_id)
        if entry is None:
            return None
        self._entries.move_to_end(name)
        session = _copy(entry.session)
        here = self._uncommitted.get(name)
        if here is not None and here.free:  # the first copy is the run's own
            session.state = here.follow(session.state)
        if config is not None:
            session.events = _recent(session.events, config)
        return session

    async def list_sessions(
        self, *, app_name: str, user_id: str | None = None
    ) -> ListSessionsResponse:
        """List the app's sessions, without events, of one user or of all."""
        rows = await self._link.request(lambda i: ListSessions(id=i, user=user_id))
        return self._kit.list_sessions_response(
            sessions=[
                self._kit.session(
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
        """Delete a session; a missing one is no error."""
        self._entries.pop((user_id, session_id), None)
        await self._link.request(lambda i: DeleteSession(id=i, user=user_id, session=session_id))

    async def append_event(self, session: Session, event: Event) -> Event:
        """Commit `event` and return once it is durable; partial events are returned unchanged.

        Raises SessionNotFoundError, or Refused if the run may no longer write.
        """
        self._kit.check_commit(session, event)
        if event.partial:
            return event
        with _quietly(session):
            temp = self._take_temp(session, event)
        mark(event, self._instruments.gates.marks(current_run.get(), event))
        self._instruments.effects.note(event)
        origin = self._instruments.recorder.origin(current_run.get(), event)
        replay = self._instruments.replayer.of(current_run.get())
        name = (session.user_id, session.id)
        if report(event, self._saved_files.get(name, {})):
            self._saved_files.pop(name, None)
        entry = self._entries.get(name)
        head = entry.head if entry is not None else None
        if entry is not None:
            entry.head = None
        with _leaving(session, event):
            answer = await self._commit(session, event, temp, origin)
        if answer is None:
            if entry is not None:
                entry.head = head
            if replay is not None:
                replay.dropped()
            return event
        if replay is not None:
            replay.committed()
        with _quietly(session):
            appended = await super().append_event(session, event)
        if entry is not None and head == answer["previous"]:
            _apply(entry.session, appended)
            entry.head = answer["seq"]
        elif entry is not None:  # another change came first: read the session again when needed
            self._entries.pop(name, None)
        return appended

    async def _commit(
        self, session: Session, event: Event, temp: str | None, origin: Origin
    ) -> dict[str, Any] | None:
        """Commit the event as people revise it; return None if they drop it.

        Raises the errors of `append_event`.
        """
        is_revised, problem = False, None
        here = _uncommitted_of(session)
        while True:
            touches = here.at_commit(event) if here is not None else None
            append = partial(
                Append,
                run=current_run.get(),
                user=session.user_id,
                session=session.id,
                final=event.is_final_response(),
                temp=temp,
                spans=origin.spans,
                changed=origin.is_changed,
                is_revised=is_revised,
                problem=problem,
                touches=touches,
            )
            before = None if is_revised or problem else await self._replay_verdict(session, event)
            answer: dict[str, Any] = before or await self._request_append(append, event)
            if "verdict" not in answer:
                if here is not None:
                    here.committed(event)
                return answer
            verdict, delta = Verdict(**answer["verdict"]), set(event.actions.state_delta)
            if verdict.action == "drop":
                _undo(session, event, delta, verdict)
                return None
            try:
                revise_event(self._kit, event, verdict)
            except (ValueError, TypeError) as error:
                is_revised, problem = False, what_is_wrong(error)
            else:
                is_revised, problem = before is None, None
                temp = self._take_temp(session, event) or temp
                _undo(session, event, delta - set(event.actions.state_delta), verdict)

    async def _replay_verdict(self, session: Session, event: Event) -> dict[str, Any] | None:
        """In a replay, return what people did to the event in the recorded run; None if nothing."""
        replay = self._instruments.replayer.of(current_run.get())
        verdict = replay.event(wire_text(event)) if replay is not None else None
        if verdict is None:
            return None
        name = (session.user_id, session.id)
        entry = self._entries.get(name) or await self._fetch(*name)
        committed = entry.session.state if entry is not None else {}
        return {"verdict": {**asdict(verdict), "committed": as_json(committed)}}

    async def _request_append(self, append: Callable[..., Append], event: Event) -> Any:
        try:
            return await self._link.request(
                lambda number: append(id=number, event=wire_text(event))
            )
        except RequestRefused as refusal:
            if refusal.code == "session_not_found":
                raise self._kit.session_not_found_error(str(refusal)) from refusal
            if refusal.code != "bad_value":
                raise
        make_storable(event)
        text = wire_text(event)
        return await self._link.request(lambda number: append(id=number, event=text))

    def _take_temp(self, session: Session, event: Event) -> str | None:
        """Move the event's `temp:` state into the live session; it is shown but never stored."""
        delta = event.actions.state_delta
        temp = {key: value for key, value in delta.items() if key.startswith(State.TEMP_PREFIX)}
        if not temp:
            return None
        session.state.update(temp)
        for key in temp:
            del delta[key]
        return json.dumps(temp, default=repr)

    async def _fetch(self, user: str, name: str) -> _Entry | None:
        answer = await self._link.request(lambda i: FetchSession(id=i, user=user, session=name))
        if answer is None:
            return None
        events: list[Event] = []
        after, more, key = 0, answer["events"] > 0, answer["key"]
        while more:
            page = await self._link.request(partial(_fetch_events, key=key, after=after))
            with collector_paused():
                events += [self._kit.read_event(text) for text in page["events"]]
            after, more = page["after"], page["more"]
        return self._hold(user, name, answer, events)

    def _hold(self, user: str, name: str, answer: dict[str, Any], events: list[Event]) -> _Entry:
        session = self._kit.session(
            id=name,
            app_name=self._app_name,
            user_id=user,
            state=answer["state"],
            last_update_time=answer["updated"],
        )
        session._initial_state = answer["initial"]
        session.events = events
        entry = _Entry(session, answer["key"], answer["head"])
        self._entries[user, name] = entry
        while len(self._entries) > _MOST_SESSIONS:
            self._entries.popitem(last=False)
        return entry


def _undo(session: Session, event: Event, keys: set[str], verdict: Verdict) -> None:
    """Reset these keys of the live state to their committed values; their writes are void."""
    committed = json.loads(verdict.committed)
    if (here := _uncommitted_of(session)) is not None:
        here.void(event, keys=keys)
    with _quietly(session):
        for key in keys:
            if key in committed:
                session.state[key] = committed[key]
            else:
                session.state.pop(key, None)


def _uncommitted_of(session: Session) -> Uncommitted | None:
    """Return the tracker of the session's uncommitted state, if it has one."""
    state = session.state
    here = state.watcher if isinstance(state, LiveState) else None
    return here if isinstance(here, Uncommitted) else None


def _leaving(session: Session, event: Event) -> AbstractContextManager[None]:
    """Mark the event as being committed inside the block."""
    here = _uncommitted_of(session)
    return nullcontext() if here is None else here.leaving(event)


def _quietly(session: Session) -> AbstractContextManager[None]:
    """Don't track writes to the live state inside the block."""
    here = _uncommitted_of(session)
    return nullcontext() if here is None else here.silent()


def _fetch_events(number: int, *, key: int, after: int) -> FetchEvents:
    return FetchEvents(id=number, key=key, after=after)


def _copy(session: Session) -> Session:
    clone = type(session)(
        id=session.id,
        app_name=session.app_name,
        user_id=session.user_id,
        state=copy.deepcopy(session.state),
        last_update_time=session.last_update_time,
    )
    clone._initial_state = session._initial_state
    clone.events = list(session.events)
    return clone


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
