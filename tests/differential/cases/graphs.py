"""Graphs of nodes: which node runs next, and how branches split and join."""

from functools import partial
from typing import Any

from tests.differential.case import Case, add, case
from tests.differential.cases.graph_nodes import Trip, run
from tests.differential.differing import WHO_FAILED
from tests.differential.differing_nodes import UNFIT_INPUT
from tests.differential.script import Boom, Raise, Say, call


async def same(node_input: Any) -> Any:
    """Gives what it got."""
    return node_input


def text(node_input: str) -> str:
    """Gives the text of a message."""
    return node_input


def upper(node_input: str) -> str:
    """A plain function."""
    return node_input.upper()


# Routes


async def _routed(stage, route, by):
    ns = stage.ns

    async def choose(ctx):
        if by == "context":
            ctx.route = route
            return "chosen"
        return ns.Event(route=route, output="chosen" if by == "event" else None)

    async def yes(node_input):
        return ["yes", node_input]

    async def no(node_input):
        return ["no", node_input]

    async def other(node_input):
        return ["other", node_input]

    routes = {"yes": yes, 1: no, ns.DEFAULT_ROUTE: other}
    await run(stage, ("START", choose, routes))


for _route in ("yes", 1, True, "unknown", ["yes", "x"], None):
    for _by in ("context", "event"):
        add(
            Case(
                f"graph: route {_route!r} by {_by}",
                partial(_routed, route=_route, by=_by),
            )
        )


@case("graph: a route without an edge")
async def _no_edge(stage):
    async def choose(ctx):
        ctx.route = "nowhere"
        return 1

    await run(stage, ("START", choose, {"somewhere": same}))


@case("graph: a routed edge and one that is always taken", unordered=True)
async def _both(stage):
    async def choose(ctx):
        ctx.route = "a"
        return 1

    async def always(ctx):
        ctx.state["always"] = True

    await run(stage, ("START", choose, {"a": same}), (choose, always))


@case("graph: a loop")
async def _loop(stage):
    async def count(ctx):
        ctx.state["n"] = ctx.state.get("n", 0) + 1
        ctx.route = "again" if ctx.state["n"] < 3 else "done"
        return ctx.state["n"]

    async def back(node_input):
        return node_input * 10

    await run(stage, ("START", count, {"again": back, "done": same}), (back, count))


@case("graph: explicit edges with lists of routes")
async def _edges(stage):
    ns = stage.ns

    async def choose(ctx):
        ctx.route = 2
        return "chosen"

    first, second, third = (ns.node(each) for each in (choose, same, upper))
    await run(
        stage,
        ns.Edge(from_node=ns.START, to_node=first),
        ns.Edge(from_node=first, to_node=second, route=["a", "b"]),
        ns.Edge(from_node=first, to_node=third, route=[1, 2]),
    )


# Branches that split and join


def _three(stage) -> tuple[Any, ...]:
    async def a(node_input: str):
        return f"a {node_input}"

    async def b(node_input: str):
        return f"b {node_input}"

    async def c(ctx):
        ctx.state["c"] = True

    return a, b, c


@case("graph: ways part and meet", unordered=True)
async def _join(stage):
    join = stage.ns.JoinNode(name="join")
    await run(stage, ("START", _three(stage), join, same), says=("go", "again"))


@case("graph: ways part behind a node", unordered=True)
async def _part(stage):
    join = stage.ns.JoinNode(name="join")
    await run(stage, ("START", text, _three(stage), join))


@case("graph: several last nodes give an output", unordered=True)
async def _several(stage):
    a, b, _ = _three(stage)
    await run(stage, ("START", (a, b)))


@case("graph: one of several last nodes gives an output", unordered=True)
async def _one_of(stage):
    a, _, c = _three(stage)
    await run(stage, ("START", (a, c)))


@case("graph: ways meet without a join")
async def _meet(stage):
    a, b, _ = _three(stage)
    await run(stage, ("START", (a, b), same, upper), max_concurrency=1)


@case("graph: joins below joins", unordered=True)
async def _joins(stage):
    ns = stage.ns
    a, b, c = _three(stage)
    inner, outer = ns.JoinNode(name="inner"), ns.JoinNode(name="outer")
    await run(stage, ("START", text, (a, b), inner, outer), (text, c, outer), (outer, same))


@case("graph: a join that START leads to, too")
async def _start_join(stage):
    join = stage.ns.JoinNode(name="join", input_schema=str)
    await run(stage, ("START", text, join), ("START", join))


@case("graph: one at a time")
async def _one_at_a_time(stage):
    join = stage.ns.JoinNode(name="join")
    await run(stage, ("START", _three(stage), join), max_concurrency=1)


