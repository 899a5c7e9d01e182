"""The Runner: its input, its choice of agent, its ways to run (adk-runtime 3.2, 3.3)."""

import asyncio
import contextvars
import threading

import pytest
from google.genai import types

from devui.runtime.agents import BaseAgent, LlmAgent, RunConfig
from devui.runtime.apps import App, ResumabilityConfig
from devui.runtime.calling import MAX_THREADS
from devui.runtime.errors import InvocationNotFoundError, SessionNotFoundError
from devui.runtime.events import Event
from devui.runtime.models import Call, Rule, Say, ScriptedLlm
from devui.runtime.runners import InMemoryRunner, Runner
from devui.runtime.sessions import InMemorySessionService, SqliteSessionService
from devui.runtime.sessions.base_session_service import GetSessionConfig
from tests.kit.patience import PATIENCE
from tests.kit.stages import Scripted, Stage, said

who = contextvars.ContextVar("who", default="nobody")


async def test_the_users_event_carries_message_state_and_labels():
    async def body(ctx):
        yield Event(message="done", custom_metadata={"who": "agent"})

    stage = await Stage(body).open()
    config = RunConfig(custom_metadata={"who": "run", "n": 1, "__adk_internal_x": 2})
    message = types.Content(role="model", parts=[types.Part(text="hi")])
    run = stage.runner.run_async(
        user_id="u",
        session_id="s",
        new_message=message,
        state_delta={"user:lang": "de"},
        run_config=config,
    )
    events = [event async for event in run]
    user = (await stage.stored()).events[0]
    assert (user.author, user.content.role) == ("user", "user")
    assert user.actions.state_delta == {"user:lang": "de"}
    assert user.custom_metadata == {"who": "run", "n": 1}
    assert events[0].custom_metadata == {"who": "agent", "n": 1}
    assert message.role == "model"


async def test_an_invalid_message_is_a_value_error_and_leaves_no_trace():
    async def body(ctx):
        yield Event(message="never")

    stage = await Stage(body).open()
    fc = types.Part(function_call=types.FunctionCall(name="f", args={}))
    fr = types.Part(function_response=types.FunctionResponse(id="x", name="f", response={}))
    for parts, why in (
        ([], "no parts"),
        ([fc], "function call"),
        ([fr, types.Part(text="and")], "mixes"),
        ([fr], "not in the session"),
    ):
        message = types.Content(role="user", parts=parts)
        with pytest.raises(ValueError, match=why):
            async for _ in stage.runner.run_async(user_id="u", session_id="s", new_message=message):
                pass
    assert (await stage.stored()).events == []


async def test_a_missing_session_is_an_error_unless_it_may_be_created():
    async def body(ctx):
        yield Event(message="done")

    stage = Stage(body)
    with pytest.raises(SessionNotFoundError, match="'s'"):
        _ = [event async for event in stage.events()]
    stage.runner.auto_create_session = True
    assert len([event async for event in stage.events()]) == 1
    assert len((await stage.stored()).events) == 2


async def test_a_session_created_by_another_runner_meanwhile_is_used(tmp_path):
    class Slow(SqliteSessionService):
        async def create_session(self, **what):
            other = SqliteSessionService(tmp_path / "sessions.db")
            await other.create_session(**what, state={"by": "another"})
            await other.close()
            return await super().create_session(**what)

    root = LlmAgent(name="root", model=ScriptedLlm(rules=[Rule(then=Say("so"))]))
    service = Slow(tmp_path / "sessions.db")
    async with Runner(
        agent=root, app_name="app", session_service=service, auto_create_session=True
    ) as runner:
        where = {"user_id": "u", "session_id": "s"}
        message = types.UserContent("hi")
        events = [event async for event in runner.run_async(**where, new_message=message)]
        session = await service.get_session(app_name="app", **where)
    assert [event.content.parts[0].text for event in events] == ["so"]
    assert (len(session.events), session.state) == (2, {"by": "another"})
    await service.close()


async def test_an_unknown_invocation_cannot_be_resumed():
    async def body(ctx):
        yield Event(message="done")

    stage = await Stage(body).open()
    with pytest.raises(InvocationNotFoundError, match="'nope'"):
        async for _ in stage.runner.run_async(user_id="u", session_id="s", invocation_id="nope"):
            pass


