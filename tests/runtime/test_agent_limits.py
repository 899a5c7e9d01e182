"""Agents that have a time limit, retries or a state schema (adk-runtime 12.1, 12.5)."""

import asyncio
from contextlib import aclosing
from typing import Any

import pytest
from google.genai import types
from pydantic import BaseModel

from devui.runtime.agents import BaseAgent, LlmAgent
from devui.runtime.events import Event
from devui.runtime.models import BaseLlm, LlmResponse
from devui.runtime.plugins import BasePlugin
from devui.runtime.runners import InMemoryRunner
from devui.runtime.sessions.state import StateSchemaError
from devui.runtime.time_limits import clock_stopped
from devui.runtime.tools import AgentTool, LongRunningFunctionTool
from devui.runtime.workflow import START, NodeTimeoutError, RetryConfig, Workflow, node
from tests.kit.conversation import Conversation, answer, call_part, resumable, said

ONCE_MORE = RetryConfig(max_attempts=2, initial_delay=0, jitter=0)
MOMENT = 0.05
LONG = 1.5
"""Seconds that suffice for anything quick, even on a busy machine."""


class Hours(BaseModel):
    hours: int = 0


class Hanging(BaseLlm):
    """A model that never answers its first request."""

    model: str = "hanging"
    calls: int = 0
    cancelled: int = 0

    async def generate_content_async(self, llm_request, stream=False):
        self.calls += 1
        if self.calls == 1:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
        yield LlmResponse(content=types.ModelContent("Here."))


class Scripted(BaseLlm):
    """A model that gives its answers in order."""

    model: str = "scripted"
    answers: list[types.Content]

    async def generate_content_async(self, llm_request, stream=False):
        yield LlmResponse(content=self.answers.pop(0))


def scripted(*answers: Any) -> Scripted:
    """Return a model with these answers, each a part, a text, or a list of those."""
    several = [each if isinstance(each, list) else [each] for each in answers]
    return Scripted(answers=[answer(*each) for each in several])


def write(tool_context, key: str, value: int) -> str:
    tool_context.state[key] = value
    return "written"


def outcomes_of(events: list[Event]) -> list[str | None]:
    return [event.error_code or said(event) or None for event in events]


async def test_a_root_agent_that_times_out_is_cancelled():
    model = Hanging()
    talk = Conversation(LlmAgent(name="agent", model=model, timeout=MOMENT))
    with pytest.raises(NodeTimeoutError, match=r"'agent' did not finish within 0\.05 s"):
        await talk.say("go")
    assert model.cancelled == 1
    assert [(e.author, e.error_code) for e in talk.heard] == [("agent", "NodeTimeoutError")]
    assert (await talk.session()).events[-1].error_code == "NodeTimeoutError"
    assert outcomes_of(await talk.say("again")) == ["Here."]


async def test_a_root_agent_that_times_out_is_retried():
    agent = LlmAgent(name="agent", model=Hanging(), timeout=MOMENT, retry_config=ONCE_MORE)
    assert outcomes_of(await Conversation(agent).say("go")) == ["NodeTimeoutError", "Here."]


async def test_an_agent_behind_an_agent_tool_has_its_own_limits():
    inner = LlmAgent(name="inner", model=Hanging(), timeout=MOMENT, retry_config=ONCE_MORE)
    model = scripted(call_part("inner", request="x"), "Done.")
    agent = LlmAgent(name="agent", model=model, tools=[AgentTool(inner)])
    events = await Conversation(agent).say("go")
    assert [r.response for e in events for r in e.get_function_responses()] == [{"result": "Here."}]


async def test_the_same_exception_is_reported_for_each_attempt():
    class Failing(BaseAgent):
        async def _run_async_impl(self, ctx):
            raise error
            yield

    error = ValueError("boom")
    below = Failing(name="below", description="Helps.", retry_config=ONCE_MORE)
    model = scripted(call_part("transfer_to_agent", agent_name="below"))
    talk = Conversation(LlmAgent(name="agent", model=model, sub_agents=[below]))
    with pytest.raises(ValueError, match="boom"):
        await talk.say("go")
    failed = [event.author for event in talk.heard if event.error_code]
    assert failed == ["below", "below"]


