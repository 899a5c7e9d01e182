"""Nodes and workflows that an agent's model calls, and nodes that tools run."""

import asyncio
from functools import partial

from google.genai import types
from pydantic import BaseModel

from tests.differential.case import Case, add, case
from tests.differential.differing import PARALLEL_ROOT
from tests.differential.differing_nodes import (
    ASKING_NODE_TOOLS,
    FAILED_NODE_TOOLS,
    NODE_TOOLS_IN_WORKFLOWS,
    SAME_QUESTIONS,
    SILENT_NODE_TOOLS,
)
from tests.differential.differing_tools import NODES_OF_CALLBACKS, PLACES_IN_CALLS
from tests.differential.script import Boom, Call, Raise, call


class City(BaseModel):
    """A city."""

    name: str
    people: int = 1


def count(node_input: str):
    """Counts."""
    return len(node_input)


def double(node_input: int):
    """Doubles."""
    return node_input * 2


def inhabitants(node_input: City):
    """Looks up."""
    return node_input["people"] if isinstance(node_input, dict) else node_input.people


def nothing(node_input: str):
    """Sends a letter."""


def fall(node_input: str):
    """Falls."""
    raise Boom("boom")


def last(node_input):
    """Ends."""
    return f"got {node_input}"


CALL = call("wf", request="abc")


def workflow(stage, *chain, **fields):
    """Return a workflow named `wf` with one chain."""
    edges = [(stage.ns.START, *chain)]
    return stage.ns.Workflow(name="wf", description="Works.", edges=edges, **fields)


def asking(stage, interrupt="q"):
    """Return a node that asks."""

    async def ask(node_input: str):
        """Asks."""
        yield stage.ns.RequestInput(interrupt_id=interrupt, message="How many?")

    return ask


def reply(interrupt="q", value=3):
    """Return the answer to a question."""
    response = types.FunctionResponse(
        id=interrupt, name="adk_request_input", response={"result": value}
    )
    return types.Content(role="user", parts=[types.Part(function_response=response)])


async def _called(stage, chain, args):
    nodes = [workflow(stage, *chain)]
    answers = [Call("wf", each) for each in args]
    await stage.open(stage.agent("agent", *answers, "Done.", "Next.", tools=nodes))
    await stage.say()
    await stage.say("next")


CALLED = {
    "two nodes": ((count, double), [{"request": "abc"}]),
    "one after the other": ((count, double), [{"request": "abc"}, {"request": "a"}]),
    "a model": ((inhabitants, last), [{"name": "Rom", "people": 4}]),
    "a default": ((inhabitants, last), [{"name": "Rom"}]),
    "a missing field": ((inhabitants, last), [{"people": 4}]),
    "a wrong type": ((inhabitants, last), [{"name": "Rom", "people": "many"}]),
    "a missing request": ((count, double), [{"what": "abc"}]),
    "a request that is null": ((count, double), [{"request": None}]),
    "a request of the wrong type": ((double, last), [{"request": "many"}]),
    "a request to be converted": ((double, last), [{"request": "4"}]),
}
for _name, (_chain, _args) in CALLED.items():
    add(Case(f"a workflow as tool: {_name}", partial(_called, chain=_chain, args=_args)))


@case()
async def a_workflow_as_tool_needs_nothing(stage):
    def now():
        return "noon"

    tool = workflow(stage, now)
    await stage.open(stage.agent("agent", Call("wf", {}), "Done.", tools=[tool]))
    await stage.say()


@case(differs=SILENT_NODE_TOOLS)
async def a_workflow_as_tool_gives_nothing(stage):
    tool = workflow(stage, nothing)
    await stage.open(stage.agent("agent", CALL, "Done.", tools=[tool]))
    await stage.say()


@case(differs=FAILED_NODE_TOOLS)
async def a_workflow_as_tool_fails(stage):
    tool = workflow(stage, fall)
    await stage.open(stage.agent("agent", CALL, "Never.", tools=[tool]))
    await stage.say()
    await stage.say("again")


@case()
async def a_callback_answers_for_a_workflow_as_tool_that_fails(stage):
    def instead(tool, args, tool_context, error):
        stage.note(tool.name, args, type(error).__name__)
        return {"instead": 1}

    tool = workflow(stage, fall)
    await stage.open(
        stage.agent("agent", CALL, "Ok.", tools=[tool], on_tool_error_callback=instead)
    )
    await stage.say()


@case()
async def a_workflow_as_tool_tells_of_its_work(stage):
    def tell(ctx, node_input: str):
        ctx.state["seen"] = 1
        yield stage.ns.content("Working.")
        yield "out"

    tool = workflow(stage, tell)
    await stage.open(stage.agent("agent", CALL, "Done.", "Next.", tools=[tool]))
    await stage.say()
    await stage.say("next")


