"""Tags: short labels that people put on sessions, to find them again.

Agents don't see them, and a fork starts without any. Names that differ only in case are the same
tag; an app has each tag in the spelling that was used first.
"""

import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple
from unicodedata import normalize

from devui.store.errors import BadValue
from devui.store.sqlite.database import Database
from devui.store.values import bounded, clean_text

LONGEST: Final = 50
"""The maximum length of a tag, in characters."""
MOST: Final = 20
"""The maximum number of tags of a session."""
_MEANINGFUL: Final = frozenset(',"*\\')
"""Characters with a meaning in lists of tags and in filters."""
_JOINERS: Final = frozenset("\u200c\u200d")
"""Characters that can't be printed, but which Persian and emoji need."""

_OF = "SELECT name FROM tags WHERE session = ? ORDER BY folded"
_OF_SESSIONS = """
    SELECT session, name FROM tags WHERE session IN (SELECT value FROM json_each(?))
    ORDER BY session, folded
"""
_USED = """
    SELECT min(name), count(*), folded FROM tags JOIN sessions ON key = session
    WHERE ?1 IS NULL OR app = ?1 GROUP BY folded ORDER BY folded
"""
_ADD = "INSERT OR IGNORE INTO tags (session, folded, name) VALUES (?, ?, ?)"
_REMOVE = "DELETE FROM tags WHERE session = ? AND folded = ?"
_APP = "SELECT app FROM sessions WHERE key = ?"
_SPELLING = """
    SELECT name FROM tags JOIN sessions ON key = session WHERE folded = ? AND app = ? LIMIT 1
"""
# Of each choice, a session has one of the names, or none of them.
_SELECTION = """
    SELECT key FROM sessions WHERE (?1 IS NULL OR app = ?1) AND NOT EXISTS (
        SELECT 1 FROM json_each(?2) AS choice
        WHERE json_extract(choice.value, '$[1]') <> EXISTS (
            SELECT 1 FROM tags WHERE session = sessions.key
              AND folded IN (SELECT value FROM json_each(json_extract(choice.value, '$[0]')))
        )
    )
"""


class TagCount(NamedTuple):
    """A tag, and how many sessions have it."""

    name: str
    sessions: int
    folded: str


class TagChoice(NamedTuple):
    """Selects the sessions that have one of the tags, or those that have none of them."""

    folded: Collection[str]
    has: bool = True


class Tags:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def change(
        self, session_keys: Iterable[int], *, add: Iterable[str] = (), remove: Iterable[str] = ()
    ) -> Mapping[int, list[str]]:
        """Add tags to sessions and remove others; return the tags of each session.

        Sessions that no longer exist are left out. Raises BadValue, and then changes nothing.
        """
        keys = [*session_keys]
        names = [tag_name(text) for text in add]
        old = [folded(text) for text in remove]

        def work(connection: sqlite3.Connection) -> Mapping[int, list[str]]:
            tags: dict[int, list[str]] = {}
            for key in keys:
                for (app,) in connection.execute(_APP, (bounded(key),)).fetchall():
                    connection.executemany(_REMOVE, [(key, each) for each in old])
                    for name in names:
                        add_tag(connection, app, key, name)
                    tags[key] = tags_of(connection, key)
                    if names and len(tags[key]) > MOST:
                        raise BadValue(
                            f"session {key} would have {len(tags[key])} tags; a session has at most"
                            f" {MOST}: remove some first"
                        )
            return tags

        return await self._database.write(work)

    async def of(self, session_key: int) -> list[str]:
        """Return the session's tags in alphabetical order."""
        return [name for (name,) in await self._database.find(_OF, session_key)]

    async def of_sessions(self, keys: Iterable[int]) -> Mapping[int, list[str]]:
        """Return the tags of those sessions that have any, by session key."""
        tags: dict[int, list[str]] = {}
        keys_json = str([bounded(key) for key in keys])
        for key, name in await self._database.fetch(_OF_SESSIONS, keys_json):
            tags.setdefault(key, []).append(name)
        return tags

    async def counts(self, app: str | None = None) -> Sequence[TagCount]:
        """Return the tags of an app's sessions, or of all sessions, in alphabetical order."""
        return [TagCount(*row) for row in await self._database.fetch(_USED, app)]

    async def sessions(self, choices: Iterable[TagChoice], app: str | None = None) -> set[int]:
        """Return the keys of an app's sessions, or of all, that all choices select."""
        choices_json = json.dumps([([*each.folded], each.has) for each in choices])
        rows = await self._database.fetch(_SELECTION, app, choices_json)
        return {key for (key,) in rows}


def tag_name(text: str) -> str:
    """Return the tag that somebody typed, with single spaces. Raises BadValue."""
    name = normalize("NFC", " ".join(clean_text(text, "the tag").split()))
    if not name:
        raise BadValue("the tag is empty; give it at least one character")
    if len(name) > LONGEST:
        raise BadValue(f"a tag has at most {LONGEST} characters, this one {len(name)}")
    if not _MEANINGFUL.isdisjoint(name):
        raise BadValue("a tag can't contain commas, quotation marks, backslashes or asterisks")
    for char in name:
        if not (char.isprintable() or char in _JOINERS):
            raise BadValue(f"the tag contains the invisible character {char!r}; remove it")
    return name


def folded(name: str) -> str:
    """Return the name in the form in which tags are compared."""
    return normalize("NFC", normalize("NFC", " ".join(name.split())).casefold())


def tags_of(connection: sqlite3.Connection, session: int) -> list[str]:
    """Return a session's tags; for use inside a job."""
    return [name for (name,) in connection.execute(_OF, (session,))]


def add_tag(connection: sqlite3.Connection, app: str, session: int, name: str) -> None:
    """Add a tag, in the app's spelling, to a session unless it has it; for use inside a job."""
    connection.execute(_ADD, (session, folded(name), _spelling(connection, app, name)))


def _spelling(connection: sqlite3.Connection, app: str, name: str) -> str:
    rows = connection.execute(_SPELLING, (folded(name), app)).fetchall()
    return str(rows[0][0]) if rows else name
