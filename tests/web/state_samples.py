"""State panels of the sample session."""

import json

from devui.debugger.history.paths import Pin
from devui.store.rows import Change, Value
from devui.web import links
from devui.web.panels.inspector.parts import (
    ChangedKey,
    ChangedPlace,
    MoreLink,
    StateComparison,
    StateDiff,
    StateKeys,
    StatePanel,
    StateTab,
)
from devui.web.panels.state.pages import StateKeysPage, ValuePage
from devui.web.panels.state.panel import state_panel, state_values
from devui.web.text.jsontree import json_items, json_tree
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


def state_at(number: int | None) -> StatePanel:
    temp = {"temp:fares_url": "https://fares.test/v2"} if number else {}
    changes = CHANGES if number else []
    pending = () if number else held_samples.PENDING
    return state_panel(VALUES, changes, temp, session=KEY, number=number, pending=pending)


def state_tab(number: int | None) -> StateTab:
    return StateTab(state_at(number), state_with(number))


def state_with(number: int | None, since: int | None = None) -> StateComparison:
    """Return the form below the state."""
    return StateComparison(
        action=links.session_url(KEY),
        event=number,
        at=number,
        since=since,
        mark_href=links.session_url(KEY, event=number, tab="state", since=number),
        unmark_href=links.session_url(KEY, event=number, tab="state"),
    )


MORE = MoreLink(
    "Show 100 of 9,900 more keys", links.state_keys_url(KEY, "session", at=11, start="key 0100")
)
PAGES = {
    "state-keys": StateKeysPage(
        theme="auto",
        name="Flight to London",
        session_href=links.session_url(KEY, event=11, tab="state"),
        action="/sessions/7/state/keys",
        scopes=(("session", "session"), ("user", "user:"), ("app", "app:")),
        scope="session",
        at=11,
        find="",
        start="",
        count="10,000 keys",
        keys=StateKeys(state_values(VALUES[:6], session=KEY, number=11), MORE),
    ),
    "state-value": ValuePage(
        theme="auto",
        name="Flight to London",
        session_href=links.session_url(KEY, event=11, tab="state"),
        place="plan.steps",
        items=json_items(
            [{"step": n, "done": n < 60} for n in range(500)],
            50,
            rest=lambda path, start: links.state_value_url(KEY, Pin("plan", path), start, at=11),
        ),
        beginning_href=links.state_value_url(KEY, Pin("plan", ("steps",)), at=11),
        whole_href=links.state_api_url(KEY, 11),
    ),
}
STATE_DIFF = StateDiff(
    first="#4",
    last="#11",
    hint="#4 is marked. Select an event to compare it with.",
    keys=(
        ChangedKey(
            "user:plan",
            "changed",
            "#11",
            links.session_url(KEY, event=11),
            (ChangedPlace("steps[2].done", json_tree(False), None),),
            "and 3 more places",
        ),
        ChangedKey("city", "new", "start", None, (ChangedPlace("", None, json_tree("Oslo")),), ""),
    ),
)
"""The differences between two moments."""