async def test_an_expert_is_retried_if_its_answer_does_not_fit_the_schema():
    expert = LlmAgent(
        name="expert",
        description="Knows.",
        mode="single_turn",
        model=scripted("Three hours.", '{"hours": 3}'),
        output_schema=Hours,
        retry_config=ONCE_MORE,
    )
    model = scripted(call_part("expert", request="x"), "Done.")
    events = await Conversation(LlmAgent(name="agent", model=model, sub_agents=[expert])).say("go")
    [response] = [r for event in events for r in event.get_function_responses()]
    assert response.response == {"hours": 3}


async def test_a_state_write_that_the_schema_forbids_is_not_committed():
    model = scripted(call_part("write", key="days", value=1), "Done.")
    talk = Conversation(LlmAgent(name="agent", model=model, tools=[write], state_schema=Hours))
    with pytest.raises(StateSchemaError, match="'days' is not declared"):
        await talk.say("go")
    session = await talk.session()
    assert session.state == {}
    assert [e.error_code for e in session.events] == [None, None, "StateSchemaError"]


async def test_a_state_write_that_the_schema_allows_is_committed():
    model = scripted(call_part("write", key="hours", value=1), "Done.")
    talk = Conversation(LlmAgent(name="agent", model=model, tools=[write], state_schema=Hours))
    await talk.say("go")
    assert (await talk.session()).state == {"hours": 1}


async def test_a_slow_caller_does_not_make_an_agent_time_out():
    model = scripted(call_part("write", key="hours", value=1), "Done.")
    talk = Conversation(LlmAgent(name="agent", model=model, tools=[write], timeout=LONG))
    await talk.runner.session_service.create_session(app_name="app", user_id="user", session_id="s")
    async for event in talk.runner.run_async(
        user_id="user", session_id="s", new_message=types.UserContent("go")
    ):
        talk.heard.append(event)
        if len(talk.heard) == 1:
            await asyncio.sleep(LONG + 0.1)
    assert outcomes_of(talk.heard)[-1] == "Done."


async def test_an_agent_does_not_time_out_while_a_plugin_holds_it():
    class Holding(BasePlugin):
        async def before_tool_callback(self, *, tool, tool_args, tool_context):
            with clock_stopped():
                await asyncio.sleep(LONG + 0.2)

    answers = [[call_part("write", key="hours", value=n) for n in (1, 2)], "Done."]
    agent = LlmAgent(name="agent", model=scripted(*answers), tools=[write], timeout=LONG)
    talk = Conversation(agent, plugins=[Holding(name="holding")])
    assert outcomes_of(await talk.say("go"))[-1] == "Done."


async def test_a_plugin_that_holds_an_agent_does_not_extend_its_timeout():
    class Holding(BasePlugin):
        async def before_model_callback(self, *, callback_context, llm_request):
            with clock_stopped():
                await asyncio.sleep(2 * MOMENT)

    model = Hanging()
    agent = LlmAgent(name="agent", model=model, timeout=MOMENT)
    with pytest.raises(NodeTimeoutError):
        await Conversation(agent, plugins=[Holding(name="holding")]).say("go")
    assert model.cancelled == 1


async def test_a_node_does_not_time_out_while_the_caller_handles_its_event():
    @node(timeout=LONG)
    async def work():
        yield Event(message="Begun.")
        yield "done"

    outputs = []
    runner = InMemoryRunner(node=Workflow(name="wf", edges=[(START, work)]))
    await runner.session_service.create_session(
        app_name=runner.app_name, user_id="user", session_id="s"
    )
    async for event in runner.run_async(
        user_id="user", session_id="s", new_message=types.UserContent("go")
    ):
        outputs.append(event.output)
        await asyncio.sleep(LONG + 0.2)
    assert outputs == [None, "done"]


async def test_an_agent_with_a_timeout_of_zero_fails_at_once():
    talk = Conversation(LlmAgent(name="agent", model=scripted("Never."), timeout=0))
    with pytest.raises(NodeTimeoutError):
        await talk.say("go")


