"""google-adk's session services in a separate process, for tests that exchange files with them.

Run by a Python that has google-adk: `python adk_sessions.py` reads a JSON command per line,
`{"service": "sqlite" | "database", "path": ..., "steps": [...]}`, and answers each with a line that
has the contents of the file. `Steps` can do the same in this process.
"""

import asyncio
import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

Json = Any
APP = "app"


class Steps:
    """Performs steps with the session services below `root`, and reads what a file contains."""

    def __init__(self, root: str) -> None:
        """`root` is `devui.runtime` or `google.adk`."""
        self._event = import_module(f"{root}.events.event").Event
        self._services = {
            "sqlite": import_module(f"{root}.sessions.sqlite_session_service").SqliteSessionService,
        }
        try:
            module = import_module(f"{root}.sessions.database_session_service")
            self._services["database"] = module.DatabaseSessionService
        except ImportError:  # google-adk's needs sqlalchemy
            pass

    def can(self, service: str) -> bool:
        """Return whether a service is available."""
        return service in self._services

    async def run(self, service: str, path: Path | str, steps: list[Json]) -> Json:
        """Perform the steps with a new service on the file; return what the file contains then."""
        database = service == "database"
        url = f"sqlite+aiosqlite:///{path}" if database else str(path)
        store = self._services[service](url)
        for step in steps:
            await getattr(self, f"_{step['do']}")(store, step)
        session = await self._contents(store)
        closing = getattr(store, "close", None)
        if closing is not None:
            await closing()
        return session

    async def _create(self, service: Any, step: Json) -> None:
        await service.create_session(
            app_name=APP, user_id=step["user"], session_id=step["id"], state=step["state"]
        )

    async def _append(self, service: Any, step: Json) -> None:
        session = await self._get(service, step["user"], step["id"])
        await service.append_event(session, self._event.model_validate(step["event"]))

    async def _delete(self, service: Any, step: Json) -> None:
        await service.delete_session(app_name=APP, user_id=step["user"], session_id=step["id"])

    async def _get(self, service: Any, user: str, session: str) -> Any:
        return await service.get_session(app_name=APP, user_id=user, session_id=session)

    async def _contents(self, service: Any) -> Json:
        response = await service.list_sessions(app_name=APP)
        held = {}
        for user, name in sorted((each.user_id, each.id) for each in response.sessions):
            session = await self._get(service, user, name)
            events = [
                event.model_dump(mode="json", by_alias=True, exclude_none=True)
                for event in session.events
            ]
            held[f"{user}/{name}"] = {"state": session.state, "events": events}
        return json.loads(json.dumps(held, sort_keys=True))


async def main() -> None:
    """Answer each line of stdin with a line on stdout."""
    steps = Steps("google.adk")
    sys.stdout.write(json.dumps([name for name in ("sqlite", "database") if steps.can(name)]))
    sys.stdout.write("\n")
    sys.stdout.flush()
    for line in sys.stdin:
        request = json.loads(line)
        held = await steps.run(request["service"], request["path"], request["steps"])
        sys.stdout.write(json.dumps(held) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main())
