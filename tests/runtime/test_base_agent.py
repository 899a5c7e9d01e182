"""BaseAgent: the tree, callbacks, checkpoints (adk-runtime 5.1, 5.2; resume seed)."""

import threading
from enum import IntEnum

import pytest
from google.genai import types
from pydantic import ValidationError

from devui.runtime.agents import BaseAgent, InvocationContext
from devui.runtime.agents.base_agent import BaseAgentState
from devui.runtime.apps import ResumabilityConfig
from devui.runtime.events import Event
from devui.runtime.sessions import InMemorySessionService, Session
from tests.kit.stages import Scripted, run, runner_of, said, stored, texts


@pytest.mark.parametrize("name", ["user", "", "1a", "a b", "a-b", "a.b"])
def test_a_name_is_an_identifier_other_than_user(name: str):
    with pytest.raises(ValueError, match=r"user|not a valid agent name"):
        BaseAgent(name=name)


def test_unknown_arguments_are_refused():
    with pytest.raises(ValueError, match="no_such_field"):
        BaseAgent(name="a", no_such_field=1)


def test_agents_are_found_from_anywhere_in_the_tree():
    leaf = BaseAgent(name="leaf")
    middle = BaseAgent(name="middle", sub_agents=[leaf])
    root = BaseAgent(name="root", sub_agents=[middle, BaseAgent(name="other")])
    assert leaf.parent_agent is middle
    assert leaf.root_agent is root
    assert root.find_agent("leaf") is leaf
    assert root.find_agent("root") is root
    assert root.find_sub_agent("root") is None
    assert root.find_agent("nobody") is None
    assert "parent_agent" not in leaf.model_dump()


def test_an_agent_has_one_parent():
    leaf = BaseAgent(name="leaf")
    BaseAgent(name="first", sub_agents=[leaf])
    with pytest.raises(ValueError, match=r"'first'.*'second'"):
        BaseAgent(name="second", sub_agents=[leaf])


def test_duplicate_names_cause_a_warning(caplog):
    BaseAgent(name="a", sub_agents=[BaseAgent(name="b"), BaseAgent(name="b")])
    assert "['b']" in caplog.text


def test_a_clone_is_a_separate_tree_with_its_own_methods():
    class Counting(BaseAgent):
        calls: int = 0

        def count(self, callback_context) -> None:
            self.calls += 1

    agent = Counting(name="a", sub_agents=[BaseAgent(name="b")])
    agent.before_agent_callback = [agent.count]
    clone = agent.clone({"description": "copy"})
    clone.before_agent_callback[0](None)
    assert (agent.calls, clone.calls) == (0, 1)
    assert (clone.name, clone.description) == ("a", "copy")
    assert clone.sub_agents[0] is not agent.sub_agents[0]
    assert clone.sub_agents[0].parent_agent is clone
    assert agent.sub_agents[0].clone().parent_agent is None
    for wrong in ("parent_agent", "nonsense"):
        with pytest.raises(ValueError, match=wrong):
            agent.clone({wrong: None})


async def test_an_agent_without_an_implementation_raises():
    with pytest.raises(NotImplementedError, match="BaseAgent"):
        await run(runner_of(BaseAgent(name="a")))


async def test_an_agent_that_yields_anything_but_events_raises():
    async def body(ctx):
        yield "text"

    with pytest.raises(TypeError, match="'text'"):
        await run(runner_of(Scripted(name="a", body=body)))


async def test_content_from_before_agent_replaces_the_agents_answer():
    calls = []

    def before(callback_context):
        return types.Content(role="model", parts=[types.Part(text="instead")])

    def after(callback_context):
        calls.append(True)

    agent = Scripted(name="a", before_agent_callback=before, after_agent_callback=after)
    events = await run(runner_of(agent))
    assert texts(events) == ["instead"]
    assert (events[0].author, events[0].content.role) == ("a", "model")
    assert not calls


async def test_content_from_after_agent_is_an_additional_answer():
    async def after(callback_context):
        return said("more")

    events = await run(runner_of(Scripted(name="a", after_agent_callback=after)))
    assert texts(events) == ["a", "more"]


async def test_callbacks_run_in_order_until_one_answers():
    calls = []

    def silent(callback_context):
        calls.append("silent")

    def answering(ctx):  # called by position: its parameter has another name
        calls.append("answering")
        return said("instead")

    def never(callback_context):
        calls.append("never")

    agent = Scripted(name="a", before_agent_callback=[silent, answering, never])
    assert texts(await run(runner_of(agent))) == ["instead"]
    assert calls == ["silent", "answering"]


async def test_state_written_by_a_callback_is_committed_in_its_own_event():
    def before(callback_context):
        callback_context.state["seen"] = True
        callback_context.state["list"].append(1)

    async def body(ctx):
        assert ctx.session.state["seen"]
        yield Event(message="done")

    runner = runner_of(Scripted(name="a", body=body, before_agent_callback=before))
    events = await run(runner, state_delta={"list": []})
    assert events[0].actions.state_delta == {"seen": True, "list": [1]}
    assert events[0].content is None
    assert (await stored(runner)).state == {"seen": True, "list": [1]}


