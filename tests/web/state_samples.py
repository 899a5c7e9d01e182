"""State panels of the sample session."""

import json

from devui.store.rows import Change, Value
from devui.web import links
from devui.web.parts import every as parts
from devui.web.presenters.statepanel import state_panel
from devui.web.text.jsontree import json_tree
from tests.web import held_samples
from tests.web.travel_samples import FLIGHTS, KEY

CHANGES = [
    Change("session", "flights", "[]", json.dumps(FLIGHTS["flights"])),
    Change("session", "cheapest", "null", '"LX 316"'),
    Change("session", "retries", None, "1"),
]
VALUES = [
    Value("session", "city", '"London"', 105, 3),
    Value("session", "airports", '["LHR", "LGW", "STN"]', 105, 3),
    Value("session", "flights", json.dumps(FLIGHTS["flights"]), 122, 11),
    Value("session", "cheapest", '"LX 316"', 122, 11),
    Value("session", "retries", "1", 122, 11),
    Value("session", "itinerary", json.dumps("Day 1: walk\n" * 60), 90, None, initial=True),
    Value("user", "home_airport", '"ZRH"', 90, None),
    Value("user", "searches", "2", 108, 4),
    Value("app", "currency", '"CHF"', 90, None),
]


def state_at(number: int | None) -> parts.StatePanel:
    temp = {"temp:fares_url": "https://fares.test/v2"} if number else {}
    changes = CHANGES if number else []
    pending = () if number else held_samples.PENDING
    return state_panel(VALUES, changes, temp, session=KEY, number=number, pending=pending)


def state_tab(number: int | None) -> parts.StateTab:
    return parts.StateTab(state_at(number), state_with(number))


def state_with(number: int | None, since: int | None = None) -> parts.StateWith:
    """The form below the state."""
    return parts.StateWith(
        action=links.session_url(KEY),
        event=number,
        at=number,
        since=since,
        mark_href=links.session_url(KEY, event=number, tab="state", since=number),
        unmark_href=links.session_url(KEY, event=number, tab="state"),
    )


STATE_DIFF = parts.StateDiff(
    first="#4",
    last="#11",
    hint="#4 stays: choose any event to compare it with.",
    keys=(
        parts.ChangedKey(
            "user:plan",
            "changed",
            "#11",
            links.session_url(KEY, event=11),
            (parts.ChangedPlace("steps[2].done", json_tree(False), None),),
            "and 3 more places",
        ),
        parts.ChangedKey(
            "city", "new", "start", None, (parts.ChangedPlace("", None, json_tree("Oslo")),), ""
        ),
    ),
)
"""What differs between two moments."""
