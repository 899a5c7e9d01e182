"""Models that use OpenAI's chat completions API: `OpenAILlm`, and `LiteLlm` if installed."""

import asyncio
import copy
import json
import sys
from contextlib import aclosing
from importlib.util import find_spec

import pytest
from google.genai import types
from pydantic import BaseModel

from devui.runtime.agents import LlmAgent
from devui.runtime.agents.run_config import RunConfig, StreamingMode
from devui.runtime.models import Gemini, LLMRegistry, LlmRequest, LlmResponse, OpenAILlm
from devui.runtime.models.openai_llm import ChatCompletionError
from devui.runtime.runners import InMemoryRunner
from tests.kit.chat_server import ChatServer, calls, says
from tests.kit.litellm_warnings import LITELLM_WARNINGS
from tests.kit.patience import PATIENCE

if find_spec("litellm"):
    from openai import AsyncOpenAI

    from devui.runtime.models.lite_llm import LiteLlm

Part, Content, Call = types.Part, types.Content, types.FunctionCall
litellm_only = pytest.mark.skipif(not find_spec("litellm"), reason="litellm is not installed")


@pytest.fixture
def server():
    with ChatServer() as running:
        yield running


MODELS = [
    "openai",
    pytest.param("client", marks=litellm_only),
    pytest.param("litellm", marks=[litellm_only, *LITELLM_WARNINGS]),
]


@pytest.fixture(params=MODELS)
async def model(request, server):
    if request.param == "client":
        async with AsyncOpenAI(base_url=server.url, api_key="test-key", max_retries=0) as client:
            yield OpenAILlm(model="test-model", client=client)
        return
    if request.param == "litellm":
        yield LiteLlm("openai/test-model", api_base=server.url, api_key="test-key")
        return
    llm = OpenAILlm(model="test-model", base_url=server.url, api_key="test-key")
    yield llm
    await llm.aclose()


def user(*parts: Part | str) -> Content:
    return Content(role="user", parts=[Part(text=p) if isinstance(p, str) else p for p in parts])


def request(*contents, **config):
    return LlmRequest(
        contents=list(contents) or [user("hello")], config=types.GenerateContentConfig(**config)
    )


async def ask(model, llm_request=None, *, stream=False):
    llm_request = llm_request or request()
    return [answer async for answer in model.generate_content_async(llm_request, stream)]


def _config(settings):
    return RunConfig(**settings) if settings else None


def parts_of(response):
    return [
        (p.function_call.id, p.function_call.name, p.function_call.args)
        if p.function_call
        else (p.text, p.thought)
        for p in response.content.parts
    ]


async def test_one_answer_without_streaming(server, model):
    server.answer(says("Hello.", finish="stop", reasoning_content="Greet."))

    [answer] = await ask(model)

    assert parts_of(answer) == [("Greet.", True), ("Hello.", None)]
    assert not answer.partial
    assert answer.error_code is None
    assert answer.finish_reason == types.FinishReason.STOP
    usage = answer.usage_metadata
    assert (usage.prompt_token_count, usage.candidates_token_count) == (7, 3)
    assert (usage.cached_content_token_count, usage.thoughts_token_count) == (2, 1)
    assert usage.total_token_count == 10
    assert answer.model_version == "served-model"


async def test_streamed_text_arrives_in_fragments_and_then_whole(server, model):
    server.answer(says(reasoning_content="Hm"), says("Hel"), says("lo"), says("", finish="stop"))

    *fragments, whole = await ask(model, stream=True)

    assert [parts_of(f) for f in fragments] == [[("Hm", True)], [("Hel", None)], [("lo", None)]]
    assert all(fragment.partial for fragment in fragments)
    assert parts_of(whole) == [("Hm", True), ("Hello", None)]
    assert (whole.partial, whole.usage_metadata.total_token_count) == (False, 10)
    assert server.received[0].body["stream_options"] == {"include_usage": True}


@pytest.mark.parametrize("stream", [False, True])
async def test_calls_are_assembled_from_their_pieces(server, model, stream):
    server.answer(
        says("Both."),
        calls(0, "a", "weather", '{"ci'),
        calls(0, None, None, 'ty": "Rome"}'),
        calls(1, "b", "now", "", finish="tool_calls"),
    )

    whole = (await ask(model, stream=stream))[-1]

    assert parts_of(whole) == [
        ("Both.", None),
        ("a", "weather", {"city": "Rome"}),
        ("b", "now", {}),
    ]
    assert whole.error_code is None


