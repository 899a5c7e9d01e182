"""The state keys of each app that people watch."""

import sqlite3
from collections.abc import Callable
from typing import Final

from devui.store.errors import BadValue
from devui.store.sqlite.database import Database
from devui.store.values import clean_text

MOST: Final = 20
"""The maximum number of watched keys of one app."""
_OF: Final = "SELECT key FROM watched_keys WHERE app = ? ORDER BY at, key"
_ADD: Final = "INSERT OR IGNORE INTO watched_keys (app, key, at) VALUES (?, ?, ?)"
_REMOVE: Final = "DELETE FROM watched_keys WHERE app = ? AND key = ?"


class WatchedKeys:
    """The watched keys of each app, with their prefixes."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    async def of(self, app: str) -> list[str]:
        """Return the app's watched keys, in the order in which they were added."""
        return [key for (key,) in await self._database.find(_OF, app)]

    async def add(self, app: str, key: str) -> None:
        """Watch a key, unless it is watched already. Raises BadValue if there are too many."""
        clean_text(app, "the app's name")
        clean_text(key, "the state key")

        def work(connection: sqlite3.Connection) -> None:
            keys = [each for (each,) in connection.execute(_OF, (app,))]
            if len(keys) >= MOST and key not in keys:
                raise BadValue(f"{MOST} keys of {app} are watched already: stop watching one first")
            connection.execute(_ADD, (app, key, self._clock()))

        await self._database.write(work)

    async def remove(self, app: str, key: str) -> None:
        """Stop watching a key."""
        await self._database.write(lambda connection: connection.execute(_REMOVE, (app, key)))
