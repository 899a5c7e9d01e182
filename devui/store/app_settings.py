"""People's settings for an app: its engine, and the effects of its tools."""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from devui.store.sqlite.database import Database
from devui.store.values import clean_text

ALL_ENGINES = "SELECT app, engine, actor, at FROM app_engines ORDER BY app"
_SET_ENGINE = "INSERT OR REPLACE INTO app_engines (app, engine, actor, at) VALUES (?, ?, ?, ?)"
_FORGET_ENGINE = "DELETE FROM app_engines WHERE app = ?"


@dataclass(frozen=True, slots=True)
class EngineRow:
    """A person's choice of engine for an app."""

    app: str
    engine: Literal["auto", "google-adk", "devui"]
    actor: str
    at: float


class ChosenEngines:
    """The engine chosen for each app, until someone resets it."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    async def all(self) -> list[EngineRow]:
        """Return all current choices, sorted by app."""
        return [EngineRow(*row) for row in await self._database.find(ALL_ENGINES)]

    async def set(self, app: str, engine: str | None, actor: str) -> None:
        """Set an app's engine; None resets it. Raises BadValue."""
        for text, name in ((app, "the app's name"), (actor, "the actor")):
            clean_text(text, name)

        def work(connection: sqlite3.Connection) -> None:
            if engine is None:
                connection.execute(_FORGET_ENGINE, (app,))
            else:
                connection.execute(_SET_ENGINE, (app, engine, actor, self._clock()))

        await self._database.write(work)


_OF = "SELECT app, tool, effect, actor, at FROM tool_effects WHERE app = ? ORDER BY tool"
_SET_EFFECT = """
    INSERT OR REPLACE INTO tool_effects (app, tool, effect, actor, at) VALUES (?, ?, ?, ?, ?)
"""
_FORGET_EFFECT = "DELETE FROM tool_effects WHERE app = ? AND tool = ?"


@dataclass(frozen=True, slots=True)
class ToolEffectRow:
    """A person's statement about the effects of a tool."""

    app: str
    tool: str
    effect: Literal["read_only", "idempotent", "effects"]
    actor: str
    at: float


class ToolEffects:
    """The effects that people declared for each tool of an app, until someone resets them."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    async def of(self, app: str) -> list[ToolEffectRow]:
        """Return the declared effects of the app's tools, sorted by tool."""
        return [ToolEffectRow(*row) for row in await self._database.find(_OF, app)]

    async def set(self, app: str, tool: str, effect: str | None, actor: str) -> None:
        """Declare a tool's effect, `read_only`, `idempotent` or `effects`; None resets it.

        Raises BadValue.
        """
        for text, name in ((app, "the app's name"), (tool, "the tool"), (actor, "the actor")):
            clean_text(text, name)

        def work(connection: sqlite3.Connection) -> None:
            if effect is None:
                connection.execute(_FORGET_EFFECT, (app, tool))
            else:
                connection.execute(_SET_EFFECT, (app, tool, effect, actor, self._clock()))

        await self._database.write(work)
