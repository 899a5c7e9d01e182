"""Gemini answers that arrive in chunks over HTTP: texts, thoughts, and calls in pieces."""

import random
from functools import partial
from typing import Any

from google.genai import types

from tests.differential.case import Case, add
from tests.differential.differing import ARGUMENTS_AT_ONCE, EXPLAINED_ENDS
from tests.differential.differing_nodes import EMPTY_STREAMS
from tests.differential.differing_tools import EMPTY_PARTS, MISSING_RESULTS
from tests.kit.gemini_server import GeminiServer
from tests.kit.rounds import rounds

Json = dict[str, Any]


def plan(tool_context, **arguments) -> dict[str, Any]:
    """Plans."""
    return {"planned": True}


def other(tool_context, **arguments) -> dict[str, Any]:
    """Does something else."""
    return {"done": True}


def text(words: str, **fields: Any) -> Json:
    """Return a text part."""
    return {"text": words, **fields}


def piece(
    name: str = "", *values: tuple[str, Any], more: bool | None = True, **fields: Any
) -> Json:
    """Return a part with arguments of a call, as paths and values; with `more`, others follow."""
    call: Json = {"name": name, "willContinue": more, **fields}
    call["partialArgs"] = [{"jsonPath": path} | _value(value) for path, value in values]
    return {"functionCall": {key: each for key, each in call.items() if each not in ("", None, [])}}


def _value(value: Any) -> Json:
    if value is None:
        return {"nullValue": "NULL_VALUE"}
    kinds = {bool: "boolValue", int: "numberValue", float: "numberValue", str: "stringValue"}
    return {kinds[type(value)]: value}


def chunk(*parts: Json, finish: str | None = None, **fields: Any) -> Json:
    """Return one chunk of an answer."""
    candidate: Json = {"content": {"role": "model", "parts": list(parts)}} if parts else {}
    return {"candidates": [candidate | ({"finishReason": finish} if finish else {})], **fields}


