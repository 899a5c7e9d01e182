"""Nodes of a graph: what they output, and what they receive."""

import copy
from functools import partial
from typing import Any

from pydantic import BaseModel

from tests.differential.case import Case, add, case
from tests.differential.differing_elsewhere import ROUTES_OF_CALLBACKS
from tests.differential.differing_nodes import NAMELESS_NODES, SEEN_OUTPUTS, UNFIT_INPUT
from tests.differential.script import Boom


class Trip(BaseModel):
    """A model that nodes pass on."""

    city: str
    days: int = 1
    note: str | None = None


async def run(stage, *edges, says=("go",), resumable=False, state=None, **fields):
    """Play a workflow with these edges, and send it these messages."""
    root = stage.ns.Workflow(name="wf", edges=list(edges), **fields)
    await stage.open(root, resumable=resumable, state=state)
    for message in says:
        await stage.say(message)


# What a node outputs


def _generators(ns) -> dict[str, Any]:
    async def generator(ctx):
        yield ns.Event(message="Working.")
        yield ns.Event(state={"step": 1})
        yield None
        ctx.state["step"] = 2
        yield ["all"]

    def plain_generator(ctx):
        ctx.state["a"] = 1
        yield ns.content("Half.")
        ctx.state["b"] = 2

    async def two_outputs():
        yield 1
        yield 2

    async def streams():
        for piece in ("On ", "it."):
            yield ns.Event(content=ns.content(piece), partial=True)
        yield ns.Event(content=ns.content("On it."))

    return {
        "generator": generator,
        "plain generator": plain_generator,
        "two outputs": two_outputs,
        "fragments": streams,
    }


async def sets_output(ctx):
    """Uses the context."""
    ctx.output = "set"
    ctx.route = "r"
    ctx.state["key"] = "value"


async def raises(ctx):
    """Fails."""
    ctx.state["before"] = True
    raise Boom("boom in a node")


async def in_place(ctx):
    """Changes what is there."""
    ctx.state["list"].append(1)


def _outcomes(ns) -> dict[str, Any]:
    return {
        "text": lambda: "text",
        "number": lambda: 3,
        "falsy": lambda: 0,
        "list": lambda: [1, {"a": None}],
        "nothing": lambda: None,
        "model": lambda: Trip(city="Rome"),
        "models": lambda: [Trip(city="Rome")],
        "message": lambda: ns.content("Hello."),
        "event": lambda: ns.Event(output="out", state={"k": 1}),
        "event with a message": lambda: ns.Event(message="Hi.", output="out"),
        "event with a branch": lambda: ns.Event(output="out", branch="own"),
        "output by the context": sets_output,
        "exception": raises,
        "change in place": in_place,
        **_generators(ns),
    }


async def _gives(stage, what):
    ns = stage.ns
    first = ns.node(_outcomes(ns)[what], name="first")

    async def second(node_input):
        stage.note(type(node_input).__name__)
        return node_input

    await run(stage, ("START", first, second), state={"list": []}, says=("go", "again"))


for _what in (
    *("text", "number", "falsy", "list", "nothing", "model", "models", "message", "event"),
    *("event with a message", "event with a branch", "generator", "plain generator"),
    *("output by the context", "two outputs", "exception", "fragments", "change in place"),
):
    add(Case(f"graph: a node gives {_what}", partial(_gives, what=_what)))


# What a node receives


async def _gets(stage, takes, value, state=None):
    async def first():
        return value

    async def none() -> None:
        return None

    source = none if value is None else first
    await run(stage, ("START", source, takes(stage)), state=state or {})


def _typed(annotation: Any) -> Any:
    def takes(stage):
        async def typed(node_input):
            stage.note(type(node_input).__name__, repr(node_input))
            return node_input

        typed.__annotations__["node_input"] = annotation
        return typed

    return takes


def _from_state(stage):
    async def from_state(city, days: int = 3, *, trip: Trip | None = None):
        stage.note(city, days, repr(trip))
        return f"{city} {days}"

    return from_state


def _from_input(stage):
    async def from_input(city: str, days: int = 3):
        return f"{city} {days}"

    return stage.ns.node(from_input, parameter_binding="node_input")


