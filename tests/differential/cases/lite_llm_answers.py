"""Models behind litellm, played by a local server: what is sent, and what the answers become."""

import os
from functools import partial

from tests.differential.case import Case, Difference, add
from tests.differential.differing_streams import (
    BROKEN_CALLS,
    FRAGMENTS_OF_CALLS,
    STREAMS_WITHOUT_ANSWER,
)
from tests.kit.chat_server import ChatServer, Json, calls, says

OFFLINE = {"LITELLM_MODE": "PRODUCTION", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
"""Keeps litellm from reading a .env file and from fetching prices from the internet."""

ANSWERS: dict[str, list[Json]] = {
    "a text": [says("Hel"), says("lo.", finish="stop")],
    "a thought and a text": [says(reasoning_content="Hm."), says("Hi.", finish="stop")],
    "a call": [calls(0, "c1", "look", '{"a": 1}', finish="tool_calls")],
    "a text and a call": [says("I look."), calls(0, "c1", "look", '{"a": 1}', "tool_calls")],
    "a call in pieces": [
        calls(0, "c1", "look", '{"a"'),
        calls(0, None, None, ": 1}", finish="tool_calls"),
    ],
    "two calls": [
        calls(0, "c1", "look", '{"a": 1}'),
        calls(1, "c2", "look", '{"a": 2}', finish="tool_calls"),
    ],
    "a call without arguments": [calls(0, "c1", "look", "", finish="tool_calls")],
    "a tool that is not there": [calls(0, "c1", "gone", "{}", finish="tool_calls")],
    "a text that is cut off": [says("Once upon", finish="length")],
    "a text that is filtered": [says("Well", finish="content_filter")],
    "a call that is cut off": [calls(0, "c1", "look", '{"a": ', finish="length")],
    "a call that is no JSON": [calls(0, "c1", "look", '{"a": ', finish="tool_calls")],
    "nothing": [says("", finish="stop")],
}
STREAMS: dict[str, list[Json]] = {
    "two calls of one index": [
        calls(0, "c1", "look", '{"a": 1}'),
        calls(0, "c2", "look", '{"a": 2}', finish="tool_calls"),
    ],
    "two calls of one index in pieces": [
        says("Both."),
        calls(0, "c1", "look", '{"a"'),
        calls(0, None, None, ": 1}"),
        calls(0, "c2", "look", '{"a"'),
        calls(0, None, None, ": 2}", finish="tool_calls"),
    ],
    "a name in pieces": [
        calls(0, "c1", "lo", ""),
        calls(0, None, "ok", '{"a": 1}', finish="tool_calls"),
    ],
    "a text after the end": [says("Hel"), says("lo.", finish="stop"), says(" Bye.")],
    "two answers": [
        says("Hel"),
        says("Good ") | {"choice": 1},
        says("day.", finish="stop") | {"choice": 1},
        says("lo.", finish="stop"),
    ],
}


def look(a: int = 0) -> str:
    """Looks."""
    return f"seen {a}"


def _sent(body: Json) -> Json:
    """Return a request without texts worded by the runtime."""
    messages = [
        message for message in body["messages"] if message["role"] not in {"system", "developer"}
    ]
    for message in messages:
        if message["role"] == "tool" and message["content"].startswith('{"error"'):
            message["content"] = "<error>"
    return body | {"messages": messages}


async def _asked(stage, chunks, play):
    os.environ.update(OFFLINE)
    with ChatServer() as server:
        server.answer(*chunks)
        for _ in range(3):
            server.answer(says("Do"), says("ne.", finish="stop"))
        model = stage.ns.LiteLlm("openai/test-model", api_base=server.url, api_key="none")
        agent = stage.ns.LlmAgent(name="agent", model=model, tools=[look], output_key="said")
        await stage.open(agent)
        await getattr(stage, play)("one")
        await getattr(stage, play)("two")
        for request in server.received:
            stage.note("sent", _sent(request.body))


async def _streamed_by_a_page(stage):
    os.environ.update(OFFLINE)
    with ChatServer() as server:
        server.send("text/html", b"<html>Log in</html>")
        arguments = {"api_base": server.url, "api_key": "none", "max_retries": 0}
        model = stage.ns.LiteLlm("openai/test-model", **arguments)
        await stage.open(stage.ns.LlmAgent(name="agent", model=model))
        await stage.stream("one")


def differs_in(chunks: list[Json], play: str) -> Difference | None:
    """Return the intended difference of a streamed answer with calls, if any."""
    pieces = [call for one in chunks for call in one["delta"].get("tool_calls", [])]
    if play == "say" or not pieces:
        return None
    is_broken = pieces[-1]["function"]["arguments"].endswith(": ")
    return BROKEN_CALLS if is_broken else FRAGMENTS_OF_CALLS


for _name, _chunks in ANSWERS.items():
    for _play, _how in (("say", "at once"), ("stream", "streamed")):
        _asking = partial(_asked, chunks=_chunks, play=_play)
        _differs = differs_in(_chunks, _play)
        add(Case(f"litellm gives {_name}, {_how}", _asking, _differs, needs="litellm"))
for _name, _chunks in STREAMS.items():
    _asking = partial(_asked, chunks=_chunks, play="stream")
    _differs = differs_in(_chunks, "stream")
    add(Case(f"litellm gives {_name}, streamed", _asking, _differs, needs="litellm"))
add(
    Case(
        "a page answers litellm, streamed",
        _streamed_by_a_page,
        STREAMS_WITHOUT_ANSWER,
        needs="litellm",
    )
)
