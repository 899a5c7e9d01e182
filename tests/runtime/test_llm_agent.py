"""An agent with a model: the loop of model and tools, and what the agent's fields mean."""

import asyncio
import threading

import pytest
from google.genai import types
from pydantic import BaseModel, ValidationError

from devui.runtime.agents import Agent, BaseAgent, LlmAgent, RunConfig
from devui.runtime.agents.invocation_context import LlmCallsLimitExceededError
from devui.runtime.models import (
    BaseLlm,
    Call,
    Fail,
    LlmCapabilities,
    LlmResponse,
    Rule,
    Say,
    ScriptedLlm,
)
from devui.runtime.tools import BaseTool, BaseToolset, LongRunningFunctionTool, ToolContext
from tests.kit.conversation import STREAMED, Conversation, outline, said


def find_airports(city: str) -> list[str]:
    """Airports of a city."""
    return {"London": ["LHR", "LGW"]}[city]


def travel_agent(**fields):
    rules = [
        Rule(user=r"to (?P<city>\w+)", then=Call("find_airports", city="{city}")),
        Rule(after="find_airports", then=Say("Fly to {result.0}, or to {result.1}.", chunks=3)),
        Rule(then=Say("Where to?")),
    ]
    fields = {
        "name": "travel",
        "model": ScriptedLlm(rules=rules),
        "tools": [find_airports],
    } | fields
    return LlmAgent(**fields)


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
    sent = agent.model.requests[1].contents
    assert sent[1].parts[0].function_call.id is None
    assert sent[2].parts[0].function_response.id is None
    assert call.content.parts[0].function_call.id == call_id


async def test_the_call_is_committed_before_its_tool_runs():
    stored = []

    async def look(tool_context: ToolContext) -> None:
        session = await conversation.session()
        stored.extend(event.get_function_calls() for event in session.events)

    rules = [Rule(after="look", then=Say("done")), Rule(then=Call("look"))]
    conversation = Conversation(LlmAgent(name="a", model=ScriptedLlm(rules=rules), tools=[look]))

    await conversation.say("go")

    assert [call.name for calls in stored for call in calls] == ["look"]


async def test_fragments_and_the_answer_share_one_id_and_only_the_answer_changes_state():
    events = await Conversation(travel_agent(output_key="advice")).say(
        "A flight to London", STREAMED
    )

    *fragments, answer = events[2:]
    assert [event.partial for event in fragments] == [True, True, True]
    assert {event.id for event in fragments} == {answer.id}
    assert len({event.id for event in events}) == 3
    assert all(event.actions.state_delta == {} for event in fragments)
    assert answer.actions.state_delta == {"advice": "Fly to LHR, or to LGW."}


async def test_fragments_are_not_stored():
    conversation = Conversation(travel_agent())

    events = await conversation.say("A flight to London", STREAMED)

    whole = [event.id for event in events if not event.partial]
    assert [event.id for event in (await conversation.session()).events[1:]] == whole


async def test_a_blocking_tool_does_not_hold_up_the_loop():
    released = threading.Event()

    def block() -> str:
        # Ends as soon as the loop goes on meanwhile; if it does not, only after ten seconds.
        return "free" if released.wait(10) else "the loop stood still"

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


async def test_parallel_calls_run_at_the_same_time_and_answer_in_order():
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


async def test_when_one_call_fails_the_others_results_are_kept_and_the_error_is_raised():
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


async def test_an_exception_becomes_a_stored_error_event_and_is_raised():
    agent = LlmAgent(name="a", model=ScriptedLlm(rules=[Rule(then=Fail(raises=OSError("gone")))]))
    conversation = Conversation(agent)

    with pytest.raises(OSError, match="gone"):
        await conversation.say("go")

    error = (await conversation.session()).events[-1]
    assert (error.author, error.error_code, error.error_message) == ("a", "OSError", "gone")
    assert error.is_final_response()


async def test_an_error_of_the_model_is_a_final_event():
    rules = [Rule(then=Fail("SAFETY", "Blocked."))]
    agent = LlmAgent(name="a", model=ScriptedLlm(rules=rules))

    [event] = await Conversation(agent).say("go")

    assert (event.error_code, event.error_message, event.content) == ("SAFETY", "Blocked.", None)
    assert event.is_final_response()