@case()
async def a_workflow_as_tool_runs_an_agent(stage):
    tool = workflow(stage, stage.agent("inner", "I know.", "I know more."), last)
    await stage.open(stage.agent("agent", CALL, "Done.", CALL, "Again.", tools=[tool]))
    await stage.say()
    await stage.say("next")


@case()
async def a_streamed_workflow_as_tool_runs_an_agent(stage):
    tool = workflow(stage, stage.agent("inner", "I know."))
    await stage.open(stage.agent("agent", CALL, "Done.", tools=[tool]))
    await stage.stream()


@case()
async def a_workflow_as_tool_is_called_twice_at_once(stage):
    done = asyncio.Event()

    async def take_turns(node_input: str):
        if node_input == "second":
            await done.wait()
        yield node_input
        done.set()

    calls = [call("wf", request="second"), call("wf", request="first")]
    agent = stage.agent("agent", calls, "Done.", tools=[workflow(stage, take_turns)])
    await stage.open(agent)
    await stage.say()


@case(unordered=True)
async def a_workflow_as_tool_has_parallel_workers(stage):
    tool = workflow(stage, stage.ns.node(count, parallel_worker=True))
    answer = call("wf", request=["a", "bb"])
    await stage.open(stage.agent("agent", answer, "Done.", tools=[tool]))
    await stage.say()


@case()
async def a_workflow_as_tool_has_a_schema_of_its_own(stage):
    tool = workflow(stage, last, input_schema=City, output_schema=str)
    answers = Call("wf", {"name": "Rom"}), Call("wf", {}), "Done."
    await stage.open(stage.agent("agent", *answers, tools=[tool]))
    await stage.say()


@case()
async def a_workflow_as_tool_asks(stage):
    tool = workflow(stage, asking(stage), last)
    await stage.open(stage.agent("agent", CALL, "Done.", tools=[tool]))
    await stage.say()
    await stage.say(reply())


@case()
async def a_workflow_as_tool_asks_and_the_user_says_something_else(stage):
    tool = workflow(stage, asking(stage), last)
    await stage.open(stage.agent("agent", CALL, "Well.", "Done.", tools=[tool]))
    await stage.say()
    await stage.say("never mind")


@case()
async def a_workflow_as_tool_asks_twice(stage):
    async def again(node_input: int):
        yield stage.ns.RequestInput(interrupt_id="r", message=f"And after {node_input}?")

    tool = workflow(stage, asking(stage), again, last)
    await stage.open(stage.agent("agent", CALL, "Done.", tools=[tool]))
    await stage.say()
    await stage.say(reply("q"))
    await stage.say(reply("r", "x"))


@case()
async def a_workflow_as_tool_of_a_sub_agent_asks(stage):
    tool = workflow(stage, asking(stage), last)
    sub = stage.agent("sub", CALL, "Done.", "Still here.", description="Works.", tools=[tool])
    answers = call("transfer_to_agent", agent_name="sub"), "Never."
    await stage.open(stage.agent("agent", *answers, sub_agents=[sub]))
    await stage.say()
    await stage.say(reply())
    await stage.say("next")


@case()
async def a_workflow_as_tool_of_an_agent_in_a_workflow(stage):
    agent = stage.agent("agent", CALL, "Done.", tools=[workflow(stage, count, double)])
    await stage.open(stage.ns.Workflow(name="outer", edges=[("START", agent, last)]))
    await stage.say()


@case(differs=ASKING_NODE_TOOLS)
async def a_workflow_as_tool_of_an_agent_in_a_workflow_asks(stage):
    agent = stage.agent("agent", CALL, "Done.", tools=[workflow(stage, asking(stage), last)])
    await stage.open(stage.ns.Workflow(name="outer", edges=[("START", agent, last)]))
    await stage.say()
    await stage.say(reply())


@case(differs=NODE_TOOLS_IN_WORKFLOWS)
async def a_workflow_as_tool_in_a_sequence(stage):
    agent = stage.agent("agent", CALL, "Done.", tools=[workflow(stage, count, double)])
    await stage.open(stage.ns.SequentialAgent(name="seq", sub_agents=[agent]))
    await stage.say()


@case()
async def a_workflow_as_tool_is_confirmed(stage):
    node = stage.ns.node(count, require_confirmation=True)
    await stage.open(stage.agent("agent", CALL, "Done.", tools=[workflow(stage, node, last)]))
    await stage.say()
    question = stage.events[-1].get_function_calls()[0]
    response = types.FunctionResponse(
        id=question.id, name=question.name, response={"confirmed": True}
    )
    await stage.say([types.Part(function_response=response)])


@case()
async def a_function_node_is_a_tool(stage):
    def scale(ctx, number: int, factor: int = 2):
        """Scales."""
        ctx.state["number"] = number
        return {"scaled": number * factor}

    answers = call("scale", number=1), call("scale", number="x"), call("scale"), "Done."
    await stage.open(stage.agent("agent", *answers, tools=[stage.ns.node(scale)]))
    await stage.say()


