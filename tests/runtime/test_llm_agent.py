"""The fields of an `LlmAgent`, and its limit of model calls."""

import ssl
from importlib import import_module

import pytest
from google.genai import types
from pydantic import ValidationError

from devui.runtime.agents import Agent, BaseAgent, LlmAgent, RunConfig
from devui.runtime.agents.invocation_context import LlmCallsLimitExceededError
from devui.runtime.flows.llm_flows.base_llm_flow import AutoFlow, SingleFlow
from devui.runtime.models import (
    Call,
    Rule,
    Say,
    ScriptedLlm,
)
from devui.runtime.tools import BaseTool, BaseToolset
from tests.kit.conversation import Conversation, outline
from tests.kit.travel_agent import find_airports, travel_agent


async def test_the_number_of_model_calls_is_limited():
    agent = LlmAgent(
        name="a", model=ScriptedLlm(rules=[Rule(then=Call("again"))]), tools=[lambda: 1]
    )
    conversation = Conversation(agent)

    with pytest.raises(LlmCallsLimitExceededError, match="more than 3 model calls"):
        await conversation.say("go", RunConfig(max_llm_calls=3))

    assert conversation.heard[-1].error_code == "LlmCallsLimitExceededError"


def test_generate_content_config_none_becomes_an_empty_config():
    assert travel_agent(generate_content_config=None).generate_content_config == (
        types.GenerateContentConfig()
    )
    assert travel_agent().generate_content_config is None


async def test_generation_settings_reach_the_model_without_being_changed():
    config = types.GenerateContentConfig(temperature=0.3, labels={"a": "1"})
    agent = travel_agent(generate_content_config=config)

    await Conversation(agent).say("hi", RunConfig(labels={"b": "2"}))

    request_config = agent.model.requests[0].config
    assert request_config.temperature == 0.3
    assert request_config.labels == {"a": "1", "b": "2", "adk_agent_name": agent.name}
    assert config.labels == {"a": "1"}
    assert config.system_instruction is None


async def test_http_options_share_clients_and_are_merged_with_those_of_the_run():
    context = ssl.create_default_context()
    options = types.HttpOptions(
        headers={"x-agent": "1"},
        async_client_args={"verify": context},
    )
    options_seen = []

    def look(callback_context, llm_request):
        options_seen.append(llm_request.config.http_options)
        llm_request.config.http_options.headers["x-callback"] = "1"

    agent = LlmAgent(
        name="a",
        model=ScriptedLlm(rules=[Rule(then=Say("Hi."))]),
        generate_content_config=types.GenerateContentConfig(http_options=options),
        before_model_callback=look,
    )
    runs = types.HttpOptions(
        base_url="http://runs.example",
        headers={"x-run": "1"},
        retry_options=types.HttpRetryOptions(attempts=2),
    )
    await Conversation(agent).say("go")
    await Conversation(agent).say("go", RunConfig(http_options=runs))

    first, second = options_seen
    assert first.async_client_args["verify"] is second.async_client_args["verify"] is context
    assert second.base_url is None
    assert second.retry_options.attempts == 2
    assert second.headers == {"x-agent": "1", "x-run": "1", "x-callback": "1"}
    assert (options.headers, runs.headers) == ({"x-agent": "1"}, {"x-run": "1"})


def test_a_model_is_inherited_from_the_nearest_agent_above():
    leaf = LlmAgent(name="leaf")
    middle = BaseAgent(name="middle", sub_agents=[leaf])
    model = ScriptedLlm()
    LlmAgent(name="root", model=model, sub_agents=[middle])

    assert leaf.canonical_model is model
    assert LlmAgent(name="alone").canonical_model.model == "gemini-3.5-flash"


def test_a_model_given_by_name_is_created_once():
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
        ({"systemInstruction": "x"}, "use `instruction`"),
        ({"responseSchema": {}}, "use `output_schema`"),
        ({"base_url": "http://model.example"}, "set it on the model, as in Gemini"),
        ({"color": "red"}, "LlmAgent has no `color`"),
        ({"tools": ["text"]}, "without calling it"),
        ({"tools": [LlmAgent(name="b")]}, "put it into `sub_agents`"),
        (
            {"generate_content_config": types.GenerateContentConfig(system_instruction="x")},
            "use the agent's `instruction`",
        ),
        (
            {
                "generate_content_config": types.GenerateContentConfig(
                    http_options=types.HttpOptions(base_url="http://model.example")
                )
            },
            r"set it on the model, as in Gemini\(",
        ),
    ],
)
def test_unsupported_fields_are_refused_with_advice(fields, advice):
    with pytest.raises(ValidationError, match=advice):
        LlmAgent(name="a", **fields)


@pytest.mark.parametrize(("model", "error"), [("", ValueError), (3, TypeError)])
def test_the_default_model_must_be_a_model(model, error):
    with pytest.raises(error, match="default model"):
        LlmAgent.set_default_model(model)


def test_agent_is_another_name_of_llm_agent():
    assert Agent is LlmAgent


async def test_the_next_turn_sees_the_previous_one():
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


def test_request_processors_have_the_order_and_modules_of_the_seed():
    modules = ("basic", "instructions", "identity", "contents", "_nl_planning", "_code_execution")
    steps = [
        import_module(f"devui.runtime.flows.llm_flows.{name}").request_processor.name
        for name in modules
    ]
    flow = [step.name for step in SingleFlow().request_processors]
    assert [name for name in flow if name in steps] == steps
    assert [step.name for step in AutoFlow().request_processors] == [*flow, "agent_transfer"]