async def test_the_error_for_a_rewound_call_or_invocation_mentions_the_rewind():
    async def body(ctx):
        call = types.FunctionCall(id="1", name="wait")
        parts = [types.Part(function_call=call)]
        yield Event(author="agent", content=types.Content(role="model", parts=parts))

    stage = await Stage(body).open()
    [event] = [each async for each in stage.events()]
    where = {"user_id": "u", "session_id": "s"}
    await stage.runner.rewind_async(**where, rewind_before_invocation_id=event.invocation_id)
    response = types.FunctionResponse(id="1", name="wait", response={})
    answer = types.Content(role="user", parts=[types.Part(function_response=response)])
    with pytest.raises(ValueError, match="were rewound"):
        [_ async for _ in stage.runner.run_async(**where, new_message=answer)]
    with pytest.raises(InvocationNotFoundError, match="was rewound"):
        [_ async for _ in stage.runner.run_async(**where, invocation_id=event.invocation_id)]


async def test_a_resumed_invocation_has_its_message_and_checkpoint():
    runs = []

    async def body(ctx):
        agent = ctx.agent
        runs.append((ctx.invocation_id, ctx.user_content.parts[0].text, dict(ctx.agent_states)))
        if not ctx.agent_states:
            ctx.agent_states["agent"] = {"step": 1}
            yield agent._create_agent_state_event(ctx)
            raise RuntimeError("crash")
        yield agent._create_agent_state_event(ctx, end_of_agent=True)

    agent = Scripted(name="agent", body=body)
    app = App(
        name="app", root_agent=agent, resumability_config=ResumabilityConfig(is_resumable=True)
    )
    runner = InMemoryRunner(app=app)
    await runner.session_service.create_session(app_name="app", user_id="u", session_id="s")
    first_run = runner.run_async(user_id="u", session_id="s", new_message=said("go"))
    invocation = (await anext(first_run)).invocation_id
    with pytest.raises(RuntimeError, match="crash"):
        await anext(first_run)
    resume = {"user_id": "u", "session_id": "s", "invocation_id": invocation}
    assert len([event async for event in runner.run_async(**resume)]) == 1
    assert runs == [(invocation, "go", {}), (invocation, "go", {"agent": {"step": 1}})]
    assert [event async for event in runner.run_async(**resume)] == []


async def test_files_of_a_message_are_saved_if_requested():
    async def body(ctx):
        yield Event(message="done")

    stage = await Stage(body).open()
    blob = types.Blob(data=b"x", mime_type="image/png")
    run = stage.runner.run_async(
        user_id="u",
        session_id="s",
        new_message=types.Content(parts=[types.Part(inline_data=blob)]),
        run_config=RunConfig(save_input_blobs_as_artifacts=True),
    )
    invocation = (await anext(run)).invocation_id
    name = f"artifact_{invocation}_0"
    assert name in (await stage.stored()).events[0].content.parts[0].text
    scope = {"app_name": "app", "user_id": "u", "session_id": "s"}
    artifact = await stage.runner.artifact_service.load_artifact(**scope, filename=name)
    assert artifact.inline_data.data == b"x"


def test_the_sync_run_advances_in_step_with_its_caller():
    order = []

    async def body(ctx):
        yield Event(message="one")
        order.append("resumed")
        yield Event(message="two")

    stage = Stage(body)
    stage.runner.auto_create_session = True
    for event in stage.runner.run(user_id="u", session_id="s", new_message=said("go")):
        order.append(event.content.parts[0].text)
    assert order == ["one", "resumed", "two"]


async def test_the_sync_run_works_inside_a_running_loop_and_can_be_left_early():
    closed = threading.Event()

    async def body(ctx):
        try:
            yield Event(message="one")
            yield Event(message="two")
        finally:
            closed.set()

    stage = Stage(body)
    stage.runner.auto_create_session = True
    run = stage.runner.run(user_id="u", session_id="s", new_message=said("go"))
    next(run)
    run.close()
    assert closed.is_set()


