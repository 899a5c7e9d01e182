"""Graphs of nodes where google-adk is no reference: threads, ends, errors and odd values."""

import asyncio
import re
import threading
from contextlib import aclosing

import pytest
from google.genai import types
from pydantic import BaseModel, ValidationError

from devui.runtime import Event, Workflow
from devui.runtime.agents import LlmAgent
from devui.runtime.apps import App, ResumabilityConfig
from devui.runtime.events import RequestInput
from devui.runtime.models import Rule, Say, ScriptedLlm
from devui.runtime.runners import InMemoryRunner, Runner
from devui.runtime.sessions import SqliteSessionService, StateSchemaError
from devui.runtime.tools import BaseToolset
from devui.runtime.workflow import START, JoinNode, NodeTimeoutError, RetryConfig, node
from devui.runtime.workflow.errors import DynamicNodeFailError, WorkflowDataError

WHO = {"user_id": "u", "session_id": "s"}
SECONDS = 20
"""How long a test waits for something that must happen."""


def text(words):
    return types.Content(role="user", parts=[types.Part(text=words)])


def reply(question, result):
    response = types.FunctionResponse(
        id=question.id, name=question.name, response={"result": result}
    )
    return types.Content(role="user", parts=[types.Part(function_response=response)])


async def new_runner(*edges, **fields):
    """Return a runner of a workflow with these edges, with a session."""
    runner = InMemoryRunner(Workflow(name="wf", edges=list(edges), **fields), app_name="app")
    await runner.session_service.create_session(app_name="app", **WHO)
    return runner


async def say(runner, words="go"):
    return [event async for event in runner.run_async(**WHO, new_message=text(words))]


async def stored_events(runner):
    session = await runner.session_service.get_session(app_name="app", **WHO)
    return session.events


def outputs_of(events):
    return {event.node_info.name: event.output for event in events if event.output is not None}


async def test_parallel_plain_functions_run_concurrently():
    meeting = threading.Barrier(2)

    def one():
        return meeting.wait(SECONDS) is not None

    def two():
        return meeting.wait(SECONDS) is not None

    runner = await new_runner((START, (one, two), JoinNode(name="both")))

    assert outputs_of(await say(runner))["both"] == {"one": True, "two": True}


async def test_a_plain_function_does_not_block_the_loop():
    released = threading.Event()

    def blocks():
        return released.wait(SECONDS)

    def generates():
        yield released.wait(SECONDS)

    async def releases():
        released.set()

    runner = await new_runner((START, (blocks, generates, releases), JoinNode(name="all")))

    assert outputs_of(await say(runner))["all"] == {
        "blocks": True,
        "generates": True,
        "releases": None,
    }


async def test_a_plain_generator_that_takes_too_long_times_out():
    released = threading.Event()

    def generates():
        yield released.wait(SECONDS)

    runner = await new_runner((START, node(generates, timeout=0.05)))

    with pytest.raises(NodeTimeoutError, match="did not finish"):
        await say(runner)
    released.set()


class Speechless(Exception):
    """An exception whose message can't be read."""

    def __str__(self):
        raise LookupError("no words")


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (Speechless(), "(formatting its message raised LookupError)"),
        (ExceptionGroup("two", [ValueError("one"), KeyError("other")]), "ValueError: one"),
    ],
)
async def test_any_exception_of_a_node_is_in_the_history(error, message):
    def fails():
        raise error

    runner = await new_runner((START, fails))

    with pytest.raises(type(error)):
        await say(runner)
    [event] = [event for event in await stored_events(runner) if event.error_code]
    assert event.error_code == type(error).__name__
    assert message in event.error_message.splitlines()
    assert event.node_info.path == "wf@1/fails@1"


async def test_a_failure_stops_parallel_nodes_before_it_is_raised():
    stopped = []
    begun = asyncio.Event()

    async def waits():
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.append("waits")

    async def fails():
        await begun.wait()
        raise ConnectionError("offline")

    runner = await new_runner((START, (waits, fails)))

    with pytest.raises(ConnectionError):
        await say(runner)
    assert stopped == ["waits"]


