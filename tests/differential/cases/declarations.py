"""How tools are declared to models."""

import os

from pydantic import BaseModel, Field

from tests.differential.case import case
from tests.differential.cases.tool_values import (
    Point,
    anything,
    bare,
    either,
    later,
    located,
    typed,
)
from tests.differential.differing_schemas import PRIVATE_PARAMETERS, VERTEX
from tests.differential.script import Call


class Order(BaseModel):
    """What is ordered."""

    item: str = Field(description="Its name")
    many: int = Field(default=1, ge=1)
    where: Point | None = None


def order(what: Order, note: str = "", points: tuple[Point, ...] = ()) -> str:
    """Orders."""
    return f"{what.item} {what.many} {note}"


def no_doc(a: int):
    return a


def texts(a: list[str], b: dict[str, list[int]], c: str | None = None) -> list[str]:
    """First line.

    More text, with  odd   spaces.

        And an indent.
    """
    return a


class Ticket:
    def __init__(self, seat: int) -> None:
        self.seat = seat


@case()
async def declarations_of_classes(stage):
    await stage.open(stage.agent("agent", "Done.", tools=[Ticket]))
    await stage.say()


@case()
async def declarations_of_tools(stage):
    tools = [typed, located, either, later, bare, anything, order, no_doc, texts]
    args = {"what": {"item": "tea", "many": 2}}
    await stage.open(stage.agent("agent", Call("order", args), "Done.", tools=tools))
    await stage.say()


def cached(city: str, _cache: dict = {}, *, _retries: int = 3) -> str:  # noqa: B006
    """Knows cities."""
    return f"{city} {len(_cache)} {_retries}"


def only_private(_cache: dict = {}) -> str:  # noqa: B006
    """Takes nothing."""
    return "nothing"


@case()
async def declarations_of_tools_with_private_parameters(stage):
    calls = [Call("cached", {"city": "Rome"}), Call("cached", {"city": "Bern", "_retries": 1})]
    answers = [*calls, Call("only_private", {}), "Done."]
    await stage.open(stage.agent("agent", *answers, tools=[cached, only_private]))
    await stage.say()


def needs_private(city: str, _token: str) -> str:
    """Needs a token."""
    return f"{city} {_token}"


@case(differs=PRIVATE_PARAMETERS)
async def declarations_of_tools_that_need_a_private_parameter(stage):
    answers = [Call("needs_private", {"city": "Rome", "_token": "t"}), "Done."]
    await stage.open(stage.agent("agent", *answers, tools=[needs_private]))
    await stage.say()


@case()
async def declarations_of_long_running_tools(stage):
    def ask(question: str) -> None:
        """Asks a human."""

    tool = stage.ns.LongRunningFunctionTool(ask)
    await stage.open(stage.agent("agent", "Hi.", tools=[tool]))
    await stage.say()


def half_known(
    city: str,
    *args: "Nowhere",  # noqa: F821  as if imported under TYPE_CHECKING
    tool_context: "Nowhere",  # noqa: F821
    many: "int" = 1,
) -> "Nowhere":  # noqa: F821
    """Finds."""
    return {"city": city, "many": many, "agent": tool_context.agent_name}


def unknown(city: str, where: "Nowhere") -> str:  # noqa: F821
    """Finds nothing."""
    return city


@case()
async def annotations_that_cannot_be_resolved(stage):
    calls = [Call("half_known", {"city": "Rome", "many": 2}), Call("unknown", {"city": "Rome"})]
    agent = stage.agent("agent", *calls, "Done.", tools=[half_known, unknown])
    await stage.open(agent)
    await stage.say()


def described(
    city: str = Field(description="Where"),
    days: int = Field(2, description="How long", ge=1),
    note: str | None = Field(default=None, max_length=9),
) -> str:
    """Describes."""
    return city


@case()
async def parameters_described_by_fields_in_place_of_defaults(stage):
    args = {"city": "Rome", "days": 1, "note": "x"}
    await stage.open(stage.agent("agent", Call("described", args), "Done.", tools=[described]))
    await stage.say()


class Part(BaseModel):
    """What has parts in turn."""

    name: str
    parts: list["Part"] = []


@case()
async def a_recursive_output_schema_beside_tools(stage):
    answer = Call("set_model_response", {"name": "a", "parts": [{"name": "b"}]})
    await stage.open(stage.agent("agent", answer, tools=[texts], output_schema=Part))
    await stage.say()


@case(differs=VERTEX)
async def a_declaration_for_vertex_ai(stage):
    def look(city: str | None = None) -> dict[str, int]:
        """Look."""
        return {}

    before = os.environ.get("GOOGLE_GENAI_USE_VERTEXAI")
    os.environ["GOOGLE_GENAI_USE_VERTEXAI"] = "1"
    try:
        declared = stage.ns.FunctionTool(look)._get_declaration()
    finally:
        os.environ.pop("GOOGLE_GENAI_USE_VERTEXAI")
        if before is not None:
            os.environ["GOOGLE_GENAI_USE_VERTEXAI"] = before
    stage.note(declared.model_dump(mode="json", exclude_none=True))