async def test_sync_callbacks_run_in_threads():
    names = []

    def before(callback_context):
        names.append(threading.current_thread().name)

    await run(runner_of(Scripted(name="a", before_agent_callback=before)))
    assert names[0].startswith("devui-sync")


async def test_a_callback_may_end_the_agent_without_an_answer():
    def before(callback_context):
        callback_context.get_invocation_context().end_invocation = True

    assert await run(runner_of(Scripted(name="a", before_agent_callback=before))) == []


class Steps(IntEnum):
    FIRST = 1
    SECOND = 2


class StepState(BaseAgentState):
    step: Steps = Steps.FIRST


def context(agent: BaseAgent) -> InvocationContext:
    return InvocationContext(
        session_service=InMemorySessionService(),
        session=Session(id="s", app_name="app", user_id="u"),
        invocation_id="e-1",
        agent=agent,
        resumability_config=ResumabilityConfig(is_resumable=True),
    )


def test_checkpoints_have_the_form_of_the_seed():
    agent = BaseAgent(name="a")
    ctx = context(agent)
    assert agent._load_agent_state(ctx, Steps) is None
    event = agent._create_agent_state_event(ctx, StepState(step=Steps.SECOND))
    assert event.actions.agent_state == {"step": 2}
    assert event.actions.end_of_agent is None
    assert agent._load_agent_state(ctx, Steps).step is Steps.SECOND
    assert agent._load_agent_state(ctx, StepState) == StepState(step=Steps.SECOND)
    end = agent._create_agent_state_event(ctx, end_of_agent=True)
    assert (end.actions.agent_state, end.actions.end_of_agent) == (None, True)
    assert agent._load_agent_state(ctx, StepState) is None


def test_a_state_class_may_declare_a_field_as_the_seed_does():
    class StoryFlowAgentState(BaseAgentState):
        step = Steps

    class Own(BaseAgentState):
        class Mood(IntEnum):
            GOOD = 1

        mood: Mood

    agent = BaseAgent(name="a")
    ctx = context(agent)
    agent._create_agent_state_event(ctx, StoryFlowAgentState(step=Steps.SECOND))
    assert agent._load_agent_state(ctx, Steps).step is Steps.SECOND
    assert agent._load_agent_state(ctx, StoryFlowAgentState).step is Steps.SECOND
    assert Own(mood=Own.Mood.GOOD).model_dump() == {"mood": 1}


async def test_a_checkpoint_that_does_not_fit_is_reported_with_agent_and_class():
    class Before(BaseAgentState):
        round: int = 0

    class Counting(Scripted):
        async def _run_async_impl(self, ctx):
            if self._load_agent_state(ctx, StepState) is None:
                yield self._create_agent_state_event(ctx, Before(round=3))

    runner = runner_of(Counting(name="counting"), resumable=True)
    [event] = await run(runner)
    with pytest.raises(ValidationError) as error:
        await run(runner, None, invocation_id=event.invocation_id)
    [note] = error.value.__notes__
    assert note.startswith(
        "The checkpoint of agent 'counting', {'round': 3}, does not fit StepState"
    )
    assert f"{__file__}:" in note


def test_checkpoints_are_written_from_the_contexts_agent_state():
    agent = BaseAgent(name="a")
    ctx = context(agent)
    ctx.set_agent_state("a", agent_state=StepState())
    assert agent._create_agent_state_event(ctx).actions.agent_state == {"step": 1}
    ctx.set_agent_state("a", end_of_agent=True)
    event = agent._create_agent_state_event(ctx)
    assert (event.author, event.invocation_id, event.actions.end_of_agent) == ("a", "e-1", True)
    ctx.set_agent_state("a")
    assert (ctx.agent_states, ctx.end_of_agents) == ({}, {})


def test_progress_is_restored_from_the_events_of_the_invocation():
    agent = BaseAgent(name="a", sub_agents=[BaseAgent(name="b"), BaseAgent(name="c")])
    ctx = context(agent)
    other = context(agent)
    ctx.session.events += [
        other.agent._create_agent_state_event(other, StepState()),
        Event(author="b", invocation_id="e-1", message="spoke"),
        Event(author="c", invocation_id="another", message="spoke"),
        Event(author="user", invocation_id="e-1", message="said"),
    ]
    ctx.populate_invocation_agent_states()
    assert ctx.agent_states == {"a": {"step": 1}, "b": {}}
    assert ctx.end_of_agents == {"a": False, "b": False}
    ctx.session.events.append(other.agent._create_agent_state_event(other, end_of_agent=True))
    ctx.populate_invocation_agent_states()
    assert (ctx.agent_states, ctx.end_of_agents) == ({"b": {}}, {"a": True, "b": False})
    ctx.reset_sub_agent_states("a")
    assert (ctx.agent_states, ctx.end_of_agents) == ({}, {"a": True})
