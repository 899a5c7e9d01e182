"""The breakpoints tab: the list, the form for a new one, and the past hits of one of them."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Final

from devui.debugger.apps.apps import UnknownApp
from devui.debugger.breakpoints.breakpoint import BreakpointError, StoredBreakpoint
from devui.debugger.breakpoints.hits import Past, past_hits
from devui.debugger.breakpoints.hits import PastHit as FoundHit
from devui.debugger.breakpoints.kinds import KINDS
from devui.store.rows import EventRow, SessionRow
from devui.web.basic_parts import Field
from devui.web.errors import NotFound
from devui.web.links import (
    breakpoint_delete_url,
    breakpoint_edit_url,
    breakpoint_url,
    breakpoints_url,
    session_url,
)
from devui.web.page_query import PageQuery
from devui.web.panels.breakpoints.descriptions import description
from devui.web.panels.breakpoints.parts import (
    BreakpointForm,
    BreakpointItem,
    Breakpoints,
    BreakpointsPanel,
    Choice,
    PastHit,
    PastHits,
    WrongPlace,
)
from devui.web.services import Services
from devui.web.text.actors import by
from devui.web.text.deceptive_characters import visible
from devui.web.text.formats import plural

_LISTED = 200
_TOOLS: Final = {"tool", "agent_tool"}
_AGENTS: Final = {"agent", "sequential", "parallel", "loop", "workflow"}
TAB, SHEET = "b", "s"
"""The prefixes of ids in the two places that list a breakpoint: the tab, and the sheet opened from
the gutter."""


def breakpoints(
    services: Services, session: SessionRow, form: BreakpointForm | None = None
) -> Breakpoints:
    """Return the breakpoints of the session's app, the oldest first; `form` replaces the form of
    its breakpoint."""
    items = (breakpoint_item(services, each, session) for each in services.book.of(session.app))
    return Breakpoints(
        tuple(replace(i, form=form) if form and form.number == i.number else i for i in items)
    )


def enabled_count(services: Services, session: SessionRow) -> str:
    """Return how many breakpoints are on for the session's user; "" for none."""
    return str(len(services.book.enabled(session.app, session.user)) or "")


def breakpoint_item(
    services: Services, point: StoredBreakpoint, session: SessionRow, *, place: str = TAB
) -> BreakpointItem:
    """Return a breakpoint as an item of the tab or of a row's sheet."""
    row, draft = point.row, point.breakpoint.draft
    return BreakpointItem(
        id=f"{place}-{row.id}",
        number=row.id,
        version=row.version,
        enabled=services.book.is_on(point, session.user),
        what=description(draft),
        condition=visible(draft.condition),
        hit=visible(draft.hit),
        log=visible(draft.log),
        hits=f"hit {plural(row.hits, 'time')}" if row.hits else "",
        action=breakpoint_url(session.key, row.id),
        delete_action=breakpoint_delete_url(session.key, row.id),
        past_href=session_url(session.key, tab="breaks", hits=row.id),
        form=edit_form(session.key, point, place=place),
        by=by(row.actor),
    )


def breakpoint_form(
    session: int,
    entries: Mapping[str, str] | None = None,
    error: BreakpointError | None = None,
) -> BreakpointForm:
    """Return the form for a new breakpoint, with the typed values and their error, if any."""
    entries = entries or {}

    def field(name: str) -> Field:
        wrong = error is not None and error.field == name
        return Field(entries.get(name, ""), _reason(error) if error and wrong else "")

    return BreakpointForm(
        id="break",
        action=breakpoints_url(session),
        kinds=tuple(
            Choice(on, kind.label, on == entries.get("on", "tool")) for on, kind in KINDS.items()
        ),
        after=entries.get("when") == "after",
        name=field("name"),
        agent=field("agent"),
        condition=field("condition"),
        hit=field("hit"),
        log=field("log"),
        wrong=wrong_place(entries, error),
    )