@case("graph: a join in a loop", unordered=True)
async def _join_in_loop(stage):
    ns = stage.ns

    async def a(ctx, node_input):
        return ["a", ctx.run_id]

    async def b(ctx, node_input):
        return ["b", ctx.run_id]

    async def check(ctx, node_input):
        ctx.route = "again" if ctx.run_id == "1" else "done"
        return node_input

    begin = ns.node(same, name="begin")
    join = ns.JoinNode(name="join")
    await run(stage, ("START", begin, (a, b), join, check, {"again": begin, "done": same}))


@case("graph: one way fails", unordered=True)
async def _one_fails(stage):
    async def fails():
        raise Boom("boom here")

    a, _, c = _three(stage)
    join = stage.ns.JoinNode(name="join")
    await run(stage, ("START", (a, fails, c), join, same))


# Nested workflows


@case("graph: a workflow in a workflow")
async def _nested(stage):
    inner = stage.ns.Workflow(name="inner", edges=[("START", text, upper)])
    await run(stage, ("START", same, inner, stage.ns.node(same, name="last")))


@case("graph: a workflow at the end of a workflow")
async def _nested_last(stage):
    inner = stage.ns.Workflow(name="inner", edges=[("START", text, upper)])
    await run(stage, ("START", same, inner))


@case("graph: workflows side by side", unordered=True)
async def _nested_parallel(stage):
    ns = stage.ns
    one = ns.Workflow(name="one", edges=[("START", text, upper)])
    two = ns.Workflow(name="two", edges=[("START", text, same)])
    await run(stage, ("START", (one, two), ns.JoinNode(name="join")))


@case("graph: a workflow in a workflow fails")
async def _nested_fails(stage):
    async def fails():
        raise Boom("boom inside")

    inner = stage.ns.Workflow(name="inner", edges=[("START", text, fails)])
    await run(stage, ("START", inner, same))


@case("graph: a workflow with schemas", differs=UNFIT_INPUT)
async def _schemas(stage):
    ns = stage.ns
    inner = ns.Workflow(
        name="inner", edges=[("START", same)], input_schema=Trip, output_schema=Trip
    )
    await run(stage, ("START", inner, ns.node(same, name="last")), says=('{"city": "Rome"}', "?"))


@case("graph: a state schema")
async def _state_schema(stage):
    async def good(ctx):
        ctx.state["city"] = "Rome"

    async def bad(ctx):
        ctx.state["user:free"] = 1
        ctx.state["days"] = "many"

    await run(stage, ("START", good, bad), state_schema=Trip)


# Retries and timeouts


async def _retried(stage, failures, **config):
    remaining = [failures]

    async def flaky(ctx):
        stage.note(ctx.attempt_count)
        ctx.state["tried"] = ctx.attempt_count
        if remaining[0]:
            remaining[0] -= 1
            raise Boom("boom once more")
        return "fine"

    retry = stage.ns.RetryConfig(initial_delay=0.001, jitter=0, **config)
    await run(stage, ("START", stage.ns.node(flaky, retry_config=retry), same))


for _name, _failures, _config in [
    ("succeeds at last", 2, {}),
    ("fails to the end", 9, {"max_attempts": 3}),
    ("after this exception", 1, {"exceptions": [Boom]}),
    ("after its base class", 1, {"exceptions": ["Exception"]}),
    ("not after this exception", 1, {"exceptions": ["ValueError"]}),
    ("never", 1, {"max_attempts": 1}),
]:
    add(
        Case(
            f"graph: a retry {_name}",
            partial(_retried, failures=_failures, **_config),
        )
    )


# Agents and tools


@case("graph: agents as nodes")
async def _agents(stage):
    one = stage.agent("one", "First.", instruction="Case: begin.")
    two = stage.agent("two", "Second.", instruction="Case: go on.", output_key="said")
    await run(stage, ("START", one, two, same), says=("go", "again"))


@case("graph: an agent behind a function")
async def _agent_behind(stage):
    async def ask():
        return {"city": "Rome"}

    agent = stage.agent("agent", "Sunny.")
    await run(stage, ("START", ask, agent))


@case("graph: an agent with tools")
async def _agent_tools(stage):
    async def look(city: str, tool_context):
        """Looks."""
        tool_context.state["looked"] = city
        return "sun"

    agent = stage.agent("agent", [Say("Wait."), call("look", city="Rome")], "Sunny.", tools=[look])
    await run(stage, ("START", agent, same))


@case("graph: an agent with an output schema")
async def _agent_schema(stage):
    schema = Trip.model_json_schema()
    agent = stage.agent("agent", '{"city": "Rome"}', output_schema=schema, output_key="trip")

    async def use(node_input):
        return node_input["city"]

    await run(stage, ("START", agent, use))


@case("graph: agents side by side", unordered=True)
async def _agents_parallel(stage):
    agents = (stage.agent("one", "First."), stage.agent("two", "Second."))
    join = stage.ns.JoinNode(name="join")

    async def both(node_input):
        return f"{node_input['one']} {node_input['two']}"

    await run(stage, ("START", agents, join, both, stage.agent("last", "Both.")))


