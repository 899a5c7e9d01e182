"""Tools that are generators: what they yield while they run, and what they return."""

from google.genai import types
from pydantic import BaseModel

from tests.differential.case import case
from tests.differential.differing import SIGNALS_OF_GENERATORS
from tests.differential.differing_nodes import GENERATORS_IN_WORKFLOWS
from tests.differential.script import Boom, Call, call


class Point(BaseModel):
    """A place."""

    x: int


@case()
async def a_generator_yields_one_value(stage):
    async def count():
        """Counts."""
        yield 3

    await stage.open(stage.agent("agent", call("count"), "Done.", tools=[count]))
    await stage.say()


@case()
async def a_generator_yields_nothing(stage):
    async def count():
        return
        yield

    await stage.open(stage.agent("agent", call("count"), "Done.", tools=[count]))
    await stage.say()


@case()
async def a_generator_yields_several_values(stage):
    async def count():
        yield 1
        yield 2

    await stage.open(stage.agent("agent", call("count"), "Done.", tools=[count]))
    await stage.say()


@case()
async def a_plain_generator_yields_one_value(stage):
    def count(n: int):
        yield {"n": n}

    await stage.open(stage.agent("agent", call("count", n=4), "Done.", tools=[count]))
    await stage.say()


@case()
async def a_generator_yields_a_model(stage):
    async def count():
        yield Point(x=1)

    await stage.open(stage.agent("agent", call("count"), "Done.", tools=[count]))
    await stage.say()


@case()
async def a_generator_yields_contents(stage):
    async def count():
        yield types.Content(role="model", parts=[types.Part(text="working")])
        yield types.Content(role="model", parts=[types.Part(text="still")])
        yield "ready"

    await stage.open(stage.agent("agent", call("count"), "Done.", tools=[count]))
    await stage.say()
    await stage.say("again")


@case()
async def a_generator_yields_events(stage):
    async def count():
        yield stage.ns.event("", "working")
        yield stage.ns.event("other", "still", actions=stage.ns.actions(state_delta={"a": 1}))
        yield "ready"

    await stage.open(stage.agent("agent", call("count"), "Done.", tools=[count]))
    await stage.say()
    await stage.say("again")


@case()
async def a_generator_yields_partial_events(stage):
    async def count():
        for text in ("work", "ing"):
            event = stage.ns.event("", text)
            event.partial = True
            yield event
        yield stage.ns.event("", "working")
        yield "ready"

    await stage.open(stage.agent("agent", call("count"), "Done.", tools=[count]))
    await stage.say()


@case()
async def a_generator_yields_an_output(stage):
    async def count():
        yield stage.ns.event("", "working")
        event = stage.ns.event("", "last")
        event.output = {"n": 1}
        yield event

    await stage.open(stage.agent("agent", call("count"), "Done.", tools=[count]))
    await stage.say()


@case()
async def a_generator_yields_events_only(stage):
    async def count():
        yield stage.ns.event("", "working")

    await stage.open(stage.agent("agent", call("count"), "Done.", tools=[count]))
    await stage.say()
    await stage.say("again")


@case()
async def a_generator_writes_state(stage):
    async def count(tool_context):
        tool_context.state["a"] = 1
        yield stage.ns.event("", "working")
        tool_context.state["b"] = 2
        yield "ready"
        tool_context.state["c"] = 3

    await stage.open(stage.agent("agent", call("count"), "Done.", tools=[count]))
    await stage.say()


@case(differs=SIGNALS_OF_GENERATORS)
async def a_generator_sends_signals(stage):
    async def count(tool_context):
        yield stage.ns.event("", "working")
        tool_context.actions.escalate = True
        tool_context.actions.skip_summarization = True
        stage.note(tool_context.branch is None)
        yield "ready"

    await stage.open(stage.agent("agent", call("count"), "Done.", tools=[count]))
    await stage.say()


@case()
async def a_generator_fails(stage):
    async def count():
        yield stage.ns.event("", "working")
        raise Boom("boom")

    await stage.open(stage.agent("agent", call("count"), "Never.", tools=[count]))
    await stage.say()
    await stage.say("again")


@case()
async def a_generator_fails_and_a_callback_answers(stage):
    async def count():
        yield stage.ns.event("", "working")
        raise Boom("boom")

    def told(tool, args, tool_context, error):
        return {"recovered": str(error)}

    agent = stage.agent("agent", call("count"), "Done.", tools=[count], on_tool_error_callback=told)
    await stage.open(agent)
    await stage.say()


@case(unordered=True)
async def two_generators_of_a_batch(stage):
    async def count(n: int):
        yield stage.ns.event("", f"working {n}")
        yield n

    batch = [Call("count", {"n": 1}, "one"), Call("count", {"n": 2}, "two")]
    await stage.open(stage.agent("agent", batch, "Done.", tools=[count]))
    await stage.say()


@case()
async def a_generator_after_a_plain_call(stage):
    async def count(n: int):
        yield stage.ns.event("", f"working {n}")
        yield n

    def look() -> str:
        return "ok"

    await stage.open(
        stage.agent("agent", [call("look"), call("count", n=2)], "Done.", tools=[look, count])
    )
    await stage.say()


@case()
async def a_generator_lacks_an_argument(stage):
    async def count(n: int):
        yield n

    await stage.open(stage.agent("agent", call("count"), "Done.", tools=[count]))
    await stage.say()


@case()
async def a_generator_of_a_child(stage):
    async def count():
        yield stage.ns.event("", "working")
        yield 1

    child = stage.agent("child", call("count"), "Child.", tools=[count])
    root = stage.agent("root", call("transfer_to_agent", agent_name="child"), sub_agents=[child])
    await stage.open(root)
    await stage.say()


@case(differs=GENERATORS_IN_WORKFLOWS)
async def a_generator_in_a_sequence(stage):
    async def count():
        yield stage.ns.event("", "working")
        yield 1

    child = stage.agent("child", call("count"), "Child.", tools=[count])
    await stage.open(stage.ns.SequentialAgent(name="seq", sub_agents=[child]))
    await stage.say()


@case()
async def a_generator_needs_consent(stage):
    async def count(n: int):
        yield stage.ns.event("", "working")
        yield n

    tool = stage.ns.FunctionTool(count, require_confirmation=True)
    await stage.open(stage.agent("agent", call("count", n=1), "Done.", "Done 2.", tools=[tool]))
    await stage.say()
    await stage.say(stage.answer(stage.call("adk_request_confirmation"), confirmed=True))


@case()
async def a_generator_is_long_running(stage):
    async def count():
        """Counts."""
        yield stage.ns.event("", "working")

    tool = stage.ns.LongRunningFunctionTool(count)
    await stage.open(stage.agent("agent", call("count"), "Done.", "Done 2.", tools=[tool]))
    await stage.say()
    await stage.say(stage.answer(stage.call("count"), result="yes"))