def edit_form(
    session: int,
    point: StoredBreakpoint,
    entries: Mapping[str, str] | None = None,
    error: BreakpointError | None = None,
    *,
    place: str = TAB,
) -> BreakpointForm:
    """Return the form that edits a breakpoint, with its current values or those that were typed."""
    current = {
        name: "" if value == "*" else value
        for name, value in asdict(point.breakpoint.draft).items()
    }
    number = point.row.id
    return replace(
        breakpoint_form(session, current if entries is None else entries, error),
        id=f"{place}-{number}",
        action=breakpoint_edit_url(session, number),
        number=number,
        version=point.row.version,
    )


def wrong_place(entries: Mapping[str, str], error: BreakpointError | None) -> WrongPlace | None:
    """Return the position of the error in the typed text, if it has one."""
    if error is None or error.at is None:
        return None
    text, at = entries.get(error.field, ""), error.at
    return WrongPlace(visible(text[:at]), visible(text[at : at + 1]), visible(text[at + 1 :]))


def _reason(error: BreakpointError) -> str:
    return str(error).removeprefix(f"{error.field}: ")


async def breakpoints_panel(
    services: Services, session: SessionRow, row: EventRow | None, query: PageQuery
) -> BreakpointsPanel:
    """Return the tab, with the past hits of the breakpoint that the query names."""
    past = None if query.past is None else await _past(services, session, row, query)
    tools, agents = _names(services, session.app)
    return BreakpointsPanel(
        app=session.app,
        breakpoints=breakpoints(services, session, query.form),
        form=query.form if query.form and not query.form.number else breakpoint_form(session.key),
        past=past,
        tools=tuple(tools),
        agents=tuple(agents),
    )


def _names(services: Services, app: str) -> tuple[list[str], list[str]]:
    """Return the names of the app's tools and agents; none before it is loaded."""
    try:
        info = services.workers.status(app).info
    except UnknownApp:
        info = None
    nodes = info.nodes if info else []
    tools = {visible(node.name) for node in nodes if node.kind in _TOOLS}
    agents = {visible(node.name) for node in nodes if node.kind in _AGENTS}
    return sorted(tools), sorted(agents)


async def hits_of(services: Services, session: SessionRow, number: int) -> Past:
    """Return the breakpoint's past hits in the session, which may require reading all of it.

    Raises NotFound.
    """
    point = _breakpoint_of(services, session, number)
    return await past_hits(services.journal, session, [point.breakpoint], services.prices)


def _breakpoint_of(services: Services, session: SessionRow, number: int) -> StoredBreakpoint:
    point = services.book.get(session.app, number)
    if point is None:
        raise NotFound(f"{session.app} has no breakpoint {number}; it may have been deleted")
    return point


async def _past(
    services: Services, session: SessionRow, row: EventRow | None, query: PageQuery
) -> PastHits:
    point = _breakpoint_of(services, session, query.past or 0)
    past = query.hits or await hits_of(services, session, query.past or 0)
    numbers = [hit.number for hit in past.hits]
    at = row.number if row else session.events + 1

    def href(number: int | None) -> str | None:
        if number is None:
            return None
        return session_url(session.key, event=number, tab="breaks", hits=point.row.id)

    def past_hit(hit: FoundHit) -> PastHit:
        return PastHit(hit.number, visible(hit.text), href(hit.number) or "", hit.number == at)

    return PastHits(
        what=description(point.breakpoint.draft),
        hits=tuple(past_hit(hit) for hit in past.hits[:_LISTED]),
        previous_href=href(max((n for n in numbers if n < at), default=None)),
        next_href=href(min((n for n in numbers if n > at), default=None)),
        note=_note(len(numbers), past.scanned, more=past.has_more),
    )


def _note(hits: int, scanned: int, *, more: bool) -> str:
    suffix = f"; the first {_LISTED} are listed" if hits > _LISTED else ""
    until = f", searched up to #{scanned}" if more else ""
    return f"{plural(hits, 'hit')} in this session{until}{suffix}"
