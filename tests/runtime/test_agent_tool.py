"""AgentTool: an agent that is called as a tool."""

import pytest
from google.genai import types
from pydantic import BaseModel

from devui.runtime.agents import LlmAgent, SequentialAgent
from devui.runtime.models import Call, Fail, Rule, Say, ScriptedLlm
from devui.runtime.plugins import BasePlugin
from devui.runtime.tools import AgentTool, LongRunningFunctionTool, ToolContext
from tests.kit.conversation import STREAMED, Conversation, said


class Trip(BaseModel):
    city: str
    days: int = 3


class Price(BaseModel):
    euros: int


def expert(*rules, **fields):
    model = ScriptedLlm(rules=rules or [Rule(then=Say("It is sunny."))])
    return LlmAgent(name="expert", description="Knows the weather.", model=model, **fields)


def caller(tool, *rules):
    asks = Rule(user="ask", then=Call("expert", request="Weather in Rome?"))
    answers = Rule(after="expert", then=Say("The expert says: {result}"))
    model = ScriptedLlm(rules=[*rules, asks, answers])
    return LlmAgent(name="caller", model=model, tools=[tool])


def response_of(event):
    [response] = event.get_function_responses()
    return response.response


async def test_the_agents_last_answer_is_the_result():
    agent = expert()

    events = await Conversation(caller(AgentTool(agent))).say("ask")

    assert [event.author for event in events] == ["caller"] * 3
    assert response_of(events[1]) == {"result": "It is sunny."}
    [content] = agent.model.requests[0].contents
    assert content.parts[0].text == "Weather in Rome?"


async def test_the_tool_is_declared_with_the_agents_name_and_description():
    root = caller(AgentTool(expert()))
    await Conversation(root).say("ask")

    [declaration] = root.model.requests[0].config.tools[0].function_declarations

    assert (declaration.name, declaration.description) == ("expert", "Knows the weather.")
    assert declaration.parameters_json_schema["required"] == ["request"]


async def test_an_input_schema_gives_the_parameters_and_the_message():
    agent = expert(input_schema=Trip)
    tool = AgentTool(SequentialAgent(name="expert", sub_agents=[agent]))
    root = caller(tool, Rule(user="ask", then=Call("expert", city="Rome")))

    await Conversation(root).say("ask")

    [declaration] = root.model.requests[0].config.tools[0].function_declarations
    assert set(declaration.parameters_json_schema["properties"]) == {"city", "days"}
    assert agent.model.requests[0].contents[0].parts[0].text == '{"city":"Rome","days":3}'


async def test_arguments_that_do_not_fit_the_schema_are_reported_to_the_model():
    agent = expert(input_schema=Trip)
    rules = [
        Rule(after="expert", then=Say("Which days?")),
        Rule(user="ask", then=Call("expert", city="Rome", days="many")),
    ]

    events = await Conversation(caller(AgentTool(agent, skip_summarization=True), *rules)).say(
        "ask"
    )

    assert "days" in response_of(events[1])["error"]
    assert "pydantic" not in response_of(events[1])["error"]
    assert said(events[2]) == "Which days?"
    assert not agent.model.requests


async def test_an_output_schema_gives_a_validated_result():
    agent = expert(Rule(then=Say('{"euros": 12}')), output_schema=Price)

    events = await Conversation(caller(AgentTool(agent))).say("ask")

    assert response_of(events[1]) == {"euros": 12}


async def test_an_answer_that_does_not_fit_the_output_schema_ends_the_run():
    agent = expert(Rule(then=Say("twelve")), output_schema=Price)

    with pytest.raises(ValueError, match=r"'expert'.*output_schema"):
        await Conversation(caller(AgentTool(agent))).say("ask")


async def test_the_agent_sees_the_state_and_its_changes_become_the_callers():
    agent = expert(
        Rule(then=Say("sunny")), instruction="Units: {unit}. {_adk_secret?}", output_key="weather"
    )
    conversation = Conversation(
        caller(AgentTool(agent)), state={"unit": "celsius", "_adk_secret": "x"}
    )

    events = await conversation.say("ask")

    assert events[1].actions.state_delta == {"weather": "sunny"}
    assert (await conversation.session()).state["weather"] == "sunny"
    instruction = agent.model.requests[0].config.system_instruction
    assert "Units: celsius. \n" in f"{instruction}\n".replace(" You", " \n")


async def test_artifacts_are_shared_with_the_caller():
    async def keep(tool_context: ToolContext) -> str:
        part = types.Part.from_bytes(data=b"map", mime_type="image/png")
        await tool_context.save_artifact("map.png", part)
        return f"{await tool_context.list_artifacts()}"

    agent = expert(
        Rule(after="keep", then=Say("Saved {result}")), Rule(then=Call("keep")), tools=[keep]
    )
    conversation = Conversation(caller(AgentTool(agent)))

    events = await conversation.say("ask")

    assert events[1].actions.artifact_delta == {"map.png": 0}
    assert response_of(events[1]) == {"result": "Saved ['map.png']"}


async def test_skip_summarization_ends_the_turn_with_the_agents_answer():
    root = caller(AgentTool(expert(), skip_summarization=True))

    events = await Conversation(root).say("ask")

    assert len(events) == 2
    assert events[-1].is_final_response()
    assert said(events[-1]) == "It is sunny."
    assert len(root.model.requests) == 1


async def test_an_error_response_of_the_model_is_the_result():
    agent = expert(Rule(then=Fail("QUOTA", "Come back tomorrow.")))

    events = await Conversation(caller(AgentTool(agent))).say("ask")

    assert response_of(events[1]) == {"result": "Come back tomorrow."}


async def test_an_exception_of_the_agent_ends_the_callers_run():
    agent = expert(Rule(then=Fail(raises=RuntimeError("broken"))))

    with pytest.raises(RuntimeError, match="broken"):
        await Conversation(caller(AgentTool(agent))).say("ask")


async def test_an_agent_that_waits_for_a_person_returns_an_error():
    agent = expert(Rule(then=Call("approve")), tools=[LongRunningFunctionTool(approve)])

    events = await Conversation(caller(AgentTool(agent, skip_summarization=True))).say("ask")

    assert "cannot get" in response_of(events[1])["result"]
    assert said(events[-1]).startswith("The expert says: Error")


def approve() -> None:
    """Ask the boss."""


class Watcher(BasePlugin):
    def __init__(self):
        super().__init__("watcher")
        self.agents = []
        self.closed = 0

    async def before_agent_callback(self, *, agent, callback_context):
        self.agents.append(agent.name)

    async def close(self):
        self.closed += 1


@pytest.mark.parametrize(("include", "agents"), [(True, ["caller", "expert"]), (False, ["caller"])])
async def test_plugins_see_the_agent_unless_they_are_excluded(include, agents):
    watcher = Watcher()
    root = caller(AgentTool(expert(), include_plugins=include))

    await Conversation(root, plugins=[watcher]).say("ask")

    assert watcher.agents == agents
    assert watcher.closed == 0


async def test_the_result_is_complete_in_a_streamed_run():
    agent = expert(Rule(then=Say("It is very sunny indeed.", chunks=4)))

    events = await Conversation(caller(AgentTool(agent))).say("ask", STREAMED)

    [result] = [event for event in events if event.get_function_responses()]
    assert response_of(result) == {"result": "It is very sunny indeed."}
