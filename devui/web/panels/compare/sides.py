"""The two sides of a comparison, and their names in URLs.

A session is named by its key, a run by its place in the session: `12@2` is the second run of
session 12.
"""

from collections.abc import Callable
from typing import Final

from starlette.requests import Request

from devui.debugger.compare.facts import SideFacts, facts_of
from devui.debugger.compare.moments import Moment, moment
from devui.debugger.compare.sides import MOST, NoSuchRun, Side, read_side
from devui.debugger.events.prices import Prices
from devui.store.rows import SessionRow
from devui.web.errors import BadRequest, NotFound
from devui.web.links import SideNames, choose_url, session_url
from devui.web.panels.apps.lists import forked_at, session_name
from devui.web.panels.compare.parts import CompareChoice, CompareFigure, CompareSide
from devui.web.panels.runs.status import run_of
from devui.web.panels.session.parts import MenuItem
from devui.web.services import Services, services_of
from devui.web.text import formats
from devui.web.text.deceptive_characters import visible
from devui.web.text.formats import compact, elapsed, money, plural
from devui.web.text.numbers import whole_number


async def sides_of(request: Request) -> tuple[Services, Side, Side]:
    """Return both sides. Raises BadRequest if one isn't given, and NotFound."""
    services = services_of(request)
    left, right = [await side_of(services, request, name) for name in ("left", "right")]
    return services, left, right


async def side_of(services: Services, request: Request, name: str) -> Side:
    """Return the side that the query names. Raises BadRequest, NotFound."""
    text = request.query_params.get(name, "")
    key, at, place = text.partition("@")
    session, run = whole_number(key), whole_number(place)
    if session is None or (at and not run):
        raise BadRequest(
            f"`{name}` must be a session number, such as 12, or one of its runs, such as 12@2"
        )
    row = await services.journal.sessions.get(session)
    if row is None:
        raise NotFound(f"there is no session {session}; it may have been deleted")
    try:
        return await read_side(services.journal, row, run)
    except NoSuchRun as error:
        raise NotFound(str(error)) from error


async def event_of_side(
    services: Services, request: Request, side: Side, name: str
) -> Moment | None:
    """Return the event of a side that the query names; None without one. Raises NotFound."""
    text = request.query_params.get(name)
    if not text:
        return None
    number = whole_number(text)
    event = await moment(services.journal, side.session, number) if number else None
    if event is None:
        raise NotFound(
            f"session {side.session.key} has no event {text!r}: it has {side.session.events}"
        )
    return event


_IN_MENU: Final = 20


async def sides(services: Services, left: Side, right: Side) -> tuple[CompareSide, ...]:
    """Return both sides, each with links that replace it."""
    names = SideNames(left.name, right.name)
    return (
        await _side(services, left, "left", lambda name: choose_url(name, names.right)),
        await _side(services, right, "right", lambda name: choose_url(names.left, name)),
    )


async def choice(
    services: Services, side: Side | None, href: Callable[[str], str]
) -> CompareChoice:
    """Return what a side can be compared with; without a side, what to start with."""
    app = side.session.app if side else None
    return CompareChoice(
        side=_name(side) if side else "",
        sessions=await _sessions(services, app, side.session.key if side else None, href),
        runs=await _runs(services, side, href) if side else (),
    )


def figures(
    prices: Prices, left: Side, right: Side, *, outcomes: tuple[str, str]
) -> tuple[CompareFigure, ...]:
    """Return the figures of both sides."""
    first, second = facts_of(left, prices), facts_of(right, prices)
    measures: tuple[tuple[str, Callable[[SideFacts], str]], ...] = (
        ("events", lambda facts: formats.group_digits(facts.events)),
        ("tool calls", lambda facts: formats.group_digits(facts.calls)),
        ("tokens", lambda facts: compact(facts.tokens)),
        ("cost", lambda facts: money(facts.cost, more=facts.unpriced > 0)),
        ("time", lambda facts: elapsed(facts.seconds)),
    )
    rows = [("outcome", *outcomes), *((label, say(first), say(second)) for label, say in measures)]
    return tuple(CompareFigure(label, a, b, a != b and label != "time") for label, a, b in rows)


async def _side(
    services: Services, side: Side, label: str, href: Callable[[str], str]
) -> CompareSide:
    session = side.session
    about = [f"session {session.key}", await _kind(services, side)]
    status = await run_of(services, session.key, side.run)
    first = side.events[0].number if side.place and side.events else None
    return CompareSide(
        label=label,
        title=session_name(session),
        about=" · ".join([*filter(None, about), visible(session.app), visible(session.user)]),
        href=session_url(session.key, event=first),
        status=status.status,
        word=status.word,
        sessions=await _sessions(services, session.app, session.key, href),
        runs=await _runs(services, side, href),
        note=_note(side),
    )


async def _kind(services: Services, side: Side) -> str:
    """Return which run the side is, or what the session is a fork of; "" if neither."""
    if side.place:
        return f"run {side.place} of {len(side.runs)}"
    fork = await services.journal.forks.get(side.session.key)
    if fork is None:
        return ""
    note = f", {visible(fork.note)}" if fork.note else ""
    return f"a fork of session {fork.parent} {forked_at(fork)}{note}"


def _name(side: Side) -> str:
    title = session_name(side.session)
    return f"run {side.place} of {title}" if side.place else title


def _note(side: Side) -> str:
    notes = []
    if side.left_out:
        notes.append(f"only its first {formats.group_digits(MOST)} events are compared")
    if side.run and side.run.ended is None:
        notes.append("the run is still in progress: reload the page to see new events")
    return "; ".join(notes)


async def _runs(services: Services, side: Side, href: Callable[[str], str]) -> tuple[MenuItem, ...]:
    if len(side.runs) <= 1:
        return ()
    key = side.session.key
    items = [MenuItem("the whole session", href(str(key)), current=side.place is None)]
    for place, run in reversed([*enumerate(side.runs, 1)][-_IN_MENU:]):
        status = await run_of(services, key, run)
        link, current = href(f"{key}@{place}"), place == side.place
        items.append(MenuItem(f"run {place}", link, note=status.word, current=current))
    return tuple(items)


async def _sessions(
    services: Services, app: str | None, current: int | None, href: Callable[[str], str]
) -> tuple[MenuItem, ...]:
    sessions = services.journal.sessions
    rows = await (sessions.recent(_IN_MENU) if app is None else sessions.list(app, limit=_IN_MENU))
    return tuple(
        _session(row, href, current=row.key == current, with_app=app is None) for row in rows
    )


def _session(
    row: SessionRow, href: Callable[[str], str], *, current: bool, with_app: bool
) -> MenuItem:
    note = f"session {row.key} · {plural(row.events, 'event')}"
    if with_app:
        note = f"{visible(row.app)} · {note}"
    return MenuItem(session_name(row), href(str(row.key)), note=note, current=current)
