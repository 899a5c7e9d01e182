"""docs/guide/openapi.json and api.md describe the debugger's API, and its answers match them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from devui.web.lazy_modules import LazyModule
from devui.web.openapi import endpoints
from devui.web.operation import OPERATIONS
from tests.api.test_stepping import COUNT
from tests.api.test_trials import BENCH
from tests.api.test_uncommitted import CUSTOM
from tests.kit import api_files
from tests.kit.asking_apps import ASKS
from tests.kit.debugged_run import DebuggedRun
from tests.kit.frames import frames
from tests.kit.schema_checks import DOCUMENT, SCHEMAS, check
from tests.kit.server import running, write_app
from tests.kit.stuck_apps import SLEEPING

PATHS = {path: each for path, each in DOCUMENT["paths"].items() if path.startswith("/api/")}


@pytest.mark.parametrize("path", [api_files.DOCUMENT, api_files.PAGE], ids=lambda path: path.name)
def test_the_files_are_as_generated_from_the_routes(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == api_files.files()[path], "run scripts/describe"


def test_a_handler_without_a_declared_answer_is_an_error(monkeypatch) -> None:
    handler = LazyModule("devui.web.panels.jobs.api").load().every
    monkeypatch.delitem(OPERATIONS, handler)
    with pytest.raises(LookupError, match=r"jobs\.api\.every doesn't declare"):
        list(endpoints())


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (value["$ref"] for _ in range("$ref" in value))
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from references(each)


@pytest.mark.req("R05")
def test_every_answer_is_a_json_object() -> None:
    """Pages can't run an object as a script. Other tests compare answers with their schemas."""
    for path, methods in PATHS.items():
        for method, operation in methods.items():
            for answer in operation["responses"].values():
                schema = answer.get("content", {}).get("application/json", {"schema": {}})["schema"]
                if "$ref" in schema:
                    schema = SCHEMAS[schema["$ref"].rpartition("/")[2]]
                assert schema.get("type", "object") == "object", (method, path)


def test_every_reference_resolves_to_a_schema() -> None:
    assert {each.rpartition("/")[2] for each in references(DOCUMENT)} <= SCHEMAS.keys()


def recorded(client: Any, key: int) -> Iterator[tuple[str, str, Any]]:
    first = client.get(f"/api/sessions/{key}/events/1").json()
    yield "/api/sessions/{key}/events/{number}", "get", first
    then = client.get(f"/api/sessions/{key}/state", params={"from": 0}).json()
    yield "/api/sessions/{key}/state", "get", then
    history = client.get(f"/api/sessions/{key}/state/history", params={"key": "n"}).json()
    yield "/api/sessions/{key}/state/history", "get", history
    yield "/api/sessions/{key}/edits", "get", client.get(f"/api/sessions/{key}/edits").json()
    yield "/api/sessions/{key}/usage", "get", client.get(f"/api/sessions/{key}/usage").json()
    spans = client.get(f"/api/sessions/{key}/spans").json()
    yield "/api/sessions/{key}/spans", "get", spans
    yield "/api/sessions/{key}/trace", "get", client.get(f"/api/sessions/{key}/trace").json()
    one = client.get(f"/api/sessions/{key}/spans/{spans['spans'][0]['id']}").json()
    yield "/api/sessions/{key}/spans/{span}", "get", one
    runs = client.get(f"/api/sessions/{key}/runs").json()
    yield "/api/sessions/{key}/runs", "get", runs
    recording = client.get(f"/api/sessions/{key}/recording").json()
    yield "/api/sessions/{key}/recording", "get", recording
    path = "/api/sessions/{key}/test"
    yield path, "get", client.get(path.format(key=key)).json()
    yield path, "post", client.post(path.format(key=key), json={"checks": ["text"]}).json()
    replay = client.post(f"/api/sessions/{key}/replays", json={"pause": True}).json()
    yield "/api/sessions/{key}/replays", "post", replay
    of = f"/api/runs/{replay['run']}/replay"
    yield "/api/runs/{run}/replay", "get", client.get(of).json()


