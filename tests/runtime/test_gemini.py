"""Gemini, through the real google-genai client, against a local server."""

import asyncio
import pickle
import subprocess
import sys

import pytest
from google.genai import types
from google.genai.errors import ClientError, ServerError

from devui.runtime.models import Gemini, LLMRegistry, LlmRequest, registry
from tests.kit.gemini_server import GeminiServer, call, chunk, text
from tests.kit.patience import PATIENCE

USAGE = {"promptTokenCount": 7, "candidatesTokenCount": 3, "totalTokenCount": 10}


@pytest.fixture
def server():
    with GeminiServer() as running:
        yield running


@pytest.fixture
async def gemini(server):
    model = Gemini(model="gemini-test", base_url=server.url, client_kwargs={"api_key": "test-key"})
    yield model
    await model.api_client.aio.aclose()
    model.api_client.close()


def request(*contents, **config):
    user = types.Content(role="user", parts=[types.Part(text="hello")])
    return LlmRequest(
        contents=list(contents) or [user], config=types.GenerateContentConfig(**config)
    )


async def ask(gemini, llm_request=None, *, stream=False):
    llm_request = llm_request or request()
    return [answer async for answer in gemini.generate_content_async(llm_request, stream)]


def texts(response):
    return [(part.text, part.thought) for part in response.content.parts]


async def test_one_answer_without_streaming(server, gemini):
    server.answer(chunk(text("Hello."), finish="STOP", usageMetadata=USAGE))

    [answer] = await ask(gemini)

    assert texts(answer) == [("Hello.", None)]
    assert answer.partial is None
    assert answer.finish_reason == types.FinishReason.STOP
    assert answer.usage_metadata.total_token_count == 10
    assert answer.model_version == "gemini-test-001"


async def test_the_request_carries_contents_instructions_tools_and_key(server, gemini):
    server.answer(chunk(text("ok"), finish="STOP"))
    tool = types.Tool(
        function_declarations=[
            types.FunctionDeclaration(
                name="find", parameters_json_schema={"type": "object", "properties": {}}
            )
        ]
    )

    await ask(gemini, request(system_instruction="Be brief.", temperature=0.5, tools=[tool]))

    [http_request] = server.received
    assert http_request.path.endswith("/models/gemini-test:generateContent")
    assert http_request.headers["x-goog-api-key"] == "test-key"
    assert http_request.body["contents"] == [{"role": "user", "parts": [{"text": "hello"}]}]
    assert http_request.body["systemInstruction"]["parts"] == [{"text": "Be brief."}]
    assert http_request.body["generationConfig"]["temperature"] == 0.5
    [declaration] = http_request.body["tools"][0]["functionDeclarations"]
    assert declaration["name"] == "find"


async def test_streamed_text_arrives_in_fragments_and_then_whole(server, gemini):
    server.answer(
        chunk(text("Hel")),
        chunk(text("lo ")),
        chunk(text("there."), finish="STOP", usageMetadata=USAGE),
    )

    *fragments, whole = await ask(gemini, stream=True)

    assert [texts(fragment)[0][0] for fragment in fragments] == ["Hel", "lo ", "there."]
    assert all(fragment.partial for fragment in fragments)
    assert texts(whole) == [("Hello there.", None)]
    assert whole.partial is False
    assert whole.usage_metadata.prompt_token_count == 7
    assert server.received[0].query == "alt=sse"


async def test_thoughts_and_answers_are_joined_separately(server, gemini):
    server.answer(
        chunk(text("Let me ", thought=True)),
        chunk(text("think.", thought=True, thoughtSignature="c2ln")),
        chunk(text("It is ")),
        chunk(text("42."), finish="STOP"),
    )

    whole = (await ask(gemini, stream=True))[-1]

    assert texts(whole) == [("Let me think.", True), ("It is 42.", None)]
    assert whole.content.parts[0].thought_signature == b"sig"


async def test_parallel_calls_keep_their_order_and_their_ids(server, gemini):
    server.answer(
        chunk(text("Checking both.")),
        chunk(call("weather", city="Rome"), call("weather", city="Oslo")),
        chunk(finish="STOP"),
    )

    *fragments, whole = await ask(gemini, stream=True)

    early_calls = fragments[1].get_function_calls()
    calls = whole.get_function_calls()
    assert [one.args for one in calls] == [{"city": "Rome"}, {"city": "Oslo"}]
    assert [one.id for one in calls] == [one.id for one in early_calls]
    assert all(one.id.startswith("adk-") for one in calls)
    assert calls[0].id != calls[1].id


