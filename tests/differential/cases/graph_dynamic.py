"""Nodes that run nodes, and roots that aren't agents."""

import asyncio
from functools import partial

from tests.differential.case import Case, add, case
from tests.differential.cases.graph_nodes import Trip
from tests.differential.cases.graph_resume import Breaks, asker, begin, reply
from tests.differential.cases.graphs import same
from tests.differential.script import Boom, call


async def double(node_input: int) -> int:
    """Gives twice what it got."""
    return node_input * 2


async def _dynamic(stage, how, **options):
    async def parent(ctx):
        return await how(stage, ctx)

    await begin(
        stage, ("START", stage.ns.node(parent, **{"rerun_on_resume": True} | options), same)
    )


async def _plain(stage, ctx):
    return [await ctx.run_node(double, each) for each in (1, 2)]


async def _as_output(stage, ctx):
    return await ctx.run_node(double, 4, use_as_output=True)


async def _as_output_on_branch(stage, ctx):
    return await ctx.run_node(double, 4, use_as_output=True, use_sub_branch=True)


async def _twice_as_output(stage, ctx):
    await ctx.run_node(double, 4, use_as_output=True)
    return await ctx.run_node(double, 5, use_as_output=True)


async def _on_branches(stage, ctx):
    await ctx.run_node(double, 1, use_sub_branch=True)
    return await ctx.run_node(double, 1, override_branch="mine")


async def _named(stage, ctx):
    first = await ctx.run_node(double, 1, run_id="one")
    return [first, await ctx.run_node(double, 5, run_id="one")]


async def _numbered(stage, ctx):
    return await ctx.run_node(double, 1, run_id="7")


async def _failing(stage, ctx):
    async def fails():
        raise Boom("boom below")

    return await ctx.run_node(fails)


async def _caught(stage, ctx):
    async def fails():
        raise Boom("boom below")

    try:
        await ctx.run_node(fails)
    except Exception as error:  # noqa: BLE001  noted below
        stage.note(type(error).__name__)
    return "caught"


async def _workflow(stage, ctx):
    inner = stage.ns.Workflow(name="inner", edges=[("START", double, same)])
    return await ctx.run_node(inner, 3)


async def _an_agent(stage, ctx):
    return await ctx.run_node(stage.agent("agent", "Said."), "Say.")


async def _deep(stage, ctx):
    async def middle(ctx):
        return await ctx.run_node(double, 2, use_as_output=True)

    node = stage.ns.node(middle, rerun_on_resume=True)
    return await ctx.run_node(node, use_as_output=True)


async def _wrong_input(stage, ctx):
    return await ctx.run_node(double, "x")


for _name, _how in [
    ("in turn", _plain),
    ("for its output", _as_output),
    ("for its output, on a branch", _as_output_on_branch),
    ("twice for its output", _twice_as_output),
    ("on branches", _on_branches),
    ("with a name", _named),
    ("with a number", _numbered),
    ("that fails", _failing),
    ("that fails, and goes on", _caught),
    ("that is a workflow", _workflow),
    ("that is an agent", _an_agent),
    ("that runs a node", _deep),
    ("with a wrong input", _wrong_input),
]:
    add(Case(f"run node: {_name}", partial(_dynamic, how=_how)))
add(Case("run node: not run again", partial(_dynamic, how=_plain, rerun_on_resume=False)))


@case("run node: one asks")
async def _child_asks(stage):
    async def parent(ctx):
        stage.note("parent", ctx.resume_inputs)
        first = await ctx.run_node(double, 1)
        return [first, await ctx.run_node(asker(stage)), await ctx.run_node(double, 3)]

    await begin(stage, ("START", stage.ns.node(parent, rerun_on_resume=True), same))
    await reply(stage, ("q", "yes"))


@case("run node: in a loop, each asks")
async def _children_ask(stage):
    async def ask(ctx, node_input):
        yield stage.ns.RequestInput(interrupt_id=f"q{node_input}", message="?")

    async def parent(ctx):
        return [await ctx.run_node(ask, each) for each in (1, 2)]

    await begin(stage, ("START", stage.ns.node(parent, rerun_on_resume=True), same))
    await reply(stage, ("q1", "a"), ("q2", "b"))


@case("run node: the parent is tried again")
async def _retried(stage):
    breaks = Breaks(stage)

    async def parent(ctx):
        stage.note("attempt", ctx.attempt_count)
        first = await ctx.run_node(double, 1)
        return [first, await ctx.run_node(breaks.flaky)]

    retry = stage.ns.RetryConfig(initial_delay=0.001, jitter=0)
    node = stage.ns.node(parent, rerun_on_resume=True, retry_config=retry)
    await begin(stage, ("START", node, same))