END = chunk(finish="STOP")
DONE = [chunk(text("Done."), finish="STOP")]
USAGE = {"promptTokenCount": 3, "candidatesTokenCount": 4, "totalTokenCount": 7}
ANSWERS: dict[str, list[Json]] = {
    "texts": [chunk(text("Hel")), chunk(text("lo")), chunk(text("!"), finish="STOP")],
    "a thought and a text": [
        chunk(text("Hm", thought=True)),
        chunk(text(".", thought=True, thoughtSignature="c2ln")),
        chunk(text("Yes")),
        chunk(text("."), finish="STOP"),
    ],
    "usage before the end": [chunk(text("Yes"), usageMetadata=USAGE), END],
    "the end in a chunk of its own": [chunk(text("Yes")), END],
    "an end by length": [chunk(text("Yes")), chunk(text(" and"), finish="MAX_TOKENS")],
    "a block": [chunk(text("Yes")), chunk(finish="SAFETY")],
    "no answer at all": [END],
    "thoughts alone": [chunk(text("Hm", thought=True)), END],
    "a whole call": [
        chunk(text("Wait.")),
        chunk({"functionCall": {"name": "plan", "args": {"a": 1}}}),
        END,
    ],
    "the same call twice": [
        chunk({"functionCall": {"name": "plan", "args": {"a": 1}, "id": "x"}}),
        chunk({"functionCall": {"name": "plan", "args": {"a": 1}, "id": "x"}}, finish="STOP"),
    ],
    "a call in pieces": [
        chunk(piece("plan")),
        chunk(piece("", ("$.city", "Lon"))),
        chunk(piece("", ("$.city", "don"), ("$.days", 2))),
        chunk(piece("", ("$.nights[0].hotel", "Ritz"), ("$.nights[1].hotel", None))),
        chunk(piece("", ("$['with kids']", False), more=None)),
        END,
    ],
    "a call in one piece": [chunk(piece("plan", ("$.city", "Rome"), more=False)), END],
    "a call with its name in each piece": [
        chunk(piece("plan", ("$.city", "Ro"))),
        chunk(piece("plan", ("$.city", "me"), more=False), finish="STOP"),
    ],
    "a call whose name comes late": [
        chunk(piece("", ("$.city", "Ro"))),
        chunk(piece("plan", ("$.city", "me"), more=False), finish="STOP"),
    ],
    "a call without a name": [chunk(text("Hm.")), chunk(piece("", ("$.city", "Rome"))), END],
    "a call that is never closed": [chunk(piece("plan", ("$.city", "Rome"))), END],
    "a call with the id of the server": [
        chunk(piece("plan", ("$.city", "Ro"), id="call-1")),
        chunk(piece("", ("$.city", "me"), more=False)),
        END,
    ],
    "an id that comes late": [
        chunk(piece("plan", ("$.city", "Ro"))),
        chunk(piece("", ("$.city", "me"), more=False, id="call-1")),
        END,
    ],
    "arguments at once and in pieces": [
        chunk(piece("plan", ("$.city", "Rome"), args={"days": 2})),
        chunk(piece("", ("$.with", "kids"), more=False)),
        END,
    ],
    "a text that becomes a number": [
        chunk(piece("plan", ("$.days", "two"))),
        chunk(piece("", ("$.days", 2), more=False)),
        END,
    ],
    "two calls in pieces": [
        chunk(piece("plan", ("$.city", "Rome"), more=False)),
        chunk(piece("plan", ("$.city", "Pa"))),
        chunk(piece("", ("$.city", "ris"), more=False)),
        END,
    ],
    "a call that another breaks off": [
        chunk(piece("plan", ("$.city", "Rome"))),
        chunk(piece("other", ("$.city", "Paris"))),
        chunk(piece("plan", ("$.city", "Bern"), more=False)),
        END,
    ],
    "words between the pieces": [
        chunk(text("First. ")),
        chunk(piece("plan", ("$.city", "Ro")), text("Mean")),
        chunk(text("while. ")),
        chunk(piece("", ("$.city", "me"), more=False)),
        chunk(text("Last."), finish="STOP"),
    ],
    "odd paths": [
        chunk(piece("plan", ("$", "all"), ("$.a-b", 1), ("$.naïve key", 2), ("$['it\\'s']", 3))),
        chunk(piece("", ('$["a\\nb"]', 4), ("$['\\u00e9']", 5), ("$.a-b.c", 6), ("c[ 1 ]", 7))),
        chunk(piece("", ("$.c.d", 8), ("$.c[20000]", 9), more=False)),
        END,
    ],
    "an image": [
        chunk(text("Look: ")),
        chunk({"inlineData": {"data": "aGk=", "mimeType": "image/png"}}),
        chunk(text("Nice."), finish="STOP"),
    ],
    "code": [
        chunk({"executableCode": {"code": "1 + 1", "language": "PYTHON"}}),
        chunk({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}}),
        chunk(text("Two."), finish="STOP"),
    ],
}
DIFFERENT = {
    "arguments at once and in pieces": ARGUMENTS_AT_ONCE,
    "an end by length": EXPLAINED_ENDS,
    "a block": EXPLAINED_ENDS,
    "no answer at all": EMPTY_STREAMS,
}


async def _streamed(stage: Any, chunks: list[Json]) -> None:
    with GeminiServer() as server:
        server.answer(*chunks)
        server.answer(*DONE)
        server.answer(*DONE)
        model = stage.ns.Gemini(
            model="gemini-2.5-flash", base_url=server.url, client_kwargs={"api_key": "any"}
        )
        await stage.open(stage.agent("agent", model=model, tools=[plan, other]))
        await stage.stream()
        await stage.stream("next")
        stage.note([request.body["contents"] for request in server.received])


for _name, _chunks in ANSWERS.items():
    _play = partial(_streamed, chunks=_chunks)
    add(Case(f"a stream of Gemini: {_name}", _play, DIFFERENT.get(_name)))

FILES = {
    "a picture": ("image/png", b"\x89PNG"),
    "a drawing": ("image/svg+xml", b"<svg/>"),
    "a document": ("application/pdf", b"%PDF"),
    "a table": ("text/csv", b"a,b\n1,2"),
    "JSON": ("application/json", b"[1]"),
    "a page": ("text/html; charset=utf-8", "<p>é</p>".encode()),
    "words in no encoding": ("text/plain", b"\xff\xfea"),
}


