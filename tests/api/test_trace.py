"""The export of spans for trace viewers."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.kit.debugged_run import DebuggedRun
from tests.kit.model_call_apps import teller
from tests.kit.server import running, write_app


@pytest.fixture(scope="module")
def debugged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DebuggedRun]:
    folder = tmp_path_factory.mktemp("trace")
    write_app(folder / "agents", "teller", teller())
    with running(folder / "agents", folder / "data") as server, server.client() as client:
        debugged = DebuggedRun(client, "teller").start("How is the weather?", pause=False)
        assert debugged.settled()["status"] == "done"
        yield debugged


def exported(debugged: DebuggedRun, **query: str) -> list[dict[str, Any]]:
    answer = debugged.client.get(f"/api/sessions/{debugged.key}/trace", params=query).json()
    [resource] = answer["resourceSpans"]
    [scope] = resource["scopeSpans"]
    return scope["spans"]


def attributes(span: dict[str, Any]) -> dict[str, Any]:
    return {each["key"]: next(iter(each["value"].values())) for each in span["attributes"]}


def test_exported_spans_are_nested_in_one_trace(debugged: DebuggedRun) -> None:
    spans = exported(debugged)
    names = [span["name"] for span in spans]
    model_call = "chat test-model"
    assert names == ["invoke_agent teller", model_call, "execute_tool weather", model_call]
    assert len({span["traceId"] for span in spans}) == 1
    assert "parentSpanId" not in spans[0]
    assert {span["parentSpanId"] for span in spans[1:]} == {spans[0]["spanId"]}
    for span in spans:
        assert (len(span["traceId"]), len(span["spanId"])) == (32, 16)
        assert int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"])


def test_a_model_calls_span_has_its_tokens_and_its_event(debugged: DebuggedRun) -> None:
    last = attributes(exported(debugged)[-1])
    assert last["gen_ai.operation.name"] == "chat"
    assert last["gen_ai.conversation.id"] == debugged.session
    assert last["gen_ai.usage.input_tokens"] == "400"
    assert last["gen_ai.usage.cache_read.input_tokens"] == "300"
    assert last["devui.event"] == "4"
    assert "sunny" not in str(last)


def test_one_run_can_be_exported(debugged: DebuggedRun) -> None:
    assert len(exported(debugged, run=debugged.run)) == 4
    assert exported(debugged, run="none") == []


def test_a_fork_has_the_spans_of_its_copied_events(debugged: DebuggedRun) -> None:
    def requests_of(number: int, key: int) -> list[str]:
        rows = debugged.client.get(f"/api/sessions/{key}/spans", params={"event": number}).json()
        ids = [each["id"] for each in rows["spans"]]
        whole = [debugged.client.get(f"/api/sessions/{key}/spans/{each}").json() for each in ids]
        return [str(each["sent"]) for each in whole]

    forks = f"/api/sessions/{debugged.key}/forks"
    child = debugged.client.post(forks, json={"number": 3}).json()["key"]
    forks = f"/api/sessions/{child}/forks"
    grandchild = debugged.client.post(forks, json={"number": 2}).json()["key"]
    assert requests_of(2, child) == requests_of(2, grandchild) == requests_of(2, debugged.key) != []
    assert requests_of(3, child) == requests_of(3, debugged.key) != []
    assert requests_of(4, child) == requests_of(3, grandchild) == []
    rows = debugged.client.get(f"/api/sessions/{debugged.key}/spans", params={"event": 4}).json()
    last = rows["spans"][0]
    assert debugged.client.get(f"/api/sessions/{child}/spans/{last['id']}").status_code == 404
    page = debugged.client.get(f"/sessions/{child}?event=2&tab=request").text
    assert "Be kind about the weather." in page


def test_redirects_lead_to_the_trace_view(
    debugged: DebuggedRun,
) -> None:
    page = f"/sessions/{debugged.key}"
    redirect = debugged.client.get(f"{page}?tab=trace&event=3", follow_redirects=False)
    assert (redirect.status_code, redirect.headers["location"]) == (
        303,
        f"{page}?event=3&view=trace",
    )
    address = f"{page}/watched?view=trace"
    origin = {"Origin": str(debugged.client.base_url).rstrip("/"), "Sec-Fetch-Site": "same-origin"}
    answer = debugged.client.post(
        address, data={"key": "mood"}, headers=origin, follow_redirects=False
    )
    assert answer.headers["location"] == f"{page}?tab=state&view=trace"
    address = f"{page}/writes/previous?at=3&view=trace"
    redirect = debugged.client.get(address, follow_redirects=False)
    assert "view=trace" in redirect.headers["location"]
