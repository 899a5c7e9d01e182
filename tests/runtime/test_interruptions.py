"""After random interruptions, a run's history is consistent and the next message works.

Random trees are aborted, cancelled, abandoned or made to fail at any moment, or exceed a limit;
then they continue. `InterruptedSession` checks what must hold after each run (runtime and resume
seeds).
"""

import gc
from collections.abc import Iterator
from random import Random

import pytest
from google.genai import types

from tests.kit.interrupted_session import InterruptedSession
from tests.kit.interruptions import TROUBLES, Interrupter
from tests.kit.rounds import rounds

SEEDS = rounds(60, 160)
AT_A_TIME = 20
INTERRUPTIONS = 3
MESSAGES = 60
"""More than any tree needs."""
LOSSES = ("cancel", "leave", "raise", "stray cancel")
"""The history shows none of these, so a run continues from it."""
WORDS = types.UserContent("again")


@pytest.fixture(autouse=True)
def _only_new_garbage_is_looked_for() -> Iterator[None]:
    """Limit the collections after each run to new objects; those of other tests would take long."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, SEEDS, AT_A_TIME))
async def test_after_any_interruption_the_next_message_works(first):
    for seed in range(first, first + AT_A_TIME):
        random = Random(f"interruptions {seed}")
        play = InterruptedSession(seed, resumable=random.random() < 0.5)
        await play.begin()
        for number in range(INTERRUPTIONS):
            await anything(play, random, begun=number > 0)
        await to_the_end(play, random)


async def anything(play: InterruptedSession, random: Random, *, begun: bool) -> None:
    """Send a message, an answer or a request to resume, and interrupt it."""
    interrupter = Interrupter.of(random, TROUBLES, random.choice([4, 12, 40]))
    questions = await play.open()
    choices = ["words", *["answer"] * 3 * bool(questions), *["resume"] * 2 * play.resumable]
    choice = random.choice(choices) if begun else "words"
    if choice == "answer":
        await play.answer(interrupter, questions[random.choice(sorted(questions))])
    elif choice == "resume":
        await play.run(interrupter, invocation_id=await play.latest())
    else:
        budget = random.choice([None] * 9 + [3])
        await play.run(interrupter, new_message=WORDS, budget=budget)
    assert not play.wrong, play.story


async def to_the_end(play: InterruptedSession, random: Random) -> None:
    """Continue without interruptions until everything begun by the latest message is done."""
    words = ""
    for _ in range(MESSAGES):
        questions = await play.open()
        if questions:
            await play.answer(Interrupter(), questions[random.choice(sorted(questions))])
        else:
            words = ""
            await play.run(Interrupter(), new_message=WORDS)
        words += play.heard()
        assert not play.wrong, play.story
        assert play.outcome == "ended", play.story
        done = all(f"{head} is done" in words for head in play.tree.heads)
        if done and not await play.open():
            return
    pytest.fail(str(play.story))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, SEEDS, AT_A_TIME))
async def test_a_lost_run_completes_when_it_is_resumed(first):
    for seed in range(first, first + AT_A_TIME):
        random = Random(f"losses {seed}")
        play = InterruptedSession(seed, resumable=True)
        await play.begin()
        await resumed_to_the_end(play, random, interruptions=random.randint(1, 4))
        assert not play.wrong, play.story
        counts = await play.told()
        times = 2 if play.tree.around == "rounds" else 1
        assert {head: counts[head] for head in play.tree.heads} == dict.fromkeys(
            play.tree.heads, times
        ), play.story
        assert max(counts.values()) == times, (counts, play.story)


async def resumed_to_the_end(
    play: InterruptedSession, random: Random, *, interruptions: int
) -> None:
    """Answer the questions, and resume the run each time it is lost."""
    await play.run(loss(random), new_message=types.UserContent("go"))
    for number in range(1, MESSAGES):
        assert not play.wrong, play.story
        interrupter = loss(random) if number < interruptions else Interrupter()
        questions = await play.open()
        if play.outcome != "ended":
            await play.run(interrupter, invocation_id=await play.latest())
        elif questions:
            await play.answer(interrupter, questions[random.choice(sorted(questions))])
        else:
            return
    pytest.fail(str(play.story))


def loss(random: Random) -> Interrupter:
    """Return an interruption that the history doesn't show."""
    return Interrupter(random.choice(LOSSES), random.randint(1, random.choice([5, 15, 40])))