@pytest.mark.parametrize("run_config", [None, STREAMED])
async def test_an_answer_of_thoughts_alone_is_an_error(run_config):
    rules = [Rule(then=Say("Hm.", thought=True))]
    agent = LlmAgent(name="a", model=ScriptedLlm(rules=rules))

    event = (await Conversation(agent).say("go", run_config))[-1]

    assert event.error_code == "MODEL_RETURNED_NO_CONTENT"


async def test_a_tool_that_does_not_exist_tells_the_model_which_do():
    rules = [Rule(after="fly", then=Say("{result.error}")), Rule(then=Call("fly"))]
    agent = travel_agent(model=ScriptedLlm(rules=rules))

    *_, answer = await Conversation(agent).say("go")

    assert said(answer) == "There is no tool 'fly'. The tools are: find_airports."


async def test_what_json_cannot_hold_becomes_its_repr():
    class Odd:
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


async def test_the_number_of_model_calls_is_limited():
    agent = LlmAgent(
        name="a", model=ScriptedLlm(rules=[Rule(then=Call("again"))]), tools=[lambda: 1]
    )
    conversation = Conversation(agent)

    with pytest.raises(LlmCallsLimitExceededError, match="more than 3 model calls"):
        await conversation.say("go", RunConfig(max_llm_calls=3))

    assert conversation.heard[-1].error_code == "LlmCallsLimitExceededError"


async def test_output_key_keeps_all_that_was_said_in_the_turn():
    def step() -> str:
        return "ok"

    rules = [
        Rule(after="step", then=Say("Done.")),
        Rule(then=[Say("Hm", thought=True), Say("Wait. "), Call("step")]),
    ]
    agent = LlmAgent(name="a", model=ScriptedLlm(rules=rules), tools=[step], output_key="said")
    conversation = Conversation(agent)

    await conversation.say("go")

    assert (await conversation.session()).state["said"] == "Wait. Done."


class City(BaseModel):
    name: str
    airports: list[str] = []
    mayor: str | None = None


async def test_an_output_schema_is_asked_for_and_parsed():
    rules = [Rule(then=Say('```json\n{"name": "Rome"}\n```'))]
    agent = LlmAgent(
        name="a", model=ScriptedLlm(rules=rules), output_schema=City, output_key="city"
    )
    conversation = Conversation(agent)

    await conversation.say("go")

    assert (await conversation.session()).state["city"] == {"name": "Rome", "airports": []}
    config = agent.model.requests[0].config
    assert (config.response_schema, config.response_mime_type) == (City, "application/json")


async def test_an_answer_that_does_not_fit_the_schema_is_shown_and_raises():
    agent = LlmAgent(
        name="a",
        model=ScriptedLlm(rules=[Rule(then=Say('{"title": "Rome"}'))]),
        output_schema=City,
        output_key="city",
    )
    conversation = Conversation(agent)

    with pytest.raises(ValueError, match="does not fit its output_schema"):
        await conversation.say("go")

    answer, error = conversation.heard
    assert said(answer) == '{"title": "Rome"}'
    assert error.error_code == "ValueError"


class EitherOr(ScriptedLlm):
    """A model that takes no schema beside tools."""

    @property
    def capabilities(self):
        return LlmCapabilities()


async def test_with_tools_the_structured_answer_is_given_through_a_tool():
    rules = [
        Rule(after="set_model_response", then=Call("set_model_response", name="Rome")),
        Rule(then=Call("set_model_response", title="Rome")),
    ]
    agent = travel_agent(model=EitherOr(rules=rules), output_schema=City, output_key="city")
    conversation = Conversation(agent)

    _, refused, _, accepted, answer = await conversation.say("go")

    assert "does not fit" in refused.get_function_responses()[0].response["error"]
    assert accepted.actions.set_model_response == {"name": "Rome", "airports": []}
    assert said(answer) == '{"name": "Rome", "airports": []}'
    assert (await conversation.session()).state["city"] == {"name": "Rome", "airports": []}
    names = [d.name for d in agent.model.requests[0].config.tools[0].function_declarations]
    assert names == ["set_model_response", "find_airports"]


async def test_lists_are_wrapped_for_the_structured_answer():
    rules = [Rule(then=Call("set_model_response", items=[{"name": "Rome"}]))]
    agent = travel_agent(model=EitherOr(rules=rules), output_schema=list[City])

    *_, answer = await Conversation(agent).say("go")

    assert said(answer) == '[{"name": "Rome", "airports": []}]'


