"""Trees grown at random in which tools fail, agents wait and tasks are given: all comes to its end.

Whatever the user answers first, each thing is done once and each model is told all that it asked
for (resume seed).
"""

import pytest

from tests.kit.random_agents import RandomPlay
from tests.kit.thorough import rounds

SEEDS = rounds(60, 160)
AT_A_TIME = 20
MESSAGES = 60
"""No tree takes that many."""


@pytest.mark.slow
@pytest.mark.parametrize("resumable", [True, False], ids=["resumable", "not resumable"])
@pytest.mark.parametrize("first", range(0, SEEDS, AT_A_TIME))
async def test_all_comes_to_its_end(first, resumable):
    for seed in range(first, first + AT_A_TIME):
        await to_the_end(seed, RandomPlay(seed, resumable=resumable))


@pytest.mark.parametrize("first", range(0, SEEDS, AT_A_TIME))
async def test_runs_that_break_off_are_resumed(first):
    for seed in range(first, first + AT_A_TIME):
        await to_the_end(seed, RandomPlay(seed, resumable=True, leaving=6))


async def to_the_end(seed, play):
    await play.begin()
    for _ in range(MESSAGES):
        if not await play.go_on():
            break
    assert not play.open, seed
    assert not play.wrong, seed
