"""The breakpoints of all apps: kept in the journal, compiled once, changed by people."""

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Self

from devui.debugger.breakpoints.breakpoint import (
    Breakpoint,
    BreakpointError,
    Draft,
    StoredBreakpoint,
)
from devui.debugger.events.bus import Bus
from devui.debugger.events.news import APPS, BreakpointsChanged, News
from devui.store.journal import Journal
from devui.store.rows import BreakpointRow


class BreakpointBook:
    """Stores every change in the journal before applying it."""

    def __init__(self, journal: Journal, bus: Bus[News]) -> None:
        self._journal = journal
        self._bus = bus
        self._by_number: dict[int, StoredBreakpoint] = {}
        self._of_app: dict[str, tuple[int, ...]] = {}
        self._flags: dict[int, dict[str, bool]] = {}
        """By breakpoint: the switches of individual users."""
        self._changed: Callable[[str], None] = lambda _: None

    @classmethod
    async def load(cls, journal: Journal, bus: Bus[News]) -> Self:
        """Compile the breakpoints in the journal, skipping those that this version can't read."""
        book = cls(journal, bus)
        for row in await journal.breakpoints.all():
            try:
                book._by_number[row.id] = _read(row)
            except (BreakpointError, TypeError, ValueError):
                continue
        for number, user, enabled in await journal.breakpoints.flags():
            book._flags.setdefault(number, {})[user] = enabled
        for app in {point.row.app for point in book._by_number.values()}:
            book._sort(app)
        return book

    def on_change(self, changed: Callable[[str], None]) -> None:
        """Call `changed` with an app whenever its breakpoints change."""
        self._changed = changed

    def enabled(self, app: str, user: str) -> tuple[StoredBreakpoint, ...]:
        """Return the app's breakpoints that are on for this user."""
        return tuple(point for point in self.of(app) if self.is_on(point, user))

    def is_on(self, point: StoredBreakpoint, user: str) -> bool:
        """Whether it is on for this user, by the user's own switch or else by the common one."""
        return self.flags(point.row.id).get(user, point.row.enabled)

    def flags(self, number: int) -> dict[str, bool]:
        """Return the switches of individual users, by user."""
        return self._flags.get(number, {})

    def of(self, app: str) -> list[StoredBreakpoint]:
        """Return all breakpoints of the app, oldest first."""
        return [self._by_number[number] for number in self._of_app.get(app, ())]

    def get(self, app: str, number: int) -> StoredBreakpoint | None:
        """Return the app's breakpoint with this number, if there is one."""
        point = self._by_number.get(number)
        return point if point is not None and point.row.app == app else None

    async def add(
        self, app: str, draft: Draft, *, enabled: bool = True, actor: str | None = None
    ) -> StoredBreakpoint:
        """Add a breakpoint; `actor` is who sets it, as shown to others. Raises BreakpointError."""
        Breakpoint(draft)
        data = json.dumps(asdict(draft))
        row = await self._journal.breakpoints.add(app, data, enabled=enabled, actor=actor)
        return self._take(row)

    async def change(
        self, number: int, version: int, *, draft: Draft | None, enabled: bool | None
    ) -> StoredBreakpoint:
        """Change the given parts of a breakpoint, if it still has this version.

        Raises BreakpointError, BreakpointNotFound, BreakpointChanged.
        """
        if draft is not None:
            Breakpoint(draft)
        data = None if draft is None else json.dumps(asdict(draft))
        row = await self._journal.breakpoints.change(number, version, data=data, enabled=enabled)
        return self._take(row)

    async def switch(
        self, number: int, version: int, user: str, *, enabled: bool
    ) -> StoredBreakpoint:
        """Switch a breakpoint on or off for one user, if it still has this version.

        Raises BreakpointNotFound, BreakpointChanged, BadValue.
        """
        row = await self._journal.breakpoints.switch(number, version, user, enabled=enabled)
        self._flags.setdefault(number, {})[user] = enabled
        return self._take(row)

    async def delete(self, app: str, number: int) -> bool:
        """Delete a breakpoint, and return whether it was there."""
        if self.get(app, number) is None or not await self._journal.breakpoints.delete(number):
            return False
        self._by_number.pop(number, None)
        self._flags.pop(number, None)
        self._tell(app)
        return True

    async def hit(self, point: StoredBreakpoint, journal: Journal) -> None:
        """Count a hit, through the journal of the run that hit it."""
        row = await journal.breakpoints.hit(point.row.id)
        now = self._by_number.get(point.row.id)
        if row is not None and now is not None and now.row.version == row.version:
            self._by_number[row.id] = StoredBreakpoint(row, now.breakpoint)

    def _take(self, row: BreakpointRow) -> StoredBreakpoint:
        point = self._by_number[row.id] = _read(row)
        self._tell(row.app)
        return point

    def _tell(self, app: str) -> None:
        self._sort(app)
        self._bus.publish(APPS, BreakpointsChanged(app))
        self._changed(app)

    def _sort(self, app: str) -> None:
        self._of_app[app] = tuple(n for n, point in self._by_number.items() if point.row.app == app)


def _read(row: BreakpointRow) -> StoredBreakpoint:
    return StoredBreakpoint(row, Breakpoint(Draft(**json.loads(row.data))))