for _name, _takes, _given, _state in [
    ("any", _typed(Any), {"a": 1}, None),
    ("an int from text", _typed(int), "4", None),
    ("an int that it is not", _typed(int), "four", None),
    ("a model", _typed(Trip), {"city": "Rome", "days": "2"}, None),
    ("no model", _typed(Trip), {"days": 2}, None),
    ("a list of models", _typed(list[Trip]), [{"city": "Rome"}], None),
    ("an optional text", _typed(str | None), None, None),
    ("state", _from_state, "x", {"city": "Rome", "trip": {"city": "Oslo"}}),
    ("state that is not there", _from_state, "x", {"days": 1}),
    ("state of another type", _from_state, "x", {"city": "Rome", "days": "many"}),
    ("keys of the input", _from_input, {"city": "Rome"}, None),
    ("an input without a key", _from_input, {"days": 1}, None),
]:
    add(
        Case(
            f"graph: a node gets {_name}",
            partial(_gets, takes=_takes, value=_given, state=_state),
            UNFIT_INPUT if _name in ("no model", "an input without a key") else None,
        )
    )


async def _message(stage, annotation, message):
    takes = _typed(annotation)(stage)
    await run(stage, ("START", takes), says=(message,))


for _name, _annotation, _said in [
    ("text", str, "go"),
    ("an int", int, "12"),
    ("a model", Trip, '{"city": "Rome"}'),
    ("a dict", dict, '{"city": "Rome"}'),
    ("text or None", str | None, "go"),
    ("text or a number", str | int, "12"),
]:
    add(
        Case(
            f"graph: the message as {_name}",
            partial(_message, annotation=_annotation, message=_said),
        )
    )


# Routes chosen by a callback of an agent


async def _callback_says_where(stage, hook, by, writes):
    def say_where(callback_context, **_):
        if "context" in by:
            callback_context.route = "left"
        if "actions" in by:
            callback_context.actions.route = "left"
        if writes:
            callback_context.state["turned"] = True
        if by == "context, read back":
            stage.note(callback_context.route)

    def left() -> str:
        return "left"

    def right() -> str:
        return "right"

    agent = stage.agent("agent", "Left, please.", **{hook: say_where})
    await run(stage, ("START", agent, {"left": left, "right": right}))


for _hook in ("before_agent_callback", "before_model_callback", "after_agent_callback"):
    for _by in ("actions", "context", "context, read back", "context and actions"):
        for _writes in (True, False):
            _alone = not _writes and _hook.endswith("agent_callback")
            add(
                Case(
                    f"graph: {_hook} gives the route, by {_by}{' alone' if not _writes else ''}",
                    partial(_callback_says_where, hook=_hook, by=_by, writes=_writes),
                    differs=ROUTES_OF_CALLBACKS if _alone or "actions" not in _by else None,
                )
            )


async def _callback_assigns_output(stage, hook):
    def assign(callback_context, **_):
        callback_context.output = {"said": "Left."}
        stage.note(callback_context.output)

    def after(node_input) -> str:
        return f"after {node_input}"

    agent = stage.agent("agent", "Left, please.", **{hook: assign})
    await run(stage, ("START", agent, after))


for _hook in ("before_agent_callback", "before_model_callback", "after_agent_callback"):
    add(
        Case(
            f"graph: {_hook} assigns an output, which is not taken",
            partial(_callback_assigns_output, hook=_hook),
        )
    )


@case("graph: an object that can be called is a node", differs=NAMELESS_NODES)
async def _object(stage):
    class Twice:
        async def __call__(self, node_input: str) -> str:
            return node_input * 2

    try:
        await run(stage, ("START", Twice()))
    except ValueError as error:
        stage.note(type(error).__name__)


async def _graph_copied(stage, copying):
    def double(node_input: str) -> str:
        return node_input * 2

    def shout(node_input: str) -> str:
        return node_input.upper()

    graph = stage.ns.Workflow(name="wf", edges=[(stage.ns.START, double, shout)])
    await stage.open(copying(graph))
    await stage.say()
    await stage.open(copying(graph))
    await stage.say()


COPIES = {"deeply": copy.deepcopy, "as models are": lambda graph: graph.model_copy(deep=True)}
for _name, _copying in COPIES.items():
    add(Case(f"graph: a workflow is copied {_name}", partial(_graph_copied, copying=_copying)))


@case("graph: a plugin looks at the answer of an agent", differs=SEEN_OUTPUTS)
async def _seen(stage):
    class Watching(stage.ns.BasePlugin):
        async def on_event_callback(self, *, invocation_context, event):
            stage.note(event.author, str(event.output))

    agent = stage.agent("agent", "One.", mode="single_turn")
    graph = stage.ns.Workflow(name="wf", edges=[("START", agent)])
    await stage.open(graph, plugins=[Watching("watching")])
    await stage.say()