async def test_calls_are_assembled_from_partial_arguments(server, gemini):
    def piece(*arguments, more=True, **fields):
        arguments = [{"jsonPath": path, **value} for path, value in arguments]
        return {"functionCall": {**fields, "partialArgs": arguments, "willContinue": more}}

    server.answer(
        chunk(piece(("$.city", {"stringValue": "Lon"}), name="book")),
        chunk(piece(("$.city", {"stringValue": "don"}), ("$.legs[1].day", {"numberValue": 2}))),
        chunk(piece(("$['a b']", {"boolValue": True}), more=False)),
        chunk(call("pay"), finish="STOP"),
    )

    *fragments, whole = await ask(gemini, stream=True)

    book, pay = whole.get_function_calls()
    assert book.args == {"city": "London", "legs": [None, {"day": 2}], "a b": True}
    assert pay.name == "pay"
    assert {f.get_function_calls()[0].id for f in fragments[:3]} == {book.id}


async def test_contradictory_partial_arguments_do_not_end_the_answer(server, gemini):
    values = [("$", 1.0), ("$.a", 2.0), ("$.a.b", 3.0), ("$.a[0]", 4.0), ("$.l[20000]", 5.0)]
    arguments = [{"jsonPath": path, "numberValue": value} for path, value in values]
    server.answer(
        chunk({"functionCall": {"name": "plan", "partialArgs": arguments, "willContinue": True}}),
        chunk({"functionCall": {"name": "other", "args": {}}}, finish="STOP"),
    )
    *_, whole = await ask(gemini, stream=True)
    calls = [part.function_call for part in whole.content.parts]
    assert [(call.name, call.args) for call in calls] == [
        ("plan", {"a": 2.0, "l": []}),
        ("other", {}),
    ]


async def test_a_call_without_a_name_is_left_out(server, gemini):
    nameless = {"partialArgs": [{"jsonPath": "$.a", "numberValue": 2.0}], "willContinue": False}
    server.answer(chunk(text("Hm."), {"functionCall": nameless}, finish="STOP"))
    *_, whole = await ask(gemini, stream=True)
    assert texts(whole) == [("Hm.", None)]


async def test_a_call_that_the_server_sends_twice_counts_once(server, gemini):
    twice = {"functionCall": {"id": "call-1", "name": "pay", "args": {}}}
    server.answer(chunk(twice), chunk(twice, finish="STOP"))

    whole = (await ask(gemini, stream=True))[-1]

    assert [one.id for one in whole.get_function_calls()] == ["call-1"]


@pytest.mark.parametrize("stream", [False, True])
async def test_an_answer_stopped_for_safety_is_an_error(server, gemini, stream):
    server.answer(chunk(finish="SAFETY"))

    [answer] = await ask(gemini, stream=stream)

    assert answer.error_code == "SAFETY"
    assert "ended its answer with SAFETY" in answer.error_message
    assert answer.content is None


async def test_a_stream_that_reaches_max_tokens_keeps_its_text_and_is_an_error(server, gemini):
    server.answer(chunk(text("Once upon")), chunk(text(" a"), finish="MAX_TOKENS"))

    whole = (await ask(gemini, stream=True))[-1]

    assert texts(whole) == [("Once upon a", None)]
    assert whole.error_code == "MAX_TOKENS"


@pytest.mark.parametrize("stream", [False, True])
async def test_a_blocked_prompt_is_an_error(server, gemini, stream):
    feedback = {"blockReason": "PROHIBITED_CONTENT", "blockReasonMessage": "not this"}
    server.answer({"promptFeedback": feedback})

    [answer] = await ask(gemini, stream=stream)

    assert (answer.error_code, answer.error_message) == ("PROHIBITED_CONTENT", "not this")


async def test_a_stream_without_content_is_an_error(server, gemini):
    server.answer(chunk(finish="STOP"))

    [answer] = await ask(gemini, stream=True)

    assert answer.error_code == "MODEL_RETURNED_NO_CONTENT"


@pytest.mark.parametrize("stream", [False, True])
async def test_a_quota_error_is_raised_with_advice(server, gemini, stream):
    server.fail(429, "RESOURCE_EXHAUSTED", "Quota exceeded.")

    with pytest.raises(ClientError, match="Quota exceeded") as error:
        await ask(gemini, stream=stream)

    assert error.value.status == "RESOURCE_EXHAUSTED"
    assert "retry_options" in error.value.__notes__[0]


