"""Generated cases: answers with a schema of any shape, as texts and as calls beside others.

The same number gives the same case on every machine.
"""

import json
import random
from functools import partial
from typing import Any, Literal

from google.genai import types
from pydantic import BaseModel, Field

from tests.differential.case import Case, add
from tests.differential.script import Answer, Call, Say, call
from tests.kit.rounds import rounds

ALONE, WITH_TOOLS = rounds(10, 20), rounds(15, 30)
TURNS = 3
BAD = 0.0
"""The share of texts that don't fit the schema; they differ on purpose."""


class Place(BaseModel):
    """Somewhere."""

    name: str
    kind: Literal["city", "village"] = "city"
    people: int | None = None


class Tour(BaseModel):
    """Some places, one after the other."""

    goal: Place
    stops: list[Place] = []
    costs: dict[str, float] = {}
    mood: Literal["good", "bad"] | None = None


class Trip(Tour):
    """A tour with a title, which has another name in JSON."""

    title: str = Field(alias="heading", default="A trip")


class Counted(BaseModel):
    """Nothing but a number."""

    number: int = Field(ge=0)


PLACES = [
    {"name": "Rome"},
    {"name": "Bern", "kind": "city", "people": 3},
    {"name": "Ulm", "kind": "village", "people": None, "more": 1},
]
BAD_PLACES = [{"name": 3}, {"kind": "city"}, {"name": "Ulm", "kind": "moon"}, {}]


class Values:
    """Makes values for the schemas, some of which don't fit."""

    def __init__(self, dice: random.Random, bad: float) -> None:
        self._dice, self._bad = dice, bad

    def place(self) -> Any:
        """Return a place, perhaps an invalid one."""
        return self._dice.choice(BAD_PLACES if self._dice.random() < self._bad else PLACES)

    def tour(self) -> Any:
        """Return a tour, whose places may be invalid."""
        tour: dict[str, Any] = {"goal": self.place()}
        if self._dice.random() < 0.5:
            tour["stops"] = self.places()
        if self._dice.random() < 0.5:
            tour["costs"] = self._dice.choice([{}, {"bus": 3}, {"bus": "3.5"}, {"äh": 1.5}])
        if self._dice.random() < 0.3:
            tour["mood"] = self._dice.choice(["good", None])
        return tour

    def trip(self) -> Any:
        """Return a tour with a title, under its name or its alias."""
        return self.tour() | {self._dice.choice(["heading", "title"]): "To Rome\n„there“"}

    def places(self) -> Any:
        """Return a list of places."""
        return [self.place() for _ in range(self._dice.randrange(3))]

    def counted(self) -> Any:
        """Return an object with a number, which may be negative or invalid."""
        good, bad = [0, 7, "7", 7.0], [-1, "many", 7.5, None]
        number = self._dice.choice(bad if self._dice.random() < self._bad else good)
        return {"number": number} | ({"more": 1} if self._dice.random() < self._bad / 2 else {})

    def numbers(self) -> Any:
        """Return a list of numbers."""
        return [self._dice.randrange(9) for _ in range(self._dice.randrange(3))]

    def counts(self) -> Any:
        """Return numbers by name."""
        return {name: self._dice.randrange(9) for name in "ab"[: self._dice.randrange(3)]}

    def anything(self) -> Any:
        """Return any object."""
        return self._dice.choice([{}, {"a": 1}, {"a": [None, True]}])

    schema = anything


SCHEMAS: dict[str, Any] = {
    "place": Place,
    "tour": Tour,
    "trip": Trip,
    "places": list[Place],
    "counted": Counted,
    "numbers": list[int],
    "counts": dict[str, int],
    "anything": {"type": "object", "properties": {"a": {"type": "integer"}}},
    "schema": types.Schema(type="OBJECT", properties={"a": types.Schema(type="INTEGER")}),
}


def text_of(dice: random.Random, value: Any, odd: float) -> str:
    """Return the value as a model writes it."""
    json_text = json.dumps(value, ensure_ascii=dice.random() < 0.5, indent=dice.choice([None, 2]))
    kind = dice.choice(["cut", "words", "fenced"]) if dice.random() < odd else "plain"
    if kind == "cut":
        return json_text[:-1]
    if kind == "words":
        return f"Here you are: {json_text}"
    return f"```json\n{json_text}\n```" if kind == "fenced" else f" {json_text}\n"


def _fields(dice: random.Random, name: str) -> dict[str, Any]:
    fields: dict[str, Any] = {"output_schema": SCHEMAS[name]}
    if dice.random() < 0.7:
        fields["output_key"] = dice.choice(["said", "user:said"])
    if dice.random() < 0.3:
        fields["instruction"] = "Case: before {said?} {user:said?}"
    return fields


async def alone(stage, number: int) -> None:
    """Play an agent with an output schema, without tools."""
    dice = random.Random(f"schema {number}")
    name = dice.choice([*SCHEMAS])
    values = Values(dice, BAD)
    answers = [_said(dice, text_of(dice, getattr(values, name)(), BAD)) for _ in range(TURNS)]
    await _play(stage, dice, stage.agent("agent", *answers, **_fields(dice, name)))


def _said(dice: random.Random, text: str) -> Answer:
    answer = Say(text, chunks=dice.randrange(1, 4))
    return [Say("Hm.", thought=True), answer] if dice.random() < 0.3 else answer


async def _play(stage: Any, dice: random.Random, root: Any) -> None:
    await stage.open(root)
    for turn in range(TURNS):
        say = stage.stream if dice.random() < 0.4 else stage.say
        await say(f"turn {turn}")


WITHOUT_TOOLS = ("trip", "counted", "anything", "schema")
"""What google-adk doesn't declare to models: aliases, constraints, schemas that aren't types."""
OBJECTS = ("place", "tour")


async def look(n: int) -> dict[str, int]:
    """Looks."""
    return {"seen": n}


def _given(dice: random.Random, name: str, value: Any) -> Call:
    """Return the call that gives the answer."""
    if name not in OBJECTS:
        value = {"items" if name == "places" else "response": value}
    return Call("set_model_response", value)


async def with_tools(stage, number: int) -> None:
    """Play an agent that gives a structured answer by a call, beside other calls."""
    dice = random.Random(f"schema and tools {number}")
    name = dice.choice([name for name in SCHEMAS if name not in WITHOUT_TOOLS])
    values, fitting = Values(dice, dice.choice([0, 0.5])), Values(dice, BAD)
    answers: list[Answer] = []
    for turn in range(2 * TURNS):
        if dice.random() < 0.4:
            answers.append([call("look", n=turn)])
        answer = _given(dice, name, getattr(values, name)())
        beside = dice.choice(["nothing"] * 4 + ["look", "twice", "words", "text"])
        answers.append(
            {
                "nothing": answer,
                "look": [call("look", n=turn), answer],
                "twice": [answer, _given(dice, name, getattr(values, name)())],
                "words": [Say("Here."), answer],
                "text": Say(text_of(dice, getattr(fitting, name)(), BAD)),
            }[beside]
        )
    answers += [text_of(dice, getattr(fitting, name)(), BAD) for _ in range(TURNS)]
    await _play(stage, dice, stage.agent("agent", *answers, tools=[look], **_fields(dice, name)))


for _number in range(ALONE):
    add(Case(f"an answer with a schema {_number}", partial(alone, number=_number)))
for _number in range(WITH_TOOLS):
    add(Case(f"an answer with a schema and tools {_number}", partial(with_tools, number=_number)))
