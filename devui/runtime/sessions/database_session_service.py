"""`DatabaseSessionService`, for SQLite files (adk-runtime 2.4, 2.6)."""

from typing import Any, ClassVar, Self

from devui.runtime.sessions.sqlite_rows import Layout
from devui.runtime.sessions.sqlite_session_service import SqliteSessionService

_ENGINE_OPTIONS = frozenset(
    {
        *("connect_args", "echo", "echo_pool", "max_overflow", "poolclass", "pool_logging_name"),
        *("pool_pre_ping", "pool_recycle", "pool_reset_on_return", "pool_size", "pool_timeout"),
        "pool_use_lifo",
    }
)
"""SQLAlchemy's settings for the connection to a database; they don't affect its contents."""


class DatabaseSessionService(SqliteSessionService):
    """Stores sessions in a SQLite file in the layout of google-adk's service (version 1).

    It doesn't need SQLAlchemy and doesn't support database servers. Session ids are used unchanged.
    As an async context manager, it closes itself.
    """

    _new_layout: ClassVar[Layout] = Layout.DATES
    _verbatim_ids: ClassVar[bool] = True

    def __init__(self, db_url: str | None = None, **engine_options: Any) -> None:
        """Use the file that a `sqlite:///` or `sqlite+aiosqlite:///` URL names.

        Settings of SQLAlchemy's connections, such as `connect_args` and `pool_pre_ping`, are
        accepted and ignored, since SQLAlchemy isn't used.

        Raises:
            ValueError: The URL isn't that of a SQLite file.
            TypeError: An option isn't one of those settings.
        """
        if others := sorted(set(engine_options) - _ENGINE_OPTIONS):
            raise TypeError(
                f"DatabaseSessionService doesn't accept {', '.join(others)}: it works without"
                " SQLAlchemy. Pass the URL of a SQLite file, such as sqlite:///path/to/file.db."
            )
        db_url = db_url or ""
        if not db_url.startswith(("sqlite:", "sqlite+aiosqlite:")):
            scheme = db_url.partition(":")[0]
            raise ValueError(
                f"DatabaseSessionService stores sessions only in SQLite files, not in {scheme!r}."
                " Pass sqlite:///path/to/file.db, or write a BaseSessionService for your server."
            )
        super().__init__(db_url)

    async def delete_session(self, app_name: str, user_id: str, session_id: str) -> None:
        """Delete a session and its events, if it exists; the arguments may be positional."""
        await super().delete_session(app_name=app_name, user_id=user_id, session_id=session_id)

    async def prepare_tables(self) -> None:
        """Create or check the tables now instead of at the first use."""
        await self._sessions_database.write(lambda _: None)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()
