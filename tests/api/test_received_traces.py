"""`POST /v1/traces` makes read-only sessions from traces of agents that ran elsewhere."""

import base64
import gzip
import html
import json
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import takewhile
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from tests.kit.oracle import adk_python
from tests.kit.patience import PATIENCE
from tests.kit.server import ROOT, TOKEN, make_session, running

JSON = {"Content-Type": "application/json"}
PROTOBUF = {"Content-Type": "application/x-protobuf"}
CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("received")
    with running(ROOT / "agents", folder / "data") as server:
        yield server


@pytest.fixture
def client(server):
    with server.client() as client:
        yield client


def attributes(values: dict[str, Any]) -> list[dict[str, Any]]:
    def value(plain: Any) -> dict[str, Any]:
        match plain:
            case bool():
                return {"boolValue": plain}
            case int():
                return {"intValue": str(plain)}
            case list():
                return {"arrayValue": {"values": [value(each) for each in plain]}}
        return {"stringValue": plain}

    return [{"key": key, "value": value(each)} for key, each in values.items()]


def span(number: int, name: str, parent: int | None = None, /, **about: Any) -> dict[str, Any]:
    start, end = about.pop("at", (number, number + 1))
    fields = {
        "traceId": about.pop("trace", f"{7:032x}"),
        "spanId": f"{number:016x}",
        "name": name,
        "startTimeUnixNano": str(1_700_000_000_000_000_000 + int(start * 1e9)),
        "endTimeUnixNano": str(1_700_000_000_000_000_000 + int(end * 1e9)),
        "status": about.pop("status", {}),
        "attributes": attributes({key.replace("__", "."): each for key, each in about.items()}),
    }
    return fields if parent is None else {**fields, "parentSpanId": f"{parent:016x}"}


def exported(service: str, *spans: Any) -> dict[str, Any]:
    resource = {"attributes": attributes({"service.name": service})}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": list(spans)}]}]}


def post(client, service: str, *spans: Any) -> dict[str, Any]:
    answer = client.post("/v1/traces", json=exported(service, *spans))
    assert answer.status_code == 200, answer.text
    reply: dict[str, Any] = answer.json()
    return reply