def answers(client: Any) -> Iterator[tuple[str, str, Any]]:
    """Answers about a small session, with path and method."""
    debugged = DebuggedRun(client, "count").start()
    debugged.settled()
    yield "/api/sessions/{key}/runs", "post", debugged.position
    activity = "/api/runs/{run}/activity"
    yield activity, "get", client.get(f"/api/runs/{debugged.run}/activity").json()
    debugged.tell("run_to", like={"agent": "count"})
    debugged.tell("edit", value={"actions": {"stateDelta": {"n": 5}}})
    yield "/api/runs/{run}/commands", "post", debugged.position
    yield "/api/runs/{run}", "get", debugged.tell("continue")
    yield "/api/runs/{run}/log", "get", client.get(f"/api/runs/{debugged.run}/log").json()
    key, points = debugged.key, "/api/apps/count/breakpoints"
    point = client.post(points, json={"on": "state"}).json()
    yield points.replace("count", "{app}"), "post", point
    one = f"{points}/{point['id']}"
    number = "/api/apps/{app}/breakpoints/{number}"
    yield number, "patch", client.patch(one, json={"version": 1, "enabled": False}).json()
    yield "/api/apps/{app}/breakpoints", "get", client.get(points).json()
    hits = client.get(f"/api/sessions/{key}/hits", params={"breakpoint": point["id"]}).json()
    yield "/api/sessions/{key}/hits", "get", hits
    yield number, "delete", client.delete(one).json()
    last = client.get(f"/api/sessions/{key}/events", params={"last": 2}).json()
    yield "/api/sessions/{key}/events", "get", last
    yield "/api/search", "get", client.get("/api/search", params={"q": "author:count"}).json()
    yield "/api/sessions/{key}/filter", "get", client.get(f"/api/sessions/{key}/filter").json()
    yield "/api/sessions/{key}/state", "get", client.get(f"/api/sessions/{key}/state").json()
    with client.stream("GET", f"/api/sessions/{key}/stream") as stream:
        for news in frames(stream.iter_lines()):
            yield "/api/sessions/{key}/stream", "get", news
            if news["type"] == "position":
                break
    noticed = DebuggedRun(client, "custom").start(pause=False, watch=True)
    noticed.settled()
    uncommitted = client.get(f"/api/sessions/{noticed.key}/uncommitted").json()
    yield "/api/sessions/{key}/uncommitted", "get", uncommitted
    rows = client.get(f"/api/sessions/{noticed.key}/events").json()
    yield "/api/sessions/{key}/events", "get", rows
    yield from recorded(client, key)
    yield "/api/sessions/{key}/run", "get", client.get(f"/api/sessions/{key}/run").json()
    yield "/api/sessions", "get", client.get("/api/sessions").json()
    yield "/api/sessions", "get", client.get("/api/sessions?app=travel&sort=cost").json()
    draft = client.post(f"/api/sessions/{key}/hits", json={"on": "state"}).json()
    yield "/api/sessions/{key}/hits", "post", draft


def calls(client: Any) -> Iterator[tuple[str, str, Any]]:
    """Yield the answers about a call that hangs, and about its end."""
    debugged, path = DebuggedRun(client, "sleeping").start(pause=False), "/api/runs/{run}"
    under_way: list[Any] = []
    while not under_way or under_way[0]["kind"] == "model":
        activity = client.get(f"/api/runs/{debugged.run}/activity").json()
        under_way = activity["calls"]
    yield path + "/activity", "get", activity
    body = {"command": "end", "call": under_way[0]["id"], "key": "k"}
    yield path + "/calls", "post", client.post(f"/api/runs/{debugged.run}/calls", json=body).json()
    debugged.settled()


def tools(client: Any) -> Iterator[tuple[str, str, Any]]:
    """Answers about an app's tools."""
    path = "/api/apps/{app}/tools"
    tool = client.put("/api/apps/custom/tools/pay", json={"effect": "effects"}).json()
    yield path + "/{tool}", "put", tool
    yield path, "get", client.get("/api/apps/custom/tools").json()


def trials(client: Any) -> Iterator[tuple[str, str, Any]]:
    """Answers about trials."""
    debugged = DebuggedRun(client, "bench").start("count", pause=False)
    debugged.settled()
    key, path = debugged.key, "/api/sessions/{key}"
    body = {"session": key, "args": {"step": 2}}
    trial = client.post("/api/apps/bench/tools/count/trials", json=body).json()
    yield "/api/apps/{app}/tools/{tool}/trials", "post", trial
    yield "/api/apps/{app}/tools", "get", client.get("/api/apps/bench/tools").json()
    yield "/api/apps/{app}/memory", "get", client.get("/api/apps/bench/memory").json()
    spans = client.get(f"/api/sessions/{key}/spans").json()
    span = next(each["id"] for each in spans["spans"] if each["type"] == "model")
    answer = client.post(f"/api/sessions/{key}/spans/{span}/trials", json={"request": {}})
    yield path + "/spans/{span}/trials", "post", answer.json()
    yield path + "/trials", "get", client.get(f"/api/sessions/{key}/trials").json()
    differs = client.get(f"/api/sessions/{key}/spans/{span}/diff", params={"with": span}).json()
    yield path + "/spans/{span}/diff", "get", differs


