"""Several calls in one answer: failures, signals and state changes."""

import asyncio
import threading

from google.genai import types

from tests.differential.case import case
from tests.differential.differing_state import LATEST_WRITE
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
        for _ in range(20):  # until both calls have ended, too
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
    async def write(tool_context, key: str, value: int) -> None:
        tool_context.state[key] = value
        tool_context.state["last"] = key
        if value == 2:
            tool_context.actions.escalate = True
        if value == 3:
            tool_context.actions.skip_summarization = True

    batch = [call("write", key=key, value=value) for key, value in (("a", 1), ("b", 2), ("c", 3))]
    await stage.open(stage.agent("agent", batch, "Done.", tools=[write]))
    await stage.say()


def _add(state, word: str) -> None:
    state["words"] = sorted([*state.get("words", []), word])
    state["by"] = {**state.get("by", {}), word: len(word), "last": word}


@case()
async def plain_functions_of_a_batch_add_to_one_list(stage):
    """In threads, the second call ends first. On the event loop, the first can't wait for it."""
    ended = threading.Event()

    def slow(tool_context) -> None:
        if threading.current_thread() is not threading.main_thread():
            ended.wait(30)
        tool_context.state["words"] = sorted([*tool_context.state.get("words", []), "slow"])

    def quick(tool_context) -> None:
        tool_context.state["words"] = sorted([*tool_context.state.get("words", []), "quick"])
        ended.set()

    agent = stage.agent("agent", [call("slow"), call("quick")], "Done.", tools=[slow, quick])
    await stage.open(agent)
    await stage.say()


async def _add_backwards(stage, **options):
    ended = {word: asyncio.Event() for word in ("b", "c", "d")}
    following = {"a": "b", "b": "c", "c": "d"}

    async def add(tool_context, word: str) -> types.Part:
        if word in following:
            await ended[following[word]].wait()
        _add(tool_context.state, word)
        if word in ended:
            ended[word].set()
        return types.Part(text=word)

    batch = [call("add", word=word) for word in "abcd"]
    await stage.open(stage.agent("agent", batch, "Done.", tools=[add]), **options)
    await stage.say()


@case()
async def calls_that_end_in_another_order_add_to_one_list(stage):
    await _add_backwards(stage)


@case()
async def calls_that_end_in_another_order_return_parts(stage):
    await _add_backwards(stage, plugins=[stage.ns.MultimodalToolResultsPlugin()])


@case(differs=LATEST_WRITE)
async def calls_that_end_in_another_order_raise_a_counter(stage):
    ended = asyncio.Event()

    async def count(tool_context, word: str) -> None:
        if word == "first":
            await ended.wait()
        tool_context.state["count"] = tool_context.state.get("count", 0) + 1
        ended.set()

    batch = [call("count", word=word) for word in ("first", "second")]
    await stage.open(stage.agent("agent", batch, "Done.", tools=[count]))
    await stage.say()
