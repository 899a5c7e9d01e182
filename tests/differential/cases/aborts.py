"""Runs that are aborted while something is running."""

import asyncio
import time
from functools import partial

from tests.differential.case import Case, add, case
from tests.differential.differing_limits import ERRORS_WHILE_STOPPING, STOPPED_THREADS
from tests.differential.differing_resume import ENDS_OF_TEAMS
from tests.differential.script import Boom, call, transfer


class Stop:
    """The abort signal of a run, with agents and tools that are busy when it is set."""

    def __init__(self, stage):
        self.stage = stage
        self.signal = asyncio.Event()

    def soon(self):
        """Abort the run in 20 ms, while the current code is waiting."""
        asyncio.get_running_loop().call_later(0.02, self.signal.set)

    async def wait(self, who):
        """Be busy until the run is aborted, and note the cancellation."""
        if self.signal.is_set():
            return
        self.soon()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            self.stage.note("cancelled", who)
            raise

    def agent(self, name, *answers, fragments=(), **fields):
        """Return an agent whose model is busy when the run is aborted, perhaps after fragments."""
        stage, wait, model = self.stage, self.wait, self.stage.model(*answers, label=name)

        class Stopped(stage.ns.BaseLlm):
            async def generate_content_async(self, llm_request, stream=False):
                for text in fragments if stream else ():
                    yield stage.ns.response(text, partial=True)
                await wait(name)
                async for response in model.generate_content_async(llm_request, stream=stream):
                    yield response

        return stage.agent(name, model=Stopped(model="stopped"), **fields)

    async def slow(self) -> str:
        """Take a while."""
        await self.wait("slow")
        return "slow"


async def quick() -> str:
    """Be done at once."""
    return "quick"


def _hooks(stage):
    """Return a plugin that notes how agents, models, tools and the run end."""

    class Hooks(stage.ns.BasePlugin):
        async def after_agent_callback(self, *, agent, callback_context):
            stage.note("after agent", agent.name)

        async def on_agent_error_callback(self, *, agent, callback_context, error):
            stage.note("agent error", agent.name, type(error).__name__)

        async def after_model_callback(self, *, callback_context, llm_response):
            stage.note("after model")

        async def on_model_error_callback(self, *, callback_context, llm_request, error):
            stage.note("model error", type(error).__name__)

        async def after_tool_callback(self, *, tool, tool_args, tool_context, result):
            stage.note("after tool", tool.name)

        async def on_tool_error_callback(self, *, tool, tool_args, tool_context, error):
            stage.note("tool error", tool.name, type(error).__name__)

        async def after_run_callback(self, *, invocation_context):
            stage.note("after run")

        async def on_run_error_callback(self, *, invocation_context, error):
            stage.note("run error", type(error).__name__)

    return Hooks(name="hooks")


def _in_model(stage, stop):
    return stop.agent("agent", "Done.", fragments=("Do", "ne."))


def _in_tool(stage, stop):
    return stage.agent("agent", call("slow"), "Done.", tools=[stop.slow])


def _in_batch(stage, stop):
    answers = [[call("quick"), call("slow")], "Done."]
    return stage.agent("agent", *answers, tools=[quick, stop.slow])


def _in_target(stage, stop):
    target = stop.agent("target", "Done.", description="Helps.")
    return stage.agent("agent", transfer("target"), "Root.", sub_agents=[target])


def _in_part(stage, stop):
    parts = [stop.agent("first", "One."), stage.agent("second", "Two.")]
    team = stage.ns.SequentialAgent(name="team", description="Helps.", sub_agents=parts)
    return stage.agent("agent", transfer("team"), "Root.", sub_agents=[team])


def _in_expert(stage, stop):
    expert = stop.agent("expert", "Done.", mode="single_turn", description="Knows.")
    return stage.agent("agent", call("expert", request="Help."), "Root.", sub_agents=[expert])


def _in_task(stage, stop):
    fields = {"mode": "task", "description": "Works."}
    task = stop.agent("clerk", call("finish_task", result="Done."), **fields)
    return stage.agent("agent", call("clerk", request="Work."), "Root.", sub_agents=[task])


def _in_agent_tool(stage, stop):
    tool = stage.ns.AgentTool(stop.agent("inner", "Done.", description="Helps."))
    return stage.agent("agent", call("inner", request="Help."), "Root.", tools=[tool])


def _in_callback(stage, stop):
    async def before(callback_context):
        await stop.wait("callback")

    return stage.agent("agent", "Done.", before_agent_callback=before)


def _in_retry(stage, stop):
    runs = []

    async def shaky():
        """Fail at first."""
        runs.append(1)
        stop.soon()
        raise Boom("boom")

    again = stage.ns.RetryConfig(max_attempts=9, initial_delay=60)
    return stage.agent("agent", call("shaky"), "Done.", tools=[shaky], retry_config=again)


def _in_node(stage, stop):
    async def work(node_input):
        await stop.wait("node")
        return 1

    return stage.ns.Workflow(name="wf", edges=[("START", work, stage.ns.node(quick))])


def _in_one_of_two_nodes(stage, stop):
    async def work(node_input):
        await stop.wait("node")
        return 1

    edges = [("START", (work, stage.ns.node(quick)), stage.ns.JoinNode(name="both"))]
    return stage.ns.Workflow(name="wf", edges=edges)


