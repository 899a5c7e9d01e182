"""Opens databases by URL with SQLAlchemy (`pip install 'devui[databases]'`)."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from sqlalchemy import create_engine, inspect, make_url, text
from sqlalchemy.exc import NoSuchModuleError, SQLAlchemyError

from devui.debugger.adk_imports.sources import Unreadable

_EVENTS: Final = """
    SELECT * FROM events WHERE app_name = :app AND user_id = :user AND session_id = :id
    ORDER BY timestamp, id
"""
_DRIVERS: Final = {"postgresql": "psycopg", "mysql": "pymysql", "mariadb": "pymysql"}
"""The drivers that the extra installs; they replace the URL's driver, which may need asyncio."""


class RemoteTables:
    """The tables of a database server. Raises Unreadable."""

    def __init__(self, address: str) -> None:
        self._place = "the database"
        with self._reading():
            url = make_url(address)
            name = url.get_backend_name()
            url = url.set(drivername=f"{name}+{_DRIVERS[name]}" if name in _DRIVERS else name)
            self._place = url.set(query={}).render_as_string(hide_password=True)
            self._engine = create_engine(url)
            self._connection = self._engine.connect().execution_options(yield_per=100)
            self._inspector = inspect(self._engine)

    @property
    def place(self) -> str:
        """The address, without its password."""
        return self._place

    def close(self) -> None:
        self._connection.close()
        self._engine.dispose()

    def columns(self, table: str) -> set[str]:
        """Return the columns of a table; none if it doesn't exist."""
        with self._reading():
            if not self._inspector.has_table(table):
                return set()
            return {str(each["name"]) for each in self._inspector.get_columns(table)}

    def rows(
        self, query: str, names: Mapping[str, str] | None = None
    ) -> Iterator[Mapping[str, Any]]:
        """Yield the rows of a query."""
        with self._reading():
            for row in self._connection.execute(text(query), names or {}):
                yield dict(row._mapping)

    def events(self, names: Mapping[str, str]) -> Iterator[Mapping[str, Any]]:
        """Yield the rows of a session's events; at equal times by id, as google-adk does."""
        return self.rows(_EVENTS, names)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except ImportError as error:
            missing = error.name or str(error)
            advice = "run `pip install 'devui[databases]'`"
            raise Unreadable(f"{self._place}: Python has no {missing}: {advice}") from None
        except (SQLAlchemyError, NoSuchModuleError) as error:
            # An error's text may repeat the address with its password, so only the first line of
            # the driver's own message is shown.
            cause = error.__cause__ or error
            raise Unreadable(f"{self._place}: {str(cause).splitlines()[0]}") from None
