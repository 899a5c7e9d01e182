"""Breakpoints on events like a given one, made from the chosen traits."""

import pytest

from devui.debugger.breakpoints.breakpoint import Breakpoint
from devui.web.panels.breakpoints.from_event import breakpoint_sheet, draft_with
from devui.web.panels.breakpoints.parts import BreakpointsHere
from tests.web import samples, travel_samples

EVENTS = {row.number: (row, summary) for row, summary, _ in travel_samples.travel()}
CALL, RESULT = 10, 11
"""The numbers of the events with the call of `search_flights` and its result."""

ALL_OF_IT = '(new or old) and "search_flights" in tools and exists(delta["retries"]) and '


def draft_fields(number: int, *traits: str, condition: str = ""):
    row, summary = EVENTS[number]
    draft = draft_with(row, summary, traits, condition=condition, log="")
    Breakpoint(draft)
    return draft.on, draft.name, draft.agent, draft.when, draft.condition


def test_the_sheet_offers_the_events_traits_with_state_keys_unchecked() -> None:
    sheet = breakpoint_sheet(*EVENTS[RESULT], BreakpointsHere(()))
    offers = {trait.value: trait.is_checked for trait in sheet.traits}
    assert offers == {
        "kind": True,
        "agent": True,
        "result:search_flights": True,
        "key:flights": False,
        "key:cheapest": False,
        "key:retries": False,
    }
    here = samples.MARGINS.here(*EVENTS[RESULT])
    assert [*map(str, here)] == ["Breakpoint 2: state key retries, if new > 2"]


@pytest.mark.parametrize(
    ("number", "taken", "condition", "expected"),
    [
        (
            CALL,
            ("kind", "agent", "tool:search_flights"),
            "",
            ("tool", "search_flights", "FlightAgent", "before", ""),
        ),
        (
            RESULT,
            ("result:search_flights",),
            "result == null or 1",
            ("tool", "search_flights", "*", "after", "result == null or 1"),
        ),
        (
            RESULT,
            ("kind", "key:retries", "key:flights", "result:search_flights"),
            "new or old",
            (
                "state",
                "flights",
                "*",
                "before",
                ALL_OF_IT + 'kind == "result"',
            ),
        ),
        (1, ("kind", "agent", "tool:none"), "", ("event", "user", "user", "before", "")),
        (1, (), "", ("event", "*", "*", "before", "")),
    ],
)
def test_the_rarest_trait_decides_the_kind_and_the_rest_are_conditions(
    number, taken, condition, expected
) -> None:
    assert draft_fields(number, *taken, condition=condition) == expected
