"""Where in the tree of agents an event comes from, however agents transfer to one another."""

import pytest

from devui.debugger.runs.lineage import Lineage
from devui.wire.spans import SpanBegan, SpanEnded


def began(number: int, parent: int | None, name: str, branch: str | None = None) -> SpanBegan:
    return SpanBegan(
        run="r",
        span=number,
        parent=parent,
        type="agent",
        name=name,
        agent=name,
        branch=branch,
        at=1.0,
    )


@pytest.mark.parametrize(
    ("chain", "path"),
    [
        (["root"], "root"),
        (["root", "a"], "root/a"),
        (["root", "a", "b"], "root/a/b"),
        (["root", "a", "root"], "root"),
        (["root", "a", "root", "b"], "root/b"),
        (["root", "a", "b", "a"], "root/a"),
        (["root", "a", "root", "a", "root", "a"], "root/a"),
    ],
)
def test_an_agent_that_gets_control_back_keeps_its_place(chain: list[str], path: str) -> None:
    lineage = Lineage()
    for number, name in enumerate(chain, 1):
        lineage.begin(began(number, number - 1 or None, name))
    assert lineage.place(chain[-1], None) == (path, 0)


def test_an_event_after_the_end_of_its_agent_is_still_placed() -> None:
    lineage = Lineage()
    lineage.begin(began(1, None, "root"))
    lineage.begin(began(2, 1, "a", "root.a"))
    lineage.end(SpanEnded(run="r", span=2, seconds=1.0))
    assert lineage.place("a", "root.a") == ("root/a", 1)


def test_branches_at_the_same_time_have_lanes_of_their_own_and_later_ones_use_them_again() -> None:
    lineage, lanes = Lineage(), []
    lineage.begin(began(1, None, "root"))
    for parallel in (2, 12, 22):
        group = f"group{parallel}"
        lineage.begin(began(parallel, 1, group))
        for number, name in enumerate(("a", "b", "c"), parallel + 1):
            lineage.begin(began(number, parallel, name, f"{group}.{name}"))
            lineage.end(SpanEnded(run="r", span=number, seconds=1.0))
        lineage.begin(began(parallel + 4, parallel, "d", f"{group}.d"))
        lineage.begin(began(parallel + 5, parallel + 4, "e", f"{group}.d.e"))
        for number in (parallel + 4, parallel):
            lineage.end(SpanEnded(run="r", span=number, seconds=1.0))
        branches = [f"{group}.{name}" for name in ("a", "b", "c", "d", "d.e")]
        lanes.append([lineage.place(branch[-1], branch)[1] for branch in branches])
    assert lanes == [[1, 2, 3, 4, 5]] * 3


def test_a_round_begins_with_the_first_agent_that_runs_again() -> None:
    lineage = Lineage()
    lineage.begin(began(1, None, "loop"))
    rounds = []
    for number in range(2, 8):
        name = "critic" if number % 2 else "writer"
        lineage.begin(began(number, 1, name))
        rounds += [lineage.round(name, None), lineage.round(name, None)]
        lineage.end(SpanEnded(run="r", span=number, seconds=1.0))
    assert rounds == [0, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]


def test_a_round_of_agents_without_events_shows_at_the_first_event_below() -> None:
    lineage = Lineage()
    lineage.begin(began(1, None, "loop"))
    for pair, writer in ((2, 3), (4, 5)):
        lineage.begin(began(pair, 1, "pair"))
        lineage.begin(began(writer, pair, "writer"))
    assert lineage.round("writer", None) == 2
    lineage.begin(began(6, 4, "critic"))
    assert lineage.round("critic", None) == 0
