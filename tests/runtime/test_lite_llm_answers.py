"""How `LiteLlm` converts litellm's answers."""

from importlib.util import find_spec

import pytest
from google.genai import types

from devui.runtime.models import LlmRequest
from devui.runtime.models.chat_http import ChatCompletionError
from tests.kit.chat_server import ChatServer, says
from tests.kit.litellm_warnings import LITELLM_WARNINGS

pytestmark = [
    pytest.mark.skipif(not find_spec("litellm"), reason="litellm is not installed"),
    *LITELLM_WARNINGS,
]
if find_spec("litellm"):
    from devui.runtime.models.lite_llm import LiteLlm
    from tests.kit.lite_client import Listening, litellm

QUESTION = [types.UserContent("q")]


async def test_grounding_metadata_and_cached_tokens_are_kept():
    class Searching(Listening):
        async def acompletion(self, *args, **more):
            response = await super().acompletion(*args, **more)
            response.vertex_ai_grounding_metadata = [{"webSearchQueries": ["rain"]}]
            response.usage = litellm.Usage(prompt_tokens=9, cache_read_input_tokens=4)
            return response

    model = LiteLlm("gemini/gemini-2.5-flash", llm_client=Searching())
    [response] = [one async for one in model.generate_content_async(LlmRequest(contents=QUESTION))]
    assert response.grounding_metadata.web_search_queries == ["rain"]
    assert response.usage_metadata.cached_content_token_count == 4


@pytest.mark.parametrize("stream", [False, True])
async def test_a_missing_count_of_thought_tokens_is_none(stream):
    """litellm sums up the usage of a stream, and reports 0 for counts it didn't get."""
    with ChatServer() as server:
        usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
        server.answer(says("Hello.", finish="stop") | {"usage": usage})
        model = LiteLlm("openai/m", api_base=server.url, api_key="k")
        responses = model.generate_content_async(LlmRequest(contents=QUESTION), stream=stream)
        *_, response = [one async for one in responses]
    assert response.usage_metadata.thoughts_token_count is None


@pytest.mark.parametrize("name", ["openai/m", "ollama_chat/m", "anthropic/m"])
@pytest.mark.parametrize(
    ("media", "body"), [("text/html", b"<html>Log in</html>"), ("text/event-stream", b"")]
)
async def test_a_stream_without_an_answer_is_an_error(name, media, body):
    with ChatServer() as server:
        server.send(media, body)
        model = LiteLlm(name, api_base=server.url, api_key="k")
        responses = model.generate_content_async(LlmRequest(contents=QUESTION), stream=True)
        with pytest.raises(ChatCompletionError, match=f"{name} returned no answer.*{media}"):
            [one async for one in responses]


async def test_an_answer_without_choices_is_an_error():
    with ChatServer() as server:
        server.send("application/json", b'{"id": "1", "choices": []}')
        model = LiteLlm("openai/m", api_base=server.url, api_key="k")
        with pytest.raises(ChatCompletionError, match=r"returned no answer.*'choices'"):
            [one async for one in model.generate_content_async(LlmRequest(contents=QUESTION))]


@pytest.mark.parametrize("stream", [False, True])
async def test_an_empty_answer_is_valid(stream):
    with ChatServer() as server:
        server.answer(says("", finish="stop"))
        model = LiteLlm("openai/m", api_base=server.url, api_key="k")
        responses = model.generate_content_async(LlmRequest(contents=QUESTION), stream=stream)
        [response] = [one async for one in responses]
    assert response.finish_reason == types.FinishReason.STOP


def calls_of(response):
    return [(call.name, call.args) for call in response.get_function_calls()]


async def get_response(answer, *tools):
    declared = [types.FunctionDeclaration(name=name) for name in tools]
    config = types.GenerateContentConfig(tools=[types.Tool(function_declarations=declared)])
    model = LiteLlm("ollama_chat/llama3", llm_client=Listening(answer))
    request = LlmRequest(contents=QUESTION, config=config)
    [response] = [one async for one in model.generate_content_async(request)]
    return response


@pytest.mark.parametrize(
    "arguments",
    [
        '{"a": true, "b": "it\'s"}',
        "{'a': True, 'b': \"it's\"}",
        '{a: true, b: "it\'s"}',
        '{a: True, "b": "it\'s"}',
        '```json\n{"a": true, "b": "it\'s"}\n```',
    ],
)
async def test_arguments_are_parsed_in_any_notation_of_objects(arguments):
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": arguments}}
    response = await get_response({"content": None, "tool_calls": [call]}, "f")
    assert calls_of(response) == [("f", {"a": True, "b": "it's"})]
    assert response.error_code is None


@pytest.mark.parametrize(
    "arguments", ['{"a": ', "{'a': ", "[1]", "null", "f()", "{1: {2}} x", "``", "```{", "{'a': b}"]
)
async def test_arguments_that_are_not_an_object_are_an_error(arguments):
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": arguments}}
    response = await get_response({"content": None, "tool_calls": [call]}, "f")
    assert (calls_of(response), response.error_code) == ([], "MALFORMED_FUNCTION_CALL")


BEGIN, END = "<\uff5ctool\u2581call\u2581begin\uff5c>", "<\uff5ctool\u2581call\u2581end\uff5c>"
MARKED = BEGIN + 'function<\uff5ctool\u2581sep\uff5c>f\n```json\n{"a": 1}\n```' + END
FRAMED = f"<\uff5ctool\u2581calls\u2581begin\uff5c>{MARKED}<\uff5ctool\u2581calls\u2581end\uff5c>"


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ('{"name": "f", "arguments": {"a": 1}}', []),
        ('{"name": "f", "arguments": "{\\"a\\": 1}"} {', ["{"]),
        ('So {x} {"name": "f", "arguments": {"a": 1}} then', ["So {x}  then"]),
        (f"So {FRAMED}", ["So"]),
        (MARKED, []),
    ],
)
async def test_a_tool_call_in_the_text_is_recognized(text, rest):
    response = await get_response({"content": text}, "f")
    assert calls_of(response) == [("f", {"a": 1})]
    assert [part.text for part in response.content.parts if part.text] == rest


@pytest.mark.parametrize("tools", [(), ("g",)])
async def test_text_that_calls_no_tool_of_the_request_stays_text(tools):
    for text in ('{"name": "f", "arguments": {"a": 1}}', FRAMED):
        response = await get_response({"content": text}, *tools)
        assert (calls_of(response), response.content.parts[0].text) == ([], text)