@pytest.mark.parametrize("how", ["closed", "cancelled"])
async def test_closing_or_cancelling_an_answer_closes_its_connection(server, gemini, how):
    server.fall_silent(chunk(text("Once")), chunk(text(" upon")), chunk(text(" a time")))
    answers = gemini.generate_content_async(request(), stream=True)
    assert texts(await anext(answers)) == [("Once", None)]

    if how == "closed":
        await answers.aclose()
    else:
        listener = asyncio.create_task(_all(answers))
        await asyncio.sleep(0.05)
        listener.cancel()
        await asyncio.wait({listener})

    assert await asyncio.to_thread(server.left.wait, PATIENCE)


class Traced:
    """The wrapper that tracing libraries put around a client's stream."""

    def __init__(self, chunks):
        self._chunks = chunks

    def __aiter__(self):
        return self

    async def __anext__(self):
        return await anext(self._chunks)


async def test_closing_an_answer_with_a_traced_stream_closes_its_connection(server, gemini):
    models = gemini.api_client.aio.models
    ask_stream = models.generate_content_stream

    async def traced(**kwargs):
        return Traced(await ask_stream(**kwargs))

    models.generate_content_stream = traced
    server.fall_silent(chunk(text("Once")), chunk(text(" upon")))
    answers = gemini.generate_content_async(request(), stream=True)
    assert texts(await anext(answers)) == [("Once", None)]
    await answers.aclose()
    assert await asyncio.to_thread(server.left.wait, PATIENCE)


LEFT = """
import asyncio, sys
from google.genai import types
from devui.runtime.models import Gemini, LlmRequest

model = Gemini(base_url=sys.argv[1], client_kwargs={"api_key": "any"})

async def main():
    asked = LlmRequest(contents=[types.UserContent("go")])
    async for answer in model.generate_content_async(asked, stream=True):
        raise KeyError(answer.content.parts[0].text)

asyncio.run(main())
"""


def test_a_program_that_fails_during_an_answer_shows_only_its_own_error(server):
    server.fall_silent(chunk(text("Once upon")))
    command = [sys.executable, "-W", "ignore", "-c", LEFT, server.url]
    process = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert process.stderr.endswith("KeyError: 'Once upon'\n")
    assert process.stderr.count("Traceback") == 1


DROPPED = """
import asyncio, sys
from google.genai import types
from devui.runtime.models import Gemini, LlmRequest

model = Gemini(base_url=sys.argv[1], client_kwargs={"api_key": "any"})
asked = LlmRequest(contents=[types.UserContent("go")])
loop = asyncio.new_event_loop()
answers = model.generate_content_async(asked, stream=True)
loop.run_until_complete(anext(answers))
loop.close()
del answers
"""


def test_an_answer_dropped_after_its_loop_is_closed_leaves_no_task(server):
    server.fall_silent(chunk(text("Once upon")))
    command = [sys.executable, "-c", DROPPED, server.url]
    process = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert "devui/runtime" not in process.stderr
    assert "never awaited" not in process.stderr


async def _all(answers):
    return [answer async for answer in answers]


async def test_a_failing_service_raises(server, gemini):
    server.fail(500, "INTERNAL", "It broke.")

    with pytest.raises(ServerError, match="It broke"):
        await ask(gemini)


async def test_failed_requests_are_retried_if_configured(server):
    server.fail(503, "UNAVAILABLE", "Overloaded.")
    server.answer(chunk(text("ok"), finish="STOP"))
    gemini = Gemini(
        base_url=server.url,
        client_kwargs={"api_key": "test-key"},
        retry_options=types.HttpRetryOptions(attempts=2, initial_delay=0.01, max_delay=0.02),
    )

    [answer] = await ask(gemini)

    assert texts(answer) == [("ok", None)]
    await gemini.api_client.aio.aclose()


@pytest.mark.parametrize("kind", [dict, types.HttpOptions])
async def test_client_http_options_are_combined_with_the_models_own(server, kind):
    server.fail(503, "UNAVAILABLE", "Overloaded.")
    server.answer(chunk(text("ok"), finish="STOP"))
    gemini = Gemini(
        base_url=server.url,
        api_version="v1alpha",
        client_kwargs={"api_key": "test-key", "http_options": kind(headers={"X-Team": "a"})},
        retry_options=types.HttpRetryOptions(attempts=2, initial_delay=0.01, max_delay=0.02),
    )

    [answer] = await ask(gemini)

    assert texts(answer) == [("ok", None)]
    requests = [(got.path.split("/")[1], got.headers["x-team"]) for got in server.received]
    assert requests == [("v1alpha", "a")] * 2
    await gemini.api_client.aio.aclose()


