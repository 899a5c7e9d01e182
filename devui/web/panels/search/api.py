"""Search over all sessions, over HTTP."""

from starlette.requests import Request
from starlette.responses import Response
from typing_extensions import TypedDict

from devui.debugger.predicates.filters import Filter, FilterError, split_tags
from devui.debugger.search.by_tag import tagged_sessions
from devui.debugger.search.hits import NEWEST, Hit, SearchResults, SessionHits, find
from devui.debugger.secrets.redaction import Redactor
from devui.store.summaries import Kind
from devui.web.errors import BadRequest
from devui.web.json_answers import answer
from devui.web.operation import Query, operation
from devui.web.panels.search.excerpts import excerpt, phrases_of, plain
from devui.web.panels.search.panel import TAGGED
from devui.web.services import services_of
from devui.web.text.numbers import whole_number


class SearchHitJson(TypedDict):
    """A matching event."""

    number: int
    seq: int
    kind: Kind
    author: str
    timestamp: float
    excerpt: str
    """The text around the match, one line."""


class SearchedSessionJson(TypedDict):
    """A session with its newest matches."""

    key: int
    app: str
    userId: str
    id: str
    title: str | None
    tags: list[str]
    hits: list[SearchHitJson]
    """At most three, newest first; none if the search has only tags."""
    hasMore: bool


class SearchJson(TypedDict):
    """Sessions with matching events, newest match first."""

    sessions: list[SearchedSessionJson]
    before: int | None
    """The `before` for the next page; null on the last."""
    indexed: int
    """Percent of the events that are indexed; repeat the request until it is 100."""


@operation(
    SearchJson,
    query={
        "q": Query(str, "a filter, as in the timeline", required=True),
        "before": Query(int, "the `before` of the previous page"),
    },
    refusals=(400,),
)
async def show(request: Request) -> Response:
    """Search the events of all sessions.

    `q` is a [filter](debugging.md#filtering-the-timeline): texts, `tool:`, `key:`, `is:error`,
    `cost>0.01`. Texts match at the beginning of a word. Returns at most 20 sessions with three
    events each; `before` leads to older ones. Events that a fork copied are listed only in its
    parent. `tag:bug` searches the sessions with this tag; without other terms, it lists them, the
    100 most recently active.
    """
    services = services_of(request)
    text = request.query_params.get("q", "")
    if not text.strip():
        raise BadRequest("`q` is missing: give the text or filter to search for")
    terms, rest = split_tags(text)
    try:
        event_filter = Filter.read(rest)
    except FilterError as error:
        raise BadRequest(f"`q`, column {error.at + 1}: {error}") from error
    before = whole_number(request.query_params.get("before"))
    progress = await services.search_index.catch_up()
    among = await tagged_sessions(services.journal.tags, terms)
    if rest.strip():
        results = await find(
            services.journal, event_filter, services.prices, before=before or NEWEST, among=among
        )
    else:
        rows = await services.journal.search.by_title("", TAGGED, among)
        results = SearchResults([SessionHits(row) for row in rows], None)
    tags = await services.journal.tags.of_sessions(each.session.key for each in results.sessions)
    redactor, phrases = services.view.redactor(), phrases_of(event_filter)
    sessions: list[SearchedSessionJson] = [
        {
            "key": each.session.key,
            "app": each.session.app,
            "userId": each.session.user,
            "id": each.session.id,
            "title": each.session.title,
            "tags": tags.get(each.session.key, []),
            "hits": [_hit(hit, phrases, redactor) for hit in each.hits],
            "hasMore": each.has_more,
        }
        for each in results.sessions
    ]
    page: SearchJson = {
        "sessions": sessions,
        "before": results.before,
        "indexed": progress.percent,
    }
    return answer(page)


def _hit(hit: Hit, phrases: list[str], redactor: Redactor) -> SearchHitJson:
    row = hit.row
    return {
        "number": row.number,
        "seq": row.seq,
        "kind": row.summary.kind,
        "author": row.author,
        "timestamp": row.timestamp,
        "excerpt": plain(excerpt(hit, phrases, redactor)),
    }
