"""Generated cases: planners beside tools, and structured answers that aren't models.

The same number gives the same case on every machine.
"""

import random
from dataclasses import dataclass
from enum import Enum, StrEnum
from functools import partial
from typing import Any, Literal

from google.genai import types
from pydantic import BaseModel
from typing_extensions import TypedDict

from tests.differential.case import Case, add
from tests.differential.cases.schemas_generated import text_of
from tests.differential.differing_schemas import DECLARED_ENUMS, TYPED_ANSWERS
from tests.differential.script import Answer, Call, Say, call

PLANS = 7
TURNS = 3


async def look(n: int) -> dict[str, int]:
    """Looks."""
    return {"seen": n}


def pay(n: int) -> str:
    """Pays."""
    return f"paid {n}"


TAGS = ("/*PLANNING*/", "/*REPLANNING*/", "/*REASONING*/", "/*ACTION*/", "/*FINAL_ANSWER*/")


def tagged(dice: random.Random, number: int) -> str:
    """Return a text with tags of PlanReActPlanner, in random order."""
    pieces = []
    for _ in range(dice.randrange(4)):
        if dice.random() < 0.7:
            pieces.append(dice.choice(TAGS))
        pieces.append(dice.choice([f" Words {number}. ", f"More {number}.", ""]))
    return "".join(pieces) or f"Plain {number}."


def _plan(dice: random.Random, number: int, *, ends: bool) -> Answer:
    steps: list[Any] = []
    for _ in range(dice.randrange(1, 4)):
        kind = dice.choice(["tagged", "tagged", "thought"] + ([] if ends else ["call", "call"]))
        if kind == "tagged":
            steps.append(Say(tagged(dice, number), chunks=dice.randrange(1, 4)))
        elif kind == "thought":
            steps.append(Say(f"Hm {number}.", thought=True))
        else:
            steps.append(call(dice.choice(["look", "pay"]), n=number))
    return steps


def _planner(stage: Any, dice: random.Random) -> Any:
    if dice.random() < 0.25:
        config = types.ThinkingConfig(include_thoughts=dice.choice([True, None]), thinking_budget=9)
        return stage.ns.BuiltInPlanner(thinking_config=config)
    return stage.ns.PlanReActPlanner()


async def plans(stage, number: int) -> None:
    """Play an agent with a planner and tools, alone or in a sequence."""
    dice = random.Random(f"plan {number}")
    answers = []
    for turn in range(TURNS):
        answers += [_plan(dice, turn, ends=False) for _ in range(dice.randrange(3))]
        answers.append(_plan(dice, turn, ends=True))
    fields: dict[str, Any] = {"planner": _planner(stage, dice)}
    if dice.random() < 0.7:
        fields["output_key"] = dice.choice(["said", "user:said"])
    if dice.random() < 0.5:
        fields["instruction"] = "Case: before {said?}"
    agent = stage.agent("agent", *answers, tools=[look, pay], **fields)
    if dice.random() < 0.4:
        second = stage.agent("second", *(f"Second {i}." for i in range(9)))
        agent = stage.ns.SequentialAgent(name="seq", sub_agents=[agent, second])
    await stage.open(agent, resumable=dice.random() < 0.3)
    await _talk(stage, dice)


async def _talk(stage: Any, dice: random.Random) -> None:
    for turn in range(TURNS):
        say = stage.stream if dice.random() < 0.4 else stage.say
        await say(f"turn {turn}")


class Color(Enum):
    """A color."""

    RED = "red"
    BLUE = "blue"


class Size(Enum):
    """A size."""

    SMALL = 1
    BIG = 2


class Word(StrEnum):
    """A word."""

    YES = "yes"
    NO = "no"


@dataclass
class Point:
    """A point."""

    x: int
    y: float = 1.5
    name: str | None = None


class Pair(TypedDict):
    """Two."""

    one: str
    two: int


