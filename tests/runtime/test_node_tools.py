"""Nodes as tools where google-adk is no reference: failures, resumption, mistakes."""

import asyncio

import pytest
from google.genai import types
from pydantic import ValidationError

from devui.runtime import Workflow
from devui.runtime.agents import LlmAgent
from devui.runtime.apps import App, ResumabilityConfig
from devui.runtime.events import RequestInput
from devui.runtime.models import Call, Rule, Say, ScriptedLlm
from devui.runtime.runners import InMemoryRunner
from devui.runtime.tools import BaseToolset
from devui.runtime.workflow import START, JoinNode, node
from devui.runtime.workflow.errors import WorkflowDataError
from tests.kit.patience import PATIENCE

WHO = {"user_id": "u", "session_id": "s"}
CALLS = ScriptedLlm(
    rules=[
        Rule(after="steps", then=Say("It gave {result}")),
        Rule(user="go", then=Call("steps", request="abc")),
    ]
)


def steps(*nodes, **fields):
    return Workflow(name="steps", edges=[(START, *nodes)], **fields)


async def new_runner(*tools, resumable=False, **fields):
    """Return a runner of an agent with these tools, with a session."""
    agent = LlmAgent(name="agent", model=CALLS, tools=list(tools), **fields)
    config = ResumabilityConfig(is_resumable=True) if resumable else None
    app = App(name="app", root_agent=agent, resumability_config=config)
    runner = InMemoryRunner(app=app)
    await runner.session_service.create_session(app_name="app", **WHO)
    return runner


async def outputs(runner, message=None, **how):
    """Return the texts and the node outputs of a run."""
    content = types.UserContent(message) if isinstance(message, str) else message
    values = []
    async for event in runner.run_async(**WHO, new_message=content, **how):
        parts = (event.content.parts if event.content else None) or []
        values += [part.text for part in parts if part.text]
        values += [] if event.output is None else [event.output]
    return values


def reply(question, value):
    response = types.FunctionResponse(
        id=question, name="adk_request_input", response={"result": value}
    )
    return types.Content(role="user", parts=[types.Part(function_response=response)])


@pytest.mark.parametrize("resumable", [False, True])
async def test_a_workflow_that_failed_within_a_call_continues_where_it_was(resumable):
    steps_run = []

    def first(node_input: str):
        steps_run.append("first")
        return len(node_input)

    def second(node_input: int):
        steps_run.append("second")
        if steps_run.count("second") == 1:
            raise ConnectionError("offline")
        return node_input + 1

    runner = await new_runner(steps(first, second), resumable=resumable)
    with pytest.raises(ConnectionError):
        await outputs(runner, "go")
    session = await runner.session_service.get_session(app_name="app", **WHO)
    invocation = session.events[-1].invocation_id

    assert await outputs(runner, invocation_id=invocation) == [4, "It gave 4"]
    assert steps_run == ["first", "second", "second"]


async def test_a_waiting_call_does_not_ask_again_if_the_run_is_resumed_unanswered():
    async def ask(node_input: str):
        yield RequestInput(interrupt_id="q")

    runner = await new_runner(steps(ask), resumable=True)
    await outputs(runner, "go")
    session = await runner.session_service.get_session(app_name="app", **WHO)

    assert await outputs(runner, invocation_id=session.events[0].invocation_id) == []
    session = await runner.session_service.get_session(app_name="app", **WHO)
    calls = [call.name for event in session.events for call in event.get_function_calls()]
    assert calls == ["steps", "adk_request_input"]
    assert (await outputs(runner, reply("q", 7)))[-1] == "It gave 7"


async def test_nodes_of_a_call_are_stopped_with_it():
    begun, stopped = asyncio.Event(), asyncio.Event()

    async def wait(node_input: str):
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    runner = await new_runner(steps(wait))
    run = asyncio.create_task(outputs(runner, "go"))
    await asyncio.wait_for(begun.wait(), PATIENCE)
    run.cancel()
    await asyncio.wait([run])
    assert stopped.is_set()


async def test_toolsets_of_agents_inside_a_tool_are_closed_with_the_runner():
    closed = []

    class Connected(BaseToolset):
        async def get_tools(self, readonly_context=None):
            return []

        async def close(self):
            closed.append("toolset")

    inner = LlmAgent(name="inner", model=CALLS, tools=[Connected()])
    runner = await new_runner(steps(inner))
    await runner.close()
    assert closed == ["toolset"]


def anything(node_input):
    return node_input


def number(node_input: int):
    return node_input


def words(node_input: str):
    return node_input


@pytest.mark.parametrize("first", [anything, (number, words), JoinNode(name="join")])
def test_a_workflow_without_a_known_input_schema_cannot_be_a_tool(first):
    with pytest.raises(ValidationError, match=r"does not declare its input.*input_schema"):
        LlmAgent(name="agent", tools=[steps(first)])


async def test_a_node_is_always_the_same_tool():
    agent = LlmAgent(name="agent", tools=[node(anything)])
    assert (await agent.canonical_tools())[0] is (await agent.canonical_tools())[0]


async def test_two_calls_of_a_workflow_cannot_ask_with_the_same_id():
    async def ask(node_input: str):
        yield RequestInput(interrupt_id="q")

    calls = [Call("steps", request="a"), Call("steps", request="b")]
    agent = LlmAgent(name="agent", model=ScriptedLlm(rules=[Rule(then=calls)]), tools=[steps(ask)])
    runner = InMemoryRunner(agent, app_name="app")
    await runner.session_service.create_session(app_name="app", **WHO)
    with pytest.raises(WorkflowDataError, match=r"the id 'q', and so does agent@1/steps@.*/ask@1"):
        await outputs(runner, "go")


async def test_a_rerun_node_may_repeat_its_open_question():
    @node(rerun_on_resume=True)
    async def ask(ctx):
        if "one" not in ctx.resume_inputs:
            yield RequestInput(interrupt_id="one")
        if "two" not in ctx.resume_inputs:
            yield RequestInput(interrupt_id="two")
            return
        yield sorted(ctx.resume_inputs.values())

    runner = InMemoryRunner(Workflow(name="wf", edges=[(START, ask)]), app_name="app")
    await runner.session_service.create_session(app_name="app", **WHO)
    await outputs(runner, "go")
    await outputs(runner, reply("one", 1))
    assert await outputs(runner, reply("two", 2)) == [[1, 2]]