@case("graph: an agent that fails", differs=WHO_FAILED)
async def _agent_fails(stage):
    await run(stage, ("START", stage.agent("agent", Raise()), same))


@case("graph: an agent that is tried again", differs=WHO_FAILED)
async def _agent_retried(stage):
    ns = stage.ns
    retry = ns.RetryConfig(initial_delay=0.001, jitter=0)
    agent = ns.node(stage.agent("agent", Raise(), "Fine."), retry_config=retry)
    await run(stage, ("START", agent, same))


@case("graph: an agent streams")
async def _agent_streams(stage):
    root = stage.ns.Workflow(
        name="wf", edges=[("START", stage.agent("agent", Say("One two three.", chunks=3)), same)]
    )
    await stage.open(root)
    await stage.stream()


@case("graph: a speaker as a node")
async def _speaker(stage):
    await run(stage, ("START", stage.speaker("speaker", "One.", "Two."), same))


@case("graph: a sequence of agents as a node")
async def _sequence(stage):
    agents = [stage.agent("one", "First."), stage.agent("two", "Second.")]
    sequence = stage.ns.SequentialAgent(name="sequence", sub_agents=agents)
    await run(stage, ("START", text, sequence, same))


async def book(city: str, days: int = 2) -> Any:
    """Books."""
    return {"city": city, "days": days}


@case("graph: tools as nodes")
async def _tools(stage):
    async def args():
        return {"city": "Rome"}

    tool = stage.ns.FunctionTool(book)
    await run(stage, ("START", args, tool, same), ("START", same))


@case("graph: a tool whose argument is the message")
async def _tool_message(stage):
    await run(stage, ("START", stage.ns.FunctionTool(book)))


@case("graph: a worker for each item", unordered=True)
async def _workers(stage):
    ns = stage.ns

    async def items():
        return [1, 2, 3]

    async def double(node_input: int):
        return node_input * 2

    worker = ns.node(double, parallel_worker=True, max_parallel_workers=2)
    await run(stage, ("START", items, worker, same))


@case("graph: an agent for each item", unordered=True)
async def _agent_workers(stage):
    ns = stage.ns

    async def items():
        return ["x", "y"]

    agent = ns.node(
        stage.agent("agent", "One.", "Two."), parallel_worker=True, max_parallel_workers=1
    )
    await run(stage, ("START", items, agent, same))


# Invalid graphs


def _wrong(ns) -> dict[str, Any]:
    node = ns.node(same, name="node")
    edge = ns.Edge
    return {
        "two nodes of one name": [("START", node, ns.node(upper, name="node"))],
        "no START": [(node, upper)],
        "an edge to START": [("START", node, ns.START)],
        "a route from START": [("START", {"a": node})],
        "an unreachable node": [("START", node), (upper, text)],
        "an edge twice": [("START", node, upper), (node, upper)],
        "DEFAULT_ROUTE in a list": [
            ("START", node),
            edge(from_node=node, to_node=ns.node(upper), route=["a", ns.DEFAULT_ROUTE]),
        ],
        "an endless cycle": [("START", node, upper, node)],
        "no node": [("START", 5)],
        "no edge": ["START"],
        "two dicts of routes": [("START", node, {"a": upper}, {"b": text})],
        "an empty dict of routes": [("START", node, {})],
        "a node without a name": [("START", partial(same))],
    }


async def _refused(stage, what):
    try:
        workflow = stage.ns.Workflow(name="wf", edges=_wrong(stage.ns)[what])
        stage.note([node.name for node in workflow.graph.nodes])
    except ValueError as error:
        stage.note(type(error).__name__)


for _what in (
    *("two nodes of one name", "no START", "an edge to START", "a route from START"),
    *("an unreachable node", "an edge twice", "DEFAULT_ROUTE in a list", "an endless cycle"),
    *("no node", "no edge", "two dicts of routes", "an empty dict of routes"),
    "a node without a name",
):
    add(Case(f"graph: refuses {_what}", partial(_refused, what=_what)))


def _in_lists(ns):
    def yes(ctx) -> None:
        ctx.route = "yes"

    def end(node_input: Any) -> str:
        return f"{sorted(node_input)}"

    def one() -> str:
        return "1"

    def two() -> str:
        return "2"

    join = ns.JoinNode(name="join")
    return {
        "a chain": [["START", one, upper]],
        "ways that part": [("START", [one, two], join, end)],
        "ways of a route": [("START", yes, {"yes": [one, two], "no": end}), ([one, two], join)],
    }


async def _with_lists(stage, what):
    await run(stage, *_in_lists(stage.ns)[what])


for _what in ("a chain", "ways that part", "ways of a route"):
    add(Case(f"graph: a list for {_what}", partial(_with_lists, what=_what), unordered=True))
