"""Chunks of Gemini's answers over HTTP: fragments, whole answers, tokens and finish reasons."""

import asyncio
import os
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from google.genai import Client, types

from tests.differential.case import Case, Difference, add
from tests.differential.differing_streams import ENDS_OF_STREAMS, SILENT_STREAMS, WHOLE_FRAGMENTS
from tests.kit.gemini_server import GeminiServer, Json, call, chunk, text

USAGE = {"promptTokenCount": 7, "candidatesTokenCount": 3, "totalTokenCount": 10}
LESS = {"promptTokenCount": 7, "candidatesTokenCount": 1, "totalTokenCount": 8}
SOURCES = {"webSearchQueries": ["weather"]}
PICTURE = {"inlineData": {"mimeType": "image/png", "data": "AQID"}}
SIGNED = {"thoughtSignature": "c2ln"}
LATE_OFF = {"ADK_DISABLE_PROGRESSIVE_SSE_STREAMING": "1"}


def look(a: int = 0, city: str = "") -> str:
    """Looks."""
    return f"seen {a}{city}"


def _asked(name: str, **more: Any) -> Json:
    return {"functionCall": {"name": name, **more}}


def _second(part: Json, **more: Any) -> Json:
    """Return a chunk of the second candidate."""
    second = chunk(part, **more)
    second["candidates"][0]["index"] = 1
    return second


STREAMS: dict[str, list[Json]] = {
    "two answers in turn": [
        chunk(text("Hel")),
        _second(text("Good ")),
        chunk(text("lo."), finish="STOP", usageMetadata=LESS),
        _second(text("day."), finish="STOP", usageMetadata=USAGE),
    ],
    "two answers at once": [
        {"candidates": _second(text("Good"))["candidates"] + chunk(text("Hel"))["candidates"]},
        chunk(text("lo."), finish="STOP", usageMetadata=USAGE),
    ],
    "one chunk": [chunk(text("Hello."), finish="STOP", usageMetadata=USAGE)],
    "a text in pieces": [
        chunk(text("Hel"), usageMetadata=LESS),
        chunk(text("lo."), finish="STOP", usageMetadata=USAGE),
    ],
    "tokens told before the end": [
        chunk(text("Hel"), usageMetadata=USAGE),
        chunk(text("lo."), finish="STOP"),
    ],
    "an end of its own": [chunk(text("Hel")), chunk(text("lo.")), chunk(finish="STOP")],
    "an empty text at the end": [chunk(text("Hi.")), chunk(text(""), finish="STOP")],
    "thoughts and a text": [
        chunk(text("Hm", thought=True)),
        chunk(text("m.", thought=True)),
        chunk(text("Hel")),
        chunk(text("lo."), finish="STOP", usageMetadata=USAGE),
    ],
    "thoughts between texts": [
        chunk(text("A")),
        chunk(text("hm", thought=True), text("B")),
        chunk(text("C"), finish="STOP"),
    ],
    "nothing but thoughts": [chunk(text("Hm.", thought=True)), chunk(finish="STOP")],
    "signed pieces": [
        chunk(text("Hm", thought=True, **SIGNED)),
        chunk(text("Hel")),
        chunk(text("lo", **SIGNED), finish="STOP"),
    ],
    "a call": [chunk(call("look", a=1), finish="STOP", usageMetadata=USAGE)],
    "a signed call": [chunk({**call("look", a=1), **SIGNED}, finish="STOP")],
    "a text and a call": [chunk(text("I look.")), chunk(call("look", a=1), finish="STOP")],
    "a call and a text": [chunk(call("look", a=1)), chunk(text("I looked."), finish="STOP")],
    "calls in one chunk": [chunk(call("look", a=1), call("look", a=2), finish="STOP")],
    "calls in several chunks": [
        chunk(text("I look twice.")),
        chunk(call("look", a=1)),
        chunk(call("look", a=2)),
        chunk(finish="STOP", usageMetadata=USAGE),
    ],
    "calls with ids": [
        chunk(_asked("look", id="c1", args={"a": 1})),
        chunk(_asked("look", id="c2", args={"a": 2}), finish="STOP"),
    ],
    "a call sent twice": [
        chunk(_asked("look", id="c1", args={"a": 1})),
        chunk(_asked("look", id="c1", args={"a": 1}), finish="STOP"),
    ],
    "arguments in pieces": [
        chunk(_asked("look", willContinue=True)),
        chunk(
            _asked("", partialArgs=[{"jsonPath": "$.city", "stringValue": "Os"}], willContinue=True)
        ),
        chunk(
            _asked("", partialArgs=[{"jsonPath": "$.city", "stringValue": "lo"}], willContinue=True)
        ),
        chunk(_asked("", partialArgs=[{"jsonPath": "$.a", "numberValue": 2}])),
        chunk(finish="STOP"),
    ],
    "thoughts, a text and a call": [
        chunk(text("Hm.", thought=True)),
        chunk(text("I look.")),
        chunk(call("look", a=1), finish="STOP", usageMetadata=USAGE),
    ],
    "a picture": [chunk(text("See:")), chunk(PICTURE), chunk(text("Nice."), finish="STOP")],
    "code and its result": [
        chunk({"executableCode": {"language": "PYTHON", "code": "1+1"}}),
        chunk({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}}),
        chunk(text("Two."), finish="STOP"),
    ],
    "cut off by its length": [chunk(text("Once upon")), chunk(finish="MAX_TOKENS")],
    "cut off with its last words": [chunk(text("Once ")), chunk(text("up"), finish="MAX_TOKENS")],
    "cut off, and why": [
        chunk(text("Once upon")),
        {
            "candidates": [{"finishReason": "MAX_TOKENS", "finishMessage": "boom: long"}],
            "modelVersion": "gemini-test-001",
        },
    ],
    "stopped for safety": [chunk(text("Well")), chunk(finish="SAFETY")],
    "a call that went wrong": [chunk(finish="MALFORMED_FUNCTION_CALL")],
    "no end": [chunk(text("Hel")), chunk(text("lo"))],
    "nothing at all": [chunk(finish="STOP")],
    "an empty text": [chunk(text(""), finish="STOP")],
    "a blocked question": [{"promptFeedback": {"blockReason": "SAFETY"}, "modelVersion": "v"}],
}