def recovery(client: Any) -> Iterator[tuple[str, str, Any]]:
    """Answers when a session is forked, rewound and closed."""
    debugged, path = DebuggedRun(client, "count").start(pause=False), "/api/sessions/{key}"
    debugged.settled()
    url = path.format(key=debugged.key)
    yield path + "/forks", "post", client.post(url + "/forks", json={"number": 1}).json()
    yield path + "/forks", "get", client.get(url + "/forks").json()
    sides = {"left": debugged.key, "right": debugged.key + 1}
    yield "/api/compare", "get", client.get("/api/compare", params=sides).json()
    sides |= {"leftEvent": 1, "rightEvent": 1}
    yield "/api/compare/events", "get", client.get("/api/compare/events", params=sides).json()
    yield path + "/cutoff", "get", client.get(url + "/cutoff").json()
    yield path + "/close", "post", client.post(url + "/close", json={}).json()
    yield path + "/rewind", "post", client.post(url + "/rewind", json={"number": 1}).json()


def bundles(client: Any) -> Iterator[tuple[str, str, Any]]:
    """Answers about notes, tags and session files."""
    debugged, path = DebuggedRun(client, "count").start(pause=False), "/api/sessions/{key}"
    debugged.settled()
    url = path.format(key=debugged.key)
    unused = client.post("/api/sessions/prune", json={"days": 0, "app": "count"}).json()
    yield "/api/sessions/prune", "post", unused
    yield "/api/sign-in-links", "post", client.post("/api/sign-in-links").json()
    note = client.patch(f"{url}/notes/1", json={"text": "look", "starred": True}).json()
    yield path + "/notes/{number}", "patch", note
    yield path + "/notes", "get", client.get(url + "/notes").json()
    yield path + "/tags", "patch", client.patch(f"{url}/tags", json={"add": ["bug"]}).json()
    yield "/api/tags", "get", client.get("/api/tags").json()
    yield path + "/export/preview", "get", client.get(url + "/export/preview").json()
    file = client.get(url + "/export")
    yield path + "/export", "get", file.json()
    headers = {"content-type": "application/json"}
    copy = client.post("/api/sessions/import", content=file.content, headers=headers).json()
    yield "/api/sessions/import", "post", copy
    yield "/api/jobs", "get", (jobs := client.get("/api/jobs").json())
    job = jobs["jobs"][-1]["job"]
    yield "/api/jobs/{job}", "get", client.get(f"/api/jobs/{job}").json()
    yield "/api/jobs/{job}/stop", "post", client.post(f"/api/jobs/{job}/stop").json()


def questions(client: Any) -> Iterator[tuple[str, str, Any]]:
    """Answers when an agent asks a person."""
    debugged, path = DebuggedRun(client, "asks").start("pay", pause=False), "/api/sessions/{key}"
    debugged.settled()
    url = path.format(key=debugged.key)
    listing = client.get(url + "/questions").json()
    yield path + "/questions", "get", listing
    body = {name: listing["questions"][0][name] for name in ("event", "call")}
    answer = client.post(url + "/answers", json={**body, "fields": {"choice": "yes"}})
    yield path + "/answers", "post", answer.json()


def queue(client: Any) -> Iterator[tuple[str, str, Any]]:
    """Answers about queued messages."""
    debugged, path = DebuggedRun(client, "count").start("go"), "/api/sessions/{key}/queue"
    url = path.format(key=debugged.key)
    client.post(url, json={"message": "second"})
    yield path, "post", (listing := client.post(url, json={"message": "third"}).json())
    first, second = (f"{url}/{each['number']}" for each in listing["messages"])
    changed = client.patch(second, json={"text": "last"}).json()
    yield path + "/{number}", "patch", changed
    yield path + "/{number}", "delete", client.delete(second).json()
    yield path, "get", client.get(url).json()
    debugged.settled()
    debugged.tell("stop")
    yield path + "/{number}/send", "post", client.post(first + "/send").json()


def test_the_answers_match_their_schemas(tmp_path) -> None:
    write_app(tmp_path / "agents", "count", COUNT)
    write_app(tmp_path / "agents", "custom", CUSTOM)
    write_app(tmp_path / "agents", "asks", ASKS)
    write_app(tmp_path / "agents", "bench", BENCH)
    write_app(tmp_path / "agents", "sleeping", SLEEPING)
    seen = set()
    with running(tmp_path / "agents", tmp_path / "data") as server, server.client() as client:
        makers = (answers, calls, recovery, bundles, tools, trials, questions, queue)
        for path, method, value in (each for make in makers for each in make(client)):
            assert value, path
            responses = PATHS[path][method]["responses"]
            good = next(each for status, each in responses.items() if status.startswith("2"))
            [content] = good["content"].values()
            check(value, content["schema"])
            seen.add((path, method))
    operations = {(path, each) for path, methods in PATHS.items() for each in methods}
    assert seen == operations


@pytest.mark.parametrize(
    "hit",
    [{"number": 1, "seq": 2}, *({"number": 1, "seq": each, "text": ""} for each in ("2", True))],
)
def test_an_answer_that_does_not_match_its_schema_is_detected(hit: dict[str, Any]) -> None:
    with pytest.raises(AssertionError):
        check([hit], {"type": "array", "items": {"$ref": "/PastHit"}})
