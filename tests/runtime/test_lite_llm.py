"""`LiteLlm`: what reaches litellm, by provider."""

import json
from importlib.util import find_spec

import pytest
from google.genai import types
from pydantic import BaseModel

from devui.runtime.agents import LlmAgent
from devui.runtime.agents.context_cache_config import ContextCacheConfig
from devui.runtime.agents.run_config import RunConfig, StreamingMode
from devui.runtime.models import LlmRequest
from devui.runtime.planners import BuiltInPlanner
from devui.runtime.runners import InMemoryRunner
from tests.kit.litellm_warnings import LITELLM_WARNINGS

pytestmark = [
    pytest.mark.skipif(not find_spec("litellm"), reason="litellm is not installed"),
    *LITELLM_WARNINGS,
]
if find_spec("litellm"):
    from devui.runtime.models.lite_llm import LiteLlm
    from tests.kit.lite_client import Listening

Part, Content, Call = types.Part, types.Content, types.FunctionCall
CLAUDE, GEMINI = "anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-flash"


def user(*parts):
    return Content(role="user", parts=[Part(text=p) if isinstance(p, str) else p for p in parts])


async def send(name, *contents, options=None, cache=None, **config):
    """Return the arguments that litellm gets for one request."""
    client = Listening()
    request = LlmRequest(
        contents=list(contents) or [user("hello")],
        config=types.GenerateContentConfig(**config),
        cache_config=cache,
    )
    model = LiteLlm(name, llm_client=client, **(options or {}))
    async for _ in model.generate_content_async(request):
        pass
    return client.asked[0]


def thinking(**wish):
    return {"thinking_config": types.ThinkingConfig(**wish)}


def budget(tokens):
    return {"thinking": {"type": "enabled", "budget_tokens": tokens}}


@pytest.mark.parametrize(
    ("name", "wish", "fields"),
    [
        (CLAUDE, {"thinking_budget": 2048}, budget(2048)),
        (CLAUDE, {"thinking_budget": 10}, budget(1024)),
        (CLAUDE, {"thinking_budget": 0}, {"thinking": {"type": "disabled"}}),
        (CLAUDE, {"thinking_level": "HIGH"}, {"reasoning_effort": "high"}),
        (CLAUDE, {"thinking_level": "MINIMAL"}, budget(1024)),
        (CLAUDE, {"include_thoughts": True}, budget(1024)),
        (CLAUDE, {"include_thoughts": False}, {}),
        ("anthropic/claude-opus-4-7", {"thinking_budget": 9000}, {"reasoning_effort": "high"}),
        (
            "anthropic/claude-opus-4-7",
            {"include_thoughts": True},
            {"thinking": {"type": "adaptive"}},
        ),
        (GEMINI, {"thinking_budget": 100}, budget(100)),
        (GEMINI, {"thinking_budget": 0}, budget(0)),
        (GEMINI, {"include_thoughts": False}, {"thinking": {"type": "disabled"}}),
        ("gemini/gemini-2.5-pro", {"thinking_budget": 1}, budget(128)),
        ("gemini/gemini-2.5-pro", {"thinking_budget": 0}, {}),
        ("openai/o3-mini", {"thinking_budget": 1500}, {"reasoning_effort": "medium"}),
        ("openai/o3-mini", {"thinking_level": "LOW"}, {"reasoning_effort": "low"}),
        ("openai/gpt-4o", {"thinking_budget": 1500}, {}),
    ],
)
async def test_thinking_settings_use_the_parameters_of_the_provider(name, wish, fields):
    request = await send(name, **thinking(**wish))
    words = ("thinking", "reasoning_effort")
    assert {word: request[word] for word in words if word in request} == fields


async def test_a_planner_makes_claude_think():
    client = Listening()
    planner = BuiltInPlanner(thinking_config=types.ThinkingConfig(thinking_budget=2048))
    model = LiteLlm(CLAUDE, llm_client=client)
    runner = InMemoryRunner(agent=LlmAgent(name="a", model=model, planner=planner))
    await runner.run_debug("go", quiet=True)
    assert client.asked[0]["thinking"] == {"type": "enabled", "budget_tokens": 2048}


