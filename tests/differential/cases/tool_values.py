"""What tools are called with, and what they return."""

from functools import partial
from typing import Any, Literal

from google.genai import types
from pydantic import BaseModel, Field

from tests.differential.case import Case, add, case
from tests.differential.differing_made import ARGUMENT_TYPES
from tests.differential.differing_tools import JSON_AT_ONCE, ODD_RESULTS
from tests.differential.script import Call, call


class Point(BaseModel):
    """A place."""

    x: int
    y: int = 0


class Stay(BaseModel):
    """How long, for others under another name."""

    how_long: int = Field(default=1, alias="howLong")


class Opaque:
    """A value that JSON can't represent."""

    def __repr__(self) -> str:
        return "<opaque>"


RESULTS: dict[str, Any] = {
    "a text": "ok",
    "a model with aliases": Stay(),
    "a content": types.Content(
        role="user", parts=[types.Part.from_bytes(data=b"x", mime_type="a/b")]
    ),
    "an empty text": "",
    "a number": 3,
    "zero": 0,
    "a float": 1.5,
    "true": True,
    "nothing": None,
    "a list": [1, "two", None],
    "a dict": {"a": {"b": [1]}},
    "an empty dict": {},
    "a dict under result": {"result": 1},
    "a dict with an error": {"error": "boom"},
    "a model": Point(x=1),
    "a list of models": [Point(x=1), Point(x=2, y=3)],
    "a tuple": (1, 2),
    "a set of one": {1},
    "bytes": b"\xfb\xef",
    "an object": Opaque(),
    "a dict with an object": {"it": Opaque()},
    "numbers as keys": {1: "one"},
}


async def _result(stage, result):
    def look() -> Any:
        """Looks."""
        return result

    await stage.open(stage.agent("agent", call("look"), "Done.", tools=[look]))
    await stage.say()


ODD = {"an object", "a dict with an object", "numbers as keys"}
for _name, _value in RESULTS.items():
    _differs = ODD_RESULTS if _name in ODD else None
    add(Case(f"a tool returns {_name}", partial(_result, result=_value), _differs))


def typed(
    a: str,
    b: int = 3,
    c: float | None = None,
    d: list[int] | None = None,
    e: Literal["x", "y"] = "x",
    f: dict[str, str] = {},  # noqa: B006  agent authors write this
    g: bool = False,
) -> dict[str, Any]:
    """Takes many types.

    Args:
        a: A text.
        b: A number.
    """
    return {"got": [a, b, c, d, e, f, g]}


def located(point: Point, others: list[Point] | None = None) -> str:
    """Takes a model."""
    return f"{type(point).__name__} {point} {others}"


def either(value: int | str) -> str:
    """Takes one or the other."""
    return f"{type(value).__name__} {value}"


async def later(a: int) -> int:
    """Is async."""
    return a + 1


def bare(x, y=2):  # agent authors write this
    return [x, y]


def anything(a: int, *rest: int, **more: int) -> list[Any]:
    """Takes anything."""
    return [a, rest, more]


ARGUMENTS: dict[str, tuple[Any, dict[str, Any]]] = {
    "texts and numbers": (typed, {"a": "t", "b": 5}),
    "all kinds": (typed, {"a": "t", "c": 1.5, "d": [1], "e": "y", "f": {"k": "v"}, "g": True}),
    "a whole float for an int": (typed, {"a": "t", "b": 5.0, "d": [1.0, 2.0]}),
    "a text for an int": (typed, {"a": "t", "b": "five"}),
    "a missing argument": (typed, {"b": 1}),
    "no arguments": (typed, {}),
    "an unknown argument": (typed, {"a": "t", "zz": 1}),
    "null": (typed, {"a": None, "c": None}),
    "a model": (located, {"point": {"x": 1}}),
    "models in a list": (located, {"point": {"x": 1}, "others": [{"x": 2}, {"x": 3, "y": 4}]}),
    "a wrong model": (located, {"point": {"y": 1}}),
    "a model as text": (located, {"point": "nowhere"}),
    "a union": (either, {"value": "v"}),
    "an async function": (later, {"a": 1}),
    "no annotations": (bare, {"x": 1}),
    "variable arguments": (anything, {"a": 1, "b": 2}),
}
MISFITS = {"a text for an int", "null", "a wrong model", "a model as text"}


async def _arguments(stage, tool, args):
    await stage.open(stage.agent("agent", Call(tool.__name__, args), "Done.", tools=[tool]))
    await stage.say()


for _name, (_tool, _args) in ARGUMENTS.items():
    _play = partial(_arguments, tool=_tool, args=_args)
    _differs = ARGUMENT_TYPES if _name in MISFITS else None
    add(Case(f"a tool is called with {_name}", _play, differs=_differs))


@case(differs=JSON_AT_ONCE)
async def the_response_of_a_live_event_has_kinds_of_values(stage):
    def find() -> dict[str, Any]:
        """Find."""
        return {"point": Point(x=1), "pair": (1, 2)}

    await stage.open(stage.agent("agent", call("find"), "Done.", tools=[find]))
    for event in await stage.say():
        for response in event.get_function_responses():
            stage.note(*(type(each).__name__ for each in response.response.values()))