@case("run node: the parent fails itself and is tried again")
async def _retried_itself(stage):
    async def parent(ctx):
        first = await ctx.run_node(double, ctx.attempt_count)
        if ctx.attempt_count == 1:
            raise Boom("boom")
        return first

    retry = stage.ns.RetryConfig(initial_delay=0.001, jitter=0)
    node = stage.ns.node(parent, rerun_on_resume=True, retry_config=retry)
    await begin(stage, ("START", node, same))


@case("run node: a workflow is tried again")
async def _workflow_retried(stage):
    breaks = Breaks(stage)

    async def first():
        stage.note("first")
        return 1

    retry = stage.ns.RetryConfig(initial_delay=0.001, jitter=0)
    inner = stage.ns.Workflow(
        name="inner", edges=[("START", first, breaks.flaky)], retry_config=retry
    )
    await begin(stage, ("START", inner, same))


@case("run node: workers that ask", unordered=True)
async def _workers_ask(stage):
    async def items():
        return [1, 2]

    async def ask(node_input: int):
        yield stage.ns.RequestInput(interrupt_id=f"q{node_input}", message="?")

    worker = stage.ns.node(ask, parallel_worker=True)
    await begin(stage, ("START", items, worker, same))
    await reply(stage, ("q1", "a"), ("q2", "b"), together=True)


async def _raced(stage, how):
    """Run two nodes in parallel, of which the second ends first, and then ask a question."""
    orders = []

    async def slow():
        await asyncio.sleep(0.05)
        return "slow"

    async def fast():
        return "fast"

    async def race(ctx):
        order = []

        async def go(node, name):
            order.append(await ctx.run_node(node, run_id=name))

        await how(go, (slow, "a"), (fast, "b"))
        orders.append(order)
        yield [order, await ctx.run_node(asker(stage), run_id="c")]

    await begin(stage, ("START", stage.ns.node(race, rerun_on_resume=True), same))
    await reply(stage, ("q", "yes"))
    stage.note(orders)


async def _gathered(go, *nodes):
    await asyncio.gather(*[go(*each) for each in nodes])


async def _one_after_another_waited_for(go, *nodes):
    pending = {asyncio.ensure_future(go(*each)) for each in nodes}
    while pending:
        _, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)


async def _awaited_apart(go, *nodes):
    tasks = [asyncio.ensure_future(go(*each)) for each in nodes]
    for task in tasks:
        await task


for _name, _how in [
    ("gathered", _gathered),
    ("waited for", _one_after_another_waited_for),
    ("awaited apart", _awaited_apart),
]:
    add(Case(f"run node: side by side, {_name}", partial(_raced, how=_how), unordered=True))


async def _task_below(stage, says, inner):
    ns = stage.ns
    questions = ["Which city?", "Really?"][: len(says) - 1]
    done = [call("finish_task", result="Rome")]
    task = stage.agent("helper", *questions, done, mode="task", instruction="Case: help.")

    async def outer(ctx):
        yield f"outer: {await ctx.run_node(task, node_input='Help.', raise_on_wait=True)}"

    node = ns.node(outer, rerun_on_resume=True)
    if inner:
        node = ns.Workflow(name="inner", edges=[("START", node, same)])
    last = ns.node(same, name="last")
    await begin(stage, ("START", node, last), says=says)


for _name, _says, _inner in [
    ("asks once", ("go", "Rome"), False),
    ("asks twice", ("go", "no", "yes"), False),
    ("in a workflow in a workflow", ("go", "Rome"), True),
]:
    add(Case(f"run node: a task that {_name}", partial(_task_below, says=_says, inner=_inner)))


# Roots of other kinds


@case("root: a function")
async def _function_root(stage):
    async def answer(node_input: str):
        return f"You said {node_input}"

    await stage.open(stage.ns.node(answer))
    await stage.say("hello")


@case("root: a function that asks")
async def _asking_root(stage):
    await stage.open(asker(stage))
    await stage.say("hello")
    await reply(stage, ("q", "yes"))


@case("root: a node of one's own")
async def _own_root(stage):
    class Own(stage.ns.Node):
        async def run_node_impl(self, *, ctx, node_input):
            yield stage.ns.Event(message="Working.")
            yield {"trip": Trip(city="Rome").model_dump()}

    await stage.open(stage.ns.Workflow(name="wf", edges=[("START", Own(name="own"), same)]))
    await stage.say("hello")
