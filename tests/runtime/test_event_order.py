"""A run's events come last, whatever the clocks say."""

import asyncio

import pytest

from devui.runtime.agents import LlmAgent, ParallelAgent
from devui.runtime.events import Event
from devui.runtime.events.rewinds import live_events
from devui.runtime.models import Rule, Say, ScriptedLlm
from devui.runtime.platform.time import reset_time_provider, set_time_provider
from devui.runtime.runners import Runner
from devui.runtime.sessions import (
    DatabaseSessionService,
    InMemorySessionService,
    SqliteSessionService,
)
from tests.kit.stages import Scripted, said, texts

WHERE = {"app_name": "app", "user_id": "u", "session_id": "s"}
AHEAD = 4e9
"""A time ahead of every clock here."""


@pytest.fixture(params=["memory", "seconds", "dates"])
async def service(request, tmp_path):
    path = tmp_path / "sessions.db"
    if request.param == "memory":
        yield InMemorySessionService()
        return
    kind = SqliteSessionService if request.param == "seconds" else DatabaseSessionService
    url = path if request.param == "seconds" else f"sqlite:///{path}"
    session_service = kind(url)
    yield session_service
    await session_service.close()


@pytest.fixture
async def runner(service):
    session = await service.create_session(**WHERE)
    await service.append_event(
        session, Event(author="user", content=said("earlier"), timestamp=AHEAD)
    )
    agent = LlmAgent(name="agent", model=ScriptedLlm(rules=[Rule(Say("So it is."))]))
    return Runner(app_name="app", agent=agent, session_service=service)


async def say(runner: Runner, text: str) -> list[Event]:
    who = {"user_id": "u", "session_id": "s"}
    return [event async for event in runner.run_async(**who, new_message=said(text))]


async def stored_events(runner: Runner) -> list[Event]:
    return (await runner.session_service.get_session(**WHERE)).events


async def test_turns_stay_in_order_after_an_event_from_the_future(runner):
    await say(runner, "first")
    [answer] = await say(runner, "second")
    events = await stored_events(runner)
    assert texts(events) == ["earlier", "first", "So it is.", "second", "So it is."]
    times = [event.timestamp for event in events]
    assert times == sorted(set(times))
    assert answer.timestamp == times[-1]


async def test_a_rewind_removes_turns_after_an_event_from_the_future(runner):
    [answer] = await say(runner, "first")
    await runner.rewind_async(
        user_id="u", session_id="s", rewind_before_invocation_id=answer.invocation_id
    )
    await say(runner, "second")
    counting = live_events(await stored_events(runner))
    assert texts(list(counting)) == ["earlier", "second", "So it is."]


async def test_an_answer_stays_after_its_question_when_the_clock_has_caught_up(service):
    clock = [100.0]
    set_time_provider(lambda: clock[0])

    async def body(ctx):
        answer = Event(author="agent", content=said("answer"), timestamp=clock[0])
        clock[0] = 300.0
        yield answer

    try:
        session = await service.create_session(**WHERE)
        earlier = Event(author="user", content=said("earlier"), timestamp=200.0)
        await service.append_event(session, earlier)
        agent = Scripted(name="agent", body=body)
        runner = Runner(app_name="app", agent=agent, session_service=service)
        await say(runner, "question")
        assert texts(await stored_events(runner)) == ["earlier", "question", "answer"]
    finally:
        reset_time_provider()


async def test_an_event_that_is_yielded_again_is_stored_once(service):
    async def body(ctx):
        events = [Event(author="agent", content=said(text)) for text in "ab"]
        for event in (*events, events[0]):
            yield event

    session = await service.create_session(**WHERE)
    earlier = Event(author="user", content=said("earlier"), timestamp=AHEAD)
    await service.append_event(session, earlier)
    agent = Scripted(name="agent", body=body)
    runner = Runner(app_name="app", agent=agent, session_service=service)
    await say(runner, "go")
    assert texts(await stored_events(runner)) == ["earlier", "go", "a", "b"]


@pytest.mark.parametrize("time", [5.0, AHEAD])
async def test_a_timestamp_set_by_an_agent_is_kept(service, time):
    async def body(ctx):
        yield Event(author="agent", content=said("then"), timestamp=time)

    await service.create_session(**WHERE)
    agent = Scripted(name="agent", body=body)
    runner = Runner(app_name="app", agent=agent, session_service=service)
    [event] = await say(runner, "go")
    assert event.timestamp == time
    assert {event.timestamp for event in await stored_events(runner)} > {time}


async def test_parallel_events_are_in_the_order_of_their_commits(service):
    event_exists, may_commit = asyncio.Event(), asyncio.Event()

    async def slow(ctx):
        event = Event(author="slow", content=said("made first"))
        event_exists.set()
        await may_commit.wait()
        yield event

    async def quick(ctx):
        await event_exists.wait()
        yield Event(author="quick", content=said("committed first"))
        may_commit.set()

    await service.create_session(**WHERE)
    agents = [Scripted(name="slow", body=slow), Scripted(name="quick", body=quick)]
    root = ParallelAgent(name="both", sub_agents=agents)
    await say(Runner(app_name="app", agent=root, session_service=service), "go")
    events = await service.get_session(**WHERE)
    assert texts(events.events) == ["go", "committed first", "made first"]