async def test_leaving_a_run_stops_its_nodes():
    stopped = []

    async def waits():
        try:
            yield Event(message="Wait.")
            await asyncio.Event().wait()
        finally:
            stopped.append("waits")

    runner = await new_runner((START, waits))
    events = runner.run_async(**WHO, new_message=text("go"))
    await anext(events)
    await events.aclose()

    assert stopped == ["waits"]


@pytest.mark.parametrize("resumable", [False, True])
async def test_a_run_left_between_an_output_and_its_route_takes_the_route(resumable):
    """The node sets both at once, and they come in two events, as in google-adk."""

    def count(ctx, node_input):
        ctx.state["n"] = ctx.state.get("n", 0) + 1
        ctx.route = "again" if ctx.state["n"] < 3 else "done"
        return ctx.state["n"]

    def done(node_input):
        return f"done after {node_input}"

    root = Workflow(name="wf", edges=[(START, count, {"again": count, "done": done})])
    settings = ResumabilityConfig(is_resumable=resumable)
    app = App(name="app", root_agent=root, resumability_config=settings)
    for stop_at in (1, 2, 3):
        runner = InMemoryRunner(app=app)
        await runner.session_service.create_session(app_name="app", **WHO)
        async with aclosing(runner.run_async(**WHO, new_message=text("go"))) as events:
            async for event in events:
                if event.output == stop_at:
                    break

        rest = [e async for e in runner.run_async(**WHO, invocation_id=event.invocation_id)]

        outputs = [event.output for event in rest if event.output is not None]
        assert outputs == [*range(stop_at + 1, 4), "done after 3"]


async def test_a_node_continues_only_once_its_event_is_committed():
    counts = []

    async def writes(ctx):
        ctx.state["step"] = 1
        yield Event(message="One.")
        counts.append(len(await stored_events(runner)))
        yield Event(message="Two.")
        counts.append(len(await stored_events(runner)))

    runner = await new_runner((START, writes))
    await say(runner)

    assert counts == [2, 3]


async def test_an_attempt_that_times_out_is_stopped_and_retried():
    async def slow(ctx):
        if ctx.attempt_count == 1:
            await asyncio.Event().wait()
        return "in time"

    retry = RetryConfig(initial_delay=0, max_attempts=100, exceptions=[NodeTimeoutError])
    runner = await new_runner((START, node(slow, timeout=0.01, retry_config=retry)))
    error, *others, answer = await say(runner)

    # On a busy machine, later attempts may time out as well.
    assert {each.error_code for each in (error, *others)} == {"NodeTimeoutError"}
    assert "'slow' did not finish within 0.01 s; raise its `timeout`" in error.error_message
    assert answer.output == "in time"


@pytest.mark.parametrize(
    "error", [ValueError("disk is full"), KeyError("city"), OSError(28, "No space left")]
)
async def test_an_error_has_the_node_and_the_message_but_no_file(error, caplog):
    error.add_note(f"See {__file__}.")

    def fails(node_input: str):
        raise error

    retry = RetryConfig(initial_delay=0, max_attempts=2)
    runner = await new_runner((START, node(fails, retry_config=retry)))
    with pytest.raises(type(error)):
        await say(runner)
    [_, *failures] = await stored_events(runner)

    assert [each.error_message for each in failures] == [str(error)] * 2
    assert {(each.author, each.node_info.path) for each in failures} == {("wf", "wf@1/fails@1")}
    assert f"{__file__}" in caplog.text  # the traceback of the attempt that is retried


async def test_an_error_below_a_node_is_reported_once_and_raised_unchanged():
    async def fails():
        raise ConnectionError("offline")

    async def parent(ctx):
        with pytest.raises(DynamicNodeFailError) as error:
            await ctx.run_node(fails)
        raise error.value

    runner = await new_runner((START, node(parent, rerun_on_resume=True)))
    with pytest.raises(ConnectionError, match="offline"):
        await say(runner)

    paths = [event.node_info.path for event in await stored_events(runner) if event.error_code]
    assert paths == ["wf@1/parent@1/fails@1"]