async def test_thinking_leaves_room_for_the_answer_and_drops_refused_settings():
    config = thinking(thinking_budget=5000) | {"temperature": 0.2, "top_k": 3, "top_p": 0.5}
    request = await send(CLAUDE, max_output_tokens=2000, **config)
    assert request["thinking"]["budget_tokens"] == 1999
    assert not {"temperature", "top_k", "top_p"} & set(request)
    small = await send(CLAUDE, max_output_tokens=1000, **config)
    assert "thinking" not in small
    assert small["temperature"] == 0.2


async def test_thinking_settings_of_the_request_override_those_of_the_model():
    options = {"reasoning_effort": "low", "max_tokens": 5000}
    with_budget = await send(CLAUDE, options=options, **thinking(thinking_budget=4000))
    assert "reasoning_effort" not in with_budget
    assert with_budget["thinking"]["budget_tokens"] == 4000
    without_budget = await send(CLAUDE, options=options, **thinking(include_thoughts=True))
    assert without_budget["reasoning_effort"] == "low"


SIGNED = {
    "content": None,
    "reasoning_content": "hm",
    "thinking_blocks": [{"type": "thinking", "thinking": "hm", "signature": "c2ln"}],
    "tool_calls": [
        {"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    ],
}
IN_PIECES = [
    {"thinking_blocks": [{"type": "thinking", "thinking": "h"}], "reasoning_content": "h"},
    {"thinking_blocks": [{"type": "thinking", "thinking": "m"}], "reasoning_content": "m"},
    {"thinking_blocks": [{"type": "thinking", "thinking": "", "signature": "c2ln"}]},
    {"tool_calls": [{"index": 0, **SIGNED["tool_calls"][0]}]},
]


async def _two_turns(client, name, *, stream=False, include=None):
    def look() -> str:
        return "seen"

    wish = types.ThinkingConfig(thinking_budget=1024, include_thoughts=include)
    config = types.GenerateContentConfig(thinking_config=wish)
    model = LiteLlm(name, llm_client=client)
    agent = LlmAgent(name="a", model=model, tools=[look], generate_content_config=config)
    how = RunConfig(streaming_mode=StreamingMode.SSE) if stream else None
    events = await InMemoryRunner(agent=agent).run_debug("go", quiet=True, run_config=how)
    return events, client.asked[1]["messages"][-2]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("include", [True, False])
async def test_claude_gets_its_signed_thoughts_back_with_the_result(stream, include):
    answers = [IN_PIECES, [{"content": "ok"}]] if stream else [SIGNED]
    events, message = await _two_turns(Listening(*answers), CLAUDE, stream=stream, include=include)
    assert message["thinking_blocks"] == SIGNED["thinking_blocks"]
    assert "reasoning_content" not in message
    [whole] = [event for event in events if not event.partial and event.get_function_calls()]
    assert whole.content.parts[0].thought_signature == b"sig"
    fragments = [part for event in events if event.partial for part in event.content.parts]
    thoughts = [part.text for part in fragments if part.thought]
    assert thoughts == (["h", "m"] if stream and include else [])


async def test_unwanted_thoughts_are_left_out():
    answer = {"content": "hi", "reasoning_content": "hm"}
    model = LiteLlm(CLAUDE, llm_client=Listening(answer))
    config = types.GenerateContentConfig(**thinking(include_thoughts=False))
    request = LlmRequest(contents=[user("q")], config=config)
    [response] = [one async for one in model.generate_content_async(request)]
    assert [part.text for part in response.content.parts] == ["hi"]


@pytest.mark.parametrize(
    "signature",
    [
        {"provider_specific_fields": {"thought_signature": "c2ln"}},
        {"extra_content": {"google": {"thought_signature": "c2ln"}}},
        {"id": "1__thought__c2ln"},
    ],
)
async def test_gemini_gets_the_signature_of_its_call_back(signature):
    call = SIGNED["tool_calls"][0] | signature
    _, message = await _two_turns(Listening({"content": None, "tool_calls": [call]}), GEMINI)
    [back] = message["tool_calls"]
    assert back["id"] == "1"
    assert back["provider_specific_fields"] == {"thought_signature": "c2ln"}
    assert back["extra_content"] == {"google": {"thought_signature": "c2ln"}}


class Inner(BaseModel):
    z: int


class Out(BaseModel):
    x: int
    inner: Inner | None = None


class Free(BaseModel):
    counts: dict[str, int]


async def test_a_schema_is_requested_strictly():
    schema = (await send("openai/m", response_schema=Out))["response_format"]["json_schema"]
    assert (schema["name"], schema["strict"]) == ("Out", True)
    assert schema["schema"]["required"] == ["inner", "x"]
    assert schema["schema"]["additionalProperties"] is False
    assert schema["schema"]["$defs"]["Inner"]["additionalProperties"] is False
    assert Out.model_json_schema()["required"] == ["x"]


@pytest.mark.parametrize("shape", [Free, list[Out]])
async def test_a_schema_that_cannot_be_strict_is_sent_unchanged(shape):
    schema = (await send("openai/m", response_schema=shape))["response_format"]["json_schema"]
    assert "strict" not in schema
    assert "additionalProperties" not in schema["schema"]


async def test_gemini_gets_a_schema_in_another_field():
    response_format = (await send(GEMINI, response_schema=Out))["response_format"]
    assert response_format == {"type": "json_object", "response_schema": Out.model_json_schema()}
    ready = {"type": "json_object"}
    assert (await send("openai/m", response_schema=ready))["response_format"] == ready


async def test_an_image_from_a_tool_follows_its_result():
    def shot() -> types.Part:
        return Part(inline_data=types.Blob(mime_type="image/png", data=b"\x89PNG"))

    call = {"id": "1", "type": "function", "function": {"name": "shot", "arguments": "{}"}}
    client = Listening({"content": None, "tool_calls": [call]})
    agent = LlmAgent(name="a", model=LiteLlm("openai/m", llm_client=client), tools=[shot])
    await InMemoryRunner(agent=agent).run_debug("go", quiet=True)
    result, picture = client.asked[1]["messages"][-2:]
    assert (result["role"], picture["role"]) == ("tool", "user")
    assert picture["content"] == [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}}
    ]


