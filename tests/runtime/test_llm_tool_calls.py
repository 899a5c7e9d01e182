"""The loop of model and tool calls of an `LlmAgent`."""

import asyncio
import threading

import pytest
from google.genai import types

from devui.runtime.agents import LlmAgent
from devui.runtime.models import (
    Call,
    Rule,
    Say,
    ScriptedLlm,
)
from devui.runtime.tools import LongRunningFunctionTool, ToolContext
from tests.kit.conversation import Conversation, said
from tests.kit.patience import PATIENCE
from tests.kit.travel_agent import travel_agent


async def test_the_model_calls_a_tool_and_answers_with_its_result():
    call, response, answer = await Conversation(travel_agent()).say("A flight to London")

    assert call.get_function_calls()[0].args == {"city": "London"}
    assert response.get_function_responses()[0].response == {"result": ["LHR", "LGW"]}
    assert (response.author, response.content.role) == ("travel", "user")
    assert said(answer) == "Fly to LHR, or to LGW."
    assert [e.is_final_response() for e in (call, response, answer)] == [False, False, True]


async def test_calls_and_responses_share_an_id_that_the_model_does_not_see():
    agent = travel_agent()
    conversation = Conversation(agent)

    call, response, _ = await conversation.say("A flight to London")

    call_id = call.get_function_calls()[0].id
    assert call_id.startswith("adk-")
    assert response.get_function_responses()[0].id == call_id
    contents = agent.model.requests[1].contents
    assert contents[1].parts[0].function_call.id is None
    assert contents[2].parts[0].function_response.id is None
    assert call.content.parts[0].function_call.id == call_id


async def test_the_call_is_committed_before_its_tool_runs():
    batches = []

    async def look(tool_context: ToolContext) -> None:
        session = await conversation.session()
        batches.extend(event.get_function_calls() for event in session.events)

    rules = [Rule(after="look", then=Say("done")), Rule(then=Call("look"))]
    conversation = Conversation(LlmAgent(name="a", model=ScriptedLlm(rules=rules), tools=[look]))

    await conversation.say("go")

    assert [call.name for calls in batches for call in calls] == ["look"]


async def test_a_blocking_tool_does_not_block_the_event_loop():
    released = threading.Event()

    def block() -> str:
        # Returns as soon as the loop makes progress.
        return "free" if released.wait(PATIENCE) else "the loop stood still"

    async def heartbeat() -> None:
        for _ in range(20):
            await asyncio.sleep(0)
        released.set()

    rules = [Rule(after="block", then=Say("{result}")), Rule(then=Call("block"))]
    agent = LlmAgent(name="a", model=ScriptedLlm(rules=rules), tools=[block])

    heart = asyncio.create_task(heartbeat())
    *_, answer = await Conversation(agent).say("go")
    await heart

    assert said(answer) == "free"


async def test_parallel_calls_run_concurrently_and_answer_in_order():
    meeting = asyncio.Barrier(2)

    async def wait(name: str, tool_context: ToolContext) -> str:
        await meeting.wait()  # passes only when both run
        tool_context.state[name] = True
        tool_context.state["last"] = {name: 1}
        return name

    rules = [
        Rule(after="wait", then=Say("done")),
        Rule(then=[Call("wait", name="a"), Call("wait", name="b")]),
    ]
    agent = LlmAgent(name="a", model=ScriptedLlm(rules=rules), tools=[wait])

    _, response, _ = await Conversation(agent).say("go")

    assert [r.response["result"] for r in response.get_function_responses()] == ["a", "b"]
    assert response.actions.state_delta == {"a": True, "b": True, "last": {"a": 1, "b": 1}}


async def test_if_a_call_fails_the_others_results_are_kept_and_the_error_raised():
    finished = asyncio.Event()
    cancelled = []

    async def good() -> str:
        finished.set()
        return "kept"

    async def bad() -> None:
        await finished.wait()
        raise RuntimeError("broken")

    async def slow() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    rules = [Rule(then=[Call("good"), Call("bad"), Call("slow")])]
    agent = LlmAgent(name="a", model=ScriptedLlm(rules=rules), tools=[good, bad, slow])
    conversation = Conversation(agent)

    with pytest.raises(RuntimeError, match="broken"):
        await conversation.say("go")

    _, response, error = conversation.heard
    assert [r.response for r in response.get_function_responses()] == [{"result": "kept"}]
    assert (error.error_code, error.error_message) == ("RuntimeError", "broken")
    assert cancelled == [True]


async def test_calling_an_unknown_tool_tells_the_model_which_exist():
    rules = [Rule(after="fly", then=Say("{result.error}")), Rule(then=Call("fly"))]
    agent = travel_agent(model=ScriptedLlm(rules=rules))

    *_, answer = await Conversation(agent).say("go")

    assert said(answer) == "There is no tool 'fly'. The tools are: find_airports."


async def test_a_lone_surrogate_in_a_key_is_escaped():
    def sizes() -> dict:
        return {"caf\udce9.txt": {"bytes": 3}}

    rules = [Rule(after="sizes", then=Say("ok")), Rule(then=Call("sizes"))]
    agent = LlmAgent(name="a", model=ScriptedLlm(rules=rules), tools=[sizes])

    _, response, _ = await Conversation(agent).say("go")

    result = response.get_function_responses()[0].response
    assert result == {"caf\\udce9.txt": {"bytes": 3}}


async def test_a_result_that_is_not_json_becomes_its_repr():
    class Kind(type):
        def __eq__(cls, other: object) -> bool:  # makes the class unhashable
            return cls is other

    class Odd(metaclass=Kind):
        def __repr__(self) -> str:
            return "<odd>"

    def make() -> dict:
        return {"odd": Odd(), "set": {1}}

    rules = [Rule(after="make", then=Say("ok")), Rule(then=Call("make"))]
    agent = LlmAgent(name="a", model=ScriptedLlm(rules=rules), tools=[make])

    _, response, _ = await Conversation(agent).say("go")

    assert response.get_function_responses()[0].response == {"odd": "<odd>", "set": [1]}
    response.model_dump_json(by_alias=True, exclude_none=True)


async def test_a_long_running_tool_without_result_ends_the_turn():
    def approve(tool_context: ToolContext) -> None:
        tool_context.state["asked"] = True

    rules = [Rule(after="approve", then=Say("{result}!")), Rule(then=Call("approve"))]
    agent = LlmAgent(
        name="a", model=ScriptedLlm(rules=rules), tools=[LongRunningFunctionTool(approve)]
    )
    conversation = Conversation(agent)

    call, changes = await conversation.say("go")

    call_id = call.get_function_calls()[0].id
    assert call.long_running_tool_ids == {call_id}
    assert call.is_final_response()
    assert (changes.content, changes.actions.state_delta) == (None, {"asked": True})

    late = types.FunctionResponse(id=call_id, name="approve", response={"result": "yes"})
    part = types.Part(function_response=late)
    [answer] = await conversation.say(types.Content(role="user", parts=[part]))
    assert said(answer) == "yes!"


async def test_skip_summarization_makes_the_tools_result_the_answer():
    def show(tool_context: ToolContext) -> str:
        tool_context.actions.skip_summarization = True
        return "shown"

    agent = LlmAgent(name="a", model=ScriptedLlm(rules=[Rule(then=Call("show"))]), tools=[show])

    _, response = await Conversation(agent).say("go")

    assert response.is_final_response()