async def test_the_error_for_a_missing_value_says_who_needs_it_and_what_to_do():
    def greet(city: str):
        return city

    runner = await new_runner((START, greet))
    place = rf"{re.escape(__file__)}:{greet.__code__.co_firstlineno}"

    with pytest.raises(WorkflowDataError, match=rf"'greet' \({place}\).*no 'city'.*Set state"):
        await say(runner)


class Known(BaseModel):
    city: str


def test_a_parameter_missing_from_the_state_schema_is_refused():
    def greet(name: str):
        return name

    with pytest.raises(StateSchemaError, match=r"'name' of node 'greet'.*it declares \['city'\]"):
        Workflow(name="wf", edges=[(START, greet)], state_schema=Known)


def first():
    return 1


def second():
    return 2


@pytest.mark.parametrize(
    ("edges", "advice"),
    [
        ([(START, first), (second, node(first, name="x"))], r"to \['second', 'x'\]; add an edge"),
        ([(START, first, node(second, name="first"))], r"names \['first'\].*name='\.\.\.'"),
        ([(START, first, second, first)], "first.*second.*first.*Give one of these edges a route"),
        ([(first, second)], "begin a chain with START"),
        ([(START, {"a": first})], "sets no route. Put a node"),
        ([(START, first, second), (first, second)], "remove one"),
        ([(START, 5)], "pass a function, an agent, a tool or a node"),
        (
            [(START, first, LlmAgent(name="talks", mode="chat"))],
            "talks with the user and takes no input; use mode='single_turn'",
        ),
    ],
)
def test_an_invalid_graph_is_refused_with_advice(edges, advice):
    with pytest.raises(ValidationError, match=advice):
        Workflow(name="wf", edges=edges)


async def test_an_event_with_a_value_that_is_not_json_is_kept():
    class Odd:
        def __repr__(self):
            return "<odd>"

    def gives():
        return {"odd": Odd()}

    def takes(node_input):
        return str(node_input["odd"])

    runner = await new_runner((START, gives, takes))
    events = await say(runner)

    assert '"output":{"odd":"<odd>"}' in events[0].model_dump_json()
    assert events[1].output == "<odd>"


async def test_a_run_that_its_node_does_not_await_completes():
    released = asyncio.Event()
    tasks = []

    async def late():
        await released.wait()
        return "late"

    async def parent(ctx):
        tasks.append(asyncio.create_task(ctx.run_node(late)))
        return "done"

    runner = await new_runner((START, node(parent, rerun_on_resume=True)))
    outputs = []
    async for event in runner.run_async(**WHO, new_message=text("go")):
        outputs.append(event.output)
        released.set()

    assert outputs == ["done", "late"]
    assert await tasks[0] == "late"


async def test_run_node_outside_a_node_raises_with_advice():
    async def before(callback_context):
        return await callback_context.run_node(first)

    agent = LlmAgent(name="agent", model=ScriptedLlm(), before_agent_callback=before)

    with pytest.raises(
        RuntimeError, match="run_node is only available in workflow nodes and async"
    ):
        await InMemoryRunner(agent).run_debug("go", quiet=True)


async def test_an_invalid_answer_is_refused_with_advice():
    async def ask():
        yield RequestInput(interrupt_id="n", message="How many?", response_schema=int)

    runner = await new_runner((START, ask))
    [event] = await say(runner)
    [question] = event.get_function_calls()

    with pytest.raises(WorkflowDataError, match="send another function response"):
        _ = [e async for e in runner.run_async(**WHO, new_message=reply(question, "many"))]


async def test_another_process_continues_from_the_events_and_the_answer(tmp_path):
    async def letter(ctx):
        ctx.state["sent"] = ctx.state.get("sent", 0) + 1

    async def ask():
        yield RequestInput(interrupt_id="q", message="Well?")

    def tell(node_input, sent: int):
        return f"{node_input} after {sent}"

    def runner():
        root = Workflow(name="wf", edges=[(START, letter, ask, tell)])
        service = SqliteSessionService(str(tmp_path / "sessions.db"))
        return Runner(node=root, app_name="app", session_service=service)

    before, after = runner(), runner()
    await before.session_service.create_session(app_name="app", **WHO)
    first_events = await say(before)
    await before.close()
    [question] = first_events[-1].get_function_calls()

    events = [e async for e in after.run_async(**WHO, new_message=reply(question, "yes"))]

    assert outputs_of(events) == {"tell": "yes after 1"}
    await after.close()


