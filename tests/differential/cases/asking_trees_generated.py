"""Generated cases: trees of workflow agents whose tools ask a user, who answers all or one by one.

The same number gives the same case on every machine.
"""

import random
from functools import partial
from typing import Any

from google.genai import types

from tests.differential.case import Case, add, case
from tests.differential.cases.asking_generated import CREDENTIAL, User, tools_of
from tests.differential.cases.human import CONFIRM, guarded
from tests.differential.differing_humans import ANSWERS_AND_WORDS
from tests.differential.script import Answer, Call, Say, call

TREES, SIDES = 12, 6
TURNS = 7
NAMES = ["look", "look", "pay", "spend", "lend", "knock", "wait"]
IN_TURN = ("sequence", "loop")


class Tree:
    """Grows a tree of workflow agents above agents whose tools ask."""

    def __init__(self, stage: Any, dice: random.Random, kinds: tuple[str, ...]) -> None:
        self._stage, self._dice, self._kinds = stage, dice, kinds
        self._count = 0

    def root(self) -> Any:
        """Return a tree whose root is a workflow agent."""
        return self._grow(2, self._dice.choice(self._kinds))

    def _grow(self, depth: int, kind: str | None = None) -> Any:
        kind = kind or self._dice.choice(["asks", *self._kinds] if depth else ["asks"])
        return getattr(self, f"_{kind}")(depth)

    def _next(self) -> int:
        self._count += 1
        return self._count

    def _asks(self, _: int) -> Any:
        name = f"asks{self._next()}"
        answers: list[Answer] = []
        for _ in range(4):
            answers += [self._call() for _ in range(self._dice.choice([0, 1, 1, 2]))]
            answers.append(Say(f"{name} says {self._next()}.", chunks=2))
        key = {"output_key": name} if self._dice.random() < 0.3 else {}
        return self._stage.agent(name, *answers, tools=tools_of(self._stage), **key)

    def _call(self) -> Call:
        # No multiples of three: `wait` would return an interim result, and agents would go on.
        n = 3 * self._next() + 1 + self._dice.randrange(2)
        return call(self._dice.choice(NAMES), n=n)

    def _children(self, depth: int) -> list[Any]:
        return [self._grow(depth - 1) for _ in range(self._dice.randrange(1, 4))]

    def _sequence(self, depth: int) -> Any:
        name = f"seq{self._next()}"
        return self._stage.ns.SequentialAgent(name=name, sub_agents=self._children(depth))

    def _loop(self, depth: int) -> Any:
        name, rounds = f"loop{self._next()}", self._dice.randrange(1, 4)
        children = self._children(depth)
        return self._stage.ns.LoopAgent(name=name, max_iterations=rounds, sub_agents=children)

    def _parallel(self, depth: int) -> Any:
        name = f"par{self._next()}"
        return self._stage.ns.ParallelAgent(name=name, sub_agents=self._children(depth))


class OrderlyUser(User):
    """A user who reads the questions in an order that doesn't depend on when they were asked."""

    def _open(self) -> list[Any]:
        return sorted(super()._open(), key=_about)


def _about(question: Any) -> tuple[str, str]:
    if question.name == CONFIRM:
        return question.name, str(question.args["originalFunctionCall"]["args"])
    if question.name == CREDENTIAL:
        return question.name, question.args["authConfig"]["credentialKey"]
    return question.name, str(question.args)


async def trees(stage, number: int, kinds: tuple[str, ...], way: str) -> None:
    """Play a tree of agents whose tools ask; google-adk continues it only in a resumable app."""
    dice = random.Random(f"asking tree {kinds} {number}")
    await stage.open(Tree(stage, dice, kinds).root(), resumable=True)
    await stage.say("go")
    user = OrderlyUser(stage, dice, [way])
    for _ in range(TURNS):
        say = stage.stream if dice.random() < 0.2 else stage.say
        await say(user.message())
    _without_tellers(stage)


def _without_tellers(stage: Any) -> None:
    """Drop the names of those said to have given an answer, which differ on purpose."""
    for _, _, _, contents, _ in stage.requests:
        for part in (part for content in contents for part in content["parts"]):
            _, begins, quoted = part.get("text", "").partition("<<<BEGIN_")
            if begins:
                part["text"] = begins + quoted


for _number in range(TREES):
    _play = partial(trees, number=_number, kinds=IN_TURN, way=["all", "some"][_number % 2])
    add(Case(f"a tree whose tools ask {_number}", _play))
for _number in range(SIDES):
    # google-adk takes only the first of several answers in one message.
    _play = partial(trees, number=_number, kinds=("parallel",), way="some")
    add(Case(f"agents side by side whose tools ask {_number}", _play, unordered=True))


@case(differs=ANSWERS_AND_WORDS)
async def an_answer_to_a_sequence_comes_with_words(stage):
    payer = stage.agent("payer", call("pay", amount=5), "Paid.", tools=[guarded(stage)])
    await stage.open(stage.ns.SequentialAgent(name="seq", sub_agents=[payer]), resumable=True)
    await stage.say()
    answer = stage.answer(stage.call(CONFIRM), confirmed=True)
    await stage.say([*answer.parts, types.Part(text="And a word.")])
