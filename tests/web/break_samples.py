"""Breakpoints as the session page shows them, for the gallery and the template tests."""

from devui.debugger.breakpoints.breakpoint import (
    Breakpoint,
    BreakpointError,
    Draft,
    StoredBreakpoint,
)
from devui.store.rows import BreakpointRow
from devui.web import links
from devui.web.panels.breakpoints.panel import breakpoint_form, edit_form
from devui.web.panels.breakpoints.parts import (
    BreakpointForm,
    BreakpointItem,
    Breakpoints,
    BreakpointsHere,
    BreakpointsPanel,
    PastHit,
    PastHits,
    RenewBreakpointsHere,
)
from tests.web.travel_samples import KEY


def _form(number: int, version: int, **draft: str) -> BreakpointForm:
    row = BreakpointRow(number, "travel", version, enabled=True, hits=0, data="")
    return edit_form(KEY, StoredBreakpoint(row, Breakpoint(Draft(**draft))))


BREAKS = (
    BreakpointItem(
        id="b-3",
        number=3,
        version=1,
        enabled=True,
        what="tool find_airports of TravelAgent",
        condition='args.city == "London"',
        hit=">= 2",
        log="",
        hits="hit 2 times",
        action=links.breakpoint_url(KEY, 3),
        delete_action=links.breakpoint_delete_url(KEY, 3),
        past_href=links.session_url(KEY, tab="breaks", hits=3),
        form=_form(
            3,
            1,
            on="tool",
            name="find_airports",
            agent="TravelAgent",
            condition='args.city == "London"',
            hit=">= 2",
        ),
    ),
    BreakpointItem(
        id="b-4",
        number=4,
        version=2,
        enabled=False,
        what="state key plan_*",
        condition="",
        hit="",
        log="{key} went from {old} to {new}",
        hits="",
        action=links.breakpoint_url(KEY, 4),
        delete_action=links.breakpoint_delete_url(KEY, 4),
        past_href=links.session_url(KEY, tab="breaks", hits=4),
        form=_form(4, 2, on="state", name="plan_*", log="{key} went from {old} to {new}"),
    ),
)
SHEET = (BreakpointsHere(BREAKS), RenewBreakpointsHere(links.breaks_here_url(KEY)))


def breakpoints_panel(*, filled: bool = True) -> BreakpointsPanel:
    """Return the tab with breakpoints, past hits of one and a refused form, or the empty tab."""
    here = links.session_url(KEY, event=5, tab="breaks", hits=3)
    past = PastHits(
        what=BREAKS[0].what,
        hits=(
            PastHit(3, 'find_airports(city="London")', here, current=False),
            PastHit(5, 'find_airports(city="Paris")', here, current=True),
        ),
        previous_href=here,
        next_href=None,
        note="2 hits in this session",
    )
    values = {"on": "tool", "name": "find_airports", "condition": "args.price >", "when": "after"}
    error = BreakpointError("column 13: a value is missing", "condition", 12)
    form = breakpoint_form(KEY, values, error) if filled else breakpoint_form(KEY)
    items = BREAKS if filled else ()
    names = (("find_airports", "book_flight"), ("travel",)) if filled else ((), ())
    return BreakpointsPanel("travel", Breakpoints(items), form, past if filled else None, *names)
