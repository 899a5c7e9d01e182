"""`DatabaseSessionService`, for SQLite files (adk-runtime 2.4, 2.6)."""

from typing import ClassVar, Self

from devui.runtime.sessions.sqlite_layouts import Layout
from devui.runtime.sessions.sqlite_session_service import SqliteSessionService


class DatabaseSessionService(SqliteSessionService):
    """Sessions in a SQLite file in the layout of google-adk's service of that name (version 1).

    It needs no SQLAlchemy, and knows no database servers. Session ids are used as they are given.
    It may be used as an async context manager, which closes it.
    """

    _new_layout: ClassVar[Layout] = Layout.DATES
    _verbatim_ids: ClassVar[bool] = True

    def __init__(self, db_url: str) -> None:
        """Use the file that a `sqlite:///` or `sqlite+aiosqlite:///` URL names.

        Raises ValueError for the URL of anything else.
        """
        if not db_url.startswith(("sqlite:", "sqlite+aiosqlite:")):
            scheme = db_url.partition(":")[0]
            raise ValueError(
                f"DatabaseSessionService keeps sessions in SQLite files alone, not in {scheme!r}."
                " Give it sqlite:///path/to/file.db, or write a BaseSessionService for your server."
            )
        super().__init__(db_url)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()