class Place(BaseModel):
    """Somewhere."""

    name: str
    color: Color = Color.RED
    at: Point | None = None


SHAPES_OF: dict[str, tuple[Any, list[Any]]] = {
    "str": (str, ["red", "7", "", 'a "b"']),
    "int": (int, [0, 7, -3]),
    "float": (float, [0.5, 7, -1e3]),
    "bool": (bool, [True, False]),
    "color": (Color, ["red", "blue"]),
    "size": (Size, [1, 2]),
    "word": (Word, ["yes", "no"]),
    "literal": (Literal["a", "b"], ["a", "b"]),
    "union": (int | str, [7, "seven"]),
    "optional": (int | None, [7, None]),
    "colors": (list[Color], [[], ["red", "blue"]]),
    "lists": (list[list[int]], [[], [[1], []]]),
    "optionals": (list[int | None], [[1, None]]),
    "dict": (dict[str, str], [{}, {"a": "b"}]),
    "point": (Point, []),
    "pair": (Pair, [{"one": "a", "two": 2}]),
    "place": (Place, []),
}
"""Types, and values of them that models give as answers."""

# Types with defaults, models or floats are missing: google-adk parses them differently on purpose.
ALONE = ("str", "bool", "color", "size", "word", "union", "colors", "optionals", "pair")
BESIDE_TOOLS = ("str", "int", "union", "optional", "lists", "dict")


async def shapes(stage, number: int, names: tuple[str, ...], tools: bool) -> None:
    """Play an agent that gives a structured answer."""
    dice = random.Random(f"shape {number}")
    name = names[number % len(names)]
    shape, values = SHAPES_OF[name]
    answers: list[Answer] = []
    for turn in range(2 * TURNS):
        value = dice.choice(values)
        if tools and dice.random() < 0.4:
            answers.append(call("look", n=turn))
        if tools and dice.random() < 0.6:
            answers.append(Call("set_model_response", {"response": value}))
        else:
            answers.append(Say(text_of(dice, value, 0), chunks=dice.randrange(1, 3)))
    answers += [Say(text_of(dice, dice.choice(values), 0)) for _ in range(TURNS)]
    fields: dict[str, Any] = {"output_schema": shape, "tools": [look] if tools else []}
    if dice.random() < 0.8:
        fields["output_key"] = dice.choice(["said", "user:said"])
    if dice.random() < 0.3:
        fields["instruction"] = "Case: before {said?} {user:said?}"
    if dice.random() < 0.3:
        fields["planner"] = _planner(stage, dice)
    await stage.open(stage.agent("agent", *answers, **fields))
    await _talk(stage, dice)


async def _answered(stage, name, answer):
    shape, _ = SHAPES_OF[name]
    tools = [look] if isinstance(answer, Call) else []
    agent = stage.agent("agent", answer, "1", output_schema=shape, output_key="said", tools=tools)
    await stage.open(agent)
    await stage.say()


for _number in range(PLANS):
    add(Case(f"a planner and tools {_number}", partial(plans, number=_number)))
for _number, _ in enumerate(ALONE):
    _play = partial(shapes, number=_number, names=ALONE, tools=False)
    add(Case(f"an answer in a shape {_number}", _play))
for _number, _ in enumerate(BESIDE_TOOLS):
    _play = partial(shapes, number=_number, names=BESIDE_TOOLS, tools=True)
    add(Case(f"an answer in a shape beside tools {_number}", _play))
for _name, _text in {"float": "7", "point": '{"x": 1}', "place": '{"name": "Ulm"}'}.items():
    _play = partial(_answered, name=_name, answer=_text)
    add(Case(f"an answer is a {_name}", _play, TYPED_ANSWERS))
for _name, _value in {"color": "red", "literal": "a"}.items():
    _play = partial(_answered, name=_name, answer=call("set_model_response", response=_value))
    add(Case(f"an answer beside tools is a {_name}", _play, DECLARED_ENUMS))
