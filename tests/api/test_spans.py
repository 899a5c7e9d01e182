"""The record of agents, models and tools: when, how long, what was sent and what was returned."""

import html
import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from tests.kit.debugged_run import DebuggedRun
from tests.kit.patience import PATIENCE
from tests.kit.server import running, write_app

WEATHER = """
import asyncio

from google.genai import types

from devui.runtime.agents import Agent, SequentialAgent
from devui.runtime.models import BaseLlm, LlmResponse


def said(*parts, partial=None):
    return LlmResponse(content=types.Content(role="model", parts=list(parts)), partial=partial)


class Model(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        if any(part.function_response for part in llm_request.contents[-2].parts):
            yield said(types.Part(text="It is "), partial=True)
            yield said(types.Part(text="sunny."), partial=True)
            yield said(types.Part(text="It is sunny."))
        else:
            city = types.FunctionCall(name="weather", args={"city": "CITY"})
            yield said(types.Part(function_call=city))


async def weather(city: str) -> dict:
    if city == "Atlantis":
        raise ValueError("it sank")
    if city == "Nowhere":
        await asyncio.Event().wait()
    return {"city": city, "sky": None}


def shout(callback_context, llm_request):
    llm_request.config.temperature = 0.25
    llm_request.contents.append(types.Content(role="user", parts=[types.Part(text="LOUD")]))


def tidy(tool, args, tool_context, tool_response):
    return {"tidied": True}


asker = Agent(
    name="asker",
    model=Model(model="test"),
    instruction="Say the weather.",
    tools=[weather],
    before_model_callback=shout,
    after_tool_callback=tidy,
)
root_agent = SequentialAgent(name="team", sub_agents=[asker])
"""
GROWING = """
from google.genai import types

from devui.runtime.agents import Agent
from devui.runtime.models import BaseLlm, LlmResponse


def said(call, partial=None):
    content = types.Content(role="model", parts=[types.Part(function_call=call)])
    return LlmResponse(content=content, partial=partial)


class Model(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        if len(llm_request.contents) > 1:
            yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text="Done.")]))
            return
        call, arg = types.FunctionCall, types.PartialArg
        begun = [arg(json_path="$.city", string_value="Os", will_continue=True)]
        yield said(call(name="find", id="c", partial_args=begun, will_continue=True), True)
        rest = arg(json_path="$.city", string_value='l\\"o')
        more = [rest, arg(json_path="$.days", number_value=2)]
        yield said(call(id="c", partial_args=more, will_continue=True), True)
        yield said(call(id="c", will_continue=False), True)
        yield said(call(name="find", id="c", args={"city": 'Osl"o', "days": 2}))


def find(city: str, days: int) -> str:
    return city


root_agent = Agent(name="growing", model=Model(model="test"), tools=[find])
"""


def spans(debugged: DebuggedRun) -> list[dict[str, Any]]:
    """The session's spans, each with what was sent and returned."""
    base = f"/api/sessions/{debugged.key}/spans"
    rows = debugged.client.get(base).json()["spans"]
    return [debugged.client.get(f"{base}/{row['id']}").json() for row in rows]


def pieces(request: dict[str, Any]) -> Iterator[Any]:
    yield from (request["system"], request["tools"], request["config"], *request["contents"])


@pytest.fixture(scope="module")
def debugged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DebuggedRun]:
    folder = tmp_path_factory.mktemp("spans")
    write_app(folder / "agents", "weather", WEATHER.replace("CITY", "Oslo"))
    write_app(folder / "agents", "growing", GROWING)
    with running(folder / "agents", folder / "data") as server, server.client() as client:
        debugged = DebuggedRun(client, "weather").start("How is Oslo?", pause=False)
        assert debugged.settled()["status"] == "done"
        debugged.data = server.data
        yield debugged


@pytest.fixture
def database(debugged: DebuggedRun) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(debugged.data / "journal.db")) as connection:
        yield connection


def test_spans_of_agents_models_and_tools_are_nested(debugged: DebuggedRun) -> None:
    rows = spans(debugged)
    assert [(s["number"], s["parent"], s["type"], s["agent"]) for s in rows] == [
        (1, None, "agent", "team"),
        (2, 1, "agent", "asker"),
        (3, 2, "model", "asker"),
        (4, 2, "tool", "asker"),
        (5, 2, "model", "asker"),
    ]
    assert all(s["error"] is None for s in rows)


def test_the_chunks_of_a_streamed_call_show_when_its_arguments_end(
    debugged: DebuggedRun,
) -> None:
    growing = DebuggedRun(debugged.client, "growing").start(pause=False)
    growing.settled()
    address = f"/sessions/{growing.key}?event=2&tab=request"
    page = debugged.client.get(address, headers={"Accept": "text/html"}).text
    pieces = re.findall(r'<span data-chunk="([^"]*)"[^>]*>([^<]*)</span>', page)
    texts = [html.unescape(text) for _, text in pieces]
    assert texts == ['find(city: "Os', 'l\\"o", days: 2', ")"]
    ends = "the arguments of find are complete"
    assert [ends in chunks for chunks, _ in pieces] == [False, False, True]


def test_a_span_lasts_no_longer_than_its_parent(debugged: DebuggedRun) -> None:
    by_number = {s["number"]: s for s in spans(debugged)}
    assert all(s["seconds"] >= 0 and s["began"] <= time.time() for s in by_number.values())
    inner = sum(by_number[number]["seconds"] for number in (3, 4, 5))
    assert inner <= by_number[2]["seconds"] <= by_number[1]["seconds"]