async def _with_a_file(stage: Any, mime_type: str, data: bytes) -> None:
    with GeminiServer() as server:
        server.answer(*DONE)
        server.answer(*DONE)
        model = stage.ns.Gemini(
            model="gemini-2.5-flash", base_url=server.url, client_kwargs={"api_key": "any"}
        )
        await stage.open(stage.agent("agent", model=model))
        file = types.Blob(data=data, mime_type=mime_type, display_name="f")
        await stage.say([types.Part(text="Look."), types.Part(inline_data=file)])
        await stage.say("Again.")
        stage.note([request.body["contents"] for request in server.received])


for _name, (_mime_type, _data) in FILES.items():
    add(Case(f"Gemini is shown {_name}", partial(_with_a_file, mime_type=_mime_type, data=_data)))


async def _asked_while_a_job_waits(stage: Any) -> None:
    def job() -> None:
        """A job that takes long."""

    with GeminiServer() as server:
        server.answer(chunk({"functionCall": {"name": "job", "args": {}}}, finish="STOP"))
        server.answer(*DONE)
        model = stage.ns.Gemini(
            model="gemini-2.5-flash", base_url=server.url, client_kwargs={"api_key": "any"}
        )
        tools = [stage.ns.LongRunningFunctionTool(func=job)]
        await stage.open(stage.agent("agent", model=model, tools=tools))
        await stage.say("Begin.")
        await stage.say("And now?")
        stage.note([request.body["contents"] for request in server.received])


add(Case("Gemini is asked while a job waits", _asked_while_a_job_waits, MISSING_RESULTS))


async def _ended_with(stage: Any, part: Json) -> None:
    def look() -> str:
        """Looks."""
        return "seen"

    file = types.Blob(data=b"ab", mime_type="text/plain")
    with GeminiServer() as server:
        look_at_it = {"functionCall": {"name": "look", "args": {}}}
        server.answer(chunk(look_at_it), chunk(part, finish="STOP"))
        server.answer(*DONE)
        model = stage.ns.Gemini(
            model="gemini-2.5-flash", base_url=server.url, client_kwargs={"api_key": "any"}
        )
        await stage.open(stage.agent("agent", model=model, tools=[look]))
        await stage.stream([types.Part(text=""), types.Part(inline_data=file)])
        stage.note([request.body["contents"] for request in server.received])


ENDS: dict[str, Json] = {
    "an empty text": {"text": ""},
    "an empty thought": {"text": "", "thought": True},
    "a signature": {"text": "", "thoughtSignature": "c2ln"},
    "a part of another kind": {"hologram": {"a": 1}},
}
for _name, _part in ENDS.items():
    add(Case(f"a call of Gemini ends with {_name}", partial(_ended_with, part=_part), EMPTY_PARTS))

PATHS = ("$.a", "$.b[0]", "$.b[1].c", "$.b['x y']", "$['k']", "$.d.e", "$.d.f[2]")
VALUES = ("s", "té", 2, 1.5, False, None)


def _call_in_pieces(rnd: random.Random, name: str) -> list[Json]:
    pieces = []
    for index in range(count := rnd.randint(1, 4)):
        values = [(rnd.choice(PATHS), rnd.choice(VALUES)) for _ in range(rnd.randint(0, 2))]
        more = True if index + 1 < count else rnd.choice([False, None])
        piece_name = name if index == 0 or rnd.random() < 0.3 else ""
        pieces.append(piece(piece_name, *values, more=more))
    return pieces if count > 1 else [piece(name, ("$.a", 1), more=False)]


def _any_chunks(seed: int) -> list[Json]:
    rnd = random.Random(seed)
    parts: list[Json] = []
    for _ in range(rnd.randint(1, 4)):
        kind = rnd.random()
        if kind < 0.4:
            thought_field = {"thought": True} if rnd.random() < 0.4 else {}
            parts += [text(rnd.choice(["a", "b ", "c"]), **thought_field) for _ in range(2)]
        elif kind < 0.55:
            parts.append({"functionCall": {"name": "plan", "args": {"n": rnd.randint(0, 9)}}})
        else:
            parts += _call_in_pieces(rnd, rnd.choice(["plan", "other"]))
    chunks = []
    while parts:
        size = rnd.randint(1, 2)
        chunks.append(chunk(*parts[:size]))
        del parts[:size]
    return [*chunks, END]


for _seed in range(rounds(15, 30)):
    add(Case(f"a stream of Gemini {_seed}", partial(_streamed, chunks=_any_chunks(_seed))))
