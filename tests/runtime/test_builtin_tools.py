"""The built-in tools: memory, artifacts, examples, and those of model providers."""

import pytest
from google.genai import types

from devui.runtime.agents import LlmAgent
from devui.runtime.examples import BaseExampleProvider, Example
from devui.runtime.models import Call, Rule, Say, ScriptedLlm
from devui.runtime.tools import (
    ExampleTool,
    ToolContext,
    TransferToAgentTool,
    enterprise_web_search,
    google_maps_grounding,
    google_search,
    load_artifacts,
    load_memory,
    preload_memory,
    url_context,
)
from devui.runtime.tools.google_tools import GoogleSearchTool
from devui.runtime.tools.load_artifacts_tool import LoadArtifactsTool
from tests.kit.conversation import Conversation, outline, said


def agent(*rules, tools, model="gemini-scripted"):
    return LlmAgent(name="agent", model=ScriptedLlm(model=model, rules=rules), tools=tools)


async def remember(conversation, text):
    """Add an earlier session to the memory of the conversation's runner."""
    other = Conversation(agent(Rule(then=Say("Noted.")), tools=[]))
    await other.say(text)
    await conversation.runner.memory_service.add_session_to_memory(await other.session())


async def test_a_model_searches_the_memory():
    root = agent(
        Rule(after="load_memory", then=Say("done")),
        Rule(then=Call("load_memory", query="color")),
        tools=[load_memory],
    )
    conversation = Conversation(root)
    await remember(conversation, "My color is green")

    events = await conversation.say("What is my color?")

    [memory] = events[1].get_function_responses()[0].response["result"]["memories"]
    assert memory["content"]["parts"][0]["text"] == "My color is green"
    assert "load_memory" in root.model.requests[0].config.system_instruction


async def test_memories_precede_the_users_message():
    root = agent(Rule(then=Say("green")), tools=[preload_memory])
    conversation = Conversation(root)
    await remember(conversation, "My color is green")

    await conversation.say("What is my color?")

    past, present = outline(root.model.requests[0].contents)
    assert "user: My color is green" in past[1][0]
    assert "<PAST_CONVERSATIONS>" in past[1][0]
    assert present == ("user", ["What is my color?"])
    assert not root.model.requests[0].config.tools


async def test_a_memory_that_cannot_be_searched_is_skipped(caplog):
    conversation = Conversation(agent(Rule(then=Say("Hello.")), tools=[preload_memory]))
    conversation.runner.memory_service = None

    [event] = await conversation.say("Hi")

    assert said(event) == "Hello."
    assert "memory could not be searched" in caplog.text


async def save(tool_context: ToolContext) -> None:
    png = types.Part.from_bytes(data=b"png", mime_type="image/png")
    await tool_context.save_artifact("chart.png", png)
    table = types.Part.from_bytes(data=b"a,b", mime_type="text/csv")
    await tool_context.save_artifact("user:table.csv", table)
    binary = types.Part.from_bytes(data=b"\0" * 2048, mime_type="application/zip")
    await tool_context.save_artifact("all.zip", binary)


def reader(*names, tool=load_artifacts):
    return agent(
        Rule(user="save", then=Call("save")),
        Rule(after="save", then=Say("saved")),
        Rule(after="load_artifacts", then=Say("seen")),
        Rule(then=Call("load_artifacts", artifact_names=list(names))),
        tools=[save, tool],
    )


async def file_contents(root):
    """Return the parts that show the model the files it asked for."""
    conversation = Conversation(root)
    await conversation.say("save")
    await conversation.say("look")
    contents = root.model.requests[-1].contents
    return [content.parts for content in contents[-3:] if len(content.parts) == 2]


async def test_a_model_sees_the_files_it_asks_for():
    root = reader("chart.png", "table.csv", "all.zip", "../secret")

    chart, table, archive = await file_contents(root)

    assert '"chart.png"' in root.model.requests[-1].config.system_instruction
    assert chart[0].text == "Artifact chart.png is:"
    assert chart[1].inline_data.data == b"png"
    assert table[1].text == "a,b"
    assert "2.0 KB" in archive[1].text


async def test_files_can_be_processed_by_a_custom_function():
    async def process(part, name):
        return types.Part(text=f"[{name}]") if name == "chart.png" else None

    root = reader("chart.png", "all.zip", tool=LoadArtifactsTool(process_artifact=process))

    [chart] = await file_contents(root)

    assert chart[1].text == "[chart.png]"


async def test_without_files_the_instruction_does_not_mention_them():
    root = agent(Rule(then=Say("Hello.")), tools=[load_artifacts])

    await Conversation(root).say("Hi")

    assert "artifacts" not in root.model.requests[0].config.system_instruction


def content(role, *parts):
    return types.Content(role=role, parts=list(parts))


LESSON = Example(
    input=content("user", types.Part(text="Weather?")),
    output=[
        content("model", types.Part.from_function_call(name="look", args={"at": "sky"})),
        content("user", types.Part.from_function_response(name="look", response={"sky": "blue"})),
        content("model", types.Part(text="Sunny.")),
    ],
)