def _in_agent_of_graph(stage, stop):
    return stage.ns.Workflow(name="wf", edges=[("START", stop.agent("agent", "Done."))])


def _in_sequence(stage, stop):
    async def work(ctx):
        stop.soon()
        await asyncio.sleep(0.1)
        yield stage.ns.event("one", "One.", invocation_id=ctx.invocation_id)

    parts = [stage.custom("one", work), stage.speaker("two", "Two.")]
    return stage.ns.SequentialAgent(name="team", sub_agents=parts)


ROOTS = {
    "a model": _in_model,
    "a tool": _in_tool,
    "one of two tools": _in_batch,
    "a target": _in_target,
    "a part of a target": _in_part,
    "an expert": _in_expert,
    "a task": _in_task,
    "an AgentTool": _in_agent_tool,
    "a callback": _in_callback,
    "the pause before a retry": _in_retry,
    "a node": _in_node,
    "one of two nodes": _in_one_of_two_nodes,
    "an agent of a graph": _in_agent_of_graph,
    "a sequence": _in_sequence,
}


async def _aborted(stage, where, play="say", *, resumable=False):
    stop = Stop(stage)
    root = ROOTS[where](stage, stop)
    await stage.open(root, plugins=[_hooks(stage)], resumable=resumable)
    await getattr(stage, play)(abort_signal=stop.signal)
    stage.note("set", stop.signal.is_set())
    await stage.say("again")


for _where in ROOTS:
    add(Case(f"abort: in {_where}", partial(_aborted, where=_where)))
    _play = partial(_aborted, where=_where, resumable=True)
    _told = ENDS_OF_TEAMS if "target" in _where else None
    add(Case(f"abort: in {_where}, resumable", _play, _told))
for _where in ("a model", "a tool", "an expert", "an agent of a graph"):
    _play = partial(_aborted, where=_where, play="stream")
    add(Case(f"abort: in {_where}, streamed", _play))


async def _resumed(stage, where):
    stop = Stop(stage)
    await stage.open(ROOTS[where](stage, stop), resumable=True)
    await stage.say(abort_signal=stop.signal)
    await stage.resume()


for _where in ("a model", "a tool", "one of two tools", "an agent of a graph"):
    add(Case(f"abort: in {_where}, then resumed", partial(_resumed, where=_where)))


# Abort by code or by the caller


async def _by_code(stage, tool):
    async def stops(tool_context):
        """Stop."""
        tool_context._invocation_context.abort()
        if tool == "waits":
            await asyncio.sleep(60)
        stage.note("signal", signal.is_set())
        return "stopped"

    signal = asyncio.Event()
    root = stage.agent("agent", [call("stops"), call("quick")], "Done.", tools=[stops, quick])
    await stage.open(root)
    await stage.say(abort_signal=signal)
    stage.note("set", signal.is_set())
    await stage.say("again")


for _tool in ("returns", "waits"):
    add(Case(f"abort: by a tool that {_tool}", partial(_by_code, tool=_tool)))


@case()
async def a_tool_aborts_without_a_signal(stage):
    async def stops(tool_context):
        """Stop."""
        tool_context._invocation_context.abort()
        await asyncio.sleep(60)

    await stage.open(stage.agent("agent", call("stops"), "Done.", tools=[stops]))
    await stage.say()


@case()
async def a_plain_callback_aborts(stage):
    signal = asyncio.Event()

    def before(callback_context):
        callback_context._invocation_context.abort()

    await stage.open(stage.agent("agent", "Done.", before_agent_callback=before))
    await stage.say(abort_signal=signal)
    stage.note("set", signal.is_set())


@case()
async def an_agent_within_an_agent_tool_aborts(stage):
    async def stops(tool_context):
        """Stop."""
        tool_context._invocation_context.abort()
        await asyncio.sleep(60)

    inner = stage.agent("inner", call("stops"), "Done.", tools=[stops], description="Helps.")
    root = stage.agent("agent", call("inner", request="Help."), tools=[stage.ns.AgentTool(inner)])
    await stage.open(root)
    await stage.say()


@case()
async def a_caller_aborts_and_leaves(stage):
    signal = asyncio.Event()
    await stage.open(
        stage.agent("agent", call("quick"), "Done.", tools=[quick]), plugins=[_hooks(stage)]
    )
    events = stage.runner.run_async(
        user_id="u",
        session_id="s",
        new_message=stage.ns.content("go", role="user"),
        abort_signal=signal,
    )
    stage.events.append(await anext(events))
    signal.set()
    await events.aclose()
    await stage.say("again")


# Plain functions, and tools that fail while aborting


@case(differs=STOPPED_THREADS)
async def a_run_is_aborted_while_a_plain_function_is_at_work(stage):
    stop = Stop(stage)

    def work() -> str:
        """Take a while."""
        time.sleep(0.2)
        return "done"

    async def before(tool, args, tool_context):
        stop.soon()

    root = stage.agent("agent", call("work"), "Done.", tools=[work], before_tool_callback=before)
    await stage.open(root)
    await stage.say(abort_signal=stop.signal)


@case(differs=ERRORS_WHILE_STOPPING)
async def a_tool_aborts_and_fails(stage):
    async def stops(tool_context):
        """Stop."""
        tool_context._invocation_context.abort()
        raise Boom("boom")

    await stage.open(
        stage.agent("agent", call("stops"), "Done.", tools=[stops]), plugins=[_hooks(stage)]
    )
    await stage.say()
