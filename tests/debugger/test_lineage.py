"""Where in the tree of agents an event is from, however its agents hand over to one another."""

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
def test_an_agent_to_which_control_returns_is_where_it_was(chain: list[str], path: str) -> None:
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
