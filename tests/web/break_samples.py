"""Breakpoints as the session page shows them, for the gallery and the template tests."""

from devui.debugger.breakpoints.breakpoints import Breakpoint, BreakpointError, Draft, Known
from devui.store.rows import BreakpointRow
from devui.web import links
from devui.web.parts import every as parts
from devui.web.presenters.breaking import break_form, change_form
from tests.web.travel_samples import KEY


def _form(number: int, version: int, **draft: str) -> parts.BreakForm:
    row = BreakpointRow(number, "travel", version, enabled=True, hits=0, data="")
    return change_form(KEY, Known(row, Breakpoint(Draft(**draft))))


BREAKS = (
    parts.BreakpointItem(
        id="b-3",
        number=3,
        version=1,
        enabled=True,
        what="tool find_airports of TravelAgent",
        condition='args.city == "London"',
        hit=">= 2",
        log="",
        hits="met 2 times",
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
    parts.BreakpointItem(
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
SHEET = (parts.BreaksHere(BREAKS), parts.BreaksAsk(links.breaks_here_url(KEY)))


def breaks_panel(*, filled: bool = True) -> parts.BreaksPanel:
    """The tab with breakpoints, the past of one and a refused form; or with nothing yet."""
    here = links.session_url(KEY, event=5, tab="breaks", hits=3)
    past = parts.PastHits(
        what=BREAKS[0].what,
        hits=(
            parts.PastHit(3, 'find_airports(city="London")', here, current=False),
            parts.PastHit(5, 'find_airports(city="Paris")', here, current=True),
        ),
        previous_href=here,
        next_href=None,
        note="2 events of this session",
    )
    typed = {"on": "tool", "name": "find_airports", "condition": "args.price >", "when": "after"}
    error = BreakpointError("column 13: a value is missing", "condition", 12)
    form = break_form(KEY, typed, error) if filled else break_form(KEY)
    items = BREAKS if filled else ()
    return parts.BreaksPanel(
        "travel", "user", parts.Breakpoints(items), form, past if filled else None
    )
