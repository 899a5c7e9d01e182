"""Generated cases: agents that transfer and delegate to each other, and whose tools ask the user.

The same number gives the same case on every machine.
"""

import random
from functools import partial
from typing import Any

from tests.differential.case import Case, add
from tests.differential.cases.asking_generated import talk, tools_of
from tests.differential.script import Answer, Call, Say, call, transfer
from tests.kit.rounds import rounds

TEAMS = rounds(15, 30)
LATE = (10, 23)
"""Seeds whose users answer late, which differs on purpose."""
EXPERTS = rounds(12, 25)
NAMES = ["look", "pay", "spend", "knock"]
"""Tools whose questions end the turn; after others, google-adk doesn't follow a transfer."""
WAYS = ["all", "all", "some", "last", "words", "wrong"]


class Team:
    """A team of agents that transfer to each other and ask the user in between."""

    def __init__(self, stage: Any, dice: random.Random) -> None:
        self._stage, self._dice, self._count = stage, dice, 0

    def root(self) -> Any:
        """Return an agent with two sub-agents, one of which has a sub-agent."""
        leaf = self._agent("leaf", ["left"])
        left = self._agent("left", ["leaf", "right", "root"], leaf)
        right = self._agent("right", ["left", "root"])
        return self._agent("root", ["left", "right"], left, right)

    def _agent(self, name: str, targets: list[str], *below: Any) -> Any:
        answers = [self._answer(name, targets) for _ in range(10)]
        fields = {"tools": tools_of(self._stage), "sub_agents": list(below)}
        return self._stage.agent(name, *answers, **fields)

    def _answer(self, name: str, targets: list[str]) -> Answer:
        self._count += 1
        kind = self._dice.choice(["words", "ask", "ask", "ask", "transfer"])
        if kind == "words":
            return Say(f"{name} says {self._count}.", chunks=2)
        if kind == "transfer":
            return transfer(self._dice.choice(targets))
        return [self._call() for _ in range(self._dice.choice([1, 1, 2]))]

    def _call(self) -> Call:
        self._count += 1
        return call(self._dice.choice(NAMES), n=self._count)


async def teams(stage, number: int) -> None:
    """Play a team of chat agents whose tools ask."""
    dice = random.Random(f"asking team {number}")
    await stage.open(Team(stage, dice).root())
    await talk(stage, dice, WAYS)


def _without_first_words(stage: Any) -> None:
    """Drop the first message to single-turn experts, which differs on purpose (ASKED_AGAIN)."""
    for name, _, _, contents, _ in stage.requests:
        if name.startswith("single_turn"):
            contents[0]["parts"] = []


class Experts:
    """An agent with experts of several kinds, whose tools ask one question at a time."""

    def __init__(self, stage: Any, dice: random.Random) -> None:
        self._stage, self._dice, self._count = stage, dice, 0

    def root(self) -> Any:
        """Return the agent that calls the experts."""
        kinds = [self._dice.choice(["single_turn", "task"]) for _ in range(2)]
        below = [self._expert(f"{kind}_{i}", kind) for i, kind in enumerate(kinds)]
        answers: list[Answer] = []
        for _ in range(6):
            which = self._dice.choice(below).name
            answers += [call(which, request=f"For {which}."), f"Answer {self._next()}."]
            if self._dice.random() < 0.3:
                answers.append(self._ask())
        return self._stage.agent("root", *answers, sub_agents=below, tools=tools_of(self._stage))

    def _expert(self, name: str, mode: str) -> Any:
        answers: list[Answer] = []
        for _ in range(6):
            answers += [self._ask() for _ in range(self._dice.randrange(3))]
            done = f"Done {self._next()}."
            answers.append(call("finish_task", result=done) if mode == "task" else done)
        fields = {
            "mode": mode,
            "description": "Knows.",
            "tools": tools_of(self._stage),
            "disallow_transfer_to_parent": True,
            "disallow_transfer_to_peers": True,
        }
        return self._stage.agent(name, *answers, **fields)

    def _ask(self) -> Call:
        return call(self._dice.choice(NAMES), n=self._next())

    def _next(self) -> int:
        self._count += 1
        return self._count


async def experts(stage, number: int) -> None:
    """Play experts whose tools ask."""
    dice = random.Random(f"asking experts {number}")
    root = Experts(stage, dice).root()
    # google-adk records the end of a task elsewhere, and ignores texts to a waiting task.
    resumable = all(expert.mode != "task" for expert in root.sub_agents)
    await stage.open(root, resumable=resumable)
    await talk(stage, dice, [way for way in WAYS if way != "words"])
    _without_first_words(stage)


for _number in sorted({*range(TEAMS)} - {*LATE}):
    add(Case(f"a team whose tools ask {_number}", partial(teams, number=_number)))
for _number in range(EXPERTS):
    add(Case(f"experts whose tools ask {_number}", partial(experts, number=_number)))
