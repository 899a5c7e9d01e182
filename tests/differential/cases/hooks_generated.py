"""Generated cases: agents with callbacks and plugins of any kind, anywhere.

The same number gives the same case on every machine.
"""

import random
from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle
from typing import Any

from tests.differential.case import Case, add
from tests.differential.cases.callbacks import AGENT_HOOKS, RUN_HOOKS, WATCHERS, answer_of, told
from tests.differential.script import Answer, Boom, Error, Raise, Say, call, transfer
from tests.kit.rounds import rounds

HOOKED = rounds(40, 80)
FAILING = rounds(30, 60)
TURNS = 3

Deed = Callable[[dict[str, Any]], Any]
"""What a hook does with its arguments, and what it answers."""


async def look() -> dict[str, str]:
    """Looks."""
    return {"seen": "a tree"}


async def fall() -> None:
    """Falls."""
    raise Boom("boom")


async def write(tool_context, value: int) -> str:
    """Writes state."""
    tool_context.state["written"] = value
    return "written"


TOOLS = [look, fall, write]


class Hooks:
    """Makes hooks, each of which does a series of things on successive calls."""

    def __init__(self, stage: Any, dice: random.Random, *, fail: bool) -> None:
        self._stage = stage
        self._dice = dice
        self.fail = fail
        self.resumable = dice.random() < 0.2

    def of_agent(self, name: str, kinds: tuple[str, ...] = AGENT_HOOKS) -> dict[str, Any]:
        """Return some callbacks of an agent, sometimes in lists."""
        fields: dict[str, Any] = {}
        for kind in kinds:
            if self._dice.random() < 0.3:
                several = [self._callback(name, kind) for _ in range(self._dice.randrange(1, 3))]
                fields[f"{kind}_callback"] = several if len(several) > 1 else several[0]
        return fields

    def plugin(self, name: str) -> Any:
        """Return a plugin with a random selection of hooks."""
        hooks = {}
        for kind in (*AGENT_HOOKS, *RUN_HOOKS, *WATCHERS):
            if self._dice.random() < 0.3:
                hooks[f"{kind}_callback"] = self._method(name, kind)
        return type("Plugin", (self._stage.ns.BasePlugin,), hooks)(name=name)

    def _callback(self, who: str, kind: str) -> Any:
        deeds = self._deeds(who, kind)

        async def callback(**values: Any) -> Any:
            return self._do(who, kind, deeds, values)

        return callback

    def _method(self, who: str, kind: str) -> Any:
        deeds = self._deeds(who, kind)

        async def method(_: Any, **values: Any) -> Any:
            return self._do(who, kind, deeds, values)

        return method

    def _do(self, who: str, kind: str, deeds: Iterator[Deed], values: dict[str, Any]) -> Any:
        arrival = values.get("event") or values.get("llm_response")
        if arrival is not None and arrival.partial:
            return None  # google-adk requests the next fragment before a plugin sees the latest
        self._stage.note(who, kind, told(kind, values))
        return next(deeds)(values)

    def _deeds(self, who: str, kind: str) -> Iterator[Deed]:
        """Return an endless series of random actions for the hook, mostly none."""
        possible = [self._writes(who, kind), self._answers(who, kind), *self._others(who, kind)]
        deeds = [
            self._dice.choice(possible) if self._dice.random() < 0.5 else _nothing for _ in range(5)
        ]
        return cycle(deeds)

    def _writes(self, who: str, kind: str) -> Deed:
        def deed(values: dict[str, Any]) -> None:
            context = values.get("callback_context") or values.get("tool_context")
            if context is not None:
                context.state[f"{who} {kind}"] = context.state.get(f"{who} {kind}", 0) + 1
                context.state["latest"] = f"{who} {kind}"

        return deed

    def _answers(self, who: str, kind: str) -> Deed:
        return lambda _: answer_of(self._stage, kind) if kind not in WATCHERS else None

    def _others(self, who: str, kind: str) -> list[Deed]:
        changes = {
            "before_model": self._adds_content,
            "after_model": self._adds_words,
            "before_tool": _adds_argument,
            "after_tool": _adds_result,
            "on_event": self._marks,
        }
        deeds: list[Deed] = [partial(_raises, f"{who} {kind}")] if self.fail else []
        if kind in changes:
            deeds.append(changes[kind])
        if kind in ("before_tool", "after_tool"):
            deeds += [_skips_summary, _escalates]
        return deeds

    def _adds_content(self, values: dict[str, Any]) -> None:
        values["llm_request"].contents.append(self._stage.ns.content("Case: more", "user"))

    def _adds_words(self, values: dict[str, Any]) -> None:
        content = values["llm_response"].content
        if content and content.parts and content.parts[0].text:
            content.parts[0].text += " (checked)"

    def _marks(self, values: dict[str, Any]) -> Any:
        event = values["event"].model_copy(deep=True)
        event.custom_metadata = {"marked": True}
        return event