@contextmanager
def settings(values: dict[str, str]) -> Iterator[None]:
    """Set environment variables temporarily."""
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


async def _played(stage, streams, leave=0, env=None, whole=False):
    with GeminiServer() as server, settings(env or {}):
        for chunks in streams:
            server.answer(*chunks)
        for _ in range(4):
            server.answer(chunk(text("Do"), usageMetadata=LESS), chunk(text("ne."), finish="STOP"))
        options = types.HttpOptions(base_url=server.url)
        client = Client(api_key="none", http_options=options, vertexai=False)
        model = stage.ns.Gemini(model="gemini-test", client=client)
        agent = stage.ns.LlmAgent(name="agent", model=model, tools=[look], output_key="said")
        await stage.open(agent)
        await (stage.say() if whole else stage.stream(leave=leave))
        await client.aio.aclose()
        client.close()


def ends_of(chunks: list[Json]) -> Difference | None:
    """Return the intended difference for streams with this end, if any."""
    if chunks == STREAMS["nothing at all"]:
        return SILENT_STREAMS
    ends = [
        each["finishReason"]
        for one in chunks
        for each in one.get("candidates", [])
        if "finishReason" in each
    ]
    blocked = "promptFeedback" in chunks[0]
    return ENDS_OF_STREAMS if blocked or (ends and ends[-1] != "STOP") else None


for _name, _chunks in STREAMS.items():
    add(Case(f"Gemini streams {_name}", partial(_played, streams=[_chunks]), ends_of(_chunks)))
for _name in ("one chunk", "a call", "nothing at all", "a blocked question", "a picture"):
    _play = partial(_played, streams=[STREAMS[_name][:1]], whole=True)
    _differs = ENDS_OF_STREAMS if _name == "a blocked question" else None
    add(Case(f"Gemini answers at once with {_name}", _play, _differs))
for _leave in (1, 2, 3):
    _play = partial(_played, streams=[STREAMS["thoughts and a text"]], leave=_leave)
    add(Case(f"the user leaves after fragment {_leave} of Gemini's answer", _play))


async def _left_in_the_middle(stage):
    with GeminiServer() as server:
        server.fall_silent(chunk(text("Once upon")))
        model = stage.ns.Gemini(base_url=server.url, client_kwargs={"api_key": "any"})
        await stage.open(stage.agent("agent", model=model))
        await stage.stream(leave=1)
        stage.note("the line is closed", await asyncio.to_thread(server.left.wait, 10))


add(Case("the user leaves, and Gemini is not heard any more", _left_in_the_middle))
for _name in ("a text in pieces", "a text and a call", "thoughts and a text", "a call"):
    _play = partial(_played, streams=[STREAMS[_name]], env=LATE_OFF)
    _differs = WHOLE_FRAGMENTS if "call" in _name else None
    add(Case(f"Gemini streams {_name} as it did once", _play, _differs))


def a_stream(dice: random.Random, ends: Sequence[str | None]) -> list[Json]:
    """Return a stream of texts, thoughts, calls and pictures in any order, with a random end."""
    makers = (
        lambda: text(dice.choice(["a", "b ", "\n", "é"])),
        lambda: text(dice.choice(["hm", " "]), thought=True),
        lambda: call("look", a=dice.randrange(3)),
        lambda: _asked("look", id=f"c{dice.randrange(2)}", args={"a": 1}),
        lambda: PICTURE,
        lambda: text("s", **SIGNED),
    )
    weights = (6, 3, 2, 1, 1, 1)
    chunks = []
    for _ in range(dice.randrange(1, 6)):
        parts = [dice.choices(makers, weights)[0]() for _ in range(dice.choice([1, 1, 1, 2]))]
        usage = {"usageMetadata": dice.choice([USAGE, LESS])} if dice.random() < 0.4 else {}
        chunks.append(chunk(*parts, **usage))
    end = dice.choice(ends)
    if dice.random() < 0.5:
        chunks.append(chunk(finish=end, usageMetadata=USAGE))
    elif end:
        chunks[-1]["candidates"][0]["finishReason"] = end
    return chunks


for _seed in range(30):
    _first = a_stream(random.Random(_seed), ["STOP", "STOP", "MAX_TOKENS", "SAFETY", None])
    _second = a_stream(random.Random(1000 + _seed), ["STOP", None])
    _play = partial(_played, streams=[_first, _second])
    add(Case(f"Gemini streams whatever it likes, {_seed}", _play, ends_of(_first)))
