"""Which agent takes the next turn (adk-runtime 3.4)."""

import pytest
from google.genai import types

from devui.runtime.agents import BaseAgent, LlmAgent, SequentialAgent
from devui.runtime.events import Event, EventActions
from devui.runtime.invocations.agent_choice import last_speaker
from devui.runtime.models import Rule, Say, ScriptedLlm
from tests.kit.stages import WHERE, run, runner_of, stored, texts


def tree(**child) -> LlmAgent:
    leaf = LlmAgent(name="leaf")
    return LlmAgent(
        name="root",
        sub_agents=[
            LlmAgent(name="child", **child),
            SequentialAgent(name="seq", sub_agents=[leaf]),
            BaseAgent(name="custom"),
        ],
    )


def spoke(author: str, **kwargs) -> Event:
    return Event(author=author, message="words", **kwargs)


def test_each_unknown_speaker_is_logged_once(caplog):
    history = [spoke("stranger"), spoke("other"), spoke("user"), spoke("stranger")]
    assert last_speaker(tree(), history).name == "root"
    assert caplog.text.count("'stranger'") == caplog.text.count("'other'") == 1


@pytest.mark.parametrize(
    ("history", "name"),
    [
        ([], "root"),
        ([spoke("user")], "root"),
        ([spoke("root"), spoke("user")], "root"),
        ([spoke("root"), spoke("child"), spoke("user")], "child"),
        ([spoke("child"), spoke("root")], "root"),
        ([spoke("leaf")], "root"),
        ([spoke("custom")], "root"),
        ([spoke("stranger"), spoke("user")], "root"),
        ([spoke("child"), spoke("stranger")], "child"),
        ([spoke("root", actions=EventActions(transfer_to_agent="child"))], "child"),
        ([spoke("root", actions=EventActions(transfer_to_agent="leaf"))], "root"),
        ([spoke("child", actions=EventActions(transfer_to_agent="leaf"))], "child"),
        ([spoke("child"), Event(author="root", actions=EventActions(end_of_agent=True))], "child"),
        ([spoke("child"), Event(author="root", error_code="X")], "child"),
        ([spoke("child"), spoke("root", error_code="INVOCATION_ABORTED")], "child"),
        (
            [
                spoke("root", invocation_id="1"),
                spoke("child", invocation_id="2"),
                Event(actions=EventActions(rewind_before_invocation_id="2")),
            ],
            "root",
        ),
    ],
)
def test_the_turn_stays_with_the_last_agent_that_can_transfer_back(history: list[Event], name: str):
    assert last_speaker(tree(), history).name == name


def test_an_agent_that_cannot_transfer_back_does_not_get_the_turn():
    root = tree(disallow_transfer_to_parent=True)
    assert last_speaker(root, [spoke("child")]) is root


async def test_the_next_turn_stays_with_the_sub_agent_on_its_branch():
    rules = [Rule(then=Say("from child"))]
    child = LlmAgent(name="child", model=ScriptedLlm(rules=rules))
    runner = runner_of(LlmAgent(name="root", model=ScriptedLlm(rules=[]), sub_agents=[child]))
    session = await runner.session_service.create_session(app_name="app", **WHERE)
    await runner.session_service.append_event(session, spoke("child", branch="root.child"))
    [event] = await run(runner)
    assert (event.author, event.branch, texts([event])) == ("child", "root.child", ["from child"])


async def test_an_answer_goes_to_the_agent_and_the_invocation_that_asked():
    child = LlmAgent(name="child", model=ScriptedLlm(rules=[Rule(then=Say("thanks"))]))
    runner = runner_of(LlmAgent(name="root", model=ScriptedLlm(rules=[]), sub_agents=[child]))
    session = await runner.session_service.create_session(app_name="app", **WHERE)
    call = types.Part(function_call=types.FunctionCall(id="c1", name="ask", args={}))
    question = Event(
        author="child",
        invocation_id="e-1",
        branch="b",
        content=types.Content(role="model", parts=[call]),
        long_running_tool_ids={"c1"},
    )
    message_event = Event(author="user", invocation_id="e-1", message="please")
    for event in (message_event, question, spoke("root", invocation_id="e-2")):
        await runner.session_service.append_event(session, event)
    answer = types.FunctionResponse(id="c1", name="ask", response={"result": 1})
    message = types.Content(role="user", parts=[types.Part(function_response=answer)])
    events = [event async for event in runner.run_async(**WHERE, new_message=message)]
    assert [(e.author, e.invocation_id, e.branch) for e in events] == [("child", "e-1", "b")]
    reply = (await stored(runner)).events[-2]
    assert (reply.author, reply.invocation_id, reply.branch) == ("user", "e-1", "b")
