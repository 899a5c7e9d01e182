"""Functions as tools: how they are declared and called."""

import functools
import threading
from enum import Enum
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field

from devui.runtime.agents import LlmAgent
from devui.runtime.models import Call, Rule, Say, ScriptedLlm
from devui.runtime.tools import (
    BaseTool,
    FunctionTool,
    LongRunningFunctionTool,
    ToolContext,
    TransferToAgentTool,
    exit_loop,
)
from tests.kit.conversation import Conversation, said


class Seat(BaseModel):
    row: int
    letter: str = "A"


class Cabin(Enum):
    ECONOMY = "economy"
    FIRST = "first"


def book(
    city: str,
    day: Annotated[int, Field(description="Day of the month.", ge=1)],
    cabin: Cabin = Cabin.ECONOMY,
    meal: Literal["fish", "veg"] | None = None,
    seats: list[Seat] | None = None,
    tool_context: ToolContext = None,
    *more: str,
    **rest: str,
) -> dict:
    """Book a flight.

    Args:
        city: Where to.
    """
    return {}


def declared(function):
    return FunctionTool(function)._get_declaration()


def test_a_declaration_comes_from_signature_and_docstring():
    declaration = declared(book)

    assert declaration.name == "book"
    assert declaration.description == "Book a flight.\n\nArgs:\n    city: Where to."
    schema = declaration.parameters_json_schema
    assert schema["title"] == "bookParams"
    assert schema["required"] == ["city", "day"]
    assert list(schema["properties"]) == ["city", "day", "cabin", "meal", "seats"]
    assert schema["properties"]["day"] == {
        "description": "Day of the month.",
        "minimum": 1,
        "title": "Day",
        "type": "integer",
    }
    assert schema["properties"]["cabin"] == {"$ref": "#/$defs/Cabin", "default": "economy"}
    assert schema["$defs"]["Seat"]["required"] == ["row"]


def test_a_function_without_parameters_has_no_schema():
    def now(ctx: ToolContext | None) -> str:
        """The time."""

    assert declared(now).parameters_json_schema is None


def test_parameters_may_have_any_name_that_python_allows():
    def odd(schema: str, copy: int, _id: str, _hidden: str = "x") -> None: ...

    assert list(declared(odd).parameters_json_schema["properties"]) == ["schema", "copy", "_id"]


def test_a_default_that_is_not_json_is_left_out():
    def wait(until: object = threading.Event) -> None: ...

    schema = declared(wait).parameters_json_schema

    assert schema["properties"]["until"] == {"title": "Until"}


def test_an_annotation_that_cannot_be_resolved_omits_the_schema(caplog):
    def lost(x: "Nowhere") -> None:  # noqa: F821  the point of the test
        """Lost."""

    assert declared(lost).parameters_json_schema is None
    assert "Import the type" in caplog.text


def test_only_annotations_of_declared_parameters_need_to_be_resolved():
    def find(
        city: str,
        *args: "Nowhere",  # noqa: F821  as if imported under TYPE_CHECKING
        tool_context: "Nowhere",  # noqa: F821
        many: "int" = 1,
    ) -> "Nowhere":  # noqa: F821
        """Finds."""

    schema = declared(find).parameters_json_schema
    assert list(schema["properties"]) == ["city", "many"]
    assert schema["properties"]["many"]["type"] == "integer"


def test_a_type_without_a_json_schema_is_refused_with_advice():
    class Socket: ...

    def send(socket: Socket) -> None: ...

    with pytest.raises(ValueError, match=r"'send' cannot be declared.*types that JSON can"):
        declared(send)


class Greeter:
    """Greets people."""

    def __call__(self, name: str) -> str:
        return f"Hello {name}"

    def wave(self, times: int) -> str:
        """Wave."""
        return "~" * times


@pytest.mark.parametrize(
    ("function", "name", "description", "parameters"),
    [
        (Greeter(), "Greeter", "Greets people.", ["name"]),
        (Greeter().wave, "wave", "Wave.", ["times"]),
        (functools.partial(Greeter().wave), "wave", "Wave.", ["times"]),
    ],
)
def test_callable_objects_methods_and_partials_can_be_tools(
    function, name, description, parameters
):
    declaration = declared(function)

    assert (declaration.name, declaration.description) == (name, description)
    assert list(declaration.parameters_json_schema["properties"]) == parameters


