"""Graphs that ask the user, stop and resume, and nodes that run nodes."""

from functools import partial
from typing import Any

from google.genai import types
from pydantic import BaseModel

from tests.differential.case import Case, add, case
from tests.differential.cases.graph_nodes import run
from tests.differential.cases.graphs import same, upper
from tests.differential.cases.human import key_given, knocking
from tests.differential.differing_nodes import (
    REPLAYED_NODES,
    SEVERAL_TASKS,
    SILENT_NODES,
    STOPPED_NODES,
    TASKS_BEHIND_START,
    TEXT_ANSWERS,
)
from tests.differential.differing_resume import PAUSED_WORKFLOW
from tests.differential.script import Boom, call


class Consent(BaseModel):
    """What a human answers."""

    yes: bool
    why: str | None = None


def asker(stage: Any, interrupt: str = "q", name: str = "ask", **request: Any) -> Any:
    """Return a node that asks once and outputs the answer."""

    async def ask(node_input):
        yield stage.ns.RequestInput(interrupt_id=interrupt, message="Well?", **request)

    return stage.ns.node(ask, name=name)


def rerun(stage: Any, interrupt: str = "q", name: str = "ask") -> Any:
    """Return a node that asks, and continues with the answer when it runs again."""

    async def ask(ctx):
        stage.note(name, ctx.resume_inputs)
        answer = ctx.resume_inputs.get(interrupt)
        if answer is None:
            ctx.state["asked"] = True
            yield stage.ns.RequestInput(interrupt_id=interrupt, message="Well?")
            return
        yield f"told {answer}"

    return stage.ns.node(ask, name=name, rerun_on_resume=True)


async def begin(stage: Any, *edges: Any, resumable: bool = False, **fields: Any) -> None:
    """Play a workflow with these edges up to its first question."""
    await run(stage, *edges, resumable=resumable, **fields)


async def reply(stage: Any, *answers: tuple[str, Any], together: bool = False) -> None:
    """Answer questions by id, one per message or all in one."""
    parts = [
        stage.ns.create_request_input_response(
            interrupt, answer if isinstance(answer, dict) else {"result": answer}
        )
        for interrupt, answer in answers
    ]
    for group in [parts] if together else [[part] for part in parts]:
        await stage.say(group)


# Answers


async def _answered(stage, schema, answer, ask=asker):
    node = ask(stage) if schema is None else ask(stage, response_schema=schema)

    async def use(node_input):
        stage.note(type(node_input).__name__, repr(node_input))
        return node_input

    await begin(stage, ("START", upper, node, use))
    await reply(stage, ("q", answer))


for _name, _schema, _answer in [
    ("text", None, "yes"),
    ("JSON in a text", None, '{"a": 1}'),
    ("a dict", None, {"a": 1, "b": 2}),
    ("a number", None, 3),
    ("an int", int, "4"),
    ("no int", int, "four"),
    ("a bool", bool, "true"),
    ("a text that looks like a number", str, "42"),
    ("a model", Consent, {"yes": True}),
    ("no model", Consent, {"why": "?"}),
    ("a list", list[str], ["a"]),
    ("an object", {"type": "object", "properties": {"n": {"type": "integer"}}}, {"n": "1"}),
]:
    add(
        Case(
            f"ask: the answer is {_name}",
            partial(_answered, schema=_schema, answer=_answer),
            TEXT_ANSWERS if _answer == "42" else None,
        )
    )
add(Case("ask: the node runs again", partial(_answered, schema=None, answer="yes", ask=rerun)))


async def _resumable(stage, node):
    await begin(stage, ("START", upper, node(stage), same), resumable=True)
    await reply(stage, ("q", "yes"))


add(Case("ask: in a resumable app", partial(_resumable, node=asker), REPLAYED_NODES))
add(Case("ask: again, in a resumable app", partial(_resumable, node=rerun), REPLAYED_NODES))


@case("ask: nothing is run twice")
async def _not_twice(stage):
    async def first(ctx):
        stage.note("first")
        return 1

    async def sets(ctx):
        stage.note("sets")
        ctx.state["set"] = True

    async def route(ctx):
        stage.note("route")
        ctx.route = "on"

    await begin(stage, ("START", first, sets, route, {"on": asker(stage)}))
    await reply(stage, ("q", "yes"))


