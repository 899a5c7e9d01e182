"""Comparisons of two sessions as the page shows them, for the template tests and the gallery."""

from dataclasses import replace

from devui.debugger.compare.changes import sections
from devui.debugger.compare.comparison import Comparison, compare
from devui.debugger.compare.moments import Moment, MomentDiff, Prompts
from devui.debugger.compare.prompts import OtherPrompt
from devui.debugger.compare.sides import Side
from devui.debugger.compare.steps import step_of
from devui.debugger.history.blame import Difference
from devui.debugger.history.state_diff import StateChange
from devui.store.rows import Durations, SessionRow
from devui.web import links
from devui.web.panels.compare.parts import (
    ChoosePage,
    CompareChoice,
    ComparePage,
    CompareSide,
    PairDiff,
)
from devui.web.panels.compare.rows import CompareQuery, Rows, pair_diff, row_id, verdict
from devui.web.panels.compare.sides import figures
from devui.web.panels.session.parts import MenuItem
from tests.web import request_samples, samples
from tests.web.samples import PRICES
from tests.web.travel_samples import FIRST, NOW, Stored, call, stored, text, travel

LEFT = travel()
_BRANCH = "root.right"


def _other() -> list[Stored]:
    """Return the first invocation with another question, an extra call, and a parallel branch."""
    first = [*FIRST]
    first[0] = {
        "author": "user",
        "content": text("Book a flight to London on Monday"),
    }
    extra = {
        "author": "TravelAgent",
        "content": call("weather", "adk-77", city="London"),
    }
    aside = {"author": "Watcher", "branch": _BRANCH, "content": text("all is well")}
    return stored([*first[:3], extra, aside, *first[3:]], invocation="e-other")


RIGHT = _other()


def side(key: int, events: list[Stored], place: int | None = None) -> Side:
    row = SessionRow(key, "travel", "user", "s", "Flight", NOW, NOW, 1, len(events))
    rows = tuple(row for row, _, _ in events)
    return Side(row, place, samples.RUN, (samples.RUN, samples.FAILED), rows, 0, Durations(3.4))


def comparison(left: list[Stored], right: list[Stored], *, shared: int | None = None) -> Comparison:
    steps = [[step_of(row, event) for row, _, event in events] for events in (left, right)]
    return compare(*steps, shared=shared)


def body(left: Stored, right: Stored) -> PairDiff:
    state = StateChange("session", "city", None, None, (Difference(("a",), "Oslo", [1, 2]),))
    moments = [Moment(row, event) for row, _, event in (left, right)]
    prompts = Prompts(
        request_samples.SPAN, request_samples.SPAN, request_samples.BEFORE, request_samples.AFTER
    )
    return pair_diff(MomentDiff(*moments, sections(left[2], right[2]), (state,), prompts))


def compare_side(label: str, note: str = "") -> CompareSide:
    return CompareSide(
        label=label,
        title="Flight to London",
        about="session 7 · run 2 of 2 · travel · user",
        href=links.session_url(7),
        status="done",
        word="done",
        sessions=(MenuItem("Flight to Paris", links.choose_url("7", "8"), "12 events"),),
        runs=(MenuItem("run 1", links.choose_url("7@1", "8"), "failed", current=True),),
        note=note,
    )


PROMPTS = (OtherPrompt("system", 2, 2), OtherPrompt("config", 2, 2), OtherPrompt("tools", 5, 7))


def page(
    left: list[Stored], right: list[Stored], query: CompareQuery, *, shared: int | None = None
) -> ComparePage:
    sides = side(7, left), side(8, right, 2)
    diff = comparison(left, right, shared=shared)
    bodies = {row_id(diff.first): body(left[0], right[0])} if diff.first else {}
    table = Rows(*sides).table(diff, query, bodies)
    return ComparePage(
        theme="auto",
        left=compare_side("left"),
        right=compare_side("right", "still running: reload the page to see new events"),
        swap_href=links.choose_url("8@2", "7"),
        verdict=verdict(diff, PROMPTS if query.unfolded else ()),
        folded=not query.unfolded,
        fold_href=links.compare_url(links.SideNames("7", "8@2"), unfolded=True),
        figures=figures(PRICES, *sides, outcomes=("done", "paused")),
        table=replace(table, before_href="/compare?from=0", after_href="/compare?from=400")
        if query.start
        else table,
    )


CHOICE = CompareChoice(
    side="Flight to London", sessions=compare_side("left").sessions, runs=compare_side("left").runs
)
FORK = next(n for n, (row, _, _) in enumerate(LEFT) if n and row.kind == "user")
PAGES = {
    "compare": page(LEFT, RIGHT, CompareQuery()),
    "compare-more": page(LEFT, RIGHT, CompareQuery(start=1, unfolded=True)),
    "compare-same": page(LEFT, LEFT, CompareQuery()),
    "compare-fork": page(LEFT, LEFT[:FORK], CompareQuery(), shared=FORK),
    "compare-fork-unfolded": page(LEFT, LEFT[:FORK], CompareQuery(unfolded=True), shared=FORK),
    "compare-empty": page([], [], CompareQuery()),
    "compare-choose": ChoosePage("auto", CHOICE),
    "compare-begin": ChoosePage("auto", CompareChoice("", CHOICE.sessions, ())),
}
ALL = (
    Rows(side(7, LEFT), side(8, RIGHT)).folded(1, 1, 3),
    body(LEFT[0], RIGHT[0]),
)
