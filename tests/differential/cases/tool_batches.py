"""Several calls in one answer: failures, signals, changes of state."""

import asyncio

from tests.differential.case import case
from tests.differential.script import Boom, call


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