@case("ask: a node that gave nothing is not run twice", differs=SILENT_NODES)
async def _silent(stage):
    async def sends():
        stage.note("sent")

    await begin(stage, ("START", sends, asker(stage), same))
    await reply(stage, ("q", "yes"))


async def _two(stage, together, order):
    join = stage.ns.JoinNode(name="join")
    asks = (asker(stage, "q1", "one"), asker(stage, "q2", "two"))
    await begin(stage, ("START", asks, join, same))
    await reply(stage, *[(each, each.upper()) for each in order], together=together)


for _name, _together, _order in [
    ("in turn", False, ("q1", "q2")),
    ("in the other order", False, ("q2", "q1")),
    ("at once", True, ("q1", "q2")),
]:
    add(
        Case(
            f"ask: two nodes, answered {_name}",
            partial(_two, together=_together, order=_order),
            unordered=True,
        )
    )


@case("ask: two questions of one node")
async def _both(stage):
    async def ask():
        yield stage.ns.RequestInput(interrupt_id="q1", message="One?")
        yield stage.ns.RequestInput(interrupt_id="q2", message="Two?")

    await begin(stage, ("START", ask, same))
    await reply(stage, ("q1", 1), ("q2", 2), together=True)


@case("ask: two questions of a node that runs again")
async def _both_again(stage):
    async def ask(ctx):
        for each in ("q1", "q2"):
            if each not in ctx.resume_inputs:
                yield stage.ns.RequestInput(interrupt_id=each, message="?")
                return
        yield dict(ctx.resume_inputs)

    await begin(stage, ("START", stage.ns.node(ask, rerun_on_resume=True), same))
    await reply(stage, ("q1", 1), ("q2", 2))


@case("ask: questions one after another")
async def _chain(stage):
    await begin(stage, ("START", asker(stage, "q1", "one"), asker(stage, "q2", "two"), same))
    await reply(stage, ("q1", "a"), ("q2", "b"))


@case("ask: resumed without an answer")
async def _bare(stage):
    await begin(stage, ("START", upper, asker(stage), same))
    await stage.resume()
    await reply(stage, ("q", "yes"))


@case("ask: another message in between")
async def _between(stage):
    await begin(stage, ("START", upper, asker(stage), same))
    first = stage.events[-1].invocation_id
    await stage.say("something else")
    stage.note(stage.events[-1].invocation_id == first)


@case("ask: an answer to nothing")
async def _to_nothing(stage):
    await begin(stage, ("START", upper, asker(stage), same))
    await reply(stage, ("unknown", "yes"))


@case("ask: in a workflow in a workflow")
async def _inner(stage):
    inner = stage.ns.Workflow(name="inner", edges=[("START", upper, asker(stage))])
    await begin(stage, ("START", inner, same))
    await reply(stage, ("q", "yes"))


@case("ask: a loop until the answer is right")
async def _loop(stage):
    ns = stage.ns

    async def guess(ctx):
        yield ns.RequestInput(interrupt_id=f"q{ctx.run_id}", message="Guess.")

    async def check(ctx, node_input):
        ctx.route = "right" if node_input == 7 else "wrong"
        return node_input

    await begin(stage, ("START", guess, check, {"right": same, "wrong": guess}))
    await reply(stage, ("q1", 3), ("q2", 7))


@case("ask: beside a way that goes on", unordered=True)
async def _beside(stage):
    async def other(ctx):
        ctx.state["other"] = True
        return "other"

    join = stage.ns.JoinNode(name="join")
    await begin(stage, ("START", (asker(stage), other), join, same))
    await reply(stage, ("q", "yes"))


async def _own_call(stage, guarded):
    """A node asks with its own call, whose id is the same in every round of a loop."""
    ns = stage.ns

    async def ask(ctx):
        stage.note("ask", ctx.run_id, ctx.resume_inputs)
        if "own" in ctx.resume_inputs and (not guarded or ctx.state.get("asked")):
            ctx.state["asked"] = None
            yield "answered"
            return
        ctx.state["asked"] = True
        part = types.Part(function_call=types.FunctionCall(name="approve", args={}, id="own"))
        content = types.Content(role="model", parts=[part])
        yield ns.Event(content=content, long_running_tool_ids={"own"})

    async def judge(ctx, node_input):
        ctx.route = "done" if ctx.run_id == "3" else "again"
        return "judged"

    asks = ns.node(ask, rerun_on_resume=True)
    await begin(stage, ("START", asks, judge, {"again": asks, "done": same}))
    for number in range(3):
        function_response = types.FunctionResponse(
            id="own", name="approve", response={"ok": number}
        )
        await stage.say([types.Part(function_response=function_response)])


