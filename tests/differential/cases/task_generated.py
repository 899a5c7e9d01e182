"""Generated cases: teams that delegate tasks. The same number gives the same case."""

import random
from functools import partial
from typing import Any

from tests.differential.case import Case, add
from tests.differential.cases.tasks import ALONE, finish, look, worker
from tests.differential.script import Answer, Say, call
from tests.kit.rounds import rounds

TEAMS = rounds(20, 40)
TURNS = 6


class Team:
    """A team of agents that work for each other, each with a short script."""

    def __init__(self, stage: Any, dice: random.Random) -> None:
        self._stage = stage
        self._dice = dice
        self._count = 0

    def root(self) -> Any:
        """Return an agent that talks to the user and delegates tasks and questions."""
        below = [self._task(depth=2) for _ in range(self._dice.randrange(1, 3))]
        if self._dice.random() < 0.5:
            below.append(self._single_turn())
        answers: list[Answer] = []
        for turn in range(3):
            for _ in range(self._dice.randrange(3)):
                answers.append(self._work(below))
            answers.append(Say(f"Answer {turn}.", chunks=self._dice.randrange(1, 3)))
        key = self._dice.choice([None, "said"])
        tools = [self._stage.ns.FunctionTool(look)]
        return self._stage.agent("root", *answers, sub_agents=below, tools=tools, output_key=key)

    def _task(self, depth: int) -> Any:
        name = self._name("task")
        below = [self._task(depth - 1)] if depth and self._dice.random() < 0.4 else []
        answers: list[Answer] = []
        for turn in range(3):
            for _ in range(self._dice.randrange(3)):
                question = Say(f"{name} asks {turn}.", chunks=self._dice.randrange(1, 3))
                answers.append(question if self._dice.random() < 0.5 else self._work(below))
            words = [Say("Done.")] if self._dice.random() < 0.3 else []
            answers.append([*words, finish(result=f"{name} did {turn}")])
        fields: dict[str, Any] = {"sub_agents": below} if below else {}
        if self._dice.random() < 0.4:
            fields["output_key"] = name
        tools = [self._stage.ns.FunctionTool(look)]
        return worker(self._stage, *answers, name=name, tools=tools, **fields)

    def _single_turn(self) -> Any:
        name = self._name("asked")
        answers = [f"{name} says {turn}." for turn in range(9)]
        fields = {"mode": "single_turn", "description": f"Does the work of {name}.", **ALONE}
        return self._stage.agent(name, *answers, **fields)

    def _work(self, below: list[Any]) -> Answer:
        """Return a tool call, or calls of one or two sub-agents, perhaps after a text."""
        if not below or self._dice.random() < 0.3:
            return [call("look", place="Rome")]
        agents = self._dice.sample(below, k=self._dice.randrange(1, min(3, len(below) + 1)))
        agents.sort(key=lambda each: each.mode)  # tasks last, as they finish last
        words = [Say("Let me see.", chunks=2)] if self._dice.random() < 0.3 else []
        return [*words, *(call(each.name, request=f"For {each.name}.") for each in agents)]

    def _name(self, kind: str) -> str:
        self._count += 1
        return f"{kind}{self._count}"


async def teams(stage, number: int) -> None:
    """Play a team that works on tasks while the user sends messages."""
    dice = random.Random(f"tasks {number}")
    await stage.open(Team(stage, dice).root())
    for turn in range(TURNS):
        say = stage.stream if dice.random() < 0.3 else stage.say
        await say(f"words {turn}")


for _number in range(TEAMS):
    add(Case(f"a team with tasks {_number}", partial(teams, number=_number)))
