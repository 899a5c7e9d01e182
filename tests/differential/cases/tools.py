"""Tools: results of every kind, failures, batches, long-running ones, declarations."""

import asyncio
import threading
from functools import partial
from typing import Any, Literal

from google.genai import types
from pydantic import BaseModel, Field

from tests.differential.case import Case, add, case
from tests.differential.differing import ODD_RESULTS, OFF_THE_LOOP, ORDER_OF_ANSWERS
from tests.differential.script import Boom, Call, Say, call


class Point(BaseModel):
    """A place."""

    x: int
    y: int = 0


class Opaque:
    """Something that JSON cannot hold."""

    def __repr__(self) -> str:
        return "<opaque>"


RESULTS: dict[str, Any] = {
    "a text": "ok",
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
    f: dict[str, str] = {},  # noqa: B006  what agent authors write
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


def bare(x, y=2):  # what agent authors write
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


async def _arguments(stage, tool, args):
    await stage.open(stage.agent("agent", Call(tool.__name__, args), "Done.", tools=[tool]))
    await stage.say()


for _name, (_tool, _args) in ARGUMENTS.items():
    add(Case(f"a tool is called with {_name}", partial(_arguments, tool=_tool, args=_args)))


@case()
async def a_call_keeps_the_id_that_the_model_gave(stage):
    def look() -> str:
        return "ok"

    await stage.open(stage.agent("agent", Call("look", {}, "mine-1"), "Done.", tools=[look]))
    await stage.say()
    await stage.say("again")


@case()
async def a_tool_the_agent_does_not_have(stage):
    await stage.open(stage.agent("agent", call("dream", a=1), "Sorry."))
    await stage.say()


@case()
async def a_tool_that_raises_ends_the_run(stage):
    def fall() -> None:
        raise Boom("boom")

    await stage.open(stage.agent("agent", call("fall"), "Never.", tools=[fall]))
    await stage.say()
    await stage.say("again")


@case()
async def a_call_with_text_before_it(stage):
    def look() -> str:
        return "ok"

    answers = [Say("Let me look."), call("look")], "Done."
    await stage.open(stage.agent("agent", *answers, tools=[look], output_key="said"))
    await stage.say()


@case()
async def a_streamed_call_is_run_once(stage):
    calls = []

    def look() -> int:
        calls.append(1)
        return len(calls)

    answers = [Say("Let me look.", chunks=2), call("look")], Say("Done now.", chunks=2)
    await stage.open(stage.agent("agent", *answers, tools=[look]))
    await stage.stream()


@case()
async def a_tool_skips_the_summary(stage):
    def look(tool_context) -> str:
        tool_context.actions.skip_summarization = True
        return "ok"

    await stage.open(stage.agent("agent", call("look"), "Never.", tools=[look]))
    await stage.say()
    await stage.say("again")


@case()
async def a_tool_knows_its_call(stage):
    def look(tool_context) -> dict[str, Any]:
        return {
            "call": tool_context.function_call_id,
            "agent": tool_context.agent_name,
            "user": tool_context.user_id,
            "said": tool_context.user_content.parts[0].text,
        }

    await stage.open(stage.agent("agent", call("look"), "Done.", tools=[look]))
    await stage.say("hello")


@case()
async def the_context_is_found_by_its_annotation(stage):
    context = stage.ns.ToolContext

    def look(a: int, where: context) -> str:
        where.state["seen"] = a
        return where.agent_name

    await stage.open(stage.agent("agent", call("look", a=4), "Done.", tools=[look]))
    await stage.say()


@case()
async def an_object_with_call_is_a_tool(stage):
    class Look:
        """Looks around."""

        def __call__(self, a: int) -> int:
            return a * 2

    await stage.open(stage.agent("agent", call("Look", a=4), "Done.", tools=[Look()]))
    await stage.say()


@case()
async def a_partial_is_a_tool(stage):
    def add_up(a: int, b: int) -> int:
        """Adds."""
        return a + b

    made = stage.ns.FunctionTool(partial(add_up, b=3))
    await stage.open(stage.agent("agent", call("add_up", a=4), "Done.", tools=[made]))
    await stage.say()


@case()
async def a_tool_class_of_ones_own(stage):
    class Greet(stage.ns.BaseTool):
        def _get_declaration(self):
            schema = types.Schema(type="OBJECT", properties={"who": types.Schema(type="STRING")})
            return types.FunctionDeclaration(
                name=self.name, description=self.description, parameters=schema
            )

        async def run_async(self, *, args, tool_context):
            tool_context.state["greeted"] = args["who"]
            return f"Hello, {args['who']}"

    tool = Greet(name="greet", description="Greets.")
    await stage.open(stage.agent("agent", call("greet", who="Ann"), "Done.", tools=[tool]))
    await stage.say()


@case()
async def a_toolset_gives_its_tools_a_prefix(stage):
    def look(a: int) -> int:
        """Looks."""
        return a

    def hide() -> None:
        """Hides."""

    tools = [stage.ns.FunctionTool(look), stage.ns.FunctionTool(hide)]

    class Eyes(stage.ns.BaseToolset):
        async def get_tools(self, readonly_context=None):
            return tools

        async def close(self):
            pass

    eyes = Eyes(tool_name_prefix="eyes")
    await stage.open(stage.agent("agent", call("eyes_look", a=1), "Done.", tools=[eyes]))
    await stage.say()


@case()
async def a_toolset_that_fails_leaves_the_agent_without_it(stage):
    class Broken(stage.ns.BaseToolset):
        async def get_tools(self, readonly_context=None):
            raise Boom("boom")

        async def close(self):
            pass

    await stage.open(stage.agent("agent", "I have none.", tools=[Broken()]))
    await stage.say()


@case()
async def two_tools_of_one_name(stage):
    def first() -> str:
        return "first"

    def second() -> str:
        return "second"

    second.__name__ = "first"
    await stage.open(stage.agent("agent", call("first"), "Done.", tools=[first, second]))
    await stage.say()


@case()
async def the_loop_goes_on_while_the_model_calls(stage):
    async def count(tool_context) -> int:
        tool_context.state["n"] = tool_context.state.get("n", 0) + 1
        return tool_context.state["n"]

    answers = [call("count"), [call("count"), call("count")], call("count"), "Four."]
    await stage.open(stage.agent("agent", *answers, tools=[count]))
    await stage.say()


@case(differs=OFF_THE_LOOP)
async def plain_functions_of_agent_code_run_somewhere(stage):
    def note(who):
        stage.note(who, threading.current_thread() is threading.main_thread())

    def look() -> str:
        note("tool")
        return "ok"

    async def listen() -> str:
        note("async tool")
        return "ok"

    def before(callback_context):
        note("callback")

    tools = [look, listen]
    agent = stage.agent(
        "agent", call("look"), call("listen"), "Ok.", tools=tools, before_agent_callback=before
    )
    await stage.open(agent)
    await stage.say()


# Batches


@case()
async def one_failing_call_keeps_what_the_others_did(stage):
    done = {1: asyncio.Event(), 2: asyncio.Event()}

    async def good(tool_context, n: int) -> int:
        tool_context.state[f"good{n}"] = n
        done[n].set()
        return n

    async def bad() -> None:
        for each in done.values():
            await each.wait()
        for _ in range(20):  # until the calls of both have ended too
            await asyncio.sleep(0)
        raise Boom("boom")

    batch = [call("good", n=1), call("bad"), call("good", n=2)]
    await stage.open(stage.agent("agent", batch, "Never.", tools=[good, bad]))
    await stage.say()
    await stage.say("again")


def _good(tool_context, n: int) -> int:
    tool_context.state[f"good{n}"] = n
    return n


def _bad() -> None:
    raise Boom("boom")


@case()
async def one_failing_call_keeps_what_plain_functions_did(stage):
    batch = [call("_good", n=1), call("_bad"), call("_good", n=2), call("_bad")]
    await stage.open(stage.agent("agent", batch, "Never.", tools=[_good, _bad]))
    await stage.say()
    await stage.say("again")


@case()
async def one_failing_call_keeps_no_signals(stage):
    def leave(tool_context) -> str:
        tool_context.actions.escalate = True
        return "left"

    def hush(tool_context) -> str:
        tool_context.actions.skip_summarization = True
        return "hushed"

    def ask() -> str:
        return "never"

    asking = stage.ns.FunctionTool(ask, require_confirmation=True)
    tools = [_good, _bad, leave, hush, asking]
    batch = [call("leave"), call("ask"), call("hush"), call("_bad"), call("_good", n=1)]
    await stage.open(stage.agent("agent", batch, "Never.", tools=tools))
    await stage.say()
    await stage.say("again")


@case()
async def a_cancelled_call_is_told_to_the_error_callbacks(stage):
    begun = asyncio.Event()

    async def stuck() -> None:
        begun.set()
        await asyncio.Event().wait()

    async def bad() -> None:
        await begun.wait()
        raise Boom("boom")

    def told(tool, args, tool_context, error):
        stage.note(tool.name, type(error).__name__)
        return {"recovered": True} if tool.name == "stuck" else None

    batch = [call("stuck"), call("bad")]
    agent = stage.agent("agent", batch, tools=[stuck, bad], on_tool_error_callback=[told, told])
    await stage.open(agent)
    await stage.say()


@case()
async def changes_of_a_batch_are_merged(stage):
    def write(tool_context, key: str, value: int) -> None:
        tool_context.state[key] = value
        tool_context.state["last"] = key
        if value == 2:
            tool_context.actions.escalate = True
        if value == 3:
            tool_context.actions.skip_summarization = True

    batch = [call("write", key=key, value=value) for key, value in (("a", 1), ("b", 2), ("c", 3))]
    await stage.open(stage.agent("agent", batch, "Done.", tools=[write]))
    await stage.say()


# Long-running tools


def _ask(stage, result):
    def ask(question: str) -> Any:
        """Asks a human."""
        return result

    return stage.ns.LongRunningFunctionTool(ask)


@case()
async def a_long_running_tool_ends_the_turn_and_is_answered_later(stage):
    agent = stage.agent("agent", call("ask", question="?"), "Thanks.", tools=[_ask(stage, None)])
    await stage.open(agent)
    events = await stage.say()
    await stage.say(stage.answer(events[0], result="yes"))


@case()
async def a_long_running_tool_with_an_interim_result(stage):
    answers = call("ask", question="?"), "I have asked.", "Thanks.", "Bye."
    await stage.open(stage.agent("agent", *answers, tools=[_ask(stage, {"status": "pending"})]))
    events = await stage.say()
    await stage.say(stage.answer(events[0], status="done"))
    await stage.say("bye")


@case()
async def a_long_running_tool_is_answered_twice(stage):
    answers = call("ask", question="?"), "I have asked.", "Half way.", "Thanks."
    await stage.open(stage.agent("agent", *answers, tools=[_ask(stage, {"status": "pending"})]))
    events = await stage.say()
    await stage.say(stage.answer(events[0], status="half"))
    await stage.say(stage.answer(events[0], status="done"))


@case()
async def a_long_running_tool_is_answered_after_other_talk(stage):
    answers = call("ask", question="?"), "Hello.", "Thanks."
    await stage.open(stage.agent("agent", *answers, tools=[_ask(stage, None)]))
    events = await stage.say()
    await stage.say("hi meanwhile")
    await stage.say(stage.answer(events[0], result="yes"))


@case(differs=ORDER_OF_ANSWERS)
async def a_long_running_tool_beside_a_quick_one(stage):
    def look() -> str:
        return "ok"

    answers = [call("ask", question="?"), call("look")], "Waiting.", "Thanks."
    await stage.open(stage.agent("agent", *answers, tools=[_ask(stage, None), look]))
    events = await stage.say()
    await stage.say(stage.answer(events[0], result="yes"))


@case()
async def a_long_running_tool_of_a_sub_agent_is_answered(stage):
    child = stage.agent("child", call("ask", question="?"), "Thanks.", tools=[_ask(stage, None)])
    root = stage.agent("root", call("transfer_to_agent", agent_name="child"), sub_agents=[child])
    await stage.open(root)
    events = await stage.say()
    await stage.say(stage.answer(events[-1], result="yes"))
    await stage.say("more")


# Declarations


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


@case()
async def declarations_of_tools(stage):
    tools = [typed, located, either, later, bare, anything, order, no_doc, texts]
    args = {"what": {"item": "tea", "many": 2}}
    await stage.open(stage.agent("agent", Call("order", args), "Done.", tools=tools))
    await stage.say()


@case()
async def declarations_of_long_running_tools(stage):
    await stage.open(stage.agent("agent", "Hi.", tools=[_ask(stage, None)]))
    await stage.say()


# Media in results


def _picture(data: bytes = b"\x00\xfb\xff") -> types.Part:
    return types.Part(inline_data=types.Blob(data=data, mime_type="image/png"))


def _file() -> types.Part:
    return types.Part(file_data=types.FileData(file_uri="gs://a/b.png", mime_type="image/png"))


MEDIA: dict[str, Any] = {
    "a picture": _picture,
    "a file": _file,
    "a text part": lambda: types.Part(text="words"),
    "a picture in a list": lambda: [_picture(), "text", _picture(b"2")],
    "pictures only": lambda: [_picture(), _picture(b"2")],
    "a picture in a dict": lambda: {"it": _picture(), "name": "cat"},
    "pictures in a list in a dict": lambda: {"them": [_picture(), _file()], "n": 2, "rest": [1]},
    "a picture too deep": lambda: {"them": {"deeper": [_file(), 1]}},
    "a response of its own": lambda: types.FunctionResponse(
        response={"a": 1}, scheduling=types.FunctionResponseScheduling.SILENT
    ),
}


async def _media(stage, made):
    def look() -> Any:
        """Looks."""
        return made()

    await stage.open(stage.agent("agent", call("look"), "Done.", tools=[look]))
    await stage.say()


for _name, _made in MEDIA.items():
    add(Case(f"a tool returns media: {_name}", partial(_media, made=_made)))