add(Case("ask: by a call of its own in a loop", partial(_own_call, guarded=False)))
add(Case("ask: by a call of its own in a loop, once", partial(_own_call, guarded=True)))


# Consent


async def _consent(stage, answer, required=True):
    async def delete(node_input: str):
        stage.note("deleted", node_input)
        return "gone"

    node = stage.ns.node(delete, require_confirmation=required)
    await begin(stage, ("START", node, same))
    if answer is not None:
        await reply(stage, ("wf_tool_confirmation:wf@1/delete@1", answer))


add(Case("consent: given", partial(_consent, answer={"confirmed": True})))
add(Case("consent: refused", partial(_consent, answer={"confirmed": False})))
add(Case("consent: not needed", partial(_consent, answer=None, required=lambda node_input: False)))


@case("consent: to a tool as a node")
async def _tool_consent(stage):
    async def book(city: str):
        """Books."""
        stage.note("booked")
        return city

    tool = stage.ns.FunctionTool(book, require_confirmation=True)
    await begin(stage, ("START", tool, same))
    await reply(stage, ("wf_tool_confirmation:wf@1/book@1", {"confirmed": True}))


async def _credential(stage, answer):
    config = stage.ns.AuthConfig.model_validate(
        {
            "authScheme": {"type": "apiKey", "in": "header", "name": "X-Key"},
            "rawAuthCredential": {"authType": "apiKey"},
            "credentialKey": "the-key",
        }
    )

    async def fetch(ctx):
        credential = ctx.get_auth_response(config)
        stage.note(credential.api_key)
        return "fetched"

    await begin(stage, ("START", stage.ns.node(fetch, auth_config=config, rerun_on_resume=True)))
    [question] = stage.events[-1].get_function_calls()
    if answer == "config":
        login = {"exchangedAuthCredential": {"authType": "apiKey", "apiKey": "secret"}}
        answer = question.args["authConfig"] | login
    await reply(stage, ("wf_auth:wf@1/fetch@1", answer))


for _name, _answer in {
    "as a text": "secret",
    "as an AuthConfig": "config",
    "as a number": 5,
    "which is missing": {},
    "that the user refuses": {"error": "no"},
}.items():
    add(Case(f"credential: {_name}", partial(_credential, answer=_answer)))


async def _tool_credential(stage, within, resumable):
    tool = knocking(stage)
    if within:

        @stage.ns.node(rerun_on_resume=True)
        async def outer(ctx, node_input):
            return await ctx.run_node(stage.ns.FunctionTool(tool), {})

        await begin(stage, ("START", outer, same), resumable=resumable)
    else:

        async def arguments(node_input):
            return {}

        edges = ("START", arguments, stage.ns.FunctionTool(tool), same)
        await begin(stage, edges, resumable=resumable)
    await stage.say(key_given(stage))


add(
    Case(
        "credential: to a tool as a node",
        partial(_tool_credential, within=False, resumable=False),
    )
)
add(
    Case(
        "credential: to a tool as a node, resumable",
        partial(_tool_credential, within=False, resumable=True),
        REPLAYED_NODES,
    )
)
add(
    Case(
        "credential: to a tool that a node runs",
        partial(_tool_credential, within=True, resumable=False),
    )
)


@case("ask: by an agent's tool")
async def _agent_tool(stage):
    def wait():
        """Waits."""

    tool = stage.ns.LongRunningFunctionTool(wait)
    agent = stage.agent("agent", [call("wait")], "Done.", tools=[tool])
    await begin(stage, ("START", agent, same))
    await stage.say(stage.answer(stage.call("wait"), result="ready"))


@case("ask: by a tool of an agent in a sequence", differs=PAUSED_WORKFLOW)
async def _agent_in_a_sequence(stage):
    agents = [
        stage.agent("first", "Here."),
        stage.agent("agent", [call("knock")], "In.", tools=[knocking(stage)]),
    ]
    sequence = stage.ns.SequentialAgent(name="sequence", sub_agents=agents)
    await begin(stage, ("START", sequence, same))
    await stage.say(key_given(stage))


