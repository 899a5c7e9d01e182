"""The contract of the event loop, as in the runtime seeds."""

import asyncio

import pytest
from google.genai import types

from devui.runtime.agents import BaseAgent
from devui.runtime.events import Event, EventActions
from devui.runtime.runners import InMemoryRunner
from tests.kit.stages import Stage, said


async def test_the_agent_sees_its_committed_state_after_yield():
    values = {}

    async def body(ctx):
        yield Event(state={"field_1": "value_2"}, message="State updated.")
        session = await ctx.session_service.get_session(app_name="app", user_id="u", session_id="s")
        values.update(live=ctx.session.state["field_1"], stored=session.state["field_1"])

    stage = await Stage(body).open()
    events = [event async for event in stage.events()]
    assert values == {"live": "value_2", "stored": "value_2"}
    assert [e.actions.state_delta for e in events] == [{"field_1": "value_2"}]


async def test_an_event_is_stored_before_the_caller_gets_it():
    async def body(ctx):
        yield Event(message="one")
        yield Event(message="two")

    stage = await Stage(body).open()
    async for event in stage.events():
        assert (await stage.stored()).events[-1].id == event.id


async def test_the_agent_resumes_only_when_the_caller_continues():
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


async def test_a_direct_write_to_the_state_is_visible_but_not_kept():
    statuses = []

    async def body(ctx):
        ctx.session.state["status"] = "processing"
        yield Event(message="working")
        statuses.append(ctx.session.state["status"])

    stage = await Stage(body).open()
    async for _ in stage.events():
        assert "status" not in (await stage.stored()).state
    assert statuses == ["processing"]
    assert (await stage.stored()).state == {}


async def test_uncommitted_writes_are_visible_in_the_run_and_lost_when_it_fails():
    values = []

    def callback(callback_context):
        callback_context.state["field_1"] = "value_1"

    class Failing(BaseAgent):
        async def _run_async_impl(self, ctx):
            ctx.session.state["field_2"] = "value_2"
            values.append((ctx.session.state["field_1"], ctx.session.state["field_2"]))
            raise RuntimeError("before the commit")
            yield

    agent = Failing(name="agent", before_agent_callback=callback)
    runner = InMemoryRunner(agent, app_name="app")
    await runner.session_service.create_session(app_name="app", user_id="u", session_id="s")
    with pytest.raises(RuntimeError, match="before the commit"):
        async for _ in runner.run_async(user_id="u", session_id="s", new_message=said("go")):
            pass
    assert values == [("value_1", "value_2")]
    session = await runner.session_service.get_session(app_name="app", user_id="u", session_id="s")
    assert session.state == {"field_1": "value_1"}  # it was in the callback's own event
    assert [event.author for event in session.events] == ["user", "agent"]


async def test_partial_events_are_forwarded_and_never_committed():
    async def body(ctx):
        yield Event(message="Hel", partial=True, state={"k": 1})
        assert "k" not in ctx.session.state
        yield Event(message="Hello", state={"k": 2})

    stage = await Stage(body).open()
    events = [event async for event in stage.events()]
    assert [event.partial for event in events] == [True, None]
    session = await stage.stored()
    assert [e.content.parts[0].text for e in session.events] == ["go", "Hello"]
    assert session.state == {"k": 2}


async def test_temp_state_lives_for_the_run_and_is_never_stored():
    values = []

    async def body(ctx):
        yield Event(state={"temp:x": 1, "y": 2})
        values.append(ctx.session.state["temp:x"])

    stage = await Stage(body).open()
    events = [event async for event in stage.events()]
    assert values == [1]
    assert events[0].actions.state_delta == {"y": 2}
    assert (await stage.stored()).state == {"y": 2}


async def test_events_of_a_run_get_its_invocation_id_and_their_author():
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


async def test_an_agents_exception_reaches_the_caller_and_commits_stay():
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


async def test_an_aborted_run_answers_its_open_calls():
    signal = asyncio.Event()
    call = types.Part(function_call=types.FunctionCall(id="c1", name="f", args={}))

    async def body(ctx):
        yield Event(content=types.Content(role="model", parts=[call]), branch="b")
        raise AssertionError("the agent must not go on")

    stage = await Stage(body).open()
    events = []
    async for event in stage.events(abort_signal=signal):
        events.append(event)
        signal.set()
    assert events[-1].error_code == "INVOCATION_ABORTED"
    assert [r.id for r in events[-1].get_function_responses()] == ["c1"]
    assert events[-1].branch == "b"
    assert (await stage.stored()).events[-1].id == events[-1].id


async def test_an_aborted_run_without_open_calls_ends_with_an_empty_event():
    async def body(ctx):
        yield Event(message="one")
        ctx.abort()
        yield Event(message="two")
        yield Event(message="three")

    stage = await Stage(body).open()
    *_, last = [event async for event in stage.events()]
    assert (last.author, last.content, last.error_code) == ("agent", None, "INVOCATION_ABORTED")
    assert len((await stage.stored()).events) == 4


async def test_actions_of_a_partial_event_do_not_reach_the_live_state():
    async def body(ctx):
        yield Event(partial=True, actions=EventActions(state_delta={"temp:a": 1}))
        assert ctx.session.state == {}

    stage = await Stage(body).open()
    assert len([event async for event in stage.events()]) == 1
