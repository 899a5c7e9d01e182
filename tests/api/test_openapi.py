"""docs/guide/openapi.json says what the debugger's API is: its routes, its bodies, its answers."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic.json_schema import models_json_schema

from devui.web.api.breakpoints import ChangeBody, HitsBody, NewBody
from devui.web.api.debug import CallBody, CommandBody, StartBody
from devui.web.api.kept_tests import KeepBody
from devui.web.api.notes import NoteBody
from devui.web.api.pruning import PruneBody
from devui.web.api.recovery import ForkBody, RewindBody
from devui.web.api.replays import ReplayBody
from devui.web.api.tools import EffectBody
from devui.web.api.trials import ModelTrialBody, ToolTrialBody
from devui.web.routes import debugger
from tests.api.test_stepping import COUNT
from tests.api.test_trials import BENCH
from tests.api.test_uncommitted import CUSTOM
from tests.kit.debugged import Debugged
from tests.kit.frames import frames
from tests.kit.server import ROOT, running, write_app
from tests.kit.stuck_apps import SLEEPING

DOCUMENT = json.loads((ROOT / "docs" / "guide" / "openapi.json").read_text(encoding="utf-8"))
SCHEMAS = DOCUMENT["components"]["schemas"]
BODIES = (
    StartBody,
    CommandBody,
    CallBody,
    NewBody,
    ChangeBody,
    HitsBody,
    ForkBody,
    RewindBody,
    NoteBody,
    ReplayBody,
    EffectBody,
    EffectBody,
    ToolTrialBody,
    ModelTrialBody,
    KeepBody,
    PruneBody,
)


def test_every_route_of_the_debugger_is_described_and_nothing_else() -> None:
    served = {
        (route.path, method.lower()) for route in debugger for method in route.methods - {"HEAD"}
    }
    described = {
        (path, method) for path, methods in DOCUMENT["paths"].items() for method in methods
    }
    assert described == served


def test_the_parameters_of_a_path_are_those_in_it() -> None:
    for path, methods in DOCUMENT["paths"].items():
        for operation in methods.values():
            named = {each["name"] for each in operation["parameters"] if each["in"] == "path"}
            assert named == set(re.findall(r"\{(\w+)\}", path)), path


def test_the_bodies_are_those_that_are_read() -> None:
    models = [(model, "validation") for model in BODIES]
    _, made = models_json_schema(models, ref_template="#/components/schemas/{model}")
    for name, schema in made["$defs"].items():
        assert SCHEMAS[name] == schema, f"write this as {name}: {json.dumps(schema)}"


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (value["$ref"] for _ in range("$ref" in value))
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from references(each)


@pytest.mark.req("R05")
def test_every_answer_is_an_object_at_its_top() -> None:
    """Which no page can run as a script; that answers are as described is what the rest tests."""
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            for answer in operation["responses"].values():
                schema = answer.get("content", {}).get("application/json", {"schema": {}})["schema"]
                if "$ref" in schema:
                    schema = SCHEMAS[schema["$ref"].rpartition("/")[2]]
                assert schema.get("type", "object") == "object", (method, path)


def test_every_reference_leads_to_a_schema() -> None:
    assert {each.rpartition("/")[2] for each in references(DOCUMENT)} <= SCHEMAS.keys()


def check(value: Any, schema: dict[str, Any]) -> None:
    """The value has the members that its schema names, and no others."""
    if "$ref" in schema:
        schema = SCHEMAS[schema["$ref"].rpartition("/")[2]]
    if "discriminator" in schema:
        check(value, {"$ref": schema["discriminator"]["mapping"][value["type"]]})
    elif "anyOf" in schema and value is not None:
        schema = schema["anyOf"][0]
        check(value, schema)
    elif schema.get("type") == "array":
        for each in value:
            check(each, schema["items"])
    elif schema.get("type") == "object" and "properties" in schema:
        assert isinstance(value, dict), schema
        assert set(schema["required"]) <= value.keys() <= schema["properties"].keys(), schema
        for name, each in value.items():
            check(each, schema["properties"][name])
    elif "enum" in schema:
        assert value in schema["enum"]


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
    made = client.get(f"/api/sessions/{key}/recording").json()
    yield "/api/sessions/{key}/recording", "get", made
    kept = "/api/sessions/{key}/test"
    yield kept, "get", client.get(kept.format(key=key)).json()
    yield kept, "post", client.post(kept.format(key=key), json={"checks": ["text"]}).json()
    replay = client.post(f"/api/sessions/{key}/replays", json={"pause": True}).json()
    yield "/api/sessions/{key}/replays", "post", replay
    of = f"/api/runs/{replay['run']}/replay"
    yield "/api/runs/{run}/replay", "get", client.get(of).json()


def answers(client: Any) -> Iterator[tuple[str, str, Any]]:
    """What the server says in a small session, by path and method."""
    debugged = Debugged(client, "count").start()
    debugged.settled()
    yield "/api/sessions/{key}/runs", "post", debugged.position
    standing = "/api/runs/{run}/standing"
    yield standing, "get", client.get(f"/api/runs/{debugged.run}/standing").json()
    debugged.tell("run_to", like={"agent": "count"})
    debugged.tell("edit", value={"actions": {"stateDelta": {"n": 5}}})
    yield "/api/runs/{run}/commands", "post", debugged.position
    yield "/api/runs/{run}", "get", debugged.tell("continue")
    key, points = debugged.key, "/api/apps/count/breakpoints"
    made = client.post(points, json={"on": "state"}).json()
    yield points.replace("count", "{app}"), "post", made
    one = f"{points}/{made['id']}"
    number = "/api/apps/{app}/breakpoints/{number}"
    yield number, "patch", client.patch(one, json={"version": 1, "enabled": False}).json()
    yield "/api/apps/{app}/breakpoints", "get", client.get(points).json()
    hits = client.get(f"/api/sessions/{key}/hits", params={"breakpoint": made["id"]}).json()
    yield "/api/sessions/{key}/hits", "get", hits
    yield number, "delete", client.delete(one).json()
    last = client.get(f"/api/sessions/{key}/events", params={"last": 2}).json()
    yield "/api/sessions/{key}/events", "get", last
    yield "/api/sessions/{key}/filter", "get", client.get(f"/api/sessions/{key}/filter").json()
    yield "/api/sessions/{key}/state", "get", client.get(f"/api/sessions/{key}/state").json()
    with client.stream("GET", f"/api/sessions/{key}/stream") as stream:
        for news in frames(stream.iter_lines()):
            yield "/api/sessions/{key}/stream", "get", news
            if news["type"] == "position":
                break
    noticed = Debugged(client, "custom").start(pause=False, watch=True)
    noticed.settled()
    told = client.get(f"/api/sessions/{noticed.key}/uncommitted").json()
    yield "/api/sessions/{key}/uncommitted", "get", told
    rows = client.get(f"/api/sessions/{noticed.key}/events").json()
    yield "/api/sessions/{key}/events", "get", rows
    yield from recorded(client, key)
    yield "/api/sessions/{key}/run", "get", client.get(f"/api/sessions/{key}/run").json()
    yield "/api/sessions", "get", client.get("/api/sessions").json()
    draft = client.post(f"/api/sessions/{key}/hits", json={"on": "state"}).json()
    yield "/api/sessions/{key}/hits", "post", draft


def calls(client: Any) -> Iterator[tuple[str, str, Any]]:
    """What it says when a call that does not return is ended."""
    debugged, path = Debugged(client, "sleeping").start(pause=False), "/api/runs/{run}"
    under_way: list[Any] = []
    while not under_way or under_way[0]["kind"] == "model":
        standing = client.get(f"/api/runs/{debugged.run}/standing").json()
        under_way = standing["calls"]
    yield path + "/standing", "get", standing
    body = {"command": "end", "call": under_way[0]["id"], "key": "k"}
    yield path + "/calls", "post", client.post(f"/api/runs/{debugged.run}/calls", json=body).json()
    debugged.settled()


def tools(client: Any) -> Iterator[tuple[str, str, Any]]:
    """What it says of the tools of an app."""
    path = "/api/apps/{app}/tools"
    said = client.put("/api/apps/custom/tools/pay", json={"effect": "effects"}).json()
    yield path + "/{tool}", "put", said
    yield path, "get", client.get("/api/apps/custom/tools").json()


def trials(client: Any) -> Iterator[tuple[str, str, Any]]:
    """What it says of calls by themselves."""
    debugged = Debugged(client, "bench").start("count", pause=False)
    debugged.settled()
    key, path = debugged.key, "/api/sessions/{key}"
    body = {"session": key, "args": {"step": 2}}
    tried = client.post("/api/apps/bench/tools/count/trials", json=body).json()
    yield "/api/apps/{app}/tools/{tool}/trials", "post", tried
    yield "/api/apps/{app}/tools", "get", client.get("/api/apps/bench/tools").json()
    spans = client.get(f"/api/sessions/{key}/spans").json()
    span = next(each["id"] for each in spans["spans"] if each["type"] == "model")
    answer = client.post(f"/api/sessions/{key}/spans/{span}/trials", json={"request": {}})
    yield path + "/spans/{span}/trials", "post", answer.json()
    yield path + "/trials", "get", client.get(f"/api/sessions/{key}/trials").json()
    differs = client.get(f"/api/sessions/{key}/spans/{span}/diff", params={"with": span}).json()
    yield path + "/spans/{span}/diff", "get", differs


def recovery(client: Any) -> Iterator[tuple[str, str, Any]]:
    """What it says when a session is forked, taken back and left alone."""
    debugged, path = Debugged(client, "count").start(pause=False), "/api/sessions/{key}"
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
    """What it says of notes and files of sessions."""
    debugged, path = Debugged(client, "count").start(pause=False), "/api/sessions/{key}"
    debugged.settled()
    url = path.format(key=debugged.key)
    unused = client.post("/api/sessions/prune", json={"days": 0, "app": "count"}).json()
    yield "/api/sessions/prune", "post", unused
    note = client.patch(f"{url}/notes/1", json={"text": "look", "starred": True}).json()
    yield path + "/notes/{number}", "patch", note
    yield path + "/notes", "get", client.get(url + "/notes").json()
    yield path + "/export/preview", "get", client.get(url + "/export/preview").json()
    file = client.get(url + "/export")
    yield path + "/export", "get", file.json()
    headers = {"content-type": "application/json"}
    made = client.post("/api/sessions/import", content=file.content, headers=headers).json()
    yield "/api/sessions/import", "post", made


def test_the_answers_are_as_described(tmp_path) -> None:
    write_app(tmp_path / "agents", "count", COUNT)
    write_app(tmp_path / "agents", "custom", CUSTOM)
    write_app(tmp_path / "agents", "bench", BENCH)
    write_app(tmp_path / "agents", "sleeping", SLEEPING)
    seen = set()
    with running(tmp_path / "agents", tmp_path / "data") as server, server.client() as client:
        makers = (answers, calls, recovery, bundles, tools, trials)
        for path, method, value in (each for make in makers for each in make(client)):
            assert value, path
            responses = DOCUMENT["paths"][path][method]["responses"]
            good = next(each for status, each in responses.items() if status.startswith("2"))
            [content] = good["content"].values()
            check(value, content["schema"])
            seen.add((path, method))
    described = {(path, each) for path, methods in DOCUMENT["paths"].items() for each in methods}
    assert seen == described


def test_an_answer_that_is_not_as_described_is_found() -> None:
    with pytest.raises(AssertionError):
        check([{"number": 1, "seq": 2}], {"type": "array", "items": {"$ref": "/PastHit"}})
