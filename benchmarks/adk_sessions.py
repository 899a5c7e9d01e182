"""Write the sessions of `benchmarks.day` into a SQLite file of google-adk, using its Python.

usage: PYTHON -m benchmarks.adk_sessions FILE [--events 10000] [--sessions 500]

google-adk's service creates the tables and the sessions. It would append each event in its own
transaction, so the events are inserted here in its format; what it reads back is compared.
"""

import argparse
import asyncio
import sqlite3
from pathlib import Path

from google.adk.events import Event
from google.adk.sessions.sqlite_session_service import SqliteSessionService

from benchmarks.events import TURN, history

USER = "u"
INSERT = """
    INSERT INTO events (id, app_name, user_id, session_id, invocation_id, timestamp, event_data)
    VALUES (?, ?, ?, ?, ?, ?, ?)
"""


async def store(file: Path, app: str, names: list[str], count: int) -> None:
    """Store sessions with `count` events each."""
    service = SqliteSessionService(str(file))
    events = [Event.model_validate(event) for event in history(count)]
    for name in names:
        state = {"turn": (count - 1) // TURN}
        await service.create_session(app_name=app, user_id=USER, session_id=name, state=state)
    with sqlite3.connect(file) as connection:
        connection.executemany(
            INSERT,
            (
                (
                    *(event.id, app, USER, name, event.invocation_id, event.timestamp),
                    event.model_dump_json(exclude_none=True),
                )
                for name in names
                for event in events
            ),
        )
    connection.close()
    read = await service.get_session(app_name=app, user_id=USER, session_id=names[-1])
    if read is None or read.events != events:
        raise RuntimeError(f"{app}: google-adk reads other events than were written")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--sessions", type=int, default=500)
    options = parser.parse_args()
    asyncio.run(store(options.file, "text", ["long"], options.events))
    names = [f"session-{number:03}" for number in range(options.sessions)]
    asyncio.run(store(options.file, "tool1", names, TURN))


if __name__ == "__main__":
    main()
