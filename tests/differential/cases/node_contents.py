"""What agents in graphs and single-turn agents see of the conversation if they include it."""

from functools import partial

from tests.differential.case import Case, add, case
from tests.differential.cases.delegation import ALONE
from tests.differential.cases.graph_nodes import run
from tests.differential.script import call


async def look(x: int) -> dict[str, int]:
    """Looks."""
    return {"x": x}


def _team(stage, **fields):
    """Return two agents that each call `look` once and speak twice."""
    return [
        stage.agent(name, call("look", x=1), f"{name} 1", f"{name} 2", tools=[look], **fields)
        for name in ("one", "two")
    ]


async def _one_after_the_other(stage, **fields):
    one, two = _team(stage, include_contents="default", **fields)
    await run(stage, ("START", one, two), says=("go", "again"))


async def _in_rounds(stage, **fields):
    one, two = _team(stage, include_contents="default", **fields)
    rounds = iter(("again", "on", "on"))

    async def choose(node_input):
        return stage.ns.Event(output=node_input, route=next(rounds))

    async def end(node_input):
        return node_input

    edges = [("START", one, two, choose), (choose, {"again": one, "on": end})]
    await run(stage, *edges, says=("go", "again"))


async def _from_a_node(stage, **fields):
    one, two = _team(stage, include_contents="default", **fields)

    @stage.ns.node(rerun_on_resume=True)
    async def asks(ctx, node_input):
        first = await ctx.run_node(one, node_input="first")
        second = await ctx.run_node(two, node_input=f"second after {first}")
        return await ctx.run_node(one, node_input=f"third after {second}")

    await run(stage, ("START", asks), says=("go", "again"))


async def _in_an_inner_graph(stage, **fields):
    one, two = _team(stage, include_contents="default", **fields)
    inner = stage.ns.Workflow(name="inner", edges=[("START", one, two)])
    await run(stage, ("START", inner), says=("go", "again"))


async def _without_input(stage, **fields):
    one, two = _team(stage, include_contents="default", **fields)

    async def nothing():
        return None

    await run(stage, ("START", nothing, one), (nothing, two), says=("go", "again"))


for _play in (
    _one_after_the_other,
    _in_rounds,
    _from_a_node,
    _in_an_inner_graph,
    _without_input,
):
    _where = _play.__name__.strip("_").replace("_", " ")
    for _mode in (None, "single_turn"):
        add(
            Case(
                f"agents as nodes include the conversation, {_where}, mode {_mode}",
                partial(_play, mode=_mode),
            )
        )


@case()
async def a_single_turn_agent_includes_the_conversation(stage):
    asked = stage.agent(
        "asked",
        call("look", x=2),
        "Sun.",
        "Rain.",
        mode="single_turn",
        description="Knows.",
        tools=[look],
        include_contents="default",
        **ALONE,
    )
    root = stage.agent(
        "root",
        "Hello.",
        call("look", x=1),
        call("asked", request="Weather?"),
        "Sunny.",
        call("asked", request="Still?"),
        "Rainy.",
        tools=[look],
        sub_agents=[asked],
    )
    await stage.open(root)
    for message in ("hello", "go", "again"):
        await stage.say(message)
