"""`/compare`: two sessions or runs side by side."""

import asyncio

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from devui.debugger.compare.comparison import Comparison
from devui.debugger.compare.moments import moment, moment_diff
from devui.debugger.compare.prompts import other_prompts
from devui.debugger.compare.sides import Side, compare_sides
from devui.web.errors import BadRequest
from devui.web.links import SideNames, choose_url, compare_url
from devui.web.lookup import theme_of
from devui.web.panels.compare.parts import ChoosePage, ComparePage, PairDiff
from devui.web.panels.compare.rows import CompareQuery, Rows, pair_diff, partners, row_id, verdict
from devui.web.panels.compare.sides import choice, event_of_side, figures, side_of, sides, sides_of
from devui.web.services import Services, services_of
from devui.web.text.numbers import whole_number

_MOST_ROWS = 1_000
"""The maximum number of rows that a stretch unfolds to at once."""
_TWO = 2


async def show(request: Request) -> Response:
    """Show both sides aligned; if one isn't given, show a choice for it."""
    keys = request.query_params.getlist("session")
    if keys:
        return _redirect(keys)
    if not all(request.query_params.get(name) for name in ("left", "right")):
        return await _choose(request)
    services, left, right = await sides_of(request)
    comparison = await compare_sides(services.journal, left, right)
    prompts = await other_prompts(services.journal, left, right, comparison)
    query = _query(request)
    bodies = await _bodies(services, (left, right), comparison, query)
    first, second = await sides(services, left, right)
    page = ComparePage(
        theme=theme_of(request),
        left=first,
        right=second,
        swap_href=compare_url(SideNames(right.name, left.name), at=_swap(query.at)),
        verdict=verdict(comparison, prompts),
        figures=figures(services.prices, left, right, outcomes=(first.word, second.word)),
        folded=not query.unfolded,
        fold_href=compare_url(
            SideNames(left.name, right.name), unfolded=not query.unfolded, at=query.at
        ),
        table=await asyncio.to_thread(Rows(left, right).table, comparison, query, bodies),
    )
    return services.render.page(page)


async def pair(request: Request) -> Response:
    """Show the differences between one event of each side."""
    services, left, right = await sides_of(request)
    first = await event_of_side(services, request, left, "leftEvent")
    second = await event_of_side(services, request, right, "rightEvent")
    if first is None and second is None:
        raise BadRequest("give at least one event: `leftEvent=4&rightEvent=5`")
    diff = await moment_diff(services.journal, first, second)
    return services.render.page(await asyncio.to_thread(pair_diff, diff))


async def folded_rows(request: Request) -> Response:
    """Show `count` rows of a folded stretch, from `leftEvent` and `rightEvent` on, or from one of
    them if only its side has these rows."""
    services, left, right = await sides_of(request)
    params = request.query_params
    names = ("leftEvent", "rightEvent", "count")
    begin, there, count = [whole_number(params.get(name)) for name in names]
    if not count or not (begin or there):
        raise BadRequest("give the start and the length of the range")
    return services.render.page(Rows(left, right).folded(begin, there, min(count, _MOST_ROWS)))


def _redirect(texts: list[str]) -> Response:
    """Redirect from two sessions selected in a list to their comparison, the older one on the
    left."""
    keys = sorted({key for text in texts if (key := whole_number(text)) is not None})
    if len(keys) > _TWO:
        raise BadRequest(f"{len(keys)} sessions are selected: select two to compare")
    left, right = [*map(str, keys), "", ""][:2]
    return RedirectResponse(choose_url(left, right), status_code=303)


async def _choose(request: Request) -> Response:
    services, params = services_of(request), request.query_params
    left, right = params.get("left") or "", params.get("right") or ""
    side = await side_of(services, request, "left" if left else "right") if left or right else None

    def href(name: str) -> str:
        return choose_url(left, name) if left else choose_url(name, right)

    page = ChoosePage(theme=theme_of(request), choice=await choice(services, side, href))
    return services.render.page(page)


def _query(request: Request) -> CompareQuery:
    params = request.query_params
    return CompareQuery(
        start=whole_number(params.get("from")) or 0,
        unfolded=params.get("unfold") is not None,
        open_row=_row(params.get("open")),
        at=_row(params.get("at")),
    )


def _swap(row: tuple[int | None, int | None] | None) -> tuple[int | None, int | None] | None:
    return (row[1], row[0]) if row else None


def _row(text: str | None) -> tuple[int | None, int | None] | None:
    """Parse the numbers of a row's events: `4-5`, `4-` or `-5`."""
    numbers = [whole_number(each) for each in (text or "").split("-")]
    return (numbers[0], numbers[1]) if len(numbers) == _TWO else None


async def _bodies(
    services: Services, sides: tuple[Side, Side], comparison: Comparison, query: CompareQuery
) -> dict[str, PairDiff]:
    """Return the differences that are open at first: the first one, and the one that the URL
    names."""
    pairs = {row_id(row): partners(row) for row in (comparison.first,) if row}
    if query.open_row:
        pairs |= {row_id(r): partners(r) for r in comparison.rows if partners(r) == query.open_row}
    bodies = {}
    for name, numbers in pairs.items():
        events = [
            await moment(services.journal, side.session, number) if number else None
            for side, number in zip(sides, numbers, strict=True)
        ]
        diff = await moment_diff(services.journal, *events)
        bodies[name] = await asyncio.to_thread(pair_diff, diff)
    return bodies
