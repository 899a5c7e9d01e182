"""The loop's contract, as the runtime seeds write it."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

import pytest
from google.genai import types

from devui.runtime.agents import BaseAgent, InvocationContext, RunConfig
from devui.runtime.apps import App, ResumabilityConfig
from devui.runtime.errors import InvocationNotFoundError, SessionNotFoundError
from devui.runtime.events import Event, EventActions
from devui.runtime.runners import InMemoryRunner, Runner
from devui.runtime.sessions import InMemorySessionService, Session

Body = Callable[[InvocationContext], AsyncGenerator[Event, None]]


class Scripted(BaseAgent):
    """An agent whose behaviour is given as a function."""

    body: Body

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        async with aclosing(self.body(ctx)) as events:
            async for event in events:
                yield event


def said(text: str) -> types.Content:
    return types.Content(role="user", parts=[types.Part(text=text)])


class Stage:
    """A runner with one session, and what the store knows of it."""

    def __init__(self, body: Body, **kwargs) -> None:
        agent = Scripted(name="agent", body=body)
        self.runner = InMemoryRunner(agent, app_name="app", **kwargs)

    async def open(self, state: dict | None = None) -> "Stage":
        await self.runner.session_service.create_session(
            app_name="app", user_id="u", session_id="s", state=state
        )
        return self

    def events(self, text: str = "go", **kwargs) -> AsyncGenerator[Event, None]:
        return self.runner.run_async(user_id="u", session_id="s", new_message=said(text), **kwargs)

    async def stored(self) -> Session:
        session = await self.runner.session_service.get_session(
            app_name="app", user_id="u", session_id="s"
        )
        assert session is not None
        return session


async def test_after_yield_the_agent_sees_what_it_committed():
    seen = {}

    async def body(ctx):
        yield Event(state={"field_1": "value_2"}, message="State updated.")
        stored = await ctx.session_service.get_session(app_name="app", user_id="u", session_id="s")
        seen.update(live=ctx.session.state["field_1"], stored=stored.state["field_1"])

    stage = await Stage(body).open()
    events = [event async for event in stage.events()]
    assert seen == {"live": "value_2", "stored": "value_2"}
    assert [e.actions.state_delta for e in events] == [{"field_1": "value_2"}]


async def test_the_event_is_stored_when_the_caller_gets_it():
    async def body(ctx):
        yield Event(message="one")
        yield Event(message="two")

    stage = await Stage(body).open()
    async for event in stage.events():
        assert (await stage.stored()).events[-1].id == event.id


async def test_the_agent_resumes_only_when_the_caller_comes_back():
    resumed = []

    async def body(ctx):
        yield Event(message="one")
        resumed.append(True)
        yield Event(message="two")

    stage = await Stage(body).open()
    events = stage.events()
    await anext(events)
    await asyncio.sleep(0)
    assert not resumed
    await anext(events)
    assert resumed
    await events.aclose()


async def test_a_direct_write_is_a_dirty_read_and_is_not_kept():
    seen = []

    async def body(ctx):
        ctx.session.state["status"] = "processing"
        yield Event(message="working")
        seen.append(ctx.session.state["status"])

    stage = await Stage(body).open()
    async for _ in stage.events():
        assert "status" not in (await stage.stored()).state
    assert seen == ["processing"]
    assert (await stage.stored()).state == {}


async def test_uncommitted_writes_are_seen_within_the_run_and_lost_when_it_fails():
    seen = []

    def callback(callback_context):
        callback_context.state["field_1"] = "value_1"

    class Failing(BaseAgent):
        async def _run_async_impl(self, ctx):
            ctx.session.state["field_2"] = "value_2"
            seen.append((ctx.session.state["field_1"], ctx.session.state["field_2"]))
            raise RuntimeError("before the commit")
            yield

    agent = Failing(name="agent", before_agent_callback=callback)
    runner = InMemoryRunner(agent, app_name="app")
    await runner.session_service.create_session(app_name="app", user_id="u", session_id="s")
    with pytest.raises(RuntimeError, match="before the commit"):
        async for _ in runner.run_async(user_id="u", session_id="s", new_message=said("go")):
            pass
    assert seen == [("value_1", "value_2")]
    stored = await runner.session_service.get_session(app_name="app", user_id="u", session_id="s")
    assert stored.state == {"field_1": "value_1"}  # it was in the callback's own event
    assert [event.author for event in stored.events] == ["user", "agent"]


async def test_partial_events_are_forwarded_and_never_committed():
    async def body(ctx):
        yield Event(message="Hel", partial=True, state={"k": 1})
        assert "k" not in ctx.session.state
        yield Event(message="Hello", state={"k": 2})

    stage = await Stage(body).open()
    events = [event async for event in stage.events()]
    assert [event.partial for event in events] == [True, None]
    stored = await stage.stored()
    assert [e.content.parts[0].text for e in stored.events] == ["go", "Hello"]
    assert stored.state == {"k": 2}


async def test_temp_state_lives_for_the_run_and_is_never_stored():
    seen = []

    async def body(ctx):
        yield Event(state={"temp:x": 1, "y": 2})
        seen.append(ctx.session.state["temp:x"])

    stage = await Stage(body).open()
    events = [event async for event in stage.events()]
    assert seen == [1]
    assert events[0].actions.state_delta == {"y": 2}
    assert (await stage.stored()).state == {"y": 2}


async def test_all_events_of_a_run_share_its_invocation_id_and_know_their_author():
    async def body(ctx):
        yield Event(message="one")
        yield Event(message="two", author="someone", invocation_id="other")

    stage = await Stage(body).open()
    events = [event async for event in stage.events(yield_user_message=True)]
    user, one, two = events
    assert user.author == "user"
    assert user.invocation_id.startswith("e-")
    assert (one.author, one.invocation_id) == ("agent", user.invocation_id)
    assert (two.author, two.invocation_id) == ("someone", "other")
    again = [event async for event in stage.events()]
    assert again[0].invocation_id != user.invocation_id


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


async def test_what_an_agent_raises_reaches_the_caller_and_what_was_committed_stays():
    async def body(ctx):
        yield Event(state={"a": 1})
        raise KeyError("boom")

    stage = await Stage(body).open()
    with pytest.raises(KeyError, match="boom"):
        _ = [event async for event in stage.events()]
    assert (await stage.stored()).state == {"a": 1}


async def test_closing_the_run_closes_the_agent():
    closed = []

    async def body(ctx):
        try:
            yield Event(message="one")
        finally:
            closed.append(True)

    stage = await Stage(body).open()
    events = stage.events()
    await anext(events)
    await events.aclose()
    assert closed == [True]


async def test_cancelling_the_run_cancels_the_agent_and_calls_after_agent_once():
    waiting, log = asyncio.Event(), []

    async def body(ctx):
        yield Event(message="one")
        waiting.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            log.append("cancelled")
            raise

    stage = await Stage(body).open()
    stage.runner.agent.after_agent_callback = lambda callback_context: log.append("after")

    async def consume() -> None:
        async for _ in stage.events():
            pass

    task = asyncio.create_task(consume())
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert log == ["cancelled", "after"]


async def test_a_message_that_cannot_be_taken_is_a_value_error_and_leaves_no_trace():
    async def body(ctx):
        yield Event(message="never")

    stage = await Stage(body).open()
    fc = types.Part(function_call=types.FunctionCall(name="f", args={}))
    fr = types.Part(function_response=types.FunctionResponse(id="x", name="f", response={}))
    for parts, why in (
        ([], "no parts"),
        ([fc], "function call"),
        ([fr, types.Part(text="and")], "mixes"),
        ([fr], "does not have"),
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


async def test_an_unknown_invocation_cannot_be_resumed():
    async def body(ctx):
        yield Event(message="done")

    stage = await Stage(body).open()
    with pytest.raises(InvocationNotFoundError, match="'nope'"):
        async for _ in stage.runner.run_async(user_id="u", session_id="s", invocation_id="nope"):
            pass


async def test_a_stopped_invocation_goes_on_with_its_message_and_its_checkpoint():
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


async def test_an_aborted_run_answers_the_calls_it_leaves_open():
    signal = asyncio.Event()
    call = types.Part(function_call=types.FunctionCall(id="c1", name="f", args={}))

    async def body(ctx):
        yield Event(content=types.Content(role="model", parts=[call]), branch="b")
        raise AssertionError("the agent must not go on")

    stage = await Stage(body).open()
    seen = []
    async for event in stage.events(abort_signal=signal):
        seen.append(event)
        signal.set()
    assert seen[-1].error_code == "INVOCATION_ABORTED"
    assert [r.id for r in seen[-1].get_function_responses()] == ["c1"]
    assert seen[-1].branch == "b"
    assert (await stage.stored()).events[-1].id == seen[-1].id


async def test_an_aborted_run_without_open_calls_ends_in_an_empty_event():
    async def body(ctx):
        yield Event(message="one")
        ctx.abort()
        yield Event(message="two")
        yield Event(message="three")

    stage = await Stage(body).open()
    *_, last = [event async for event in stage.events()]
    assert (last.author, last.content, last.error_code) == ("agent", None, "INVOCATION_ABORTED")
    assert len((await stage.stored()).events) == 4


async def test_files_of_a_message_are_saved_if_asked_for():
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
    saved = await stage.runner.artifact_service.load_artifact(**scope, filename=name)
    assert saved.inline_data.data == b"x"


def test_the_sync_run_goes_in_step_with_its_caller():
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


async def test_the_sync_run_works_beside_a_running_loop_and_can_be_left_early():
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
    events = await stage.runner.run_debug(["a", "b"])
    assert len(events) == 2
    assert capsys.readouterr().out == ("user > a\nagent > echo a\nuser > b\nagent > echo b\n")
    await stage.runner.run_debug("c", quiet=True)
    assert capsys.readouterr().out == ""


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
def test_an_app_needs_a_proper_name(name: str):
    with pytest.raises(ValueError, match=r"user|no name"):
        App(name=name, root_agent=BaseAgent(name="agent"))


async def test_actions_of_a_partial_event_do_not_even_reach_the_live_state():
    async def body(ctx):
        yield Event(partial=True, actions=EventActions(state_delta={"temp:a": 1}))
        assert ctx.session.state == {}

    stage = await Stage(body).open()
    assert len([event async for event in stage.events()]) == 1