async def test_client_http_options_override_the_models_own(server):
    server.answer(chunk(text("ok"), finish="STOP"))
    options = {"base_url": server.url, "api_version": "v1"}
    gemini = Gemini(
        base_url="http://127.0.0.1:1",
        api_version="v1alpha",
        client_kwargs={"api_key": "test-key", "http_options": options},
    )

    [answer] = await ask(gemini)

    assert (texts(answer), server.received[0].path[:4]) == ([("ok", None)], "/v1/")
    await gemini.api_client.aio.aclose()


async def test_the_environment_sets_the_default_api_version(server, monkeypatch):
    monkeypatch.setenv("GOOGLE_GENAI_API_VERSION", "v1alpha")
    for version in (None, "v1"):
        server.answer(chunk(text("ok"), finish="STOP"))
        gemini = Gemini(
            base_url=server.url, api_version=version, client_kwargs={"api_key": "test-key"}
        )
        await ask(gemini)
        await gemini.api_client.aio.aclose()

    assert [got.path.split("/")[1] for got in server.received] == ["v1alpha", "v1"]


async def test_a_model_that_has_answered_can_be_pickled(server, gemini):
    for _ in range(2):
        server.answer(chunk(text("ok"), finish="STOP"))
    await ask(gemini)
    there = pickle.loads(pickle.dumps(gemini))

    [answer] = await ask(there)

    assert texts(answer) == [("ok", None)]
    assert there.api_client is not gemini.api_client
    await there.api_client.aio.aclose()


def test_the_client_is_available_outside_a_run():
    place = {"project": "p", "location": "l"}
    assert Gemini(client_kwargs={"api_key": "test-key"}).api_client.vertexai is not True
    at_google = Gemini(client_kwargs={"vertexai": True, **place})
    assert at_google.capabilities.output_schema_and_tools


async def test_the_conversation_ends_with_a_user_turn(server, gemini):
    server.answer(chunk(text("ok"), finish="STOP"))

    await ask(gemini, request(types.Content(role="model", parts=[types.Part(text="I said")])))

    roles = [content["role"] for content in server.received[0].body["contents"]]
    assert roles == ["model", "user"]


async def test_fields_that_the_gemini_api_refuses_are_left_out(server, gemini):
    server.answer(chunk(text("ok"), finish="STOP"))
    blob = types.Blob(data=b"x", mime_type="image/png", display_name="cat.png")
    content = types.Content(role="user", parts=[types.Part(inline_data=blob)])

    await ask(gemini, request(content, labels={"team": "a"}))

    assert "labels" not in server.received[0].body
    assert blob.display_name == "cat.png"


async def test_a_file_type_that_gemini_refuses_becomes_text_or_a_note(server, gemini):
    server.answer(chunk(text("ok"), finish="STOP"))
    table = types.Blob(data=b"a,b", mime_type="text/csv")
    archive = types.Blob(data=b"PK", mime_type="application/zip")
    parts = [types.Part(inline_data=blob) for blob in (table, archive)]
    content = types.Content(role="user", parts=parts)

    await ask(gemini, request(content))

    [user_content] = server.received[0].body["contents"]
    assert user_content["parts"][0] == {"text": "a,b"}
    assert "application/zip" in user_content["parts"][1]["text"]
    assert content.parts == parts


async def test_a_missing_key_says_which_variable_to_set(monkeypatch):
    for name in ("GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI"):
        monkeypatch.delenv(name, raising=False)

    with pytest.raises(ValueError, match=r"GOOGLE_API_KEY.*ScriptedLlm"):
        await ask(Gemini())


def test_the_registry_finds_gemini_by_name_and_by_prefix():
    assert LLMRegistry.new_llm("gemini-2.5-flash").model == "gemini-2.5-flash"
    assert LLMRegistry.resolve("Gemini:tuned").__name__ == "Gemini"
    assert LLMRegistry.new_llm("gemini:tuned").model == "tuned"


def test_an_unknown_model_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match=r"'acme-9'.*Gemini \(gemini-\.\*\).*register"):
        LLMRegistry.new_llm("acme-9")


def test_a_registered_class_precedes_the_built_in_ones(monkeypatch):
    monkeypatch.setattr(registry, "_classes", {**registry._classes})

    class Own(Gemini):
        @classmethod
        def supported_models(cls):
            return [r"gemini-own-.*"]

    LLMRegistry.register(Own)

    assert LLMRegistry.resolve("gemini-own-1") is Own
    assert LLMRegistry.resolve("gemini-2.5-pro") is Gemini
