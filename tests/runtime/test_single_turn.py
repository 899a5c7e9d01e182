"""Sub-agents that their parent's model calls as tools."""

import pytest
from google.genai import types
from pydantic import BaseModel, ValidationError

from devui.runtime.agents import LlmAgent, SequentialAgent
from devui.runtime.models import Call, Fail, Rule, Say, ScriptedLlm
from devui.runtime.tools import LongRunningFunctionTool
from tests.kit.conversation import (
    STREAMED,
    Conversation,
    outline,
    response_part,
    resumable,
    said,
)


class Weather(BaseModel):
    sky: str


class Place(BaseModel):
    city: str


def look(city: str) -> str:
    """Look out."""
    return f"rain in {city}"


def expert(*rules, **fields):
    rules = rules or [
        Rule(after="look", then=Say("Expect {result}.")),
        Rule(then=Call("look", city="Rome")),
    ]
    return LlmAgent(
        name="expert",
        description="Knows the weather.",
        model=ScriptedLlm(rules=rules),
        mode="single_turn",
        **{"tools": [look], **fields},
    )


def chief(*sub_agents, asks=None):
    rules = [
        Rule(after="expert", then=Say("I heard: {result}")),
        Rule(user="thanks", then=Say("Welcome.")),
        Rule(then=asks or Call("expert", request="Rome?")),
    ]
    return LlmAgent(name="chief", model=ScriptedLlm(rules=rules), sub_agents=list(sub_agents))


def authors(events):
    return [event.author for event in events]


def result_of(events):
    [response] = [r for e in events for r in e.get_function_responses() if r.name == "expert"]
    return response.response


async def test_an_experts_events_are_stored_and_its_last_answer_is_the_result():
    conversation = Conversation(chief(expert()))

    events = await conversation.say("Weather?")

    assert authors(events) == ["chief", "expert", "expert", "expert", "chief", "chief"]
    assert result_of(events) == {"result": "Expect rain in Rome."}
    assert said(events[-1]) == "I heard: Expect rain in Rome."
    call_id = events[0].get_function_calls()[0].id
    assert {event.branch for event in events[1:4]} == {f"expert@{call_id}"}
    assert [e.id for e in (await conversation.session()).events[1:]] == [e.id for e in events]


async def test_an_expert_sees_its_request_and_nothing_of_the_conversation():
    agent = expert()
    root = chief(agent)

    await Conversation(root).say("Weather?")

    first, second = agent.model.requests
    assert outline(first.contents) == [("user", ["Rome?"])]
    assert outline(second.contents)[1:] == [
        ("model", ["look()"]),
        ("user", ["look={'result': 'rain in Rome'}"]),
    ]
    assert first.config.system_instruction is None
    names = [each.name for each in first.config.tools[0].function_declarations]
    assert names == ["look"]
    assert len(outline(root.model.requests[1].contents)) == 3


async def test_an_expert_is_a_tool_and_not_a_transfer_target():
    talker = LlmAgent(name="talker", model=ScriptedLlm(rules=[Rule(then=Say("Hi."))]))
    root = chief(expert(), talker)

    await Conversation(root).say("Weather?")

    declared = root.model.requests[0].config.tools[0].function_declarations
    assert [each.name for each in declared] == ["transfer_to_agent", "expert"]
    assert declared[0].parameters_json_schema["properties"]["agent_name"]["enum"] == ["talker"]
    assert talker.may_hand_over_to == [root]


async def test_the_next_turn_goes_to_the_parent():
    conversation = Conversation(chief(expert()))
    await conversation.say("Weather?")

    assert authors(await conversation.say("thanks")) == ["chief"]


async def test_schemas_define_input_and_output():
    agent = expert(
        Rule(then=Say('{"sky": "blue"}')),
        tools=[],
        input_schema=Place,
        output_schema=Weather,
        output_key="weather",
    )
    conversation = Conversation(chief(agent, asks=Call("expert", city="Rome")))

    events = await conversation.say("Weather?")

    assert outline(agent.model.requests[0].contents) == [("user", ['{"city": "Rome"}'])]
    assert result_of(events) == {"sky": "blue"}
    assert (await conversation.session()).state == {"weather": {"sky": "blue"}}


async def test_arguments_that_do_not_fit_are_reported_to_the_model():
    agent = expert(input_schema=Place)

    events = await Conversation(chief(agent)).say("Weather?")

    assert "city" in result_of(events)["error"]
    assert agent.model.requests == []


async def test_an_exception_of_the_expert_is_reported_to_the_model():
    agent = expert(Rule(then=Fail(raises=OSError("no sky"))))

    events = await Conversation(chief(agent)).say("Weather?")

    assert authors(events) == ["chief", "expert", "chief", "chief"]
    assert events[1].error_code == "OSError"
    assert result_of(events) == {"error": "Agent 'expert' failed: no sky"}


async def test_two_calls_in_one_answer_do_not_see_each_other():
    agent = expert(Rule(then=Say("Sun over {user}")))
    asks = [Call("expert", request="Rome"), Call("expert", request="Oslo")]

    events = await Conversation(chief(agent, asks=asks)).say("Weather?")

    results = [r.response["result"] for e in events for r in e.get_function_responses()]
    assert results == ["Sun over Rome", "Sun over Oslo"]
    assert [outline(r.contents) for r in agent.model.requests] == [
        [("user", ["Rome"])],
        [("user", ["Oslo"])],
    ]


