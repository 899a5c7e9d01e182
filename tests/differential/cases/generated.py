"""Generated cases: the same number gives the same case on every machine."""

import random
from functools import partial
from typing import Any

from tests.differential.case import Case, add
from tests.differential.script import Answer, Call, Say, call, transfer
from tests.kit.rounds import rounds

BATCHES = rounds(20, 40)
TREES = rounds(25, 50)
TEAMS = rounds(20, 40)


# Batches of tool calls. Tools that use the state are async, because devui.runtime runs the plain
# functions of a batch in parallel threads.


async def write(tool_context, key: str, value: int) -> dict[str, Any]:
    """Writes state."""
    before = tool_context.state.get(key)
    tool_context.state[key] = value
    return {"before": before}


async def read(tool_context) -> Any:
    """Reads state."""
    return {key: tool_context.state.get(key) for key in ("a", "user:a", "app:a", "temp:a")}


async def save(tool_context, text: str) -> int:
    """Saves a file."""
    part = tool_context.user_content.parts[0].model_copy(update={"text": text})
    return await tool_context.save_artifact(f"{text}.txt", part)


def nothing() -> None:
    """Does nothing."""


def greet(name: str, polite: bool = False) -> str:
    """Greets."""
    return f"Dear {name}" if polite else f"Hi {name}"


def skip(tool_context) -> str:
    """Asks for no summary."""
    tool_context.actions.skip_summarization = True
    return "as it is"


TOOLS = [write, read, save, nothing, greet, skip]
STATE_KEYS = ("a", "user:a", "app:a", "temp:a", "b")


def a_call(dice: random.Random) -> Call:
    """Return a random call, sometimes an invalid one."""
    kind = dice.choice(["write", "write", "read", "save", "nothing", "greet", "wrong", "skip"])
    if kind == "write":
        return call("write", key=dice.choice(STATE_KEYS), value=dice.randrange(5))
    if kind == "save":
        return call("save", text=dice.choice(["x", "y"]))
    if kind == "greet":
        return call("greet", name="Ann", polite=dice.random() < 0.5)
    if kind == "wrong":
        wrong = [call("greet"), call("unknown", a=1), Call("write", {"key": "a"}, "own-id")]
        return dice.choice(wrong)
    return call(kind)


def some_answers(dice: random.Random, turns: int) -> list[Answer]:
    """Return answers for some turns: calls, perhaps after a text, and a final text per turn."""
    answers: list[Answer] = []
    for turn in range(turns):
        for _ in range(dice.randrange(3)):
            words = [Say("Let me see.", chunks=dice.randrange(1, 4))] if dice.random() < 0.3 else []
            answers.append([*words, *(a_call(dice) for _ in range(dice.randrange(1, 4)))])
        thoughts = [Say("Hm.", thought=True)] if dice.random() < 0.3 else []
        answers.append([*thoughts, Say(f"Answer number {turn}.", chunks=dice.randrange(1, 4))])
    return answers


async def batches(stage, number: int) -> None:
    """Play an agent that calls tools in batches, over three turns."""
    dice = random.Random(f"batch {number}")
    answers = some_answers(dice, turns=3)
    key = dice.choice([None, "said", "user:said"])
    await stage.open(stage.agent("agent", *answers, tools=TOOLS, output_key=key))
    for turn in range(3):
        delta = {"a": turn, "app:a": turn} if dice.random() < 0.3 else None
        say = stage.stream if dice.random() < 0.4 else stage.say
        await say(f"turn {turn}", state_delta=delta)


for _number in range(BATCHES):
    add(Case(f"tool batches {_number}", partial(batches, number=_number)))


# Trees of workflow agents


