"""The results of a search."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from devui.debugger.events.nodes import name_of
from devui.debugger.predicates.filters import Filter
from devui.debugger.search.by_tag import SearchInput, tagged_sessions
from devui.debugger.search.hits import NEWEST, Hit, SearchResults, SessionHits, find
from devui.debugger.secrets.redaction import Redactor
from devui.store.rows import ForkRow, SessionRow
from devui.web.links import search_url, session_url
from devui.web.panels.apps.lists import fork_mark, session_name, tag_links
from devui.web.panels.search.excerpts import excerpt, phrases_of
from devui.web.panels.search.parts import (
    NamedSession,
    SearchedSession,
    SearchHit,
    SearchPage,
)
from devui.web.panels.timeline.kinds import WORDS
from devui.web.services import Services
from devui.web.text.deceptive_characters import visible
from devui.web.text.formats import moment, plural

_TITLED = 10
"""Maximum number of sessions listed by title."""
TAGGED: Final = 100
"""Maximum number of sessions listed by tag."""


class SessionMarks(NamedTuple):
    """What tells sessions apart, by their keys."""

    forks: Mapping[int, ForkRow]
    tags: Mapping[int, list[str]]


async def fill_page(
    services: Services,
    page: SearchPage,
    search: SearchInput,
    *,
    event_filter: Filter,
    before: int | None,
) -> SearchPage:
    """Return the page with its results: events that match the filter, of sessions with the tags."""
    progress = await services.search_index.catch_up()
    among = await tagged_sessions(services.journal.tags, search.tags)
    results = await find(
        services.journal, event_filter, services.prices, before=before or NEWEST, among=among
    )
    sessions = [] if before else await titled_sessions(services, event_filter, among)
    keys = [each.session.key for each in results.sessions] + [row.key for row in sessions]
    marks = await session_marks(services, keys)
    return replace(
        page,
        named_sessions=tuple(_named_session(row, marks) for row in sessions),
        sessions=sessions_of(results, marks, event_filter, services.view.redactor()),
        total="" if before else total_of(results),
        older_href=search_url(search.text, before=results.before) if results.before else "",
        percent=progress.percent,
        has_words=bool(phrases_of(event_filter)),
    )


async def fill_with_tagged(services: Services, page: SearchPage, search: SearchInput) -> SearchPage:
    """Return the page with all sessions that have the tags."""
    among = await tagged_sessions(services.journal.tags, search.tags)
    sessions = await services.journal.search.by_title("", TAGGED, among)
    marks = await session_marks(services, [row.key for row in sessions])
    count = len(among or ())
    total = plural(count, "session") if count else ""
    if count > TAGGED:
        total = f"the {TAGGED} most recently active of {count:,} sessions"
    return replace(
        page,
        named_title="Sessions by tag",
        named_sessions=tuple(_named_session(row, marks) for row in sessions),
        total=total,
    )


async def session_marks(services: Services, keys: Sequence[int]) -> SessionMarks:
    """Return what tells these sessions apart."""
    journal = services.journal
    return SessionMarks(await journal.forks.among(keys), await journal.tags.of_sessions(keys))


async def titled_sessions(
    services: Services, event_filter: Filter, among: Collection[int] | None
) -> list[SessionRow]:
    """Return the sessions with the text in their titles, if the filter is only a text."""
    phrases = phrases_of(event_filter)
    is_text = (
        len(phrases) == len(event_filter.words) and event_filter.text.lower().split() == phrases
    )
    if not is_text:
        return []
    text = " ".join(event_filter.text.split())
    return await services.journal.search.by_title(text, _TITLED, among)


def sessions_of(
    results: SearchResults, marks: SessionMarks, event_filter: Filter, redactor: Redactor
) -> tuple[SearchedSession, ...]:
    """Return the sessions with their matches."""
    return tuple(_session(each, marks, event_filter, redactor) for each in results.sessions)


def total_of(results: SearchResults) -> str:
    """Return the number of matches. A search stops after one page, so there may be more."""
    events, sessions = sum(len(each.hits) for each in results.sessions), len(results.sessions)
    has_more = results.before or any(each.has_more for each in results.sessions)
    return f"{_plural(events, 'event', has_more)} in {_plural(sessions, 'session', results.before)}"


def _plural(count: int, noun: str, has_more: object) -> str:
    return f"{count:,}+ {noun}s" if has_more else plural(count, noun)


def search_hit(hit: Hit, phrases: list[str], redactor: Redactor) -> SearchHit:
    """Return one match, with the text around it."""
    row, summary = hit.row, hit.row.summary
    return SearchHit(
        number=row.number,
        href=session_url(row.session, event=row.number),
        kind=summary.kind,
        word=WORDS[summary.kind],
        author=visible(name_of(summary.node) or row.author),
        at=moment(row.timestamp),
        pieces=excerpt(hit, phrases, redactor),
    )


def _session(
    each: SessionHits, marks: SessionMarks, event_filter: Filter, redactor: Redactor
) -> SearchedSession:
    session, phrases = each.session, phrases_of(event_filter)
    return SearchedSession(
        number=session.key,
        title=session_name(session),
        forked=fork_mark(marks.forks.get(session.key)),
        tags=tag_links(marks.tags.get(session.key, ())),
        href=session_url(session.key),
        app=visible(session.app),
        user=visible(session.user),
        updated=moment(session.updated),
        hits=tuple(search_hit(hit, phrases, redactor) for hit in each.hits),
        all_href=session_url(session.key, only=event_filter.text) if each.has_more else "",
    )


def _named_session(row: SessionRow, marks: SessionMarks) -> NamedSession:
    return NamedSession(
        number=row.key,
        title=session_name(row),
        forked=fork_mark(marks.forks.get(row.key)),
        tags=tag_links(marks.tags.get(row.key, ())),
        href=session_url(row.key),
        app=visible(row.app),
        updated=moment(row.updated),
    )
