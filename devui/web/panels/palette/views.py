"""`/palette`: sessions, events, state keys and apps for a text."""

from collections.abc import Sequence
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from devui.debugger.history.paths import Pin
from devui.debugger.search.by_tag import SearchInput, tagged_sessions
from devui.debugger.search.hits import find
from devui.store.rows import SessionRow
from devui.store.state import prefixed
from devui.store.tags import folded
from devui.web.links import app_url, search_url, session_url, tagged_url
from devui.web.panels.apps.lists import fork_mark, session_name
from devui.web.panels.palette.parts import PaletteGroup, PaletteItem, PaletteResults
from devui.web.panels.search.excerpts import excerpt, phrases_of, plain
from devui.web.panels.state.panel import SCOPES
from devui.web.services import Services, services_of
from devui.web.text.deceptive_characters import readable, visible
from devui.web.text.formats import joined, plural
from devui.web.text.numbers import whole_number

_MOST: Final = 6
"""Maximum number of items in a group."""
_PATIENCE: Final = 0.05
"""Seconds to wait for events to be indexed; the page asks again for the rest."""


async def show(request: Request) -> Response:
    """Return what matches the text `q`; the page shows `session`, if given."""
    services = services_of(request)
    search = SearchInput.read(request.query_params.get("q"))
    text, key = search.text.strip(), whole_number(request.query_params.get("session"))
    progress = await services.search_index.catch_up(_PATIENCE) if text and key else None
    groups = [
        PaletteGroup("Sessions", await _sessions(services, search, key)),
        PaletteGroup("Tags", await _tags(services, text)),
        PaletteGroup("Events", await _events(services, search, key)),
        PaletteGroup("State keys", await _keys(services, text, key)),
        PaletteGroup("Apps", _apps(services, text)),
    ]
    if text and not search.events.error:
        link = PaletteItem(f"Search all sessions for “{visible(text)}”", search_url(text))
        groups.append(PaletteGroup("Search", (link,)))
    filled_groups = tuple(each for each in groups if each.items)
    is_indexing = progress is not None and not progress.is_whole
    return services.render.page(PaletteResults(filled_groups, is_indexing))


async def _sessions(
    services: Services, search: SearchInput, here: int | None
) -> tuple[PaletteItem, ...]:
    journal, text = services.journal, search.events.text.strip()
    among = await tagged_sessions(journal.tags, search.tags)
    rows: Sequence[SessionRow] = (
        await journal.search.by_title(text, _MOST, among)
        if text or search.tags
        else [row for row in await journal.sessions.recent(_MOST + 1) if row.key != here][:_MOST]
    )
    forks = await journal.forks.among([row.key for row in rows])
    return tuple(
        PaletteItem(
            session_name(row),
            session_url(row.key),
            joined(
                f"session {row.key}" if row.title else "",
                fork_mark(forks.get(row.key)),
                visible(row.app),
                plural(row.events, "event"),
            ),
        )
        for row in rows
    )


async def _tags(services: Services, text: str) -> tuple[PaletteItem, ...]:
    """Return the tags that contain the text."""
    if not text:
        return ()
    used = await services.journal.tags.counts()
    counts = [each for each in used if folded(text) in each.folded][:_MOST]
    return tuple(
        PaletteItem(
            readable(each.name), tagged_url(each.name), f"tag · {plural(each.sessions, 'session')}"
        )
        for each in counts
    )


async def _events(
    services: Services, search: SearchInput, key: int | None
) -> tuple[PaletteItem, ...]:
    event_filter = search.events.filter
    if event_filter is None or key is None or search.tags:
        return ()
    results = await find(services.journal, event_filter, services.prices, session=key, most=_MOST)
    redactor, phrases = services.view.redactor(), phrases_of(event_filter)
    return tuple(
        PaletteItem(
            f"#{hit.row.number} {plain(excerpt(hit, phrases, redactor))}",
            session_url(key, event=hit.row.number),
            visible(hit.row.author),
        )
        for each in results.sessions
        for hit in each.hits
    )


async def _keys(services: Services, text: str, key: int | None) -> tuple[PaletteItem, ...]:
    if key is None or not text:
        return ()
    names: list[str] = []
    for scope in SCOPES:
        page = await services.journal.state.page(key, scope, limit=_MOST, find=text, longest=1)
        names += [prefixed(scope, each.key) for each in page.values]
    return tuple(
        PaletteItem(visible(name), session_url(key, tab="state", pin=Pin(name)), "history")
        for name in names[:_MOST]
    )


def _apps(services: Services, text: str) -> tuple[PaletteItem, ...]:
    names = [name for name in services.apps.names() if text.lower() in name.lower()]
    return tuple(PaletteItem(visible(name), app_url(name), "app") for name in names[:_MOST])