async def lost_and_resumed(talk: Conversation) -> list[Event]:
    """Return the events of a resumed run that was lost after its first event."""
    await talk.runner.session_service.create_session(app_name="app", user_id="user", session_id="s")
    where = {"user_id": "user", "session_id": "s"}
    async with aclosing(
        talk.runner.run_async(**where, new_message=types.UserContent("go"))
    ) as events:
        first = await anext(events)
    resumed = talk.runner.run_async(**where, invocation_id=first.invocation_id)
    return [event async for event in resumed]


def failing_once(name: str) -> Any:
    """Return a tool that fails the first time it is called."""
    calls = []

    async def work() -> dict[str, str]:
        calls.append(name)
        if len(calls) == 1:
            raise ValueError("boom")
        return {"done": name}

    work.__name__ = name
    return work


@pytest.mark.parametrize("yes", [True, False])
async def test_an_agent_is_retried_in_a_resumed_run(yes):
    answers = [call_part("write", key="hours", value=1), call_part("shaky"), call_part("shaky")]
    model = scripted(*answers, "Done.")
    tools = [write, failing_once("shaky")]
    talk = resumable(
        LlmAgent(name="agent", model=model, tools=tools, retry_config=ONCE_MORE), yes=yes
    )
    outcomes = outcomes_of(await lost_and_resumed(talk))
    assert [each for each in outcomes if each] == ["ValueError", "Done."]


async def test_a_retried_agent_continues_after_a_task_given_with_the_failed_call():
    finish = scripted(call_part("finish_task", result="Done."))
    clerk = LlmAgent(name="clerk", mode="task", description="Works.", model=finish)
    calls = [call_part("shaky"), call_part("clerk", request="Work.")]
    agent = LlmAgent(
        name="agent",
        model=scripted(calls, call_part("shaky"), "All done."),
        tools=[failing_once("shaky")],
        sub_agents=[clerk],
        retry_config=ONCE_MORE,
    )
    assert outcomes_of(await Conversation(agent).say("go"))[-1] == "All done."


@pytest.mark.parametrize("yes", [True, False])
async def test_an_agent_is_retried_if_its_long_running_tool_fails_to_start(yes):
    job = LongRunningFunctionTool(failing_once("job"))
    model = scripted(call_part("job"), call_part("job"), "Done.")
    agent = LlmAgent(name="agent", model=model, tools=[job], retry_config=ONCE_MORE)
    events = await resumable(agent, yes=yes).say("go")
    assert "ValueError" in outcomes_of(events)
    assert "Done." in outcomes_of(events)


async def test_an_agent_in_a_graph_is_retried_after_a_task():
    finish = scripted(call_part("finish_task", result="Done."))
    clerk = LlmAgent(name="clerk", mode="task", description="Works.", model=finish)
    calls = [call_part("shaky"), call_part("clerk", request="Work.")]
    agent = LlmAgent(
        name="agent",
        mode="task",
        model=scripted(calls, call_part("shaky"), call_part("finish_task", result="All done.")),
        tools=[failing_once("shaky")],
        sub_agents=[clerk],
        retry_config=ONCE_MORE,
    )
    runner = InMemoryRunner(node=Workflow(name="wf", edges=[(START, agent)]))
    runner.auto_create_session = True
    run = runner.run_async(user_id="user", session_id="s", new_message=types.UserContent("go"))
    assert {"result": "All done."} in [event.output async for event in run]


async def test_a_task_runs_again_if_its_caller_is_retried_in_a_resumed_run():
    work = scripted(
        call_part("shaky"), call_part("shaky"), call_part("finish_task", result="Done.")
    )
    clerk = LlmAgent(
        name="clerk", mode="task", description="Works.", model=work, tools=[failing_once("shaky")]
    )
    model = scripted(call_part("clerk", request="Work."), "All done.")
    agent = LlmAgent(name="agent", model=model, sub_agents=[clerk], retry_config=ONCE_MORE)
    talk = resumable(agent, yes=True)
    assert "All done." in outcomes_of(await lost_and_resumed(talk))