def _nothing(_: dict[str, Any]) -> None:
    return None


def _raises(where: str, _: dict[str, Any]) -> None:
    raise Boom(f"boom in {where}")


def _adds_argument(values: dict[str, Any]) -> None:
    values.get("tool_args", values.get("args"))["value"] = 7


def _adds_result(values: dict[str, Any]) -> None:
    result = values.get("result", values.get("tool_response"))
    if isinstance(result, dict):
        result["checked"] = True


def _skips_summary(values: dict[str, Any]) -> None:
    values["tool_context"].actions.skip_summarization = True


def _escalates(values: dict[str, Any]) -> None:
    values["tool_context"].actions.escalate = True


def _answers(dice: random.Random, name: str, children: list[str], *, fail: bool) -> list[Answer]:
    answers: list[Answer] = []
    kinds = [
        "text",
        "text",
        "look",
        "write",
        "transfer",
        "two",
        *(["fall", "error"] if fail else []),
    ]
    for number in range(12):
        kind = dice.choice(kinds)
        if kind == "text" or (kind == "transfer" and not children):
            answers.append(Say(f"{name} says {number}.", chunks=dice.randrange(1, 3)))
        elif kind == "error":
            answers.append(dice.choice([Error(), Raise()]))
        elif kind == "transfer":
            answers.append(transfer(dice.choice(children)))
        elif kind == "two":
            answers.append([call("look"), call("write", value=number)])
        else:
            answers.append(call(kind, **({"value": number} if kind == "write" else {})))
    return answers


def _agent(stage: Any, dice: random.Random, hooks: Hooks, name: str, *below: Any) -> Any:
    fields = hooks.of_agent(name)
    if dice.random() < 0.3:
        fields["output_key"] = "said"
    # In a resumable app, google-adk records the end of a transferring agent at another place.
    targets = [] if hooks.resumable else [child.name for child in below]
    answers = _answers(dice, name, targets, fail=hooks.fail)
    return stage.agent(name, *answers, tools=TOOLS, sub_agents=list(below), **fields)


async def _play(stage: Any, dice: random.Random, hooks: Hooks, root: Any) -> None:
    plugins = [hooks.plugin(f"p{i}") for i in range(dice.randrange(3))]
    await stage.open(root, plugins=plugins, resumable=hooks.resumable)
    for turn in range(TURNS):
        say = stage.stream if dice.random() < 0.3 else stage.say
        await say(f"turn {turn}")


async def failing(stage, number: int) -> None:
    """Play one agent in which anything may fail, over several turns."""
    dice = random.Random(f"failing {number}")
    hooks = Hooks(stage, dice, fail=True)
    await _play(stage, dice, hooks, _agent(stage, dice, hooks, "a"))


class Tree:
    """Grows a tree of agents with hooks."""

    def __init__(self, stage: Any, dice: random.Random, hooks: Hooks) -> None:
        self._stage, self._dice, self._hooks = stage, dice, hooks
        self._names = iter("abcdefghijklmnopqrstuvwxyz")

    def grow(self, depth: int) -> Any:
        """Return a tree of at most this depth."""
        kinds = ["talk", "talk", "sequence", "loop", "parallel"] if depth else ["talk"]
        name = next(self._names)
        return getattr(self, f"_{self._dice.choice(kinds)}")(name, depth)

    def _talk(self, name: str, _: int) -> Any:
        below = [self._agent(f"{name}{i}") for i in range(self._dice.randrange(3))]
        return self._agent(name, *below)

    def _agent(self, name: str, *below: Any) -> Any:
        return _agent(self._stage, self._dice, self._hooks, name, *below)

    def _sequence(self, name: str, depth: int) -> Any:
        return self._stage.ns.SequentialAgent(**self._around(name, depth))

    def _loop(self, name: str, depth: int) -> Any:
        return self._stage.ns.LoopAgent(**self._around(name, depth), max_iterations=2)

    def _parallel(self, name: str, depth: int) -> Any:
        # Only one agent: several would note their actions in random order.
        return self._stage.ns.ParallelAgent(**self._around(name, depth, most=1))

    def _around(self, name: str, depth: int, most: int = 2) -> dict[str, Any]:
        hooks = self._hooks.of_agent(name, ("before_agent", "after_agent"))
        children = [self.grow(depth - 1) for _ in range(self._dice.randrange(most) + 1)]
        return {"name": name, "sub_agents": children, **hooks}


async def hooked(stage, number: int) -> None:
    """Play a tree of agents with hooks, over several turns."""
    dice = random.Random(f"hooked {number}")
    hooks = Hooks(stage, dice, fail=False)
    await _play(stage, dice, hooks, Tree(stage, dice, hooks).grow(depth=3))


for _number in range(HOOKED):
    add(Case(f"hooks of a tree {_number}", partial(hooked, number=_number)))
for _number in range(FAILING):
    add(Case(f"hooks of an agent that fails {_number}", partial(failing, number=_number)))
