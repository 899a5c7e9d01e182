"""Bugs like those that session stores have had, to plant into ours."""

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
    """A bug: its name, the store that has it, and the function that plants it."""

    name: str
    place: type[Place]
    plant: Callable[[pytest.MonkeyPatch], None]


def _share_state(patch: pytest.MonkeyPatch) -> None:
    """Make returned sessions share their values with the stored one."""
    patch.setattr(in_memory_session_service, "detached", dict)


def _forget_the_app(patch: pytest.MonkeyPatch) -> None:
    """Lose the app's keys of a delta that has keys of the user, too."""
    write = in_memory_session_service._write

    def wrong(service: InMemorySessionService, session: Any, delta: Any) -> None:
        scoped = ScopedState.of(delta)
        lasting = {k: v for k, v in delta.items() if not (scoped.user and k.startswith("app:"))}
        write(service, session, lasting)

    patch.setattr(in_memory_session_service, "_write", wrong)


def _append_twice(patch: pytest.MonkeyPatch) -> None:
    """Store an event again when it is sent again."""
    append = InMemorySessionService.append_event

    async def wrong(self: InMemorySessionService, session: Any, event: Any) -> Any:
        self._event_ids_by_session.clear()
        return await append(self, session, event)

    patch.setattr(InMemorySessionService, "append_event", wrong)


def _reload_silently(patch: pytest.MonkeyPatch) -> None:
    """Let a stale copy append, as google-adk once did (adk-python 3717)."""
    insert = sqlite_rows.insert_event

    def wrong(*args: Any, last_seen: float, **more: Any) -> Any:
        return insert(*args, last_seen=float("inf"), **more)

    patch.setattr(sqlite_rows, "insert_event", wrong)


def _replace_state(patch: pytest.MonkeyPatch) -> None:
    """Delete a key whose value in a delta is `null`, instead of storing `null`."""
    patch.setattr(
        sqlite_rows,
        "make_json_safe_state",
        lambda delta: {key: value for key, value in delta.items() if value is not None},
    )


def _trust_the_cache(patch: pytest.MonkeyPatch) -> None:
    """Ignore what another program wrote to the file."""
    read = EventCache.read

    def wrong(self: EventCache, connection: Any, layout: Any, key: Any) -> Any:
        if (entry := self._entries.get(key)) is not None:
            return entry.read()
        return read(self, connection, layout, key)

    patch.setattr(EventCache, "read", wrong)


def _mix_users(patch: pytest.MonkeyPatch) -> None:
    """Swap the state of the user and that of the app."""
    write = state.write_state

    def wrong(connection: Any, seq: int, scopes: state.Scopes, routed: list[Any]) -> None:
        swapped = scopes._replace(user=scopes.app, app=scopes.user)
        write(connection, seq, swapped, routed)

    patch.setattr(events, "write_state", wrong)


def _take_any_content(patch: pytest.MonkeyPatch) -> None:
    """Accept an event with a known id as a duplicate, whatever its content."""

    def wrong(row: tuple[int, int, str], event: Any) -> Appended:
        return Appended(row[0], row[1], duplicate=True)

    patch.setattr(events, "_again", wrong)


def _skip_a_row(patch: pytest.MonkeyPatch) -> None:
    """Skip one event between any two pages."""
    page = Events.page

    async def wrong(self: Events, key: int, *, before: int | None = None, **more: Any) -> Any:
        return await page(self, key, before=None if before is None else before - 1, **more)

    patch.setattr(Events, "page", wrong)


def _lose_a_key(patch: pytest.MonkeyPatch) -> None:
    """Lose the last key of a delta with several keys."""
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
