"""Runs that are aborted while a result is on its way to the caller."""

import asyncio
from functools import partial

from tests.differential.case import Case, add, case
from tests.differential.differing_limits import ERRORS_OF_STOPPED_SEQUENCES
from tests.differential.differing_nodes import REPLAYED_NODES
from tests.differential.script import Boom, call

ONCE = {
    "mode": "single_turn",
    "description": "Knows.",
    "disallow_transfer_to_parent": True,
    "disallow_transfer_to_peers": True,
}


async def quick() -> str:
    """Be done at once."""
    return "quick"


def _within(stage, agent, levels, **fields):
    """Return a chain of nested agents, each called by the one above; `agent` makes the last one."""
    chain = agent(f"a{levels}", **(ONCE if levels else {}), **fields)
    for level in reversed(range(levels)):
        own = ONCE if level else {}
        request = call(f"a{level + 1}", request="Help.")
        chain = stage.agent(f"a{level}", request, "Done.", sub_agents=[chain], **own)
    return chain


async def _by_a_tool(stage, levels, how):
    signal = asyncio.Event()

    async def stops(tool_context):
        """Stop."""
        (signal.set if how == "signal" else tool_context._invocation_context.abort)()
        return "stopped"

    def agent(name, **fields):
        tools = [stops, quick]
        return stage.agent(name, [call("stops"), call("quick")], "Done.", tools=tools, **fields)

    await stage.open(_within(stage, agent, levels))
    await stage.say(abort_signal=signal)
    await stage.say("again")


for _levels in (1, 2, 3, 6):
    for _how in ("signal", "code"):
        _play = partial(_by_a_tool, levels=_levels, how=_how)
        add(Case(f"abort: {_levels} levels down, by {_how}", _play))


async def _while_the_caller_is_busy(stage, root, *, resumable=False, resumes=False):
    """Abort the run while the caller is busy with its first event."""
    signal = asyncio.Event()
    await stage.open(root, resumable=resumable)
    run = stage.runner.run_async(
        user_id="u",
        session_id="s",
        new_message=stage.ns.content("go", role="user"),
        abort_signal=signal,
    )
    async for event in run:
        stage.events.append(event)
        stage.note(event.author, str(event.output), str(event.error_code))
        for _ in range(20):
            await asyncio.sleep(0)
        signal.set()
    if resumes:
        await stage.resume()
    await stage.say("again")


def _two_nodes(stage):
    async def one():
        return 1

    async def two():
        stage.note("two")
        return 2

    async def last(node_input):
        return "last"

    edges = [("START", (one, two), stage.ns.JoinNode(name="both"), last)]
    return stage.ns.Workflow(name="wf", edges=edges)


@case()
async def an_abort_with_the_output_of_a_node_waiting(stage):
    await _while_the_caller_is_busy(stage, _two_nodes(stage))


@case(differs=REPLAYED_NODES)
async def an_abort_with_the_output_of_a_node_waiting_and_a_resumption(stage):
    root = _two_nodes(stage)
    await _while_the_caller_is_busy(stage, root, resumable=True, resumes=True)


@case()
async def an_abort_with_the_event_of_an_expert_waiting(stage):
    experts = [stage.agent(name, f"I am {name}.", **ONCE) for name in ("one", "two")]
    calls = [call(name, request="Help.") for name in ("one", "two")]
    await _while_the_caller_is_busy(stage, stage.agent("agent", calls, "Done.", sub_agents=experts))


async def _fails(stage, where):
    async def body(ctx):
        ctx.abort()
        raise Boom("boom")
        yield

    async def tool(tool_context):
        """Stop."""
        tool_context._invocation_context.abort()
        raise Boom("boom")

    first = (
        stage.custom("first", body)
        if where == "code"
        else stage.agent("first", call("tool"), "Done.", tools=[tool])
    )
    second = stage.speaker("second", "Second.")
    await stage.open(stage.ns.SequentialAgent(name="team", sub_agents=[first, second]))
    await stage.say()
    await stage.say("again")


add(Case("code in a sequence aborts and fails", partial(_fails, where="code")))
add(
    Case(
        "a tool in a sequence aborts and fails",
        partial(_fails, where="tool"),
        ERRORS_OF_STOPPED_SEQUENCES,
    )
)


@case()
async def a_tool_of_a_batch_aborts_and_fails(stage):
    async def tool(tool_context):
        """Stop."""
        tool_context._invocation_context.abort()
        raise Boom("boom")

    async def slow():
        """Take a while."""
        await asyncio.sleep(60)

    root = stage.agent("agent", [call("tool"), call("slow")], "Done.", tools=[tool, slow])
    await stage.open(root)
    await stage.say()