def test_a_sync_run_closes_its_loop_even_if_the_agent_raises_at_the_end():
    loops = []

    async def body(ctx):
        loops.append(asyncio.get_running_loop())
        try:
            yield Event(message="one")
            yield Event(message="two")
        finally:
            raise KeyError("boom")

    stage = Stage(body)
    stage.runner.auto_create_session = True
    run = stage.runner.run(user_id="u", session_id="s", new_message=said("go"))
    next(run)
    with pytest.raises(KeyError, match="boom"):
        run.close()
    assert loops[0].is_closed()


async def test_tools_that_occupy_all_threads_can_run_agents_with_callbacks():
    """Each tool occupies a thread and waits for a callback of another agent."""
    together = threading.Barrier(MAX_THREADS)

    def answer(callback_context):
        return types.ModelContent(f"from {who.get()}")

    def ask() -> str:
        """Asks an expert."""
        together.wait(PATIENCE)
        who.set("the tool")
        runner = InMemoryRunner(LlmAgent(name="expert", before_agent_callback=answer))
        runner.auto_create_session = True
        [event] = runner.run(user_id="u", session_id="s", new_message=said("go"))
        return event.content.parts[0].text

    async def run() -> types.FunctionResponse:
        rules = [Rule(after="ask", then=Say("Done.")), Rule(then=Call("ask"))]
        model = ScriptedLlm(rules=rules)
        runner = InMemoryRunner(LlmAgent(name="agent", model=model, tools=[ask]))
        _, event, *_ = await runner.run_debug("go", quiet=True)
        return event.get_function_responses()[0].response

    running = asyncio.gather(*[run() for _ in range(MAX_THREADS)])
    results = await asyncio.wait_for(running, PATIENCE)
    assert results == [{"result": "from the tool"}] * MAX_THREADS


def test_the_sync_run_raises_what_the_agent_raises():
    async def body(ctx):
        yield Event(message="one")
        raise KeyError("boom")

    stage = Stage(body)
    stage.runner.auto_create_session = True
    with pytest.raises(KeyError, match="boom"):
        list(stage.runner.run(user_id="u", session_id="s", new_message=said("go")))


async def test_run_debug_prints_and_returns_what_was_said(capsys):
    async def body(ctx):
        yield Event(message=f"echo {ctx.user_content.parts[0].text}")

    stage = Stage(body)
    events = await stage.runner.run_debug(("a", "b"))
    assert len(events) == 2
    assert capsys.readouterr().out == ("user > a\nagent > echo a\nuser > b\nagent > echo b\n")
    await stage.runner.run_debug("c", quiet=True)
    assert capsys.readouterr().out == ""


async def test_run_debug_reads_only_the_configured_part_of_a_session():
    class Reading(InMemorySessionService):
        async def get_session(self, **kwargs):
            session = await super().get_session(**kwargs)
            read.append(len(session.events) if session else None)
            return session

    async def body(ctx):
        yield Event(message="one")

    read: list[int | None] = []
    runner = InMemoryRunner(Scripted(name="agent", body=body))
    runner.session_service = Reading()
    config = RunConfig(get_session_config=GetSessionConfig(num_recent_events=1))
    await runner.run_debug(["a", "b"], quiet=True, run_config=config)
    await runner.run_debug("c", quiet=True, run_config=config)
    assert read == [None, 0, 1, 1, 1]


def test_a_runner_has_one_root():
    agent = BaseAgent(name="agent")
    service = InMemorySessionService()
    app = App(name="app", root_agent=agent)
    with pytest.raises(ValueError, match="exactly one"):
        Runner(app=app, agent=agent, session_service=service)
    with pytest.raises(ValueError, match="exactly one"):
        Runner(session_service=service)
    with pytest.raises(ValueError, match="app_name"):
        Runner(agent=agent, session_service=service)
    with pytest.raises(ValueError, match="belong to the app"):
        Runner(app=app, plugins=[], session_service=service)
    assert Runner(node=agent, session_service=service).app_name == "agent"
    assert Runner(app=app, app_name="other", session_service=service).app_name == "other"
    assert InMemoryRunner(agent).app_name == "InMemoryRunner"


@pytest.mark.parametrize("name", ["user", "", "1a", "a b", "a.b"])
def test_an_app_needs_a_valid_name(name: str):
    with pytest.raises(ValueError, match=r"user|not a valid app name"):
        App(name=name, root_agent=BaseAgent(name="agent"))
