"""The values of the watched keys, as of an event or now."""

from typing import Final, Literal

from devui.debugger.events.preview import one_line
from devui.debugger.history.paths import Pin
from devui.store.rows import EventRow, SessionRow
from devui.store.state import scoped
from devui.web.links import watch_url
from devui.web.panels.state.key_history import KeyLinks
from devui.web.panels.state.parts import WatchButton
from devui.web.panels.watch.parts import WatchedKey, WatchStrip
from devui.web.services import Services
from devui.web.text.deceptive_characters import visible

_LONGEST: Final = 120
"""Maximum characters of a value."""


async def watch_strip(
    services: Services, session: SessionRow, row: EventRow | None, *, at: EventRow | None = None
) -> WatchStrip:
    """Return the app's watched keys as of an event, or now, for a page as of `at`."""
    number = row.number if row else None
    keys = await services.journal.watched_keys.of(session.app)
    if not keys:
        return WatchStrip(number)
    last = number if number is not None else session.events
    moment = await services.journal.state.moment(session.key, last) if last else None
    before = moment - 1 if moment else None
    page, now = at.number if at else None, row.seq if row else None
    items = [
        await _watched_key(services, session, key, number, page, now=now, before=before)
        for key in keys
    ]
    return WatchStrip(number, tuple(items))


async def _watched_key(
    services: Services,
    session: SessionRow,
    key: str,
    number: int | None,
    page: int | None,
    *,
    now: int | None,
    before: int | None,
) -> WatchedKey:
    scope, name = scoped(key)
    state = services.journal.state
    value = await state.value(session.key, scope, name, now)
    old = None if before is None else await state.value(session.key, scope, name, before)
    # Later writes by other sessions are shown, but the event didn't make them.
    new = await state.value(session.key, scope, name, before + 1) if before is not None else None
    mark = "same" if before is None else _mark(old, new)
    return WatchedKey(
        label=visible(key),
        history=KeyLinks(session.key, number, page).to(Pin(key)),
        text=_line(value),
        mark=mark,
        old=_line(old) if mark in {"changed", "removed"} else "",
        button=WatchButton(
            watch_url(session.key),
            key,
            visible(key),
            is_watched=True,
            in_strip=True,
            event=number,
            at=page,
        ),
    )


def watch_button(
    session: int, key: str, *, is_watched: bool, number: int | None, at: int | None
) -> WatchButton:
    """Return the button for a key, for a page as of `at` with this event selected."""
    return WatchButton(
        watch_url(session), key, visible(key), is_watched=is_watched, event=number, at=at
    )


def _line(text: str | None) -> str:
    return "" if text is None else visible(one_line(text, _LONGEST))


def _mark(old: str | None, new: str | None) -> Literal["same", "new", "changed", "removed"]:
    if old == new:
        return "same"
    if old is None:
        return "new"
    return "removed" if new is None else "changed"
