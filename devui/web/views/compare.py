"""`/compare`: two sessions or runs beside each other."""

import asyncio

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from devui.debugger.compare.comparison import Comparison
from devui.debugger.compare.moments import moment, moment_diff
from devui.debugger.compare.prompts import other_prompts
from devui.debugger.compare.sides import Side, compare_sides
from devui.web.errors import BadRequest
from devui.web.links import Compared, choose_url, compare_url
from devui.web.pages.compare import ChoosePage, ComparePage
from devui.web.parts import every as parts
from devui.web.presenters.comparesides import choice, figures, sides
from devui.web.presenters.comparing import Asked, Rows, partners, row_id, verdict
from devui.web.presenters.pairdiff import pair_diff
from devui.web.services import Services, services
from devui.web.sides import event_of_side, side_of, sides_of
from devui.web.text.numbers import whole_number
from devui.web.views.lookup import theme_of

_MOST_ROWS = 1_000
"""Rows that a stretch unfolds to at once."""
_TWO = 2


async def show(request: Request) -> Response:
    """Both sides aligned; as long as one is not named, a choice of what could stand there."""
    chosen = request.query_params.getlist("session")
    if chosen:
        return _redirected(chosen)
    if not all(request.query_params.get(name) for name in ("left", "right")):
        return await _choose(request)
    found, left, right = await sides_of(request)
    comparison = await compare_sides(found.journal, left, right)
    prompts = await other_prompts(found.journal, left, right, comparison)
    asked = _asked(request)
    bodies = await _bodies(found, (left, right), comparison, asked)
    first, second = await sides(found, left, right)
    page = ComparePage(
        theme=theme_of(request),
        left=first,
        right=second,
        swap_href=compare_url(Compared(right.name, left.name), at=_swapped(asked.at)),
        verdict=verdict(comparison, prompts),
        figures=figures(found.prices, left, right),
        folded=not asked.unfolded,
        fold_href=compare_url(
            Compared(left.name, right.name), unfolded=not asked.unfolded, at=asked.at
        ),
        table=await asyncio.to_thread(Rows(left, right).table, comparison, asked, bodies),
    )
    return found.render.page(page)


async def pair(request: Request) -> Response:
    """What differs between an event of each side."""
    found, left, right = await sides_of(request)
    first = await event_of_side(found, request, left, "leftEvent")
    second = await event_of_side(found, request, right, "rightEvent")
    if first is None and second is None:
        raise BadRequest("name an event of a side at least: `leftEvent=4&rightEvent=5`")
    diff = await moment_diff(found.journal, first, second)
    return found.render.page(await asyncio.to_thread(pair_diff, diff))


async def stretch(request: Request) -> Response:
    """Rows that are the same: `count` of them from `leftEvent` and `rightEvent` on."""
    found, left, right = await sides_of(request)
    query = request.query_params
    numbers = [whole_number(query.get(name)) for name in ("leftEvent", "rightEvent", "count")]
    if not all(numbers):
        raise BadRequest("name where the stretch begins and how long it is")
    begin, there, count = [number or 0 for number in numbers]
    return found.render.page(Rows(left, right).same(begin, there, min(count, _MOST_ROWS)))


def _redirected(chosen: list[str]) -> Response:
    """From a choice in a list, the older one first, to the page of the two."""
    keys = sorted({key for text in chosen if (key := whole_number(text)) is not None})
    if len(keys) > _TWO:
        raise BadRequest(f"{len(keys)} sessions are chosen: choose two of them to be compared")
    left, right = [*map(str, keys), "", ""][:2]
    return RedirectResponse(choose_url(left, right), status_code=303)


async def _choose(request: Request) -> Response:
    found, query = services(request), request.query_params
    left, right = query.get("left") or "", query.get("right") or ""
    known = await side_of(found, request, "left" if left else "right") if left or right else None

    def href(name: str) -> str:
        return choose_url(left, name) if left else choose_url(name, right)

    page = ChoosePage(theme=theme_of(request), choice=await choice(found, known, href))
    return found.render.page(page)


def _asked(request: Request) -> Asked:
    query = request.query_params
    return Asked(
        start=whole_number(query.get("from")) or 0,
        unfolded=query.get("unfold") is not None,
        opened=_row(query.get("open")),
        at=_row(query.get("at")),
    )


def _swapped(row: tuple[int | None, int | None] | None) -> tuple[int | None, int | None] | None:
    return (row[1], row[0]) if row else None


def _row(text: str | None) -> tuple[int | None, int | None] | None:
    """The numbers of a row's events, as of `4-5`, `4-` or `-5`."""
    numbers = [whole_number(each) for each in (text or "").split("-")]
    return (numbers[0], numbers[1]) if len(numbers) == _TWO else None


async def _bodies(
    found: Services, sides: tuple[Side, Side], comparison: Comparison, asked: Asked
) -> dict[str, parts.PairDiff]:
    """The differences that the page begins with: the first one, and the one asked for."""
    wanted = {row_id(row): partners(row) for row in (comparison.first,) if row}
    if asked.opened:
        wanted |= {row_id(r): partners(r) for r in comparison.rows if partners(r) == asked.opened}
    bodies = {}
    for name, numbers in wanted.items():
        events = [
            await moment(found.journal, side.session, number) if number else None
            for side, number in zip(sides, numbers, strict=True)
        ]
        diff = await moment_diff(found.journal, *events)
        bodies[name] = await asyncio.to_thread(pair_diff, diff)
    return bodies