# Task agents


def helper(stage: Any, *answers: Any, **fields: Any) -> Any:
    """Return a task agent, as a node."""
    return stage.agent("helper", *answers, mode="task", instruction="Case: help.", **fields)


DONE = [call("finish_task", result="Rome")]


@case("task node: talks with the user")
async def _task(stage):
    agent = helper(stage, "Which city?", "Really?", DONE, "Once more?")
    await begin(stage, ("START", upper, agent, same), says=("help me", "Rome", "yes", "again"))


@case("task node: done at once")
async def _task_at_once(stage):
    await begin(stage, ("START", helper(stage, DONE, output_key="city"), same))


@case("task node: in a workflow in a workflow")
async def _task_inner(stage):
    inner = stage.ns.Workflow(name="inner", edges=[("START", helper(stage, "Which?", DONE), same)])
    last = stage.ns.node(same, name="last")
    await begin(stage, ("START", upper, inner, last), says=("help me", "Rome"))


@case("task node: several messages, resumable", differs=TASKS_BEHIND_START)
async def _task_of_several_messages_resumable(stage):
    agent = helper(stage, "Which?", "Really?", DONE)
    await begin(
        stage, ("START", agent, same), says=("help me", "Rome", "yes", "again"), resumable=True
    )


@case("task node: behind a node without output", differs=TASKS_BEHIND_START)
async def _task_without_input(stage):
    async def silent(ctx):
        ctx.state["ran"] = True

    agent = helper(stage, "Which?", "Really?", DONE)
    await begin(stage, ("START", silent, agent, same), says=("help me", "Rome", "yes"))


@case("task node: beside a way that goes on", differs=TASKS_BEHIND_START, unordered=True)
async def _task_beside(stage):
    async def other(ctx):
        stage.note("other")
        return "other"

    join = stage.ns.JoinNode(name="join")
    agent = helper(stage, "Which?", DONE)
    await begin(stage, ("START", (agent, other), join, same), says=("help me", "Rome"))


# Interrupted runs


class Breaks:
    """A node that fails once."""

    def __init__(self, stage: Any) -> None:
        self._stage = stage
        self._left = 1

    async def flaky(self, ctx, node_input):
        """Fails at first."""
        self._stage.note("flaky", node_input)
        if self._left:
            self._left -= 1
            raise Boom("boom")
        return "fine"


async def _broken(stage, resumable):
    async def first(ctx):
        stage.note("first")
        ctx.state["first"] = True
        return "one"

    await begin(stage, ("START", first, Breaks(stage).flaky, same), resumable=resumable)
    await stage.resume()


add(Case("broken off: goes on", partial(_broken, resumable=False)))
add(Case("broken off: goes on, resumable", partial(_broken, resumable=True), REPLAYED_NODES))


@case("broken off: beside others", unordered=True)
async def _broken_beside(stage):
    async def other(ctx):
        stage.note("other")
        return "other"

    join = stage.ns.JoinNode(name="join")
    await begin(stage, ("START", (other, Breaks(stage).flaky), join, same))
    await stage.resume()


@case("broken off: in a loop")
async def _broken_loop(stage):
    flaky = stage.ns.node(Breaks(stage).flaky)

    async def count(ctx):
        stage.note("count", ctx.run_id)
        ctx.route = "again" if ctx.run_id < "3" else "done"
        return ctx.run_id

    edges = ("START", count, {"again": flaky, "done": same}), (flaky, count)
    await begin(stage, *edges)
    await stage.resume()


@case("broken off: by the caller", differs=STOPPED_NODES)
async def _left(stage):
    async def long(ctx):
        stage.note("long")
        yield stage.ns.Event(message="Half.")
        yield "all"

    await stage.open(stage.ns.Workflow(name="wf", edges=[("START", long, same)]))
    await stage.say(leave=1)
    await stage.resume()


@case("broken off: at its end")
async def _ended(stage):
    await begin(stage, ("START", upper, same))
    await stage.resume()


@case("task node: two ask side by side", differs=SEVERAL_TASKS)
async def _two_tasks(stage):
    answers = "Which?", "Really?", DONE
    agents = [stage.agent(name, *answers, mode="task") for name in ("one", "two")]
    await begin(
        stage, ("START", tuple(agents), stage.ns.JoinNode(name="join")), says=("go", "Rome")
    )
