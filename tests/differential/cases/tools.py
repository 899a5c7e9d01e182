"""Kinds of tools, and what a tool knows and does."""

import threading
from functools import partial
from typing import Any

from google.genai import types
from pydantic import BaseModel, Field

from tests.differential.case import case
from tests.differential.differing import OFF_THE_LOOP
from tests.differential.differing_made import ARGUMENT_TYPES
from tests.differential.differing_tools import OTHER_FILTERS
from tests.differential.script import Boom, Call, Raw, Say, call


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
async def a_call_that_names_no_tool(stage):
    nameless = types.Part(function_call=types.FunctionCall(args={"a": 2}))
    answer = Raw({"content": types.Content(role="model", parts=[nameless])})

    def watch(tool, args, tool_context):
        tool_context.state[f"before {tool.name}"] = args

    agent = stage.agent("agent", call("", a=1), "Sorry.", answer, "So.", before_tool_callback=watch)
    await stage.open(agent)
    await stage.say()
    await stage.say("again")


@case()
async def tools_that_take_anything_are_called_with_the_names_of_that(stage):
    def collect(a: int = 0, *args, **kwargs) -> str:
        return f"{a} {args} {kwargs}"

    def several(*args) -> str:
        return f"{args}"

    answers = [
        call("collect", a=1, b=2),
        call("collect", a=1, kwargs={"b": 2}),
        call("collect", args=[1], kwargs={"b": 2}),
        call("several", a=1),
    ]
    await stage.open(stage.agent("agent", *answers, "Done.", tools=[collect, several]))
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
async def the_context_is_taken_by_position(stage):
    async def first(tool_context, n: int = 0, /, *, m: int) -> dict[str, Any]:
        """Takes it first."""
        return {"n": n, "m": m, "agent": tool_context.agent_name}

    async def last(n: int, where: stage.ns.ToolContext, /) -> dict[str, Any]:
        """Takes it last."""
        return {"n": n, "agent": where.agent_name}

    calls = [call("first", n=1, m=2), call("first", m=3), call("last", n=4)]
    await stage.open(stage.agent("agent", *calls, "Done.", tools=[first, last]))
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

    tool = stage.ns.FunctionTool(partial(add_up, b=3))
    await stage.open(stage.agent("agent", call("add_up", a=4), "Done.", tools=[tool]))
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
async def a_tool_of_ones_own_that_makes_itself(stage):
    class Greet(stage.ns.BaseTool):
        def __init__(self, name):
            self.name = name
            self.description = "Greets."

        def _get_declaration(self):
            return types.FunctionDeclaration(name=self.name, description=self.description)

        async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> Any:
            return f"{self.is_long_running} {self.custom_metadata}"

    await stage.open(stage.agent("agent", call("greet"), "Done.", tools=[Greet("greet")]))
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
async def tools_with_a_prefix_say_so_in_their_declarations(stage):
    class Fixed(stage.ns.BaseTool):
        def _get_declaration(self):
            return types.FunctionDeclaration(name="theirs")

    def look(a: int) -> int:
        """Looks."""
        return a

    class Eyes(stage.ns.BaseToolset):
        async def get_tools(self, readonly_context=None):
            return [stage.ns.FunctionTool(look), Fixed(name="mine", description="Mine.")]

    for tool in await Eyes(tool_name_prefix="eyes").get_tools_with_prefix():
        stage.note(tool.name, tool._get_declaration().name)


@case(differs=OTHER_FILTERS)
async def tools_are_chosen_by_a_tuple_of_names(stage):
    def look() -> str:
        return "ok"

    class Eyes(stage.ns.BaseToolset):
        async def get_tools(self, readonly_context=None):
            tools = [stage.ns.FunctionTool(look), stage.ns.FunctionTool(print)]
            return [tool for tool in tools if self._is_tool_selected(tool, readonly_context)]

    tools = await Eyes(tool_filter=("look",)).get_tools()
    stage.note("offered", [tool.name for tool in tools])


@case()
async def a_model_as_a_tool_is_declared_with_the_limits_of_its_fields(stage):
    class Point(BaseModel):
        """A point."""

        x: int = Field(ge=1, le=5, description="The first.")
        y: str = Field("a", max_length=3)

    answers = call("Point", x=2), call("Point", y="b"), "Done."
    await stage.open(stage.agent("agent", *answers, tools=[Point]))
    await stage.say()


@case(differs=ARGUMENT_TYPES)
async def a_tool_takes_models_alone_and_in_lists(stage):
    class Trip(BaseModel):
        city: str

    class Stay(BaseModel):
        nights: int

    def book(
        one: Trip | Stay, trips: list[Trip], some: list[Trip | Stay], maybe: list[Trip | None]
    ):
        return repr((one, trips, some, maybe))

    trip, stay = {"city": "Rome"}, {"nights": 2}
    args = {"one": stay, "trips": [trip], "some": [trip, stay], "maybe": [trip, None]}
    await stage.open(stage.agent("agent", Call("book", args), "Done.", tools=[book]))
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