class Tree:
    """Grows a tree of agents with short scripts."""

    def __init__(self, stage: Any, dice: random.Random) -> None:
        self._stage = stage
        self._dice = dice
        self._count = 0

    def grow(self, depth: int) -> Any:
        """Return a tree of at most this depth."""
        kinds = ["llm", "llm", "tools", "speaker"]
        if depth:
            kinds += ["sequence", "sequence", "loop", "parallel"]
        kind = self._dice.choice(kinds)
        return getattr(self, f"_{kind}")(depth)

    def composite(self, depth: int) -> Any:
        """Return a tree whose root is a workflow agent."""
        return getattr(self, f"_{self._dice.choice(['sequence', 'loop'])}")(depth)

    def _name(self, kind: str) -> str:
        self._count += 1
        return f"{kind}{self._count}"

    def _llm(self, depth: int) -> Any:
        name = self._name("llm")
        fields: dict[str, Any] = {}
        if self._dice.random() < 0.5:
            fields["output_key"] = self._dice.choice([name, "user:last", "last"])
        if self._dice.random() < 0.3:
            fields["include_contents"] = "none"
        if self._dice.random() < 0.3:
            fields["instruction"] = "Case: {last?} {user:last?}"
        if self._dice.random() < 0.15:
            fields["before_agent_callback"] = partial(answered, self._stage, name)
        return self._stage.agent(name, *(f"{name} says {i}." for i in range(9)), **fields)

    def _tools(self, depth: int) -> Any:
        name = self._name("tools")
        answers = some_answers(self._dice, turns=4)
        return self._stage.agent(name, *answers, tools=TOOLS)

    def _speaker(self, depth: int) -> Any:
        name = self._name("speaker")
        up = {"escalate": True} if self._dice.random() < 0.3 else {}
        changes = {"state_delta": {name: 1, "last": name}} if self._dice.random() < 0.5 else {}
        texts = ["One.", "Two."][: self._dice.randrange(1, 3)]
        return self._stage.speaker(name, *texts, **up, **changes)

    def _children(self, depth: int) -> list[Any]:
        return [self.grow(depth - 1) for _ in range(self._dice.randrange(1, 4))]

    def _sequence(self, depth: int) -> Any:
        name = self._name("seq")
        return self._stage.ns.SequentialAgent(name=name, sub_agents=self._children(depth))

    def _loop(self, depth: int) -> Any:
        name, times = self._name("loop"), self._dice.randrange(1, 4)
        children = self._children(depth)
        return self._stage.ns.LoopAgent(name=name, max_iterations=times, sub_agents=children)

    def _parallel(self, depth: int) -> Any:
        name = self._name("par")
        # Parallel agents write no state of their own, because they would race.
        children = [
            self._stage.agent(self._name("side"), *(f"Aside {i}." for i in range(9)))
            for _ in range(self._dice.randrange(1, 4))
        ]
        return self._stage.ns.ParallelAgent(name=name, sub_agents=children)


def answered(stage: Any, name: str, callback_context: Any) -> Any:
    """Answer in place of an agent, as a callback."""
    callback_context.state[f"{name} skipped"] = True
    return stage.ns.content(f"{name} is skipped.")


async def trees(stage, number: int) -> None:
    """Play a tree of workflow agents, over two turns."""
    dice = random.Random(f"tree {number}")
    root = Tree(stage, dice).composite(depth=3)
    await stage.open(root, state={"a": 0, "user:a": 0}, resumable=number % 5 == 0)
    for turn in range(2):
        say = stage.stream if dice.random() < 0.3 else stage.say
        await say(f"turn {turn}")


for _number in range(TREES):
    add(Case(f"a tree of agents {_number}", partial(trees, number=_number), unordered=True))


# Teams of agents that transfer to each other


def team(stage: Any, dice: random.Random, depth: int, name: str) -> Any:
    """Return an agent with sub-agents; `give_answers` adds answers once all names are known."""
    below = (
        [team(stage, dice, depth - 1, f"{name}{i}") for i in range(dice.randrange(1, 3))]
        if depth
        else []
    )
    flags = {}
    if name != "a" and dice.random() < 0.2:
        flags["disallow_transfer_to_parent"] = True
    if name != "a" and dice.random() < 0.3:
        flags["disallow_transfer_to_peers"] = True
    return stage.agent(name, model="later", sub_agents=below, tools=TOOLS, **flags)


def allowed(agent: Any) -> list[str]:
    """Return the names of the agents that an agent may transfer to."""
    names = [child.name for child in agent.sub_agents]
    parent = agent.parent_agent
    if parent is not None and not agent.disallow_transfer_to_parent:
        names.append(parent.name)
    if parent is not None and not agent.disallow_transfer_to_peers:
        names += [peer.name for peer in parent.sub_agents if peer is not agent]
    return names


def give_answers(stage: Any, dice: random.Random, agent: Any) -> None:
    """Give the agents below and this one random answers: transfers, calls and texts."""
    answers: list[Answer] = []
    for number in range(4):
        targets = allowed(agent)
        if targets and dice.random() < 0.5:
            answers.append(transfer(dice.choice(targets)))
        elif dice.random() < 0.4:
            answers.append(call("write", key=agent.name, value=number))
        answers.append(f"{agent.name} says {number}.")
    agent.model = stage.model(*answers, label=agent.name)
    for child in agent.sub_agents:
        give_answers(stage, dice, child)


async def teams(stage, number: int) -> None:
    """Play agents that transfer to each other, over four turns."""
    dice = random.Random(f"team {number}")
    root = team(stage, dice, depth=2, name="a")
    give_answers(stage, dice, root)
    await stage.open(root)
    for turn in range(4):
        say = stage.stream if dice.random() < 0.2 else stage.say
        await say(f"turn {turn}")


for _number in range(TEAMS):
    add(Case(f"a team of agents {_number}", partial(teams, number=_number)))