async def test_generation_settings_reach_the_model_and_stay_the_agents_own():
    config = types.GenerateContentConfig(temperature=0.3, labels={"a": "1"})
    agent = travel_agent(generate_content_config=config)

    await Conversation(agent).say("hi", RunConfig(labels={"b": "2"}))

    sent = agent.model.requests[0].config
    assert sent.temperature == 0.3
    assert sent.labels == {"a": "1", "b": "2", "adk_agent_name": agent.name}
    assert config.labels == {"a": "1"}
    assert config.system_instruction is None


def test_a_model_is_inherited_from_the_nearest_agent_above():
    leaf = LlmAgent(name="leaf")
    middle = BaseAgent(name="middle", sub_agents=[leaf])
    model = ScriptedLlm()
    LlmAgent(name="root", model=model, sub_agents=[middle])

    assert leaf.canonical_model is model
    assert LlmAgent(name="alone").canonical_model.model == "gemini-3.5-flash"


def test_a_named_model_is_made_once():
    agent = LlmAgent(name="a", model="gemini-2.5-flash")

    assert agent.canonical_model is agent.canonical_model
    agent.model = "gemini-2.5-pro"
    assert agent.canonical_model.model == "gemini-2.5-pro"


async def test_functions_tools_and_toolsets_become_tools():
    class Named(BaseTool):
        async def run_async(self, *, args, tool_context):
            return None

    class Set(BaseToolset):
        async def get_tools(self, readonly_context=None):
            tools = [Named(name=name, description="") for name in ("one", "two")]
            return [tool for tool in tools if self._is_tool_selected(tool, readonly_context)]

    class Broken(BaseToolset):
        async def get_tools(self, readonly_context=None):
            raise ConnectionError("no server")

    tools = [find_airports, Broken(), Set(tool_filter=["two"], tool_name_prefix="my")]
    agent = LlmAgent(name="a", tools=[*tools, Named(name="own", description="")])

    assert [tool.name for tool in await agent.canonical_tools()] == [
        "find_airports",
        "my_two",
        "own",
    ]
    assert (await agent.canonical_tools())[0] is (await agent.canonical_tools())[0]


@pytest.mark.parametrize(
    ("fields", "advice"),
    [
        ({"temperature": 0.1}, "put it into generate_content_config"),
        ({"maxOutputTokens": 9}, "put it into generate_content_config"),
        ({"system_instruction": "x"}, "use `instruction`"),
        ({"parallel_worker": True}, r"use node\(agent, parallel_worker=True\)"),
        ({"colour": "red"}, "LlmAgent has no `colour`"),
        ({"tools": ["text"]}, "without calling it"),
        ({"tools": [LlmAgent(name="b")]}, "put it into `sub_agents`"),
        (
            {"generate_content_config": types.GenerateContentConfig(system_instruction="x")},
            "use the agent's `instruction`",
        ),
    ],
)
def test_what_cannot_be_honoured_is_refused_with_advice(fields, advice):
    with pytest.raises(ValidationError, match=advice):
        LlmAgent(name="a", **fields)


def test_agent_is_another_name_of_llm_agent():
    assert Agent is LlmAgent


async def test_a_model_that_ends_with_a_fragment_ends_the_turn(caplog):
    class Unfinished(BaseLlm):
        async def generate_content_async(self, llm_request, stream=False):
            yield LlmResponse(content=types.ModelContent("half"), partial=True)

    events = await Conversation(LlmAgent(name="a", model=Unfinished(model="x"))).say("go")

    assert [said(event) for event in events] == ["half"]
    assert "ended its stream with a fragment" in caplog.text


async def test_the_next_turn_sees_the_last():
    agent = travel_agent()
    conversation = Conversation(agent)

    await conversation.say("A flight to London")
    await conversation.say("Thanks")

    assert outline(agent.model.requests[-1].contents) == [
        ("user", ["A flight to London"]),
        ("model", ["find_airports()"]),
        ("user", ["find_airports={'result': ['LHR', 'LGW']}"]),
        ("model", ["Fly to LHR, or to LGW."]),
        ("user", ["Thanks"]),
    ]
