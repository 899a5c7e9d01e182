"""Reads databases of any schema of google-adk's SqliteSessionService and DatabaseSessionService."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, Protocol

from devui.debugger.adk_imports.events import json_of, seconds, wire_event
from devui.debugger.adk_imports.sources import Head, Notes, States, Unreadable

_HEADS: Final = """
    SELECT app_name, user_id, id, create_time, update_time FROM sessions
    ORDER BY update_time, app_name, user_id, id
"""
_COUNTS: Final = """
    SELECT app_name, user_id, session_id, count(*) AS events FROM events
    GROUP BY app_name, user_id, session_id
"""
_OWN: Final = """
    SELECT state FROM sessions WHERE app_name = :app AND user_id = :user AND id = :id
"""
_USER: Final = "SELECT state FROM user_states WHERE app_name = :app AND user_id = :user"
_APP: Final = "SELECT state FROM app_states WHERE app_name = :app"
_COLUMNS: Final[Mapping[str, frozenset[str]]] = {
    "sessions": frozenset({"app_name", "user_id", "id", "state", "create_time", "update_time"}),
    "events": frozenset(
        {"id", "app_name", "user_id", "session_id", "invocation_id", "timestamp"},
    ),
}


class Tables(Protocol):
    """A database open for reading. Every method may raise Unreadable."""

    @property
    def place(self) -> str:
        """The file or address, for display."""

    def columns(self, table: str) -> set[str]:
        """Return the columns of a table; none if it doesn't exist."""

    def rows(
        self, query: str, names: Mapping[str, str] | None = ...
    ) -> Iterator[Mapping[str, Any]]:
        """Yield the rows of a query, each by column name."""

    def events(self, names: Mapping[str, str]) -> Iterator[Mapping[str, Any]]:
        """Yield the rows of a session's events, in the order in which they were appended."""


class Database:
    """The sessions in a database. Raises Unreadable if it isn't google-adk's."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        for table, required in _COLUMNS.items():
            columns = tables.columns(table)
            if missing := sorted(required - columns):
                what = f"has no column {', '.join(missing)}" if columns else "does not exist"
                raise Unreadable(
                    f"{tables.place}: the table {table} {what}, so this isn't a database of"
                    " google-adk's session services"
                )
        if not tables.columns("events") & {"event_data", "actions"}:
            raise Unreadable(
                f"{tables.place}: the table events has neither event_data nor actions. Its"
                " schema is not supported by this version of devui"
            )
        self._shares = [bool(tables.columns(name)) for name in ("user_states", "app_states")]

    @property
    def place(self) -> str:
        """The file or address, for display."""
        return self._tables.place

    def heads(self) -> list[Head]:
        """Return all sessions, the most recently changed one last."""
        counts = {
            (row["app_name"], row["user_id"], row["session_id"]): row["events"]
            for row in self._tables.rows(_COUNTS)
        }
        return [self._head(row, counts) for row in self._tables.rows(_HEADS)]

    def states(self, head: Head, notes: Notes) -> States:
        """Return the state of a session, including what it shares with others."""
        own = self._state(_OWN, "sessions", head, notes)
        user = self._state(_USER, "user_states", head, notes) if self._shares[0] else {}
        app = self._state(_APP, "app_states", head, notes) if self._shares[1] else {}
        return States(own, user, app)

    def events(self, head: Head, notes: Notes) -> Iterator[dict[str, Any]]:
        """Yield the events of a session in ADK's wire form, in order."""
        for number, row in enumerate(self._tables.events(_names(head)), 1):
            place = f"{self.place}, table events, session {head.id}, event {number} ({row['id']})"
            yield wire_event(row, place, notes)

    def _head(self, row: Mapping[str, Any], counts: Mapping[tuple[Any, ...], int]) -> Head:
        app, user, name = row["app_name"], row["user_id"], row["id"]
        place = f"{self.place}, table sessions, session {name}"
        return Head(
            app=str(app),
            user=str(user),
            id=str(name),
            created=seconds(row["create_time"], f"{place}, column create_time"),
            updated=seconds(row["update_time"], f"{place}, column update_time"),
            events=counts.get((app, user, name), 0),
        )

    def _state(self, query: str, table: str, head: Head, notes: Notes) -> dict[str, Any]:
        place = f"{self.place}, table {table}, session {head.id}, column state"
        for row in self._tables.rows(query, _names(head)):
            state = json_of(row["state"], place, notes)
            if isinstance(state, dict):
                return state
            if state is not None:
                raise Unreadable(
                    f"{place}: a state must be a JSON object, not {type(state).__name__}"
                )
        return {}


def _names(head: Head) -> dict[str, str]:
    return {"app": head.app, "user": head.user, "id": head.id}