@pytest.mark.parametrize(
    "pieces",
    [
        [calls(0, "a", "now", ""), calls(0, "b", "now", '{"c": 1}')],
        [calls(0, "a", "now", ""), calls(0, "a", "now", "{}"), calls(0, "b", "now", '{"c": 1}')],
        [calls(0, "a", "n", "{"), calls(0, None, "ow", "}"), calls(0, "b", "now", '{"c": 1}')],
        [calls(0, "a", "now", "{}"), calls(0, "b", "now", '{"c"'), calls(0, "b", "now", ": 1}")],
        [calls(3, "a", "now", "{}"), calls(3, "b", "now", '{"c"'), calls(3, "x", None, ": 1}")],
    ],
)
async def test_calls_with_the_same_index_are_distinguished(server, model, pieces):
    server.answer(*pieces, says(finish="tool_calls"))

    whole = (await ask(model, stream=True))[-1]

    assert parts_of(whole) == [("a", "now", {}), ("b", "now", {"c": 1})]


async def test_calls_with_the_same_index_and_no_ids_are_distinguished(server, model):
    server.answer(
        calls(0, None, "now", '{"c": 1}'), calls(0, None, "now", '{"c": 2}', finish="tool_calls")
    )

    whole = (await ask(model, stream=True))[-1]

    assert [call.args for call in whole.get_function_calls()] == [{"c": 1}, {"c": 2}]


@pytest.mark.parametrize(
    ("finish", "code"), [("tool_calls", "MALFORMED_FUNCTION_CALL"), ("length", "MAX_TOKENS")]
)
async def test_an_incomplete_call_is_an_error_and_no_other_call_runs(server, model, finish, code):
    server.answer(
        calls(0, "a", "weather", '{"city": "Rome"}'),
        calls(1, "b", "weather", '{"city": ', finish=finish),
    )
    whole = (await ask(model, stream=True))[-1]
    assert whole.error_code == code
    assert whole.error_message
    assert parts_of(whole) == []


@pytest.mark.parametrize(
    ("finish", "code"), [("length", "MAX_TOKENS"), ("content_filter", "SAFETY")]
)
async def test_a_truncated_answer_has_an_error_code(server, model, finish, code):
    server.answer(says("Once upon", finish=finish))
    [answer] = await ask(model)
    assert (answer.error_code, parts_of(answer)) == (code, [("Once upon", None)])
    assert answer.error_message


async def test_the_history_is_sent_as_messages(server, model):
    server.answer(says("ok", finish="stop"))
    call = Call(id="a", name="find", args={"q": "é"})
    image = types.Blob(data=b"\x01", mime_type="image/png")
    result = types.FunctionResponse(id="a", name="find", response={"n": 1})
    contents = [
        user("look", Part(inline_data=image)),
        Content(role="model", parts=[Part(text="hm", thought=True), Part(function_call=call)]),
        user(Part(function_response=result)),
        Content(role="model", parts=[Part(text="found")]),
        user("thanks"),
    ]

    await ask(model, request(*contents, system_instruction="Be brief."))

    [http_request] = server.received
    assert http_request.path == "/v1/chat/completions"
    assert http_request.headers["authorization"] == "Bearer test-key"
    messages = http_request.body["messages"]
    assert [message["role"] for message in messages] == [
        *("system", "user", "assistant", "tool", "assistant", "user")
    ]
    assert messages[0]["content"] == "Be brief."
    assert messages[1]["content"] == [
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AQ=="}},
    ]
    [tool_call] = messages[2]["tool_calls"]
    assert (tool_call["id"], tool_call["function"]["name"]) == ("a", "find")
    assert json.loads(tool_call["function"]["arguments"]) == {"q": "é"}
    assert (messages[3]["tool_call_id"], json.loads(messages[3]["content"])) == ("a", {"n": 1})
    assert (messages[4]["content"], messages[5]["content"]) == ("found", "thanks")