@case()
async def a_node_of_ones_own_is_a_tool(stage):
    class Mine(stage.ns.BaseNode):
        input_schema: object = City

        async def _run_impl(self, *, ctx, node_input):
            yield node_input

    tool = Mine(name="mine", description="Mine.")
    await stage.open(stage.agent("agent", Call("mine", {"name": "Rom"}), "Done.", tools=[tool]))
    await stage.say()


@case()
async def a_workflow_that_does_not_tell_what_it_takes_is_no_tool(stage):
    try:
        stage.agent("agent", tools=[workflow(stage, last)])
    except ValueError as error:
        stage.note(type(error).__name__)
    await stage.open(stage.agent("agent", "Hello."))
    await stage.say()


@case()
async def an_agent_is_a_parallel_worker(stage):
    worker = stage.agent("worker", "One.", "Two.", parallel_worker=True)

    def items(node_input: str):
        return ["a"]

    edges = [("START", items, worker, last)]
    await stage.open(stage.ns.Workflow(name="wf", edges=edges))
    await stage.say()


@case(differs=PARALLEL_ROOT)
async def a_parallel_worker_as_root_talks(stage):
    await stage.open(stage.agent("agent", "One.", parallel_worker=True))
    await stage.say()


@case(differs=PLACES_IN_CALLS)
async def a_tool_runs_a_node(stage):
    async def work(text: str, tool_context):
        """Works."""
        return {"length": await tool_context.run_node(count, text)}

    await stage.open(stage.agent("agent", call("work", text="abc"), "Done.", tools=[work]))
    await stage.say()


@case(differs=PLACES_IN_CALLS)
async def a_tool_runs_an_agent(stage):
    inner = stage.agent("inner", "I know.")

    async def work(text: str, tool_context):
        """Works."""
        return await tool_context.run_node(inner, text)

    await stage.open(stage.agent("agent", call("work", text="abc"), "Done.", tools=[work]))
    await stage.say()


@case(differs=ASKING_NODE_TOOLS)
async def a_tool_runs_a_node_that_asks(stage):
    ask = asking(stage)

    async def work(text: str, tool_context):
        """Works."""
        return f"answered {await tool_context.run_node(ask, text)}"

    await stage.open(stage.agent("agent", call("work", text="abc"), "Done.", tools=[work]))
    await stage.say()
    await stage.say(reply())


@case(differs=FAILED_NODE_TOOLS)
async def the_model_of_an_agent_in_a_workflow_as_tool_fails(stage):
    tool = workflow(stage, stage.agent("inner", Raise()))
    await stage.open(stage.agent("agent", CALL, "Never.", tools=[tool]))
    await stage.say()


@case(differs=SAME_QUESTIONS)
async def two_nodes_ask_with_the_same_id(stage):
    def other(node_input: str):
        yield stage.ns.RequestInput(interrupt_id="q", message="How much?")

    both = (asking(stage), other)
    edges = [("START", both, stage.ns.JoinNode(name="join"), last)]
    await stage.open(stage.ns.Workflow(name="wf", edges=edges))
    await stage.say()
    await stage.say(reply())


@case(differs=PLACES_IN_CALLS)
async def a_node_fails_that_the_code_of_a_tool_runs(stage):
    def broken() -> None:
        raise ValueError("No.")

    async def count(tool_context):
        """Counts."""
        return await tool_context.run_node(stage.ns.FunctionNode(func=broken, name="broken"))

    await stage.open(stage.agent("agent", call("count"), "Never.", tools=[count]))
    await stage.say()


@case()
async def an_id_is_used_again_when_it_has_been_answered(stage):
    def more(ctx, node_input: int):
        ctx.route = "again" if node_input == 3 else "end"
        return node_input

    ask = stage.ns.node(asking(stage))
    edges = [("START", ask, more), (more, {"again": ask, "end": last})]
    await stage.open(stage.ns.Workflow(name="wf", edges=edges))
    await stage.say()
    await stage.say(reply(value=3))
    await stage.say(reply(value=4))


@case()
async def a_new_invocation_asks_with_the_id_of_an_older_one(stage):
    await stage.open(stage.ns.Workflow(name="wf", edges=[("START", asking(stage), last)]))
    await stage.say("one")
    await stage.say("two")
    await stage.say(reply(value=3))
    await stage.say(reply(value=4))


async def _run_by_a_callback(stage, hook):
    async def runs(callback_context):
        await callback_context.run_node(stage.ns.node(count), node_input="four")

    await stage.open(stage.agent("agent", "Done.", **{hook: runs}))
    await stage.say()


for _hook in ("before_agent_callback", "after_agent_callback"):
    add(
        Case(
            f"a node is run by {_hook}",
            partial(_run_by_a_callback, hook=_hook),
            NODES_OF_CALLBACKS,
        )
    )
