"""Any agent inside any other, waiting for anything: each thing is done once, and the run ends.

Answers come one by one, all together in one message, each of them twice, or each again with the
next. Each message goes to a new Runner with a new tree, as after a restart.
"""

from collections import Counter
from itertools import product

import pytest

from tests.kit.nested_agents import KINDS, QUESTIONS, tree
from tests.kit.waiting_agents import Play

MESSAGES = 20
"""More than any tree needs."""
AGAIN = ("twice", "again with the next")
REPEATED = tuple(kind for kind in QUESTIONS if kind != "job")
"""Not jobs: a job's result may change, so repeating it is a new result."""

PAIRS = [pair for pair in product(KINDS, KINDS) if pair != ("experts", "tasks")]
"""All pairs except single-turn agents with tasks, which they can't delegate."""


async def problem(outer: str, inner: str, kind: str, how: str, *, resumable: bool) -> str:
    """Return what is open, or done too often or not at all, in the end; empty if all is well."""
    due: Counter[str] = Counter()
    play = Play(tree(outer, inner, kind, due), resumable=resumable)
    await play.begin()
    before: list[str] = []
    for _ in range(MESSAGES):
        if not play.open:
            break
        names = sorted(play.open)
        if how != "together":
            names = [names[0], *before]
        await play.answer(*names)
        before = names[:1] if how == "again with the next" else []
        if how == "twice":
            await play.repeat()
    done = Counter({what: n for what, n in play.factory.log.items() if due.get(what, 1)})
    wrong = {what: done[what] for what in done | due if done[what] != due[what]}
    return f"{kind} {how}: open {play.open}, done {wrong}" if play.open or wrong else ""


@pytest.mark.slow
@pytest.mark.parametrize("resumable", [True, False], ids=["resumable", "not resumable"])
@pytest.mark.parametrize("how", ["one by one", "together", *AGAIN])
@pytest.mark.parametrize(("outer", "inner"), PAIRS)
async def test_everything_is_done_once(outer, inner, how, resumable):
    kinds = REPEATED if how in AGAIN else QUESTIONS
    wrong = [await problem(outer, inner, kind, how, resumable=resumable) for kind in kinds]
    assert not any(wrong), "\n".join(filter(None, wrong))