def test_the_request_is_stored_as_the_last_callback_left_it(debugged: DebuggedRun) -> None:
    [first, second] = [s for s in spans(debugged) if s["type"] == "model"]
    texts = [part["text"] for c in first["sent"]["contents"] for part in c["parts"]]
    assert texts == ["How is Oslo?", "LOUD"]
    assert first["sent"]["config"]["temperature"] == 0.25
    assert "Say the weather." in first["sent"]["system"]
    [declared] = first["sent"]["tools"][0]["functionDeclarations"]
    assert declared["name"] == "weather"
    assert second["sent"]["contents"][0] == first["sent"]["contents"][0]
    assert len(second["sent"]["contents"]) == 4
    assert second["sent"]["stream"] is True


def test_a_request_is_compared_with_the_previous_or_any_other(debugged: DebuggedRun) -> None:
    [first, second] = [s["id"] for s in spans(debugged) if s["type"] == "model"]
    [tool] = [s["id"] for s in spans(debugged) if s["type"] == "tool"]
    path = f"/api/sessions/{debugged.key}/spans/%s/diff"
    diff = debugged.client.get(path % second).json()
    assert (diff["span"], diff["with"]) == (second, first)
    assert [block["kind"] for block in diff["blocks"]] == ["same", "added", "added", "same"]
    assert [block["breaksCache"] for block in diff["blocks"]] == [False, True, False, False]
    back = debugged.client.get(path % first, params={"with": second}).json()
    assert [block["kind"] for block in back["blocks"]] == ["same", "removed", "removed", "same"]
    assert debugged.client.get(path % first).status_code == 404
    assert debugged.client.get(path % tool).status_code == 404
    assert debugged.client.get(path % second, params={"with": tool}).status_code == 404


def test_each_response_is_stored_with_its_time(debugged: DebuggedRun) -> None:
    [_, second] = [s for s in spans(debugged) if s["type"] == "model"]
    times = [seconds for seconds, _ in second["result"]]
    texts = [answer["content"]["parts"][0]["text"] for _, answer in second["result"]]
    assert texts == ["It is ", "sunny.", "It is sunny."]
    assert times == sorted(times)
    assert second["first"] == pytest.approx(times[0], abs=1e-5)
    assert second["seconds"] == pytest.approx(times[-1], abs=1e-5)


def test_a_tools_result_is_stored_as_the_tool_returned_it(debugged: DebuggedRun) -> None:
    [tool] = [s for s in spans(debugged) if s["type"] == "tool"]
    assert (tool["name"], tool["sent"]) == ("weather", {"city": "Oslo"})
    assert tool["result"] == {"city": "Oslo", "sky": None}


def test_an_event_is_linked_to_the_call_that_produced_it(debugged: DebuggedRun) -> None:
    base = f"/api/sessions/{debugged.key}/spans"
    of = {n: debugged.client.get(base, params={"event": n}).json()["spans"] for n in (1, 2, 3, 4)}
    assert [[s["number"] for s in of[n]] for n in of] == [[], [3], [4], [5]]


def test_shared_parts_of_requests_are_stored_once(
    debugged: DebuggedRun, database: sqlite3.Connection
) -> None:
    requests = [s["sent"] for s in spans(debugged) if s["type"] == "model"]
    different = {str(piece) for request in requests for piece in pieces(request)}
    assert sum(len(list(pieces(request))) for request in requests) > len(different)
    count = "SELECT count(*) FROM pieces WHERE session = ?"
    [(count_stored,)] = database.execute(count, (debugged.key,))
    assert count_stored == len(different)


def test_a_tool_that_raises_ends_its_span_with_the_error(tmp_path: Any) -> None:
    write_app(tmp_path / "agents", "weather", WEATHER.replace("CITY", "Atlantis"))
    with running(tmp_path / "agents", tmp_path / "data") as server, server.client() as client:
        debugged = DebuggedRun(client, "weather").start("How is Atlantis?", pause=False)
        assert debugged.settled()["status"] == "failed"
        rows = spans(debugged)
    [tool] = [s for s in rows if s["type"] == "tool"]
    assert tool["error"] == "ValueError: it sank"
    assert tool["result"] is None
    assert [s["error"] for s in rows if s["type"] == "agent"] == ["ValueError: it sank"] * 2
    assert [s["error"] for s in rows if s["type"] == "model"] == [None]


def test_a_stop_ends_the_open_spans(tmp_path: Any) -> None:
    write_app(tmp_path / "agents", "weather", WEATHER.replace("CITY", "Nowhere"))
    with running(tmp_path / "agents", tmp_path / "data") as server, server.client() as client:
        debugged = DebuggedRun(client, "weather").start("How is Oslo?", pause=False)
        base = f"/api/sessions/{debugged.key}/spans"
        patience = time.monotonic() + PATIENCE
        while not any(s["type"] == "tool" for s in client.get(base).json()["spans"]):
            assert time.monotonic() < patience
            time.sleep(0.05)
        assert debugged.tell("stop")["status"] == "stopped"
        ends = {s["type"]: s["error"] for s in client.get(base).json()["spans"]}
    assert ends == {"agent": "cancelled", "model": None, "tool": "cancelled"}


def test_a_missing_span_is_not_found(debugged: DebuggedRun) -> None:
    base = f"/api/sessions/{debugged.key}/spans"
    assert debugged.client.get(f"{base}/999999").status_code == 404
    assert debugged.client.get(f"{base}/none").status_code == 404
    assert debugged.client.get(base, params={"after": "x"}).status_code == 400
