"""Mistakes of the kind that stores have had, each planted into what keeps sessions."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from devui.runtime.sessions import in_memory_session_service, sqlite_rows
from devui.runtime.sessions.in_memory_session_service import InMemorySessionService
from devui.runtime.sessions.sqlite_event_cache import EventCache
from devui.runtime.sessions.state import ScopedState
from devui.store import events, state
from devui.store.events import Events
from devui.store.rows import Appended
from tests.store.services import File, Memory, OurJournal, Place, SharedFile


@dataclass(frozen=True)
class Mistake:
    """What is wrong, where, and how it gets there."""

    name: str
    place: type[Place]
    plant: Callable[[pytest.MonkeyPatch], None]


def _share_state(patch: pytest.MonkeyPatch) -> None:
    """A session that is handed out shares its values with the stored one."""
    patch.setattr(in_memory_session_service, "detached", dict)


def _forget_the_app(patch: pytest.MonkeyPatch) -> None:
    """Of a delta with keys of the user and of the app, those of the app are lost."""
    write = in_memory_session_service._write

    def wrong(service: InMemorySessionService, session: Any, delta: Any) -> None:
        scoped = ScopedState.of(delta)
        lasting = {k: v for k, v in delta.items() if not (scoped.user and k.startswith("app:"))}
        write(service, session, lasting)

    patch.setattr(in_memory_session_service, "_write", wrong)


def _append_twice(patch: pytest.MonkeyPatch) -> None:
    """An event that is sent again is stored again."""
    append = InMemorySessionService.append_event

    async def wrong(self: InMemorySessionService, session: Any, event: Any) -> Any:
        self._event_ids_by_session.clear()
        return await append(self, session, event)

    patch.setattr(InMemorySessionService, "append_event", wrong)


def _reload_silently(patch: pytest.MonkeyPatch) -> None:
    """A copy that was overtaken may append: what google-adk did once (adk-python 3717)."""
    insert = sqlite_rows.insert_event

    def wrong(*args: Any, last_seen: float, **more: Any) -> Any:
        return insert(*args, last_seen=float("inf"), **more)

    patch.setattr(sqlite_rows, "insert_event", wrong)


def _replace_state(patch: pytest.MonkeyPatch) -> None:
    """A `null` in a delta takes its key away instead of being its value."""
    patch.setattr(
        sqlite_rows,
        "make_json_safe_state",
        lambda delta: {key: value for key, value in delta.items() if value is not None},
    )


def _trust_the_cache(patch: pytest.MonkeyPatch) -> None:
    """What another program wrote into the file is not noticed."""
    read = EventCache.read

    def wrong(self: EventCache, connection: Any, layout: Any, key: Any) -> Any:
        if (entry := self._entries.get(key)) is not None:
            return entry.read()
        return read(self, connection, layout, key)

    patch.setattr(EventCache, "read", wrong)


def _mix_users(patch: pytest.MonkeyPatch) -> None:
    """State of a user ends up in the app's, and the other way round."""
    write = state.write_state

    def wrong(connection: Any, seq: int, scopes: state.Scopes, routed: list[Any]) -> None:
        swapped = scopes._replace(user=scopes.app, app=scopes.user)
        write(connection, seq, swapped, routed)

    patch.setattr(events, "write_state", wrong)


def _take_any_content(patch: pytest.MonkeyPatch) -> None:
    """An id that is known is taken for the event that is known, whatever it says."""

    def wrong(row: tuple[int, int, str], event: Any) -> Appended:
        return Appended(row[0], row[1], duplicate=True)

    patch.setattr(events, "_again", wrong)


def _skip_a_row(patch: pytest.MonkeyPatch) -> None:
    """Each page leaves out the event next to the one before."""
    page = Events.page

    async def wrong(self: Events, key: int, *, before: int | None = None, **more: Any) -> Any:
        return await page(self, key, before=None if before is None else before - 1, **more)

    patch.setattr(Events, "page", wrong)


def _lose_a_key(patch: pytest.MonkeyPatch) -> None:
    """Of a delta with several keys the last is not kept."""
    route = state.route_delta
    patch.setattr(events, "route_delta", lambda delta: route(delta)[: max(1, len(delta) - 1)])


MISTAKES = [
    Mistake("values are shared with a copy", Memory, _share_state),
    Mistake("state of the app is lost", Memory, _forget_the_app),
    Mistake("an event is stored twice", Memory, _append_twice),
    Mistake("a stale copy appends", File, _reload_silently),
    Mistake("null deletes", File, _replace_state),
    Mistake("another program is not noticed", SharedFile, _trust_the_cache),
    Mistake("state of a user is everybody's", OurJournal, _mix_users),
    Mistake("one id has two contents", OurJournal, _take_any_content),
    Mistake("a page leaves one out", OurJournal, _skip_a_row),
    Mistake("a key of a delta is lost", OurJournal, _lose_a_key),
]
