"""An app's sessions as a list: the query in its URL, and one page of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Self, TypeVar
from urllib.parse import urlencode

from starlette.datastructures import QueryParams

from devui.debugger.predicates.filters import split_tags
from devui.debugger.questions.open import answer_lost, open_questions
from devui.debugger.search.by_tag import tagged_sessions
from devui.store.rows import SessionRow
from devui.store.session_lists import CHOICES, SORTS, Choice, Listing, LiveRunFacts, Sort
from devui.web.basic_parts import Status
from devui.web.errors import BadRequest
from devui.web.links import (
    app_url,
    delete_sessions_url,
    export_sessions_url,
    sessions_url,
    tag_sessions_url,
)
from devui.web.panels.apps.lists import session_items
from devui.web.panels.apps.parts import Column, ListedSession, Option, SessionList
from devui.web.panels.runs.status import WORDS
from devui.web.services import Services
from devui.web.text.deceptive_characters import readable
from devui.web.text.formats import money
from devui.web.text.numbers import whole_number

Word = TypeVar("Word", bound=str)

PAGE: Final = 50
"""How many sessions are on one page."""
_FURTHEST: Final = 2**53
"""An offset past the end of every list."""
_LONGEST_TEXT: Final = 1000
"""The maximum length of the filter text. SQLite refuses patterns of more than 50,000 bytes."""
_COLUMNS: Final[tuple[tuple[str, Sort | None], ...]] = (
    ("Title", "title"),
    ("User", None),
    ("ID", None),
    ("Events", "events"),
    ("Cost", "cost"),
    ("Status", "status"),
    ("Last activity", "updated"),
)
_ASCENDING: Final[frozenset[Sort]] = frozenset({"title", "status"})
"""The columns that are first sorted in ascending order; the others start with the largest or
newest."""
_STATUSES: Final[tuple[Status, ...]] = (
    "waiting",
    "held",
    "running",
    "failed",
    "interrupted",
    "stopped",
    "done",
)


@dataclass(frozen=True, slots=True)
class ListQuery:
    """The query in a list's URL."""

    sort: Sort = "updated"
    descending: bool = True
    choice: Choice | None = None
    text: str = ""
    page: int = 1

    @classmethod
    def read(cls, query: QueryParams) -> Self:
        """Parse a query. Raises BadRequest for invalid values."""
        sort = _one_of(SORTS, query.get("sort") or "updated", "sort")
        choice = query.get("status")
        order = query.get("order") or ("asc" if sort in _ASCENDING else "desc")
        if order not in {"asc", "desc"}:
            raise BadRequest("set order to asc or desc, or omit it")
        text = (query.get("q") or "").strip()
        if len(text) > _LONGEST_TEXT:
            raise BadRequest(f"q must have at most {_LONGEST_TEXT:,} characters")
        page = whole_number(query.get("page") or "1")
        if not page:
            raise BadRequest("page must be a number from 1 on")
        return cls(
            sort,
            order == "desc",
            _one_of(CHOICES, choice, "status") if choice else None,
            text,
            page,
        )

    @property
    def words(self) -> dict[str, str | int]:
        """The query for a URL, without defaults."""
        words: dict[str, str | int] = {}
        if self.text:
            words["q"] = self.text
        if self.choice:
            words["status"] = self.choice
        if self.sort != "updated":
            words["sort"] = self.sort
        if self.descending == (self.sort in _ASCENDING):
            words["order"] = "desc" if self.descending else "asc"
        if self.page > 1:
            words["page"] = self.page
        return words


async def sessions_on_page(
    services: Services, app: str, query: ListQuery
) -> tuple[Sequence[SessionRow], int]:
    """Return the sessions on the page, and their number on all pages."""
    lists, listing = services.journal.session_lists, await _listing(services, app, query)
    facts = await _live_facts(services, listing)
    rows = await lists.page(
        listing, facts, limit=PAGE, offset=min((query.page - 1) * PAGE, _FURTHEST)
    )
    return rows, await lists.count(listing, facts)


