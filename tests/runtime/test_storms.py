"""Whatever comes over a run at random, its history is whole and the next message works.

Trees grown at random are aborted, cancelled, left and made to fail at any moment, or exceed a
limit; then they go on. `Weather` tells what has to hold after each run (runtime and resume seeds).
"""

import gc
from collections.abc import Iterator
from random import Random

import pytest
from google.genai import types

from tests.kit.storms import TROUBLES, Storm
from tests.kit.thorough import rounds
from tests.kit.weather import Weather

SEEDS = rounds(60, 160)
AT_A_TIME = 20
STORMS = 3
MESSAGES = 60
"""No tree takes that many."""
LOSSES = ("cancel", "leave", "raise", "stray cancel")
"""Of these the history says nothing, so a run goes on from it."""
WORDS = types.UserContent("again")


@pytest.fixture(autouse=True)
def _only_new_garbage_is_looked_for() -> Iterator[None]:
    """It is looked for after each run, and what other tests keep would take most of the time."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, SEEDS, AT_A_TIME))
async def test_after_any_storm_the_next_message_works(first):
    for seed in range(first, first + AT_A_TIME):
        random = Random(f"storms {seed}")
        weather = Weather(seed, resumable=random.random() < 0.5)
        await weather.begin()
        for number in range(STORMS):
            await anything(weather, random, begun=number > 0)
        await to_the_end(weather, random)


async def anything(weather: Weather, random: Random, *, begun: bool) -> None:
    """Say something, answer or resume, in a storm."""
    storm = Storm.of(random, TROUBLES, random.choice([4, 12, 40]))
    asked = await weather.open()
    choices = ["words", *["answer"] * 3 * bool(asked), *["resume"] * 2 * weather.resumable]
    choice = random.choice(choices) if begun else "words"
    if choice == "answer":
        await weather.answer(storm, asked[random.choice(sorted(asked))])
    elif choice == "resume":
        await weather.run(storm, invocation_id=await weather.latest())
    else:
        budget = random.choice([None] * 9 + [3])
        await weather.run(storm, new_message=WORDS, budget=budget)
    assert not weather.wrong, weather.story


async def to_the_end(weather: Weather, random: Random) -> None:
    """Go on undisturbed until all that was begun with the latest words is done."""
    said = ""
    for _ in range(MESSAGES):
        asked = await weather.open()
        if asked:
            await weather.answer(Storm(), asked[random.choice(sorted(asked))])
        else:
            said = ""
            await weather.run(Storm(), new_message=WORDS)
        said += weather.heard()
        assert not weather.wrong, weather.story
        assert weather.outcome == "ended", weather.story
        done = all(f"{head} is done" in said for head in weather.tree.heads)
        if done and not await weather.open():
            return
    pytest.fail(str(weather.story))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, SEEDS, AT_A_TIME))
async def test_a_run_that_is_lost_comes_to_its_end_when_it_is_resumed(first):
    for seed in range(first, first + AT_A_TIME):
        random = Random(f"losses {seed}")
        weather = Weather(seed, resumable=True)
        await weather.begin()
        await resumed_to_the_end(weather, random, storms=random.randint(1, 4))
        assert not weather.wrong, weather.story
        told = await weather.told()
        times = 2 if weather.tree.around == "rounds" else 1
        assert {head: told[head] for head in weather.tree.heads} == dict.fromkeys(
            weather.tree.heads, times
        ), weather.story
        assert max(told.values()) == times, (told, weather.story)


async def resumed_to_the_end(weather: Weather, random: Random, *, storms: int) -> None:
    """Answer what is asked, and resume the run each time that it is lost."""
    await weather.run(loss(random), new_message=types.UserContent("go"))
    for number in range(1, MESSAGES):
        assert not weather.wrong, weather.story
        storm = loss(random) if number < storms else Storm()
        asked = await weather.open()
        if weather.outcome != "ended":
            await weather.run(storm, invocation_id=await weather.latest())
        elif asked:
            await weather.answer(storm, asked[random.choice(sorted(asked))])
        else:
            return
    pytest.fail(str(weather.story))


def loss(random: Random) -> Storm:
    """A storm of which the history says nothing."""
    return Storm(random.choice(LOSSES), random.randint(1, random.choice([5, 15, 40])))