class Tools(BaseToolset):
    def __init__(self):
        super().__init__()
        self.closed = 0

    async def get_tools(self, readonly_context=None):
        return []

    async def close(self):
        self.closed += 1


async def test_toolsets_of_agents_in_a_graph_are_closed_with_the_runner():
    tools = Tools()
    agent = LlmAgent(name="agent", tools=[tools], model=ScriptedLlm(rules=[Rule(then=Say("Hi."))]))
    inner = Workflow(name="inner", edges=[(START, node(agent, parallel_worker=True))])
    runner = await new_runner((START, inner))
    await say(runner)
    await runner.close()

    assert tools.closed == 1


async def test_the_agent_name_of_a_node_is_the_roots():
    def who(ctx):
        return [ctx.agent_name, ctx.node.name, ctx.node_path, ctx.run_id, ctx.attempt_count]

    runner = await new_runner((START, who))

    assert outputs_of(await say(runner))["who"] == ["wf", "who", "wf@1/who@1", "1", 1]


@pytest.mark.parametrize("is_stored", [False, True])
async def test_an_iterator_reaches_the_next_node_and_the_session(is_stored, tmp_path):
    async def numbers(ctx):
        return map(str, [1, 2])

    async def rows(ctx, node_input):
        return {"all": iter([next(node_input), *node_input])}

    async def count(ctx, node_input):
        return len(list(node_input["all"]))

    workflow = Workflow(name="w", edges=[(START, numbers, rows, count)])
    runner = InMemoryRunner(node=workflow, app_name="app")
    if is_stored:
        runner.session_service = SqliteSessionService(str(tmp_path / "sessions.db"))
    session = await runner.session_service.create_session(app_name="app", user_id="u")
    where = {"user_id": "u", "session_id": session.id}
    message = types.Content(role="user", parts=[types.Part(text="go")])

    outputs = [event.output async for event in runner.run_async(**where, new_message=message)]

    assert outputs == [["1", "2"], {"all": ["1", "2"]}, 2]
    stored_session = await runner.session_service.get_session(
        app_name="app", session_id=session.id, user_id="u"
    )
    assert [event.output for event in stored_session.events[1:]] == outputs


async def _gives_nothing():
    """Gives nothing."""


async def _still_gives_nothing():
    """Gives nothing either."""


async def _answers():
    yield Event(message="The answer.")


@pytest.mark.parametrize("below", [False, True])
@pytest.mark.parametrize(
    "nodes",
    [
        (START, _gives_nothing, _answers),
        (START, _answers, _gives_nothing),
        (START, _answers, _gives_nothing, _still_gives_nothing),
    ],
)
async def test_a_workflows_last_event_is_the_last_message_of_its_nodes(nodes, below):
    runner = await new_runner((START, Workflow(name="inner", edges=[nodes])) if below else nodes)
    events = await say(runner)
    assert events[-1].content.parts[0].text == "The answer."
    assert all(event.content for event in events)


async def test_a_node_that_returned_none_is_not_rerun_after_an_interruption():
    letters, broken = [], asyncio.Event()

    async def sends():
        letters.append("letter")

    async def works():
        broken.set()
        await asyncio.sleep(0 if len(broken_off) else SECONDS)
        return "done"

    broken_off: list[str] = []
    for edges in ([(START, (sends, works))], [(START, sends, works)]):
        letters.clear(), broken.clear(), broken_off.clear()
        runner = await new_runner(*edges)
        run = asyncio.ensure_future(say(runner))
        await broken.wait()
        await asyncio.sleep(0.05)
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)
        broken_off.append("once")
        invocation = (await stored_events(runner))[0].invocation_id
        async for _ in runner.run_async(**WHO, invocation_id=invocation):
            pass
        assert letters == ["letter"]