async def test_a_call_without_a_result_gets_a_placeholder(server, model):
    server.answer(says("ok", finish="stop"))
    calling = Content(role="model", parts=[Part(function_call=Call(id="a", name="find", args={}))])
    await ask(model, request(user("go"), calling, user("and?")))
    messages = server.received[0].body["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "user"]
    assert messages[2]["tool_call_id"] == "a"


async def test_calls_without_ids_get_ids_that_match_their_results(server, model):
    server.answer(says("ok", finish="stop"))
    tool_calls = [Part.from_function_call(name=name, args={}) for name in ("see", "hear", "see")]
    results = [("see", "sea"), ("see", "sky"), ("hear", "wind")]
    responses = [
        Part.from_function_response(name=name, response={"is": what}) for name, what in results
    ]
    again = Content(role="model", parts=[Part.from_function_call(name="see", args={})])
    later = Part.from_function_response(name="see", response={"is": "sun"})

    await ask(
        model,
        request(Content(role="model", parts=tool_calls), user(*responses), again, user(later)),
    )

    messages = server.received[-1].body["messages"]
    ids = [call["id"] for one in messages for call in one.get("tool_calls") or ()]
    contents = {
        one["tool_call_id"]: json.loads(one["content"])
        for one in messages
        if "content" in one and one["role"] == "tool"
    }
    assert len(set(ids)) == 4
    assert [contents[call_id]["is"] for call_id in ids] == ["sea", "wind", "sky", "sun"]


async def test_calls_from_a_callback_get_ids_that_match_their_results(server, model):
    def look(a: int) -> str:
        """Looks."""
        return f"seen {a}"

    def at_first(callback_context, llm_request):
        if len(llm_request.contents) == 1:
            calls = [Part.from_function_call(name="look", args={"a": a}) for a in (1, 2)]
            return LlmResponse(content=Content(role="model", parts=calls))
        return None

    server.answer(says("ok", finish="stop"))
    agent = LlmAgent(name="a", model=model, tools=[look], before_model_callback=at_first)
    await InMemoryRunner(agent=agent).run_debug("go", quiet=True)

    call_message, *results = server.received[-1].body["messages"][-3:]
    ids = [call["id"] for call in call_message["tool_calls"]]
    assert [one["tool_call_id"] for one in results] == ids
    assert len(set(ids)) == 2
    assert all(ids)


async def test_tools_and_settings_reach_the_service(server, model):
    class Answer(BaseModel):
        n: int

    server.answer(says('{"n": 1}', finish="stop"))
    schema = {"type": "object", "properties": {"q": {"type": "string"}}}
    old = types.Schema(type="OBJECT", properties={"q": types.Schema(type="STRING")})
    tool = types.Tool(
        function_declarations=[
            types.FunctionDeclaration(name="new", description="d", parameters_json_schema=schema),
            types.FunctionDeclaration(name="old", parameters=old),
            types.FunctionDeclaration(name="bare"),
        ]
    )
    choice = types.ToolConfig(function_calling_config=types.FunctionCallingConfig(mode="ANY"))
    await ask(
        model,
        request(
            tools=[tool],
            tool_config=choice,
            response_schema=Answer,
            temperature=0.5,
            max_output_tokens=9,
            stop_sequences=["x"],
        ),
    )
    body = server.received[0].body
    declared = [tool["function"] for tool in body["tools"]]
    assert [(one["name"], one["description"]) for one in declared] == [
        *(("new", "d"), ("old", ""), ("bare", ""))
    ]
    assert declared[0]["parameters"] == declared[1]["parameters"] == schema
    assert body["tool_choice"] == "required"
    assert body["response_format"]["json_schema"]["name"] == "Answer"
    assert body["response_format"]["json_schema"]["schema"]["required"] == ["n"]
    assert (body["temperature"], body["stop"]) == (0.5, ["x"])
    assert body.get("max_tokens", body.get("max_completion_tokens")) == 9


@pytest.mark.parametrize("stream", [False, True])
async def test_an_agent_calls_its_tool_through_the_service(server, model, stream):
    def weather(city: str) -> str:
        return f"Rain in {city}."

    server.answer(calls(0, "a", "weather", '{"city": "Oslo"}', finish="tool_calls"))
    server.answer(says("Take an "), says("umbrella.", finish="stop"))
    runner = InMemoryRunner(agent=LlmAgent(name="a", model=model, tools=[weather]))
    config = {"streaming_mode": "sse"} if stream else None
    events = await runner.run_debug("Weather in Oslo?", quiet=True, run_config=_config(config))

    texts = [p.text for e in events if not e.partial for p in e.content.parts if p.text]
    assert texts == ["Take an umbrella."]
    assert server.received[1].body["messages"][-1] == {
        "role": "tool",
        "tool_call_id": "a",
        "content": '{"result": "Rain in Oslo."}',
    }


async def test_a_copy_of_a_model_works_after_the_original_is_closed(server):
    server.answer(says("One.", finish="stop"))
    server.answer(says("Two.", finish="stop"))
    first = OpenAILlm(model="test-model", base_url=server.url, api_key="test-key")
    texts = [part.text for part in (await ask(first))[-1].content.parts]
    second = copy.deepcopy(first)
    await first.aclose()

    texts += [part.text for part in (await ask(second))[-1].content.parts]

    assert texts == ["One.", "Two."]
    await second.aclose()


async def test_leaving_in_the_middle_of_an_answer_closes_the_connection(server, model):
    server.speak_on()
    runner = InMemoryRunner(LlmAgent(name="agent", model=model), app_name="app")
    runner.auto_create_session = True
    how = _config({"streaming_mode": StreamingMode.SSE})
    run = runner.run_async(user_id="u", session_id="s", new_message=user("go"), run_config=how)
    async with aclosing(run) as events:
        assert (await anext(events)).partial
    assert await asyncio.to_thread(server.left.wait, PATIENCE), "while the model is still held"


@pytest.mark.parametrize(
    ("pieces", "shown_pieces"),
    [
        (["a\ud83d", "\ude00b"], ["a", "\U0001f600b"]),
        (["\ud83d", "\ude00"], ["\U0001f600"]),
        (["a\ud83d", "b"], ["a", r"\ud83db"]),
        (["a", "b\ud83d"], ["a", "b"]),
    ],
    ids=["pair", "alone", "broken", "end"],
)
async def test_split_surrogate_pairs_are_joined(server, model, pieces, shown_pieces):
    server.answer(*map(says, pieces), says(finish="stop"))
    *partial, whole = await ask(model, stream=True)
    assert [answer.content.parts[0].text for answer in partial] == shown_pieces
    end = r"\ud83d" if pieces[-1].endswith("\ud83d") else ""
    assert whole.content.parts[0].text == "".join(shown_pieces) + end


async def test_lone_surrogates_in_the_history_are_escaped(server, model):
    server.answer(calls(0, "c1", "look", '{"at": "\\ud83d"}', finish="tool_calls"))
    server.answer(says("a\ud83d", finish="stop"))
    server.answer(says("fine", finish="stop"))

    def look(at: str) -> str:
        """Look."""
        return "f\udce9.txt"

    agent = LlmAgent(name="agent", model=model, tools=[look], instruction="Know {it}.")
    runner = InMemoryRunner(agent, app_name="app")
    await runner.session_service.create_session(
        app_name="app", user_id="u", session_id="s", state={"it": "i\udce9"}
    )
    for words in ("u\udce9", "again"):
        run = runner.run_async(user_id="u", session_id="s", new_message=user(words))
        assert [event.error_message async for event in run][-1] is None
    messages = json.dumps(server.received[-1].body["messages"])
    for spelled in ("i\\\\udce9", "u\\\\udce9", "f\\\\udce9.txt", "a\\\\ud83d"):
        assert spelled in messages


async def test_an_http_error_says_what_to_do(server):
    model = OpenAILlm(model="m", base_url=server.url)
    server.fail(401, "No such key.")
    with pytest.raises(ChatCompletionError, match=r"HTTP 401: No such key\. Set OPENAI_API_KEY"):
        await ask(model)
    model = OpenAILlm(model="m", base_url=server.url, max_retries=0)
    server.fail(500, "Out of order")
    with pytest.raises(ChatCompletionError, match=r"HTTP 500: Out of order\.") as error:
        await ask(model, stream=True)
    assert error.value.status_code == 500
    await model.aclose()


async def test_an_error_within_a_stream_is_raised(server):
    model = OpenAILlm(model="m", base_url=server.url)
    server.answer(says("Hel"), {"error": {"message": "overloaded"}})
    with pytest.raises(ChatCompletionError, match="overloaded"):
        await ask(model, stream=True)
    await model.aclose()


async def test_an_unreachable_service_is_a_connection_error():
    model = OpenAILlm(model="m", base_url="http://127.0.0.1:9/v1")
    with pytest.raises(ConnectionError, match="base_url"):
        await ask(model)
    await model.aclose()


async def test_openai_is_not_called_without_a_key(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    model = OpenAILlm(model="gpt-4o")
    with pytest.raises(ChatCompletionError, match=r"'gpt-4o'\. Set OPENAI_API_KEY in") as error:
        await ask(model)
    assert error.value.status_code == 401
    await model.aclose()


async def test_the_base_url_and_key_come_from_the_environment_or_a_function(server, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "from-environment")

    async def key() -> str:
        return "from-function"

    for model in (OpenAILlm(model="o3-mini"), OpenAILlm(model="m", api_key=key)):
        server.answer(says("ok", finish="stop"))
        await ask(model)
        await model.aclose()
    assert [one.headers["authorization"] for one in server.received] == [
        "Bearer from-environment",
        "Bearer from-function",
    ]
    assert server.received[0].body["max_completion_tokens"] == 4096
    assert server.received[1].body["max_tokens"] == 4096


@pytest.mark.parametrize(
    ("name", "thinks"),
    [
        *((name, True) for name in ("o3-mini", "gpt-5", "gpt-5.1-mini", "gpt-6", "openai/o1")),
        *((name, False) for name in ("gpt-4o", "gpt-5-chat-latest", "xai/grok-4", "o3llama")),
    ],
)
async def test_reasoning_models_get_no_settings_that_they_reject(server, name, thinks):
    model = OpenAILlm(model=name, base_url=server.url)
    server.answer(says("ok", finish="stop"))
    await ask(model, request(temperature=0.2, top_p=1, max_output_tokens=9))
    body = server.received[0].body
    assert ("temperature" not in body, body["top_p"]) == (thinks, 1)
    assert body["max_completion_tokens" if thinks else "max_tokens"] == 9
    await model.aclose()


async def test_a_schema_and_an_image_from_a_tool_reach_openai(server):
    class Answer(BaseModel):
        n: int = 0

    model = OpenAILlm(model="m", base_url=server.url)
    server.answer(says('{"n": 1}', finish="stop"))
    blob = types.FunctionResponseBlob(mime_type="image/png", data=b"x")
    picture = types.FunctionResponsePart(inline_data=blob)
    result = types.FunctionResponse(id="a", name="shot", response={}, parts=[picture])
    calling = Content(role="model", parts=[Part(function_call=Call(id="a", name="shot", args={}))])
    contents = [user("go"), calling, user(Part(function_response=result))]
    await ask(model, request(*contents, response_schema=Answer))
    body = server.received[0].body
    shape = body["response_format"]["json_schema"]
    assert (shape["strict"], shape["schema"]["required"]) == (True, ["n"])
    assert [message["role"] for message in body["messages"]] == [
        *("user", "assistant", "tool", "user")
    ]
    assert body["messages"][-1]["content"][0]["type"] == "image_url"
    await model.aclose()


async def test_a_thought_signature_is_sent_back_with_its_call(server):
    model = OpenAILlm(model="m", base_url=server.url)
    choice = calls(0, "a", "find", "{}", finish="tool_calls")
    [call] = choice["delta"]["tool_calls"]
    call["extra_content"] = {"google": {"thought_signature": "c2ln"}}
    server.answer(choice)
    [answer] = await ask(model)
    assert answer.content.parts[0].thought_signature == b"sig"
    server.answer(says("ok", finish="stop"))
    await ask(model, request(user("go"), answer.content))
    [message_call] = server.received[1].body["messages"][1]["tool_calls"]
    assert message_call["extra_content"] == {"google": {"thought_signature": "c2ln"}}
    await model.aclose()


def test_model_names_resolve_to_their_classes():
    assert LLMRegistry.resolve("gpt-4o") is OpenAILlm
    assert LLMRegistry.resolve("o3-mini") is OpenAILlm
    assert LLMRegistry.new_llm("openai:llama3").model == "llama3"


@pytest.mark.parametrize("name", ["openai/gpt-4o", "ollama_chat/llama3", "LiteLlm:any/model"])
def test_the_error_for_names_with_a_provider_says_what_to_install(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "litellm", None)  # as if it were not installed
    monkeypatch.delitem(sys.modules, "devui.runtime.models.lite_llm", raising=False)
    with pytest.raises(ImportError, match=r"devui\[litellm\].*OpenAILlm"):
        LLMRegistry.resolve(name)


@litellm_only
def test_names_with_a_provider_resolve_to_litellm():
    assert LLMRegistry.resolve("ollama_chat/llama3") is LiteLlm
    assert LLMRegistry.new_llm("litellm:any/model").model == "any/model"


@litellm_only
@pytest.mark.parametrize("name", ["openrouter/google/gemini-2.5-pro", "xai/grok-4", "gemini/x"])
def test_names_of_any_provider_that_litellm_knows_resolve_to_it(name):
    model = LLMRegistry.new_llm(name)
    assert (type(model), model.model) == (LiteLlm, name)


def test_an_unknown_provider_is_refused_with_examples_of_valid_names():
    with pytest.raises(ValueError, match=r"'opnai/gpt-4o'.*devui\[litellm\].*anthropic/claude"):
        LLMRegistry.resolve("opnai/gpt-4o")


def test_the_interactions_api_is_refused():
    with pytest.raises(ValueError, match="Remove use_interactions_api"):
        Gemini(model="gemini-2.5-flash", use_interactions_api=True)