async def all_sessions(services: Services, app: str, query: ListQuery) -> Sequence[SessionRow]:
    """Return the sessions on all pages."""
    listing = await _listing(services, app, query)
    facts = await _live_facts(services, listing)
    return await services.journal.session_lists.page(listing, facts, limit=_FURTHEST)


async def _listing(services: Services, app: str, query: ListQuery) -> Listing:
    """Return the listing of an app's sessions with this order and filter, on all pages."""
    terms, text = split_tags(query.text)
    among = await tagged_sessions(services.journal.tags, terms, app)
    return Listing(app, query.sort, query.descending, query.choice, " ".join(text.split()), among)


async def _live_facts(services: Services, listing: Listing) -> LiveRunFacts:
    """Return the statuses of the app's sessions and the prices of its models, if the listing needs
    them."""
    lists = services.journal.session_lists
    waiting, rates = [], []
    if listing.needs_status:
        for run in await lists.may_wait(listing.app):
            may_wait = run.status == "done" or answer_lost(run)
            if may_wait and await open_questions(services.journal, run):
                waiting.append(run.session)
    if listing.sort == "cost":
        rates = services.prices.rates(await lists.models(listing.app))
    return LiveRunFacts(services.runs.held_sessions(), waiting, rates)


async def session_list(services: Services, app: str, query: ListQuery) -> SessionList:
    """Return one page of the list; past the end, the last page."""
    rows, total = await sessions_on_page(services, app, query)
    if not rows and total:
        query = replace(query, page=-(-total // PAGE))
        rows, total = await sessions_on_page(services, app, query)
    first = (query.page - 1) * PAGE
    last = first + len(rows)
    return SessionList(
        action=app_url(app),
        columns=tuple(_column(app, query, *each) for each in _COLUMNS),
        statuses=_statuses(query),
        text=query.text,
        sort="" if query.sort == "updated" else query.sort,
        order=str(query.words.get("order", "")),
        sessions=await _items(services, rows, urlencode(query.words)),
        range=f"{first + 1:,}\u2013{last:,} of {total:,}" if rows else "",
        previous_href=_page_href(app, query, -1) if first else "",
        next_href=_page_href(app, query, 1) if last < total else "",
        total=total,
        is_filtered=bool(query.choice or query.text),
        clear_href=sessions_url(app, replace(query, choice=None, text="", page=1).words),
        delete_action=delete_sessions_url(app, query.words),
        export_action=export_sessions_url(app, query.words),
        tag_action=tag_sessions_url(app, query.words),
        tags=tuple(readable(each.name) for each in await services.journal.tags.counts(app)),
    )


async def _items(
    services: Services, rows: Sequence[SessionRow], query: str
) -> tuple[ListedSession, ...]:
    usage = await services.journal.session_lists.usage(
        [row.key for row in rows], services.prices.limits
    )
    costs = [services.prices.total([*usage[row.key]]) for row in rows]
    return tuple(
        ListedSession(item, money(each.cost, more=each.unpriced > 0), query)
        for item, each in zip(await session_items(services, rows), costs, strict=True)
    )


def _column(app: str, query: ListQuery, label: str, sort: Sort | None) -> Column:
    if sort is None:
        return Column(label)
    current = query.sort == sort
    descending = not query.descending if current else sort not in _ASCENDING
    href = sessions_url(app, replace(query, sort=sort, descending=descending, page=1).words)
    if not current:
        return Column(label, href)
    return Column(label, href, "descending" if query.descending else "ascending")


def _statuses(query: ListQuery) -> tuple[Option, ...]:
    labels = {"": "Any status"} | {each: WORDS[each].capitalize() for each in _STATUSES}
    labels["starred"] = "Starred"
    return tuple(
        Option(value, label, is_selected=value == (query.choice or ""))
        for value, label in labels.items()
    )


def _page_href(app: str, query: ListQuery, step: int) -> str:
    return sessions_url(app, replace(query, page=query.page + step).words)


def _one_of(words: Sequence[Word], text: str, name: str) -> Word:
    for word in words:
        if word == text:
            return word
    raise BadRequest(f"set {name} to one of {', '.join(words)}, or omit it")
