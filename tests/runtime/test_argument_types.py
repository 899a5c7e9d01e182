"""Tool arguments are converted to what the function's annotations say."""

import dataclasses
import datetime as dt
import enum
import json
import uuid
from collections.abc import Iterable, Sequence
from decimal import Decimal
from ipaddress import IPv4Address
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypedDict

import pytest
from pydantic import BaseModel, Field, model_validator

from devui.runtime.agents import LlmAgent
from devui.runtime.models import Call, Rule, Say, ScriptedLlm
from devui.runtime.tools import FunctionTool, LongRunningFunctionTool, ToolContext
from devui.runtime.tools.base_authenticated_tool import AuthenticatedFunctionTool
from tests.kit.conversation import Conversation, said


class Color(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    LOW = 1


class Spec(TypedDict):
    width: int


class Place(NamedTuple):
    x: int
    y: float = 0.0


@dataclasses.dataclass
class Point:
    x: int
    label: str = ""
    color: Color = Color.RED


class Seat(BaseModel):
    row: int
    letter: str = "A"


class Meal(BaseModel):
    dish: str


class Fussy(BaseModel):
    name: str

    @model_validator(mode="before")
    @classmethod
    def _odd(cls, value: Any) -> Any:
        raise LookupError("no such dish")


DAY = dt.date(2024, 1, 2)
ID = uuid.UUID(int=1)

TAKEN = [
    (str, "a", "a"),
    (str, 12345, "12345"),
    (int, "7", 7),
    (int, 7.0, 7),
    (float, "1.5", 1.5),
    (float, 2, 2.0),
    (bool, "true", True),
    (bytes, "text", b"text"),
    (Color, "red", Color.RED),
    (Level, 1, Level.LOW),
    (Literal["c", "f"], "f", "f"),
    (Literal[Color.RED], "red", Color.RED),
    (dt.date, "2024-01-02", DAY),
    (dt.datetime, "2024-01-02T03:04:05", dt.datetime(2024, 1, 2, 3, 4, 5)),
    (dt.time, "03:04", dt.time(3, 4)),
    (dt.timedelta, "PT90S", dt.timedelta(seconds=90)),
    (uuid.UUID, str(ID), ID),
    (Decimal, "1.5", Decimal("1.5")),
    (Decimal, 1.5, Decimal("1.5")),
    (Path, "a/b", Path("a/b")),
    (Path | None, "a/b", Path("a/b")),
    (Path | None, None, None),
    (IPv4Address, "127.0.0.1", IPv4Address("127.0.0.1")),
    (Point, {"x": "1", "label": 5, "color": "red"}, Point(1, "5", Color.RED)),
    (Spec, {"width": "3"}, {"width": 3}),
    (Place, [1, 2], Place(1, 2.0)),
    (Place, {"x": 1}, Place(1)),
    (set[str], ["a", "a"], {"a"}),
    (frozenset[Color], ["red"], frozenset({Color.RED})),
    (tuple[int, str], [1, "a"], (1, "a")),
    (tuple[Color, ...], ["red"], (Color.RED,)),
    (dict[str, Seat], {"me": {"row": 1}}, {"me": Seat(row=1)}),
    (dict[int, Color], {"1": "red"}, {1: Color.RED}),
    (list[Seat], [{"row": 1}], [Seat(row=1)]),
    (list[Seat | Meal], [{"row": 1}, {"dish": "a"}], [Seat(row=1), Meal(dish="a")]),
    (list[list[Color]], [["red"]], [[Color.RED]]),
    (list[dt.date] | None, ["2024-01-02"], [DAY]),
    (Seat | Meal, {"dish": "x"}, Meal(dish="x")),
    (Color | dt.date, "2024-01-02", DAY),
    (int | str, "7", "7"),
    (Iterable[Color], ["red"], [Color.RED]),
    (Sequence[Seat], [{"row": 1}], [Seat(row=1)]),
    (Annotated[int, Field(ge=1)], "2", 2),
    (dict, {"a": [1]}, {"a": [1]}),
    (list, [{"a": 1}], [{"a": 1}]),
    (Any, {"a": 1}, {"a": 1}),
    (object, "x", "x"),
]

REFUSED = [
    (int, 1.5, "valid integer"),
    (int, "many", "valid integer"),
    (str, ["a"], "valid string"),
    (Color, "blue", "'red'"),
    (Literal["c", "f"], "k", "'c' or 'f'"),
    (dt.date, "soon", "valid date"),
    (uuid.UUID, "7", "valid UUID"),
    (Decimal, "much", "valid decimal"),
    (Point, {"x": "?"}, "value.x"),
    (Point, {}, "value.x"),
    (Spec, {}, "value.width"),
    (Place, [], "value.0"),
    (set[int], ["a"], "value.0"),
    (tuple[int, str], [1], "value.1"),
    (dict[str, Seat], {"me": {}}, "value.me.row"),
    (Iterable[Color], ["blue"], "value.0"),
    (Seat, None, "Seat"),
    (Annotated[int, Field(ge=1)], 0, "greater than or equal to 1"),
    (Fussy, {"name": "a"}, "no such dish"),
]


def tool_taking(annotation, got):
    def take(value) -> str:
        """Take it."""
        got.append(value)
        return "taken"

    take.__annotations__["value"] = annotation
    return take


async def call_tool(tool, args):
    """Return the response to one call of the tool, and check what events and callbacks see."""
    name = tool.name if isinstance(tool, FunctionTool) else tool.__name__
    rules = [Rule(after=name, then=Say("done")), Rule(then=Call(name, **args))]
    args_seen = []

    def before(tool, args, tool_context):
        args_seen.append(json.loads(json.dumps(args)))

    agent = LlmAgent(
        name="a", model=ScriptedLlm(rules=rules), tools=[tool], before_tool_callback=before
    )
    events = await Conversation(agent).say("go")
    call = next(c for e in events for c in e.get_function_calls())
    response = next(r for e in events for r in e.get_function_responses())
    assert call.args == args, "events keep what the model wrote"
    assert all(each == args for each in args_seen), "callbacks see what the model wrote"
    assert said(events[-1]) == "done", "the run goes on"
    return response.response


@pytest.mark.parametrize(("annotation", "value", "expected"), TAKEN)
@pytest.mark.parametrize("kind", [FunctionTool, LongRunningFunctionTool, AuthenticatedFunctionTool])
async def test_an_argument_is_converted_to_its_annotated_type(kind, annotation, value, expected):
    got = []

    assert await call_tool(kind(func=tool_taking(annotation, got)), {"value": value}) == {
        "result": "taken"
    }

    assert got == [expected]
    assert type(got[0]) is type(expected)


@pytest.mark.parametrize(("annotation", "value", "expected"), REFUSED)
async def test_an_argument_that_cannot_be_converted_is_reported_to_the_model(
    annotation, value, expected
):
    got = []

    error = (await call_tool(tool_taking(annotation, got), {"value": value}))["error"]

    assert got == []
    assert error.startswith("take() was not called")
    assert "- value" in error
    assert expected in error


async def test_every_argument_that_does_not_fit_is_named():
    def book(day: dt.date, cabin: Color, count: list[int]) -> None: ...

    error = (await call_tool(book, {"day": "x", "cabin": "y", "count": ["z"] * 20}))["error"]

    lines = error.splitlines()
    assert [line.split(":")[0] for line in lines[1:4]] == ["- day", "- cabin", "- count.0"]
    assert lines[-2] == "- (and 14 more)"


@pytest.mark.parametrize("value", [None, "unset"])
async def test_an_argument_may_equal_a_default_of_another_type(value):
    got = []

    def take(when: dt.date = value) -> None:
        got.append(when)

    await call_tool(take, {"when": value})

    assert got == [value]


async def test_values_that_fit_the_declaration_are_accepted():
    for annotation, value, _ in TAKEN:
        got = []
        tool = FunctionTool(tool_taking(annotation, got))
        schema = tool._get_declaration().parameters_json_schema
        assert list(schema["properties"]) == ["value"]
        assert await tool.run_async(args={"value": value}, tool_context=None) == "taken"


async def test_generators_and_functions_with_a_context_get_converted_arguments():
    got = []

    async def stream(day: dt.date, tool_context: ToolContext):
        got.append(day)
        yield "all"

    def plain(ctx: ToolContext, color: Color, /, *days: int, **rest: str) -> str:
        got.append((color, rest))
        return "x"

    await call_tool(stream, {"day": "2024-01-02"})
    await call_tool(plain, {"color": "red"})

    assert got == [DAY, (Color.RED, {})]


async def test_a_pydantic_class_as_a_tool_validates_its_arguments():
    class Booking(BaseModel):
        row: int = Field(ge=1)
        day: dt.date

    response = await call_tool(FunctionTool(Booking), {"row": "2", "day": "2024-01-02"})
    assert response == {"result": {"row": 2, "day": "2024-01-02"}}
    refusal = await call_tool(FunctionTool(Booking), {"row": 0, "day": "2024-01-02"})
    assert "- row" in refusal["error"]


async def test_a_confirmation_is_requested_only_for_valid_converted_arguments():
    questions = []

    def is_large(amount, day: str) -> bool:
        questions.append((amount, day))
        return amount > 100

    def pay(amount: Decimal, day: dt.date) -> str:
        return f"paid {amount!r} {day!r}"

    tool = FunctionTool(pay, require_confirmation=is_large)

    response = await call_tool(tool, {"amount": "99.5", "day": "2024-01-02"})
    assert response == {"result": f"paid {Decimal('99.5')!r} {DAY!r}"}
    assert questions[0] == (Decimal("99.5"), "2024-01-02")
    questions.clear()
    refusal = await call_tool(tool, {"amount": "much", "day": "2024-01-02"})
    assert "- amount" in refusal["error"]
    assert questions == []