class Lessons(BaseExampleProvider):
    def __init__(self):
        self.queries = []

    def get_examples(self, query):
        self.queries.append(query)
        return [LESSON]


async def test_examples_are_in_the_system_instruction():
    root = agent(Rule(then=Say("Hello.")), tools=[ExampleTool([LESSON])])

    await Conversation(root).say("Hi")

    instruction = root.model.requests[0].config.system_instruction
    assert "[user]\nWeather?\n[model]\n```\nlook(at='sky')\n```\n[user]\n" in instruction
    assert "[model]\nSunny.\n" in instruction
    assert not root.model.requests[0].config.tools


async def test_a_provider_chooses_examples_by_the_users_message():
    lessons = Lessons()
    root = agent(Rule(then=Say("Hello.")), tools=[ExampleTool(lessons)], model="other")

    await Conversation(root).say("Hi")

    assert lessons.queries == ["Hi"]
    assert "```tool_code\nlook(" in root.model.requests[0].config.system_instruction


@pytest.mark.parametrize(
    ("tool", "field"),
    [
        (google_search, "google_search"),
        (url_context, "url_context"),
        (google_maps_grounding, "google_maps"),
        (enterprise_web_search, "enterprise_web_search"),
    ],
)
async def test_a_providers_tool_is_enabled_for_gemini_models(tool, field):
    root = agent(Rule(then=Say("Hello.")), tools=[tool])

    await Conversation(root).say("Hi")

    [switched_on] = root.model.requests[0].config.tools
    assert list(switched_on.model_dump(exclude_none=True)) == [field]


async def test_a_providers_tool_is_refused_for_other_models():
    root = agent(Rule(then=Say("Hello.")), tools=[google_search], model="gpt-9")

    with pytest.raises(ValueError, match=r"google_search only runs inside Gemini models.*'gpt-9'"):
        await Conversation(root).say("Hi")


@pytest.mark.parametrize(
    "name",
    [
        "gemini/gemini-2.5-flash",
        "models/gemini-2.5-pro",
        "projects/p/locations/eu/publishers/google/models/gemini-2.5-pro",
        "apigee/gemini-2.5-flash",
    ],
)
async def test_gemini_models_are_recognized_by_longer_names(name):
    root = agent(Rule(then=Say("Hello.")), tools=[url_context], model=name)

    assert await Conversation(root).say("Hi")


async def test_the_check_of_model_names_can_be_turned_off(monkeypatch):
    monkeypatch.setenv("ADK_DISABLE_GEMINI_MODEL_ID_CHECK", "1")
    root = agent(Rule(then=Say("Hello.")), tools=[google_search], model="house-model")

    assert await Conversation(root).say("Hi")


async def test_a_search_may_use_its_own_model():
    root = agent(Rule(then=Say("Hello.")), tools=[GoogleSearchTool(model="gemini-search")])

    await Conversation(root).say("Hi")

    assert root.model.requests[0].model == "gemini-search"


async def test_a_search_beside_other_tools_becomes_an_agent():
    search = GoogleSearchTool(bypass_multi_tools_limit=True)
    root = agent(
        Rule(user="the weather", then=Call("google_search_agent", request="rain today")),
        Rule(user="rain today", then=Say("Rain.")),
        Rule(after="google_search_agent", then=Say("It rains: {result}")),
        tools=[search, load_memory],
    )

    events = await Conversation(root).say("the weather?")

    assert said(events[-1]) == "It rains: Rain."
    own_tools, search_tools, _ = (request.config.tools for request in root.model.requests)
    assert not any(tool.google_search for tool in own_tools)
    assert [tool.google_search is not None for tool in search_tools] == [True]
    lonely = agent(tools=[search])
    assert await lonely.canonical_tools() == [search]
    LlmAgent(name="root", model="gemini-scripted", sub_agents=[lonely])  # it may transfer there
    [beside] = await lonely.canonical_tools()
    assert beside.name == "google_search_agent"


async def test_a_transfer_may_carry_its_reason():
    tool = TransferToAgentTool(["billing"], include_transfer_reason=True)
    properties = tool._get_declaration().parameters_json_schema["properties"]
    assert set(properties) == {"agent_name", "transfer_reason"}
    billing = LlmAgent(name="billing", model=ScriptedLlm(rules=[Rule(then=Say("Paid."))]))
    reason = Call("transfer_to_agent", agent_name="billing", transfer_reason="an invoice")
    desk = LlmAgent(name="desk", model=ScriptedLlm(rules=[Rule(then=reason)]), sub_agents=[billing])

    _, result, _ = await Conversation(desk).say("my invoice")

    assert result.actions.transfer_reason == "an invoice"


def test_by_default_a_transfer_has_no_reason():
    declaration = TransferToAgentTool(["billing"])._get_declaration()

    assert set(declaration.parameters_json_schema["properties"]) == {"agent_name"}
    assert "reason" not in declaration.description
    assert "agent_name: The name" in declaration.description


def test_spreadsheet_parsing_needs_a_custom_function():
    with pytest.raises(ValueError, match="process_artifact"):
        LoadArtifactsTool(enable_spreadsheet_parsing=True)