async def test_an_expert_works_below_a_workflow_agent():
    agent = expert()
    conversation = Conversation(SequentialAgent(name="steps", sub_agents=[chief(agent)]))

    events = await conversation.say("Weather?")

    assert said(events[-1]) == "I heard: Expect rain in Rome."
    assert len(agent.model.requests) == 2


async def test_an_experts_fragments_are_streamed():
    agent = expert(Rule(then=Say("Sun and rain.", chunks=3)))

    events = await Conversation(chief(agent)).say("Weather?", STREAMED)

    assert [event.author for event in events if event.partial][:3] == ["expert"] * 3
    assert result_of(events) == {"result": "Sun and rain."}


def approve() -> None:
    """Ask the boss."""


async def test_a_call_stays_open_while_the_expert_waits_for_a_person():
    agent = expert(
        Rule(after="approve", then=Say("Approved: {result}")),
        Rule(then=Call("approve")),
        tools=[LongRunningFunctionTool(approve)],
    )
    conversation = Conversation(chief(agent))

    events = await conversation.say("Weather?")
    assert authors(events) == ["chief", "expert"]
    call_id = events[1].get_function_calls()[0].id
    answer = types.Content(role="user", parts=[response_part("approve", call_id, result="yes")])
    events = await conversation.say(answer)

    assert authors(events) == ["expert", "chief", "chief"]
    assert said(events[0]) == "Approved: yes"
    assert result_of(events) == {"result": "Approved: yes"}


def sign() -> None:
    """Ask the other boss."""


def open_call(events):
    return [call for event in events for call in event.get_function_calls()][-1]


@pytest.mark.parametrize("yes", [False, True])
async def test_an_expert_may_wait_several_times(yes):
    agent = expert(
        Rule(after="sign", then=Say("Signed: {result}")),
        Rule(after="approve", then=Call("sign")),
        Rule(then=Call("approve")),
        tools=[LongRunningFunctionTool(approve), LongRunningFunctionTool(sign)],
    )
    conversation = resumable(chief(agent), yes=yes)
    events = await conversation.say("Weather?")

    for name in ("approve", "sign"):
        call = open_call(events)
        assert call.name == name
        answer = types.Content(role="user", parts=[response_part(name, call.id, result="yes")])
        events = await conversation.say(answer)

    assert result_of(events) == {"result": "Signed: yes"}
    assert open_call(await conversation.say("Weather?")).name == "approve"


@pytest.mark.parametrize("yes", [False, True])
async def test_an_expert_may_be_called_several_times_in_one_invocation(yes):
    agent = expert()
    rules = [
        Rule(after="expert", calls=2, then=Say("Both: {result}")),
        Rule(after="expert", then=Call("expert", request="Oslo?")),
        Rule(then=Call("expert", request="Rome?")),
    ]
    root = LlmAgent(name="chief", model=ScriptedLlm(rules=rules), sub_agents=[agent])

    await resumable(root, yes=yes).say("Weather?")

    assert [outline(request.contents)[0] for request in agent.model.requests] == [
        ("user", ["Rome?"]),
        ("user", ["Rome?"]),
        ("user", ["Oslo?"]),
        ("user", ["Oslo?"]),
    ]


@pytest.mark.parametrize("yes", [False, True])
async def test_only_the_waiting_expert_that_was_answered_continues(yes):
    agent = expert(
        Rule(after="approve", then=Say("Approved: {result}")),
        Rule(then=Call("approve")),
        tools=[LongRunningFunctionTool(approve)],
    )
    asks = [Call("expert", request="Rome?"), Call("expert", request="Oslo?")]
    conversation = resumable(chief(agent, asks=asks), yes=yes)
    events = await conversation.say("Weather?")
    rome, oslo = (call for e in events[1:] for call in e.get_function_calls())

    for call, reply in ((oslo, "ice"), (rome, "sun")):
        answer = types.Content(role="user", parts=[response_part("approve", call.id, result=reply)])
        events = await conversation.say(answer)
        assert [said(e) for e in events if e.author == "expert" and said(e)] == [
            f"Approved: {reply}"
        ]
        assert result_of(events) == {"result": f"Approved: {reply}"}

    assert len(agent.model.requests) == 4


async def test_a_caller_that_leaves_ends_the_expert_too():
    ended = []

    class CountedEvent(LlmAgent):
        async def _run_async_impl(self, ctx):
            try:
                async for event in super()._run_async_impl(ctx):
                    yield event
            finally:
                ended.append(self.name)

    agent = CountedEvent(**dict(expert()))
    conversation = Conversation(chief(agent))
    await conversation._open()

    run = conversation.runner.run_async(
        user_id="user", session_id="s", new_message=types.UserContent("Weather?")
    )
    async for event in run:
        if event.author == "expert":
            break
    await run.aclose()

    assert ended == ["expert"]


def test_a_single_turn_root_is_not_called_by_a_model():
    assert not expert().is_called_by_model


def test_unknown_modes_are_refused():
    with pytest.raises(
        ValidationError, match="no mode 'solo'; use 'chat', 'single_turn' or 'task'"
    ):
        LlmAgent(name="agent", mode="solo")
