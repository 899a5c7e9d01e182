"""What several tests of the runtime work with."""

import pytest

from devui.runtime.sessions import DatabaseSessionService, SqliteSessionService


@pytest.fixture(params=["seconds", "dates"])
async def service(request, tmp_path):
    """Sessions in a file, in either of google-adk's layouts: `sessions.db` of the test's folder."""
    path = tmp_path / "sessions.db"
    if request.param == "seconds":
        session_service = SqliteSessionService(path)
    else:
        session_service = DatabaseSessionService(f"sqlite:///{path}")
    yield session_service
    await session_service.close()