def sessions(client, app: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = client.get("/api/sessions", params={"app": app}).json()["sessions"]
    return rows


def events(client, key: int) -> list[dict[str, Any]]:
    rows = client.get(f"/api/sessions/{key}/events").json()["events"]
    return [client.get(f"/api/sessions/{key}/events/{each['number']}").json() for each in rows]


def everything(client, key: int) -> Any:
    """The records of the session's bundle, without notes."""
    bundle = client.get(f"/api/sessions/{key}/export").json()
    return [each for each in bundle["records"] if each["type"] != "note"]


def turn(**more: Any) -> list[dict[str, Any]]:
    """A turn with a tool call, following the conventions, in the order in which its spans end."""
    prompt = [{"role": "user", "parts": [{"type": "text", "content": "Weather in Rome?"}]}]
    call = {"type": "tool_call", "id": "c1", "name": "weather", "arguments": {"city": "Rome"}}
    reply = [{"role": "assistant", "parts": [{"type": "text", "content": "Fine."}]}]
    model = {
        "gen_ai__operation__name": "chat",
        "gen_ai__request__model": "gpt-x",
        "gen_ai__conversation__id": "talk",
    }
    return [
        span(
            3,
            "chat gpt-x",
            2,
            at=(1, 2),
            **model,
            gen_ai__input__messages=json.dumps(prompt),
            gen_ai__output__messages=json.dumps([{"role": "assistant", "parts": [call]}]),
            gen_ai__usage__input_tokens=20,
            gen_ai__usage__output_tokens=5,
            **more,
        ),
        span(
            4,
            "execute_tool weather",
            2,
            at=(2, 3),
            gen_ai__operation__name="execute_tool",
            gen_ai__tool__name="weather",
            gen_ai__tool__call__id="c1",
            gen_ai__tool__call__arguments='{"city": "Rome"}',
            gen_ai__tool__call__result='{"sky": "blue"}',
            **more,
        ),
        span(
            5,
            "chat gpt-x",
            2,
            at=(3, 4),
            **model,
            gen_ai__output__messages=json.dumps(reply),
            gen_ai__usage__input_tokens=40,
            gen_ai__usage__output_tokens=7,
            **more,
        ),
        span(
            2,
            "invoke_agent desk",
            1,
            at=(0.5, 4.5),
            gen_ai__operation__name="invoke_agent",
            gen_ai__agent__name="desk",
            **more,
        ),
        span(1, "POST /chat", at=(0, 5), **more),
    ]


def test_a_trace_becomes_a_session_with_prompts_tokens_and_spans(client) -> None:
    assert post(client, "shop", *turn()) == {}
    [session] = sessions(client, "shop")
    assert (session["id"], session["events"], session["imported"]) == ("talk", 4, True)
    contents = [
        (each["event"]["author"], each["event"].get("content"))
        for each in events(client, session["key"])
    ]
    call = {"functionCall": {"id": "c1", "name": "weather", "args": {"city": "Rome"}}}
    answer = {"functionResponse": {"id": "c1", "name": "weather", "response": {"sky": "blue"}}}
    assert contents == [
        ("user", {"role": "user", "parts": [{"text": "Weather in Rome?"}]}),
        ("desk", {"role": "model", "parts": [call]}),
        ("desk", {"role": "user", "parts": [answer]}),
        ("desk", {"role": "model", "parts": [{"text": "Fine."}]}),
    ]
    spans = client.get(f"/api/sessions/{session['key']}/spans").json()["spans"]
    assert [(each["type"], each["name"], each["parent"], each["event"]) for each in spans] == [
        ("agent", "desk", None, None),
        ("model", "gpt-x", 1, 2),
        ("tool", "weather", 1, 3),
        ("model", "gpt-x", 1, 4),
    ]
    details = client.get(f"/api/sessions/{session['key']}/spans/{spans[1]['id']}").json()
    assert details["sent"]["contents"][0]["parts"] == [{"text": "Weather in Rome?"}]
    later = client.get(f"/api/sessions/{session['key']}/spans/{spans[3]['id']}").json()
    assert later["sent"] is None  # the span doesn't include it
    usage = client.get(f"/api/sessions/{session['key']}/usage").json()
    assert json.dumps(usage).count("60") >= 1, usage
    page = client.get(f"/sessions/{session['key']}").text
    assert "Weather in Rome?" in page
    assert "fork it to send a message" in page


def test_batches_may_arrive_in_any_order_and_twice(client) -> None:
    post(client, "whole", *turn())
    [whole] = sessions(client, "whole")
    shuffled = random.Random(7).sample(turn(), 5)
    keys = set()
    for each in [*shuffled, *shuffled]:
        post(client, "parted", each)
        keys |= {session["key"] for session in sessions(client, "parted")}
    [parted] = sessions(client, "parted")
    assert parted["id"] == "talk"
    assert everything(client, parted["key"]) == everything(client, whole["key"])
    head = client.get("/api/sessions", params={"app": "parted"}).json()
    post(client, "parted", *turn())
    assert client.get("/api/sessions", params={"app": "parted"}).json() == head


def resets(lines: Iterator[str]) -> bool:
    """Whether the stream sends a reset in time; without news it sends comments forever."""
    until = time.monotonic() + PATIENCE
    return any(
        line == "event: reset" for line in takewhile(lambda _: time.monotonic() < until, lines)
    )


def test_a_page_following_a_trace_is_reset_when_it_grows(client) -> None:
    *first, last = turn()
    post(client, "growing", *first)
    [session] = sessions(client, "growing")
    client.patch(f"/api/sessions/{session['key']}/tags", json={"add": ["Bug"]})
    page = client.get(f"/sessions/{session['key']}", headers={"Accept": "text/html"}).text
    address = html.unescape(re.search(r'"(/sessions/\d+/stream[^"]*)"', page)[1])
    with client.stream("GET", address, timeout=20) as stream:
        lines = stream.iter_lines()
        next(lines)
        post(client, "growing", *first)  # nothing new
        post(client, "growing", last)
        assert resets(lines)
    with client.stream("GET", address, timeout=20) as stream:  # away meanwhile
        assert resets(stream.iter_lines())
    assert [each["tags"] for each in sessions(client, "growing")] == [["Bug"]]


def test_traces_of_one_conversation_are_runs_of_one_session(client) -> None:
    post(client, "chatty", *turn())
    later = [{**each, "traceId": f"{8:032x}"} for each in turn()]
    post(client, "chatty", *later)
    [session] = sessions(client, "chatty")
    assert session["events"] == 8
    runs = client.get(f"/api/sessions/{session['key']}/runs").json()["runs"]
    assert {each["status"] for each in runs} == {"done"}
    assert len(runs) == 2


def test_a_session_is_titled_after_its_first_message(client) -> None:
    content = {"type": "text", "content": "Compare **Rome** and `Oslo`"}
    about = {"gen_ai__operation__name": "chat", "gen_ai__request__model": "gpt-x"}
    prompt = json.dumps([{"role": "user", "parts": [content]}])
    post(client, "marked", span(1, "chat gpt-x", **about, gen_ai__input__messages=prompt))
    [session] = sessions(client, "marked")
    assert session["title"] == "Compare Rome and Oslo"


def test_values_missing_from_a_trace_are_absent(client) -> None:
    about = {"gen_ai__operation__name": "chat", "gen_ai__request__model": "gpt-x"}
    failed = {"code": 2, "message": "overloaded"}
    post(client, "silent", span(1, "chat gpt-x", **about, status=failed))
    [session] = sessions(client, "silent")
    assert session["id"] == f"{7:032x}"
    [event] = events(client, session["key"])
    assert "content" not in event["event"]
    assert "usageMetadata" not in event["event"]
    assert event["event"]["errorCode"] == "overloaded"
    [run] = client.get(f"/api/sessions/{session['key']}/runs").json()["runs"]
    assert run["status"] == "failed"


@pytest.mark.parametrize("names", ["openinference", "openllmetry"])
def test_attribute_names_of_other_conventions_are_recognized(client, names) -> None:
    if names == "openinference":
        model = {
            "openinference__span__kind": "LLM",
            "llm__model_name": "claude",
            "llm__input_messages__0__message__role": "user",
            "llm__input_messages__0__message__content": "Hi",
            "llm__output_messages__0__message__role": "assistant",
            "llm__output_messages__0__message__content": "Hello",
            "llm__token_count__prompt": 9,
            "llm__token_count__completion": 2,
            "session__id": "s1",
        }
    else:
        model = {
            "llm__request__type": "chat",
            "gen_ai__request__model": "claude",
            "gen_ai__prompt__0__role": "user",
            "gen_ai__prompt__0__content": "Hi",
            "gen_ai__completion__0__role": "assistant",
            "gen_ai__completion__0__content": "Hello",
            "gen_ai__usage__prompt_tokens": 9,
            "gen_ai__usage__completion_tokens": 2,
            "traceloop__association__properties__session_id": "s1",
        }
    post(client, names, span(1, "ChatAnthropic", **model))
    [session] = sessions(client, names)
    assert session["id"] == "s1"
    question, reply = (each["event"] for each in events(client, session["key"]))
    assert question["content"]["parts"] == [{"text": "Hi"}]
    assert reply["content"]["parts"] == [{"text": "Hello"}]
    assert reply["usageMetadata"]["promptTokenCount"] == 9


def test_protobuf_and_gzip_are_accepted(client) -> None:
    document = exported("packed", *turn())
    for each in document["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        for name in ("traceId", "spanId", "parentSpanId"):
            if name in each:
                each[name] = base64.b64encode(bytes.fromhex(each[name])).decode()
    body = ParseDict(document, ExportTraceServiceRequest()).SerializeToString()
    packed = {**PROTOBUF, "Content-Encoding": "gzip"}
    answer = client.post("/v1/traces", content=gzip.compress(body), headers=packed)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/x-protobuf")
    assert not ExportTraceServiceResponse.FromString(answer.content).HasField("partial_success")
    [session] = sessions(client, "packed")
    assert session["events"] == 4
    response = client.post("/v1/traces", content=body[:-3], headers=PROTOBUF)
    assert response.status_code == 400
    assert b"export request" in response.content


def test_invalid_spans_are_counted_and_invalid_bodies_refused(client) -> None:
    bad = {**span(9, "bad"), "spanId": "nothing"}
    reply = post(client, "partial", *turn(), bad)
    assert reply["partialSuccess"]["rejectedSpans"] == "1"
    assert "spanId" in reply["partialSuccess"]["errorMessage"]
    for body, headers, status in (
        (b"{", JSON, 400),
        (b"[]", JSON, 400),
        (b"no gzip", {**JSON, "Content-Encoding": "gzip"}, 400),
        (b"{}" + b" " * 16_000_000, JSON, 413),
        (gzip.compress(b" " * 70_000_000), {**JSON, "Content-Encoding": "gzip"}, 413),
        (b"{}", {**JSON, "Content-Encoding": "br"}, 415),
    ):
        answer = client.post("/v1/traces", content=body, headers=headers)
        assert answer.status_code == status, answer.text
        assert answer.json()["code"] == 3
        assert answer.json()["message"]


ODD = {
    "an attribute without a key": {"attributes": [{"value": {"stringValue": "x"}}]},
    "a list of session ids": {"attributes": attributes({"session.id": ["a", "b"]})},
    "a model that is a list": {"attributes": attributes({"gen_ai.request.model": ["m"]})},
    "a time beyond all numbers": {"startTimeUnixNano": "1" + "0" * 400},
    "a number that is none": {
        "attributes": attributes({"gcp.vertex.agent.llm_response": '{"n": NaN}'})
    },
    "an id that no address holds": {"attributes": attributes({"gen_ai.conversation.id": ".."})},
    "an id with a NUL": {"attributes": attributes({"gen_ai.conversation.id": "a\0b"})},
    "attributes that are a text": {"attributes": "x"},
}


@pytest.mark.parametrize("name", ODD)
def test_an_odd_span_does_not_affect_the_others(client, name) -> None:
    trace = f"{random.Random(name).getrandbits(128):032x}"
    other = f"{random.Random(name + '!').getrandbits(128):032x}"
    odd = {**span(1, "invoke_agent odd", trace=trace, gen_ai__agent__name="odd"), **ODD[name]}
    good = span(2, "invoke_agent fine", trace=other, gen_ai__agent__name="fine")
    app = f"odd_{len(name)}_{name[-3:].strip()}"
    answer = client.post("/v1/traces", json=exported(app, odd, good))
    assert answer.status_code == 200, answer.text
    assert sessions(client, app)
    for session in sessions(client, app):
        text = client.get(f"/api/sessions/{session['key']}/events").text
        json.loads(text, parse_constant=pytest.fail)
        assert client.get(f"/sessions/{session['key']}").status_code == 200


def test_a_request_with_too_many_fields_is_refused(client) -> None:
    headers = {**PROTOBUF, "Content-Encoding": "gzip"}
    body = gzip.compress(b"\x0a\x00" * 1_000_001)
    answer = client.post("/v1/traces", content=body, headers=headers)
    assert answer.status_code == 400
    assert b"more than 1,000,000 fields" in answer.content


def test_a_trace_does_not_change_a_session_that_ran_here(client) -> None:
    session = make_session(client, "faulty")
    reply = post(
        client,
        "faulty",
        span(1, "chat", gen_ai__operation__name="chat", gen_ai__conversation__id=session["id"]),
    )
    assert reply["partialSuccess"]["rejectedSpans"] == "1"
    assert "already" in reply["partialSuccess"]["errorMessage"]


def test_sending_traces_needs_the_token(server) -> None:
    with server.client() as stranger:
        del stranger.headers["Authorization"]
        for headers in ({}, {"Authorization": "Bearer wrong-wrong-wrong-wrong"}):
            answer = stranger.post("/v1/traces", json=exported("x", *turn()), headers=headers)
            assert answer.status_code in {401, 403}


@pytest.mark.parametrize("runtime", ["google.adk", "devui.runtime"])
@pytest.mark.parametrize("schema", ["1", "2"])
def test_spans_exported_by_a_running_agent_are_received(server, client, runtime, schema) -> None:
    python = sys.executable if runtime == "devui.runtime" else str(adk_python())
    exporter = "from opentelemetry.exporter.otlp.proto.http import Compression"
    if subprocess.run([python, "-c", exporter], check=False, capture_output=True).returncode:
        pytest.skip(f"{python} has no exporter")
    service = f"{runtime}-{schema}"
    done = subprocess.run(
        [python, "-W", "ignore", "-m", "tests.kit.traced_agent", runtime],
        cwd=ROOT,
        env={
            **os.environ,
            "OTEL_EXPORTER_OTLP_ENDPOINT": server.url,
            "OTEL_EXPORTER_OTLP_HEADERS": f"Authorization=Bearer%20{TOKEN}",
            "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
            "OTEL_SERVICE_NAME": service,
            "ADK_TELEMETRY_SCHEMA_VERSION_OPT_IN": schema,
            CAPTURE: "SPAN_ONLY",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Failed to export" not in done.stderr
    [session] = sessions(client, service)
    assert (session["id"], session["events"]) == ("s", 4)
    parts = [each["event"]["content"]["parts"][0] for each in events(client, session["key"])]
    assert parts[0] == {"text": "How is the weather in Rome?"}
    assert parts[1]["functionCall"]["args"] == {"city": "Rome"}
    assert parts[2]["functionResponse"]["response"] == {"city": "Rome", "weather": "fine"}
    assert parts[3] == {"text": "It is fine in Rome."}
    spans = client.get(f"/api/sessions/{session['key']}/spans").json()["spans"]
    assert [each["type"] for each in spans] == ["agent", "model", "tool", "model"]
    details = client.get(f"/api/sessions/{session['key']}/spans/{spans[3]['id']}").json()
    assert len(details["sent"]["contents"]) == 3
    assert "Be brief." in json.dumps(details["sent"]["system"])
    assert "_city" in json.dumps(details["sent"]["tools"])


def test_a_call_without_an_id_is_matched_with_the_tool_that_ran(client) -> None:
    calls = json.dumps(
        [
            {
                "role": "assistant",
                "parts": [{"type": "tool_call", "id": "weather_0", "name": "weather"}],
            }
        ]
    )
    spans = turn()
    spans[0]["attributes"] = [
        each for each in spans[0]["attributes"] if each["key"] != "gen_ai.output.messages"
    ] + attributes({"gen_ai.output.messages": calls})
    post(client, "nameless", *spans)
    [session] = sessions(client, "nameless")
    parts = [
        part
        for each in events(client, session["key"])
        for part in each["event"]["content"]["parts"]
    ]
    ids = [each["id"] for part in parts for each in part.values() if isinstance(each, dict)]
    assert ids == ["c1", "c1"]
    assert ">no result<" not in client.get(f"/sessions/{session['key']}").text