def at(uri, mime=None):
    return user(Part(file_data=types.FileData(file_uri=uri, mime_type=mime)))


def of(mime, data=b"ab"):
    return user(Part(inline_data=types.Blob(mime_type=mime, data=data)))


PDF = {"type": "file", "file": {"file_id": "gs://b/x.pdf", "format": "application/pdf"}}
SEEN = {"type": "image_url", "image_url": {"url": "https://b/x.png"}}


@pytest.mark.parametrize(
    ("name", "content", "piece"),
    [
        (GEMINI, at("gs://b/x.pdf", "application/pdf"), PDF),
        (GEMINI, at("gs://b/x.pdf"), PDF),
        ("vertex_ai/gemini-2.5-pro", at("gs://b/x.pdf"), PDF),
        ("litellm_proxy/openai/m", at("gs://b/x.pdf"), PDF),
        (GEMINI, at("https://b/x.png"), {"type": "file", "file": {
            "file_id": "https://b/x.png", "format": "image/png"}}),
        ("openai/m", at("https://b/x.png"), SEEN),
        ("openai/m", at("file-1", "application/pdf"), {"type": "file", "file": {
            "file_id": "file-1"}}),
        ("openai/m", of("video/mp4"), {"type": "video_url", "video_url": {
            "url": "data:video/mp4;base64,YWI="}}),
        ("openai/m", of("audio/x-flac"), {"type": "input_audio", "input_audio": {
            "data": "YWI=", "format": "flac"}}),
        ("openai/m", of("audio/mpeg"), {"type": "input_audio", "input_audio": {
            "data": "YWI=", "format": "mp3"}}),
    ],
)  # fmt: skip
async def test_media_are_sent_in_the_providers_format(name, content, piece):
    [message] = (await send(name, content))["messages"]
    assert message["content"] == [piece]


