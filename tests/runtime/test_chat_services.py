"""What `OpenAILlm` says of services that answer with HTTP 200 and yet not as they should."""

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
async def test_an_answer_that_is_none_is_an_error(server, model, media, body, message):
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
async def test_a_stream_that_does_not_come_to_its_end_is_an_error(
    server, model, media, body, message
):
    server.send(media, body)
    with pytest.raises(ChatCompletionError, match=message) as error:
        await ask(model, stream=True)
    assert f"{server.url}/chat/completions" in str(error.value)


@pytest.mark.parametrize("end", [STOP, DONE, STOP + DONE])
async def test_a_stream_ends_by_its_mark_or_by_a_reason(server, model, end):
    server.send(EVENTS, HALF + end)
    assert (await ask(model, stream=True))[-1].content.parts[0].text == "half"


async def test_only_data_of_a_stream_are_read(server, model):
    server.send(EVENTS, b": ping \n\nevent: message \nid: 1 \n" + HALF + STOP)
    assert (await ask(model, stream=True))[-1].content.parts[0].text == "half"


async def test_a_line_of_a_stream_ends_at_a_line_feed_alone(server, model):
    text = "one\u2028two\x85three"
    chunk = json.dumps({"choices": [{"delta": {"content": text}}]}, ensure_ascii=False)
    server.send(EVENTS, f"data: {chunk}\r\n\r\n".encode() + STOP)
    assert (await ask(model, stream=True))[-1].content.parts[0].text == text


async def test_no_tool_is_called_by_an_answer_that_broke_off(server, model):
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
async def test_a_service_that_is_busy_is_asked_again(server, model, stream):
    server.fail(429, "Slow down.")
    server.fail(503, "Overloaded.")
    server.answer(says("fine", finish="stop"))
    assert (await ask(model, stream=stream))[-1].content.parts[0].text == "fine"
    first, *others = [one.body for one in server.received]
    assert others == [first, first]


async def test_a_service_that_stays_busy_is_given_up(server, model):
    for _ in range(3):
        server.fail(500, "Out of order")
    with pytest.raises(ChatCompletionError, match=r"HTTP 500: Out of order\."):
        await ask(model, stream=False)
    assert len(server.received) == 3


@pytest.mark.parametrize(("status", "retries"), [(400, 2), (401, 2), (404, 2), (503, 0)])
async def test_what_will_not_pass_and_what_may_not_be_repeated_is_asked_once(
    server, status, retries
):
    model = OpenAILlm(model="m", base_url=server.url, max_retries=retries)
    server.fail(status, "No.")
    with pytest.raises(ChatCompletionError, match=f"HTTP {status}: No"):
        await ask(model, stream=True)
    assert len(server.received) == 1
    await model.aclose()


def test_a_service_may_say_how_long_to_wait():
    assert pause(0, {"retry-after": "7"}) == 7
    assert 6 <= pause(9, {"retry-after": "86400"}) <= 8
    assert 0.75 <= pause(1, {"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"}) <= 1
