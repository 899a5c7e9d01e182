"""`OpenAILlm` with services that answer HTTP 200 but break the protocol, or that are busy."""

import json

import pytest
from google.genai import types

from devui.runtime.agents import LlmAgent
from devui.runtime.agents.run_config import RunConfig, StreamingMode
from devui.runtime.models import LlmRequest, OpenAILlm
from devui.runtime.models.chat_http import pause
from devui.runtime.models.openai_llm import ChatCompletionError
from devui.runtime.runners import InMemoryRunner
from tests.kit.chat_server import ChatServer, says

EVENTS = "text/event-stream"
HALF = b'data: {"choices": [{"index": 0, "delta": {"content": "half"}}]}\n\n'
STOP = b'data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}\n\n'
CALL = (
    b'data: {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "id": "a", "type":'
    b' "function", "function": {"name": "erase", "arguments": "{}"}}]}}]}\n\n'
)
DONE = b"data: [DONE]\n\n"


@pytest.fixture
def server():
    with ChatServer() as running:
        yield running


@pytest.fixture
async def model(server):
    llm = OpenAILlm(model="test-model", base_url=server.url, api_key="test-key")
    yield llm
    await llm.aclose()


async def ask(model, *, stream):
    request = LlmRequest(contents=[types.Content(role="user", parts=[types.Part(text="go")])])
    return [answer async for answer in model.generate_content_async(request, stream)]


@pytest.mark.parametrize(
    ("media", "body", "message"),
    [
        ("text/html", b"<html>Log in</html>", "<html>Log in</html>"),
        ("application/json", b'{"error": {"message": "provider down"}}', "provider down"),
        ("application/json", b'{"error": "out of memory"}', "out of memory"),
        ("application/json", b'{"choices": []}', "no answer"),
        ("application/json", b"[]", "no answer"),
    ],
)
async def test_a_body_without_an_answer_is_an_error(server, model, media, body, message):
    server.send(media, body)
    with pytest.raises(ChatCompletionError, match=message) as error:
        await ask(model, stream=False)
    assert f"{server.url}/chat/completions" in str(error.value)


@pytest.mark.parametrize(
    ("media", "body", "message"),
    [
        (EVENTS, b"", "before the answer was complete"),
        (EVENTS, DONE, "before the answer was complete"),
        (EVENTS, b'data: {"choices": []}\n\n' + DONE, "before the answer was complete"),
        (EVENTS, HALF, "before the answer was complete"),
        (EVENTS, CALL, "before the answer was complete"),
        ("text/html", b"<html>Log in</html>", "text/html"),
        ("application/json", b'{"choices": [{"message": {"content": "whole"}}]}', "json"),
        (EVENTS, HALF + b"data: {bad\n\n", "{bad"),
        (EVENTS, HALF + b"data: null\n\n", "null"),
    ],
)
async def test_an_incomplete_or_invalid_stream_is_an_error(server, model, media, body, message):
    server.send(media, body)
    with pytest.raises(ChatCompletionError, match=message) as error:
        await ask(model, stream=True)
    assert f"{server.url}/chat/completions" in str(error.value)


@pytest.mark.parametrize("end", [STOP, DONE, STOP + DONE])
async def test_a_stream_ends_with_done_or_with_a_finish_reason(server, model, end):
    server.send(EVENTS, HALF + end)
    assert (await ask(model, stream=True))[-1].content.parts[0].text == "half"


async def test_only_data_lines_of_a_stream_are_read(server, model):
    server.send(EVENTS, b": ping \n\nevent: message \nid: 1 \n" + HALF + STOP)
    assert (await ask(model, stream=True))[-1].content.parts[0].text == "half"


async def test_only_a_line_feed_ends_a_line_of_a_stream(server, model):
    text = "one\u2028two\x85three"
    chunk = json.dumps({"choices": [{"delta": {"content": text}}]}, ensure_ascii=False)
    server.send(EVENTS, f"data: {chunk}\r\n\r\n".encode() + STOP)
    assert (await ask(model, stream=True))[-1].content.parts[0].text == text


async def test_an_interrupted_answer_calls_no_tool(server, model):
    erased = []

    def erase() -> None:
        """Erase everything."""
        erased.append(True)

    server.send(EVENTS, CALL)
    runner = InMemoryRunner(agent=LlmAgent(name="a", model=model, tools=[erase]))
    with pytest.raises(ChatCompletionError):
        await runner.run_debug(
            "go", quiet=True, run_config=RunConfig(streaming_mode=StreamingMode.SSE)
        )
    assert not erased


@pytest.mark.parametrize("stream", [False, True])
async def test_a_request_to_a_busy_service_is_retried(server, model, stream):
    server.fail(429, "Slow down.")
    server.fail(503, "Overloaded.")
    server.answer(says("fine", finish="stop"))
    assert (await ask(model, stream=stream))[-1].content.parts[0].text == "fine"
    first, *others = [one.body for one in server.received]
    assert others == [first, first]


async def test_a_request_fails_after_three_attempts(server, model):
    for _ in range(3):
        server.fail(500, "Out of order")
    with pytest.raises(ChatCompletionError, match=r"HTTP 500: Out of order\."):
        await ask(model, stream=False)
    assert len(server.received) == 3


@pytest.mark.parametrize(("status", "retries"), [(400, 2), (401, 2), (404, 2), (503, 0)])
async def test_permanent_errors_and_max_retries_0_allow_no_retry(server, status, retries):
    model = OpenAILlm(model="m", base_url=server.url, max_retries=retries)
    server.fail(status, "No.")
    with pytest.raises(ChatCompletionError, match=f"HTTP {status}: No"):
        await ask(model, stream=True)
    assert len(server.received) == 1
    await model.aclose()


def test_retry_after_sets_the_pause_up_to_a_limit():
    assert pause(0, {"retry-after": "7"}) == 7
    assert 6 <= pause(9, {"retry-after": "86400"}) <= 8
    assert 0.75 <= pause(1, {"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"}) <= 1
