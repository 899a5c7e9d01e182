"""Fixtures shared by the tests of the runtime."""

import pytest

from devui.runtime.sessions import DatabaseSessionService, SqliteSessionService


@pytest.fixture(params=["seconds", "dates"])
async def service(request, tmp_path):
    """A session service on `sessions.db` in `tmp_path`, in each of google-adk's two layouts."""
    path = tmp_path / "sessions.db"
    if request.param == "seconds":
        session_service = SqliteSessionService(path)
    else:
        session_service = DatabaseSessionService(f"sqlite:///{path}")
    yield session_service
    await session_service.close()