async def run(function, **args):
    """Return the response to a model's call of the function."""
    rules = [
        Rule(after=FunctionTool(function).name, then=Say("ok")),
        Rule(then=Call(FunctionTool(function).name, **args)),
    ]
    agent = LlmAgent(name="a", model=ScriptedLlm(rules=rules), tools=[function])
    _, response, _ = await Conversation(agent).say("go")
    return response.get_function_responses()[0].response


async def test_arguments_are_converted_to_the_annotated_types():
    got = {}

    def take(
        seat: Seat,
        other: Seat | None,
        seats: list[Seat],
        count: int,
        counts: list[int],
        ratio: float,
    ) -> None:
        got.update(seat=seat, other=other, seats=seats, count=count, counts=counts, ratio=ratio)

    await run(
        take,
        seat={"row": 1},
        other={"row": 2, "letter": "C"},
        seats=[{"row": 3}],
        count=4.0,
        counts=[5.0, 6],
        ratio=0.5,
        unknown="dropped",
    )

    assert got == {
        "seat": Seat(row=1),
        "other": Seat(row=2, letter="C"),
        "seats": [Seat(row=3)],
        "count": 4,
        "counts": [5, 6],
        "ratio": 0.5,
    }
    assert type(got["count"]) is int


async def test_missing_arguments_are_an_error_and_the_function_is_not_called():
    def take(city: str, day: int, cabin: str = "x") -> None:
        raise AssertionError

    response = await run(take, cabin="y")

    assert "it needs city, day" in response["error"]


async def test_positional_only_parameters_are_filled():
    def take(a: int, b: int = 2, /, *, c: int = 3) -> list[int]:
        return [a, b, c]

    assert await run(take, a=1, c=5) == {"result": [1, 2, 5]}


@pytest.mark.parametrize(
    ("value", "response"),
    [
        ({"a": 1}, {"a": 1}),
        ("text", {"result": "text"}),
        (None, {"result": None}),
        (Seat(row=1), {"result": {"row": 1, "letter": "A"}}),
        (b"\xff\x00", {"result": "_wA="}),
    ],
)
async def test_results_are_converted_to_responses_for_the_model(value, response):
    def make():
        return value

    assert await run(make) == response


async def test_the_context_is_passed_by_type_or_by_name():
    async def typed(where: ToolContext) -> None:
        where.state["typed"] = where.function_call_id is not None

    def named(tool_context) -> None:
        tool_context.state["named"] = threading.current_thread() is not threading.main_thread()

    rules = [Rule(after="named", then=Say("ok")), Rule(then=[Call("typed"), Call("named")])]
    agent = LlmAgent(name="a", model=ScriptedLlm(rules=rules), tools=[typed, named])
    conversation = Conversation(agent)

    await conversation.say("go")

    assert (await conversation.session()).state == {"typed": True, "named": True}


async def test_a_custom_tool_needs_only_a_declaration_and_run_async():
    class Echo(BaseTool):
        def _get_declaration(self):
            return declared(lambda text: text)

        async def run_async(self, *, args, tool_context):
            return args["text"].upper()

    rules = [Rule(after="echo", then=Say("{result}")), Rule(then=Call("echo", text="hi"))]
    tool = Echo(name="echo", description="Echo.")
    agent = LlmAgent(name="a", model=ScriptedLlm(rules=rules), tools=[tool])

    *_, answer = await Conversation(agent).say("go")

    assert said(answer) == "HI"


def test_a_long_running_tool_has_a_note_for_the_model():
    def approve() -> None:
        """Ask for approval."""

    tool = LongRunningFunctionTool(approve)

    assert tool.is_long_running
    assert tool._get_declaration().description.startswith("Ask for approval.\n\nNOTE:")
    assert tool._get_declaration().description.count("NOTE:") == 1
    assert tool.description == "Ask for approval."
    assert LongRunningFunctionTool(lambda: None)._get_declaration().description.startswith("NOTE:")


def test_the_transfer_tool_lists_the_agents_it_may_transfer_to():
    schema = TransferToAgentTool(["a", "b"])._get_declaration().parameters_json_schema

    assert schema["properties"]["agent_name"]["enum"] == ["a", "b"]


async def test_exit_loop_escalates_and_ends_the_turn():
    agent = LlmAgent(
        name="a", model=ScriptedLlm(rules=[Rule(then=Call("exit_loop"))]), tools=[exit_loop]
    )

    _, response = await Conversation(agent).say("go")

    assert response.actions.escalate
    assert response.is_final_response()
