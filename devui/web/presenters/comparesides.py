"""The two sides of a comparison: their names, what else could stand there, their figures."""

from collections.abc import Callable
from typing import Final

from devui.debugger.compare.facts import SideFacts, facts_of
from devui.debugger.compare.sides import MOST, Side
from devui.debugger.prices import Prices
from devui.store.rows import RunRow, SessionRow
from devui.web.links import Compared, choose_url, session_url
from devui.web.parts import every as parts
from devui.web.presenters.lists import session_name
from devui.web.presenters.status import WORDS
from devui.web.services import Services
from devui.web.text import formats
from devui.web.text.figures import UNKNOWN, compact, money, plural
from devui.web.text.visible import visible

_IN_MENU: Final = 20


async def sides(found: Services, left: Side, right: Side) -> tuple[parts.CompareSide, ...]:
    """Both, each with links that put something else in its place."""
    names = Compared(left.name, right.name)
    return (
        await _side(found, left, "left", lambda name: choose_url(name, names.right)),
        await _side(found, right, "right", lambda name: choose_url(names.left, name)),
    )


async def choice(
    found: Services, known: Side | None, href: Callable[[str], str]
) -> parts.CompareChoice:
    """What a side may be compared with; without one, what to begin with."""
    app = known.session.app if known else None
    return parts.CompareChoice(
        known=_name(known) if known else "",
        sessions=await _sessions(found, app, known.session.key if known else None, href),
        runs=tuple(_runs(known, href)) if known else (),
    )


def figures(prices: Prices, left: Side, right: Side) -> tuple[parts.CompareFigure, ...]:
    """What both came to."""
    first, second = facts_of(left, prices), facts_of(right, prices)
    told: tuple[tuple[str, Callable[[SideFacts], str]], ...] = (
        ("events", lambda facts: formats.grouped(facts.events)),
        ("tool calls", lambda facts: formats.grouped(facts.calls)),
        ("tokens", lambda facts: compact(facts.tokens)),
        ("cost", lambda facts: money(facts.cost, more=facts.unpriced > 0)),
        ("time", _time),
    )
    ends = [_outcome(side) for side in (left, right)]
    rows = [("outcome", *ends), *((label, say(first), say(second)) for label, say in told)]
    return tuple(
        parts.CompareFigure(label, a, b, a != b and label != "time") for label, a, b in rows
    )


def _time(facts: SideFacts) -> str:
    return UNKNOWN if facts.seconds is None else formats.duration(facts.seconds)


def _outcome(side: Side) -> str:
    return WORDS[side.run.status] if side.run else WORDS["idle"]


async def _side(
    found: Services, side: Side, label: str, href: Callable[[str], str]
) -> parts.CompareSide:
    session = side.session
    about = [f"session {session.key}", await _kind(found, side)]
    status: parts.Status = side.run.status if side.run else "idle"
    first = side.events[0].number if side.place and side.events else None
    return parts.CompareSide(
        label=label,
        title=session_name(session),
        about=" · ".join([*filter(None, about), visible(session.app), visible(session.user)]),
        href=session_url(session.key, event=first),
        status=status,
        word=WORDS[status],
        sessions=await _sessions(found, session.app, session.key, href),
        runs=tuple(_runs(side, href)),
        note=_note(side),
    )


async def _kind(found: Services, side: Side) -> str:
    """Which run it is, or of what the session is a fork."""
    if side.place:
        return f"run {side.place} of {len(side.runs)}"
    fork = await found.journal.forks.get(side.session.key)
    if fork is None:
        return ""
    note = f", {visible(fork.note)}" if fork.note else ""
    return f"a fork of session {fork.parent} at #{fork.number}{note}"


def _name(side: Side) -> str:
    title = session_name(side.session)
    return f"run {side.place} of {title}" if side.place else title


def _note(side: Side) -> str:
    notes = []
    if side.left_out:
        notes.append(f"only its first {formats.grouped(MOST)} events are compared")
    if side.run and side.run.ended is None:
        notes.append("its run goes on: load the page again to see more of it")
    return "; ".join(notes)


def _runs(side: Side, href: Callable[[str], str]) -> list[parts.MenuItem]:
    if len(side.runs) <= 1:
        return []
    key = str(side.session.key)
    whole = parts.MenuItem("the whole session", href(key), current=side.place is None)
    newest = list(enumerate(side.runs, 1))[-_IN_MENU:]
    return [whole, *(_run(run, place, side, href) for place, run in reversed(newest))]


def _run(run: RunRow, place: int, side: Side, href: Callable[[str], str]) -> parts.MenuItem:
    name = f"{side.session.key}@{place}"
    current = place == side.place
    return parts.MenuItem(f"run {place}", href(name), note=WORDS[run.status], current=current)


async def _sessions(
    found: Services, app: str | None, current: int | None, href: Callable[[str], str]
) -> tuple[parts.MenuItem, ...]:
    sessions = found.journal.sessions
    rows = await (sessions.recent(_IN_MENU) if app is None else sessions.list(app, limit=_IN_MENU))
    return tuple(_session(row, href, current=row.key == current, named=app is None) for row in rows)


def _session(
    row: SessionRow, href: Callable[[str], str], *, current: bool, named: bool
) -> parts.MenuItem:
    note = f"session {row.key} · {plural(row.events, 'event')}"
    if named:
        note = f"{visible(row.app)} · {note}"
    return parts.MenuItem(session_name(row), href(str(row.key)), note=note, current=current)
