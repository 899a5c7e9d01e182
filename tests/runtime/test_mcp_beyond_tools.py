"""What MCP servers offer beyond tools: resources, prompts, progress, questions."""

import pytest
from google.genai import types

from devui.runtime.agents import LlmAgent
from devui.runtime.models import Call, Rule, Say, ScriptedLlm
from devui.runtime.runners import InMemoryRunner
from devui.runtime.tools import ToolContext, load_artifacts

mcp = pytest.importorskip("mcp")
from devui.runtime.agents.mcp_instruction_provider import McpInstructionProvider  # noqa: E402
from devui.runtime.tools.mcp_tool import McpToolset  # noqa: E402  only where mcp is installed
from tests.runtime.test_mcp_toolset import STDIO, responses, text  # noqa: E402


async def run_turn(toolset, *calls, instruction="", state=None):
    """Return the requests and events of a turn in which the model makes these calls."""
    rules = [Rule(after=calls[0].name, then=Say("done"))] if calls else []
    model = ScriptedLlm(rules=[*rules, Rule(then=list(calls) or Say("hello"))])
    tools = [toolset] if toolset else []
    agent = LlmAgent(name="a", model=model, tools=tools, instruction=instruction)
    async with InMemoryRunner(agent=agent) as runner:
        await runner.session_service.create_session(
            app_name=runner.app_name,
            user_id="debug_user_id",
            session_id="debug_session_id",
            state=state,
        )
        events = await runner.run_debug("go", quiet=True)
    return model.requests, events


async def test_a_model_reads_resources_for_one_request():
    toolset = McpToolset(connection_params=STDIO, use_mcp_resources=True)
    call = Call("load_mcp_resource", resource_names=["today", "dot", "gone"])
    requests, _ = await run_turn(toolset, call)
    assert '["today", "dot"]' in requests[0].config.system_instruction
    resources = [content.parts for content in requests[1].contents[3:]]
    assert [parts[0].text for parts in resources] == ["Resource today is:", "Resource dot is:"]
    assert resources[0][1].text == "Buy milk."
    assert resources[1][1].inline_data.data == b"\x89PNG"
    assert resources[1][1].inline_data.mime_type == "image/png"


async def test_resources_and_artifacts_can_be_loaded_in_one_request():
    async def save(tool_context: ToolContext) -> None:
        await tool_context.save_artifact("note.txt", types.Part(text="Call Ann."))

    both = (
        Call("load_artifacts", artifact_names=["note.txt"]),
        Call("load_mcp_resource", resource_names=["today"]),
    )
    rules = [
        Rule(after="load_artifacts", then=Say("done")),
        Rule(after="save", then=list(both)),
        Rule(then=Call("save")),
    ]
    toolset = McpToolset(connection_params=STDIO, use_mcp_resources=True)
    model = ScriptedLlm(rules=rules)
    agent = LlmAgent(name="a", model=model, tools=[save, load_artifacts, toolset])
    async with InMemoryRunner(agent=agent) as runner:
        await runner.run_debug("go", quiet=True)
    texts = [part.text for content in model.requests[-1].contents[-2:] for part in content.parts]
    assert texts == ["Artifact note.txt is:", "Call Ann.", "Resource today is:", "Buy milk."]


async def test_resources_are_listed_and_read_by_name():
    toolset = McpToolset(connection_params=STDIO)
    assert await toolset.list_resources() == ["today", "dot"]
    info = await toolset.get_resource_info("today")
    assert (info["uri"], info["mimeType"]) == ("note://today", "text/plain")
    [content] = await toolset.read_resource("today")
    assert content.text == "Buy milk."
    with pytest.raises(ValueError, match=r"no resource 'gone'; it has \['today', 'dot'\]"):
        await toolset.read_resource("gone")
    await toolset.close()


async def test_an_instruction_can_be_a_prompt_filled_from_the_state():
    provider = McpInstructionProvider(STDIO, "persona")
    requests, _ = await run_turn(
        None, instruction=provider, state={"name": "Ann", "mood": "fine", "other": 1}
    )
    assert "You are Ann, and you feel fine." in requests[0].config.system_instruction
    assert not provider._mcp_session_manager._connections, "closed with the runner"


async def test_a_prompt_without_text_gives_no_instruction():
    provider = McpInstructionProvider(STDIO, "portrait")
    requests, _ = await run_turn(None, instruction=provider)
    assert requests[0].contents[0].parts[0].text == "go"


async def test_progress_goes_to_a_callback_or_to_one_made_for_the_call():
    progress_calls = []

    async def tell(progress, total, message):
        progress_calls.append((progress, total, message))

    [response] = await responses(
        McpToolset(connection_params=STDIO, progress_callback=tell), Call("work", steps=2)
    )
    assert text(response) == "worked"
    assert progress_calls == [(1, 2, "step 1"), (2, 2, "step 2")]

    def make(tool_name, *, callback_context, **more):
        async def keep(progress, total, message):
            callback_context.state[tool_name] = progress

        return keep

    toolset = McpToolset(connection_params=STDIO, progress_callback=make)
    _, events = await run_turn(toolset, Call("work", steps=3))
    assert events[1].actions.state_delta == {"work": 3}


async def test_a_result_has_the_servers_widget_and_grounding_metadata():
    toolset = McpToolset(connection_params=STDIO, propagate_grounding_metadata=True)
    queries = []

    async def look(tool, args, tool_context, tool_response):
        queries.append(tool_context.state["temp:_adk_grounding_metadata"].web_search_queries)

    model = ScriptedLlm(
        rules=[Rule(after="work", then=Say("ok")), Rule(then=Call("work", steps=1))]
    )
    agent = LlmAgent(name="a", model=model, tools=[toolset], after_tool_callback=look)
    async with InMemoryRunner(agent=agent) as runner:
        events = await runner.run_debug("go", quiet=True)
    assert queries == [["weather"]]
    [response] = events[1].get_function_responses()
    meta = response.response["meta"]
    assert meta["adk_grounding_metadata"] == {"web_search_queries": ["weather"]}
    [widget] = events[1].actions.render_ui_widgets
    assert (widget.provider, widget.id) == ("mcp", response.id)
    assert widget.payload["resource_uri"] == "ui://chart"
    assert widget.payload["tool_args"] == {"steps": 1}


async def test_a_server_may_ask_the_model_and_the_user():
    async def sample(context, params):
        question = params.messages[0].content.text
        return mcp.types.CreateMessageResult(
            role="assistant", model="m", content=mcp.types.TextContent(text=f"{question} Yes.")
        )

    async def elicit(context, params):
        return mcp.types.ElicitResult(action="accept", content={"name": "blue"})

    toolset = McpToolset(
        connection_params=STDIO, sampling_callback=sample, elicitation_callback=elicit
    )
    [answer] = await responses(toolset, Call("ask_model", question="Is it?"))
    assert text(answer) == "Is it? Yes."
    [choice] = await responses(toolset, Call("ask_user", question="Which?"))
    assert text(choice) == "blue"


async def test_a_confirmation_function_may_take_any_arguments():
    asked_about = []

    def careful(tool_context, **arguments) -> bool:
        asked_about.append((tool_context.agent_name, arguments))
        return False

    toolset = McpToolset(connection_params=STDIO, require_confirmation=careful)
    await responses(toolset, Call("add", a=1, b=2))
    assert asked_about
    assert all(each == ("a", {"a": 1, "b": 2}) for each in asked_about)


def test_the_ttl_of_the_tool_list_must_be_positive():
    with pytest.raises(ValueError, match="more than 0"):
        McpToolset(connection_params=STDIO, tool_list_cache_ttl_seconds=0)
