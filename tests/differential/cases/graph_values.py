"""Values that pass through a graph: to agents, as routes, with questions."""

import datetime as dt
import decimal
import enum
from functools import partial
from typing import Any

from google.genai import types
from pydantic import BaseModel, Field

from tests.differential.case import Case, add, case
from tests.differential.cases.graph_nodes import run
from tests.differential.differing_nodes import EMPTY_TASKS, INPUTS_WITHOUT_JSON, ROUTE_FORMS


class Size(enum.Enum):
    """A plain enum."""

    SMALL = "small"
    LARGE = "large"


class Depth(enum.StrEnum):
    """An enum of strings."""

    SHALLOW = "shallow"


class Trip(BaseModel):
    """A model."""

    city: str
    note: str | None = None


# What agents receive as input


def _words(*texts: str, role: str | None = "user") -> types.Content:
    return types.Content(role=role, parts=[types.Part(text=each) for each in texts])


_DAY = dt.date(2020, 1, 2)
_INPUTS: dict[str, Any] = {
    "true": True,
    "false": False,
    "a whole number": 0,
    "a number": 1.5,
    "no number": float("nan"),
    "an amount": decimal.Decimal("1.5"),
    "a date": _DAY,
    "bytes": b"x",
    "a tuple": (1, "a"),
    "a set": {1},
    "a member of an enum": Size.SMALL,
    "a member of an enum of texts": Depth.SHALLOW,
    "an empty list": [],
    "an empty dict": {},
    "a dict": {"a": True, "b": None, "c": "\u00e9"},
    "a model": Trip(city="Rome"),
    "an empty text": "",
    "blanks": "  ",
    "a message": _words("one", "two"),
    "a message of nobody": _words("one", role=None),
    "a message of a model": _words("one", role="model"),
    "an empty message": types.Content(role="user", parts=[]),
    "a message without parts": types.Content(role="user"),
    "a date in a dict": {"day": _DAY},
    "a model in a list": [Trip(city="Rome")],
}


_UNKNOWN = ("a date in a dict", "a model in a list")
_EMPTY = ("an empty text", "an empty message", "a message without parts")


async def _told(stage, mode, value):
    async def first():
        return stage.ns.Event(output=value)

    agent = stage.agent("agent", "One.", "Two.", mode=mode)
    await run(stage, ("START", first, agent), says=("go", "on"))


for _name, _given in _INPUTS.items():
    for _mode in ("single_turn", "task"):
        _differs = INPUTS_WITHOUT_JSON if _name in _UNKNOWN else None
        if _mode == "task" and _name in _EMPTY:
            _differs = EMPTY_TASKS
        add(
            Case(
                f"graph: an agent of mode {_mode} gets {_name}",
                partial(_told, mode=_mode, value=_given),
                differs=_differs,
            )
        )


# Routes


async def _goes(stage, by, route):
    async def first(ctx):
        if by == "context":
            ctx.route = route
            return "first"
        return stage.ns.Event(output="first", route=route)

    def to(name):
        async def there(node_input):
            return name

        return stage.ns.node(there, name=name)

    ways = {"left": to("left"), Size.LARGE: to("large"), Depth.SHALLOW: to("shallow"), 1: to("one")}
    await run(stage, ("START", first, {**ways, "__DEFAULT__": to("other")}))


for _by in ("context", "event"):
    for _name, _route in {
        "a text": "left",
        "a member of an enum": Size.LARGE,
        "the value of a member": "large",
        "a member of an enum of texts": Depth.SHALLOW,
        "a number": 1,
        "true": True,
        "a list": ["left", 1],
        "an empty list": [],
        "a tuple": ("left",),
        "a set": {"left"},
        "something else": "right",
    }.items():
        _odd = _by == "context" and _name in ("a tuple", "a set", "a member of an enum")
        add(
            Case(
                f"graph: a route is {_name}, by the {_by}",
                partial(_goes, by=_by, route=_route),
                differs=ROUTE_FORMS if _odd else None,
            )
        )


# Questions


class Letter(BaseModel):
    """It has other names in JSON."""

    sent_to: str = Field(serialization_alias="sentTo", default="Ann")


@case("graph: a user is asked for consent to a node that gets a model")
async def _consent(stage):
    async def first():
        return {"sent_to": "Bob"}

    async def send(node_input: Letter):
        return "sent"

    await run(stage, ("START", first, stage.ns.node(send, require_confirmation=True)))


# Ignored arguments


@case("graph: nodes are given arguments that they do not have")
async def _ignored(stage):
    async def first():
        return "first"

    class Own(stage.ns.Node):
        async def run_node_impl(self, *, ctx, node_input):
            yield [node_input, sorted(type(self).model_fields)[:1]]

    own = Own(name="own", more=1)
    await run(stage, ("START", first, own), instruction="Be kind.")
