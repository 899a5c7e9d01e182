"""Random trees in which tools fail, agents wait and tasks are given: everything completes.

In whatever order the user answers, each thing is done once and each model gets all the results that
it asked for (resume seed).
"""

import pytest

from tests.kit.random_agents import RandomPlay
from tests.kit.rounds import rounds

SEEDS = rounds(60, 160)
AT_A_TIME = 20
MESSAGES = 60
"""More than any tree needs."""


@pytest.mark.slow
@pytest.mark.parametrize("resumable", [True, False], ids=["resumable", "not resumable"])
@pytest.mark.parametrize("first", range(0, SEEDS, AT_A_TIME))
async def test_random_trees_complete(first, resumable):
    for seed in range(first, first + AT_A_TIME):
        await to_the_end(seed, RandomPlay(seed, resumable=resumable))


@pytest.mark.parametrize("first", range(0, SEEDS, AT_A_TIME))
async def test_interrupted_runs_are_resumed_and_complete(first):
    for seed in range(first, first + AT_A_TIME):
        await to_the_end(seed, RandomPlay(seed, resumable=True, leaving=6))


async def to_the_end(seed, play):
    await play.begin()
    for _ in range(MESSAGES):
        if not await play.go_on():
            break
    assert not play.open, seed
    assert not play.wrong, seed