@pytest.mark.parametrize("name", ["openai/m", CLAUDE, "ollama_chat/llama3"])
async def test_a_file_that_the_provider_cannot_fetch_is_named(name):
    [message] = (await send(name, at("gs://b/x.pdf", "application/pdf")))["messages"]
    assert "gs://b/x.pdf" in message["content"]


async def test_a_text_file_with_an_unknown_charset_is_sent_as_text():
    [message] = (await send("openai/m", of("text/plain; charset=x", b"\xe9")))["messages"]
    assert message["content"] == "é"


async def test_http_options_of_the_request_reach_litellm():
    options = types.HttpOptions(
        headers={"X": "1"},
        timeout=3000,
        retry_options=types.HttpRetryOptions(attempts=3),
        extra_body={"q": 1},
    )
    extra = {"extra_headers": {"Y": "2"}}
    request = await send("openai/m", options=extra, http_options=options)
    assert request["extra_headers"] == {"X": "1", "Y": "2"}
    assert (request["timeout"], request["num_retries"], request["extra_body"]) == (3, 3, {"q": 1})


async def test_the_parts_to_cache_are_marked():
    for seconds, control in (
        (60, {"type": "ephemeral"}),
        (3600, {"type": "ephemeral", "ttl": "1h"}),
    ):
        request = await send(CLAUDE, cache=ContextCacheConfig(ttl_seconds=seconds))
        first, last = request["cache_control_injection_points"]
        assert first == {"location": "message", "role": "system", "control": control}
        assert last == {"location": "message", "index": -1, "control": control}
    assert "cache_control_injection_points" not in await send(CLAUDE)


async def test_response_schemas_are_described_and_built_in_tools_passed_on():
    shape = {"type": "object", "properties": {"n": {"type": "integer"}}}
    tool = types.FunctionDeclaration(name="f", description="D.", response_json_schema=shape)
    own = types.Tool(google_search=types.GoogleSearch())
    tools = (await send(GEMINI, tools=[types.Tool(function_declarations=[tool]), own]))["tools"]
    description = tools[0]["function"]["description"]
    assert description.startswith("D.\n")
    assert json.dumps(shape, sort_keys=True, separators=(",", ":")) in description
    assert tools[1] == {"googleSearch": {}}


async def test_legacy_functions_are_sent_without_tools():
    tool = types.FunctionDeclaration(name="f")
    choice = types.ToolConfig(function_calling_config=types.FunctionCallingConfig(mode="ANY"))
    config = {"tools": [types.Tool(function_declarations=[tool])], "tool_config": choice}
    request = await send("openai/m", options={"functions": [{"name": "g"}]}, **config)
    assert (request["tools"], request["functions"]) == (None, [{"name": "g"}])
    assert "tool_choice" not in request


async def test_an_empty_user_message_is_sent_with_content():
    [message] = (await send("openai/m", user("")))["messages"]
    assert message["role"] == "user"
    assert message["content"]


async def test_gemma_has_its_own_role_for_results():
    calling = Content(role="model", parts=[Part(function_call=Call(id="1", name="f", args={}))])
    result = user(Part(function_response=types.FunctionResponse(id="1", name="f", response={})))
    for name, role in (("ollama_chat/gemma4", "tool_responses"), ("openai/gemma-4", "tool")):
        request = await send(name, user("q"), calling, result)
        assert [one["role"] for one in request["messages"]] == ["user", "assistant", role]


@pytest.mark.parametrize(
    ("name", "both"),
    [
        ("openai/gpt-4o", True),
        ("azure/my-deployment", True),
        (CLAUDE, False),
        (GEMINI, False),
        ("vertex_ai/gemini-2.5-pro", True),
        ("nobody/knows", False),
    ],
)
def test_only_some_providers_accept_a_schema_together_with_tools(name, both):
    assert LiteLlm(name).capabilities.output_schema_and_tools is both
