"""The story flow, stopped after each of its events and resumed with the same result."""

import asyncio
import sys
from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import replace

import pytest

from devui.runtime.agents import Agent
from devui.runtime.agents.base_agent import family
from devui.runtime.apps import App
from devui.runtime.events import Event
from devui.runtime.plugins import BasePlugin
from devui.runtime.runners import InMemoryRunner
from devui.worker.loading import load
from tests.kit.stages import WHERE, run, said, stored
from tests.kit.turns import invocation_of
from tests.source import ROOT

PROMPT = "Write a sad story about a lonely lighthouse"
EVENTS = 29


@pytest.fixture(scope="module")
def app() -> Iterator[App]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("GOOGLE_API_KEY", raising=False)
        patch.setattr(sys, "path", list(sys.path))
        app = load(ROOT / "agents", "story_flow")
        assert isinstance(app, App)
        without_delays(app)
        yield app
    for module in [m for m in sys.modules if m.split(".")[0] == "story_flow"]:
        del sys.modules[module]


def without_delays(app: App) -> None:
    for agent in family(app.root_agent):
        if isinstance(agent, Agent):
            agent.model.rules = [
                replace(rule, then=replace(rule.then, delay=0)) for rule in agent.model.rules
            ]


class PowerCut(BasePlugin):
    """A plugin that fails instead of committing event number `at`."""

    def __init__(self, at: int) -> None:
        super().__init__(name="power_cut")
        self.remaining = at

    async def on_event_callback(self, *, invocation_context, event):
        self.remaining -= 1
        if self.remaining == 0:
            raise ConnectionError("power cut")


class Stop(PowerCut):
    """A plugin that hangs instead of committing, so that the run can be cancelled."""

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.reached = asyncio.Event()

    async def on_event_callback(self, *, invocation_context, event):
        self.remaining -= 1
        if self.remaining == 0:
            self.reached.set()
            await asyncio.Event().wait()


def runner_of(app: App, *plugins: BasePlugin) -> InMemoryRunner:
    runner = InMemoryRunner(app=app.model_copy(update={"plugins": list(plugins)}))
    runner.auto_create_session = True
    return runner


def milestones(events: list[Event]) -> list[tuple]:
    """Return what was recorded, in order: checkpoints, ends and texts."""
    return [
        (
            event.author,
            str(event.actions.agent_state or event.actions.end_of_agent or ""),
            event.content.parts[0].text if event.content else "",
        )
        for event in events
        if not event.error_code
    ]


def steps(events: list[Event]) -> list[list[tuple]]:
    """Return the milestones, split after each checkpoint of the flow."""
    cut: list[list[tuple]] = [[]]
    for milestone in milestones(events):
        cut[-1].append(milestone)
        if milestone[0] == "StoryFlowAgent":
            cut.append([])
    return cut


async def expect_same_end(app: App, runner: InMemoryRunner) -> None:
    """Resume, and compare with an uninterrupted run.

    A step may be done twice if it was finished but its checkpoint was lost (resume seed: at least
    once); no other work may.
    """
    undisturbed = runner_of(app)
    await run(undisturbed, PROMPT)
    whole = await stored(undisturbed)
    invocation = await invocation_of(runner)
    await run(runner, None, invocation_id=invocation)
    session = await stored(runner)
    assert {event.invocation_id for event in session.events} == {invocation}
    assert session.state == whole.state
    twice = 0
    for did, should in zip(steps(session.events), steps(whole.events), strict=True):
        if did != should:
            assert did == [*should[:-1], *should]
            twice += 1
    assert twice <= 1


async def test_the_flow_has_four_steps_and_rewrites_a_sad_story(app):
    runner = runner_of(app)
    events = milestones(await run(runner, PROMPT))
    assert len(events) == EVENTS
    checkpoints = [text for author, text, _ in events if author == "StoryFlowAgent"]
    assert checkpoints == ["{'step': 1}", "{'step': 2}", "{'step': 3}", "{'step': 4}", "True"]
    state = (await stored(runner)).state
    assert state["tone_check_result"] == "negative"
    assert "a light burns in the window" in state["current_story"]


@pytest.mark.parametrize("at", range(1, EVENTS + 1))
async def test_the_flow_has_the_same_result_after_a_failure_at_any_event(app, at):
    runner = runner_of(app, PowerCut(at))
    with pytest.raises((ConnectionError, RuntimeError), match="power"):
        await run(runner, PROMPT)
    await expect_same_end(app, runner)


@pytest.mark.parametrize("at", range(1, EVENTS + 1))
async def test_the_flow_has_the_same_result_after_a_cancellation_at_any_event(app, at):
    stop = Stop(at)
    runner = runner_of(app, stop)
    turn = asyncio.create_task(run(runner, PROMPT))
    await stop.reached.wait()
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    await expect_same_end(app, runner)


@pytest.mark.parametrize("count", range(1, EVENTS))
async def test_the_flow_has_the_same_result_after_its_caller_left_at_any_event(app, count):
    runner = runner_of(app)
    async with aclosing(runner.run_async(**WHERE, new_message=said(PROMPT))) as events:
        for _ in range(count):
            await anext(events)
    await expect_same_end(app, runner)


async def test_a_finished_flow_has_nothing_to_resume(app):
    runner = runner_of(app)
    await run(runner, PROMPT)
    assert await run(runner, None, invocation_id=await invocation_of(runner)) == []
