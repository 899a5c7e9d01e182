"""The export of spans, as viewers of traces read it."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.kit.debugged import Debugged
from tests.kit.model_call_apps import teller
from tests.kit.server import running, write_app


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Debugged]:
    folder = tmp_path_factory.mktemp("trace")
    write_app(folder / "agents", "teller", teller())
    with running(folder / "agents", folder / "data") as server, server.client() as client:
        debugged = Debugged(client, "teller").start("How is the weather?", pause=False)
        assert debugged.settled()["status"] == "done"
        yield debugged


def exported(told: Debugged, **query: str) -> list[dict[str, Any]]:
    answer = told.client.get(f"/api/sessions/{told.key}/trace", params=query).json()
    [resource] = answer["resourceSpans"]
    [scope] = resource["scopeSpans"]
    return scope["spans"]


def attributes(span: dict[str, Any]) -> dict[str, Any]:
    return {each["key"]: next(iter(each["value"].values())) for each in span["attributes"]}


def test_spans_lie_within_each_other_in_one_trace(told: Debugged) -> None:
    spans = exported(told)
    names = [span["name"] for span in spans]
    asked = "chat test-model"
    assert names == ["invoke_agent teller", asked, "execute_tool weather", asked]
    assert len({span["traceId"] for span in spans}) == 1
    assert "parentSpanId" not in spans[0]
    assert {span["parentSpanId"] for span in spans[1:]} == {spans[0]["spanId"]}
    for span in spans:
        assert (len(span["traceId"]), len(span["spanId"])) == (32, 16)
        assert int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"])


def test_a_model_call_tells_its_tokens_and_an_answered_event(told: Debugged) -> None:
    last = attributes(exported(told)[-1])
    assert last["gen_ai.operation.name"] == "chat"
    assert last["gen_ai.conversation.id"] == told.session
    assert last["gen_ai.usage.input_tokens"] == "400"
    assert last["gen_ai.usage.cache_read.input_tokens"] == "300"
    assert last["devui.event"] == "4"
    assert "sunny" not in str(last)


def test_one_run_can_be_asked_for(told: Debugged) -> None:
    assert len(exported(told, run=told.run)) == 4
    assert exported(told, run="none") == []


def test_a_fork_finds_the_calls_behind_the_events_that_it_took_over(told: Debugged) -> None:
    def answered(number: int, key: int) -> list[str]:
        rows = told.client.get(f"/api/sessions/{key}/spans", params={"event": number}).json()
        ids = [each["id"] for each in rows["spans"]]
        whole = [told.client.get(f"/api/sessions/{key}/spans/{each}").json() for each in ids]
        return [str(each["sent"]) for each in whole]

    forks = f"/api/sessions/{told.key}/forks"
    child = told.client.post(forks, json={"number": 3}).json()["key"]
    forks = f"/api/sessions/{child}/forks"
    grandchild = told.client.post(forks, json={"number": 2}).json()["key"]
    assert answered(2, child) == answered(2, grandchild) == answered(2, told.key) != []
    assert answered(3, child) == answered(3, told.key) != []
    assert answered(4, child) == answered(3, grandchild) == []
    rows = told.client.get(f"/api/sessions/{told.key}/spans", params={"event": 4}).json()
    last = rows["spans"][0]
    assert told.client.get(f"/api/sessions/{child}/spans/{last['id']}").status_code == 404
    page = told.client.get(f"/sessions/{child}?event=2&tab=request").text
    assert "Be kind about the weather." in page


def test_addresses_of_the_former_tab_and_answers_to_forms_lead_to_the_view(told: Debugged) -> None:
    page = f"/sessions/{told.key}"
    moved = told.client.get(f"{page}?tab=trace&event=3", follow_redirects=False)
    assert (moved.status_code, moved.headers["location"]) == (303, f"{page}?event=3&view=trace")
    watched = f"{page}/watched?view=trace"
    origin = {"Origin": str(told.client.base_url).rstrip("/"), "Sec-Fetch-Site": "same-origin"}
    posted = told.client.post(watched, data={"key": "mood"}, headers=origin, follow_redirects=False)
    assert posted.headers["location"] == f"{page}?tab=state&view=trace"
    written = f"{page}/writes/previous?at=3&view=trace"
    moved = told.client.get(written, follow_redirects=False)
    assert "view=trace" in moved.headers["location"]
