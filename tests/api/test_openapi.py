"""docs/guide/openapi.json says what the debugger's API is: its routes, its bodies, its answers."""

import copy
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic.json_schema import models_json_schema

from devui.web.api.breakpoints import ChangeBody, HitsBody, NewBody
from devui.web.api.debug import CommandBody, StartBody
from devui.web.routes import debugger
from tests.api.test_stepping import COUNT
from tests.kit.debugged import Debugged
from tests.kit.server import ROOT, running, write_app

DOCUMENT = json.loads((ROOT / "docs" / "guide" / "openapi.json").read_text(encoding="utf-8"))
SCHEMAS = DOCUMENT["components"]["schemas"]
BODIES = (StartBody, CommandBody, NewBody, ChangeBody, HitsBody)


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


def test_every_reference_leads_to_a_schema() -> None:
    assert {each.rpartition("/")[2] for each in references(DOCUMENT)} <= SCHEMAS.keys()


def check(value: Any, schema: dict[str, Any]) -> None:
    """The value has the members that its schema names, and no others."""
    if "$ref" in schema:
        schema = SCHEMAS[schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema and value is not None:
        schema = schema["anyOf"][0]
        check(value, schema)
    elif schema.get("type") == "array":
        for each in value:
            check(each, schema["items"])
    elif schema.get("type") == "object":
        assert set(schema["required"]) <= value.keys() <= schema["properties"].keys(), schema
        for name, each in value.items():
            check(each, schema["properties"][name])
    elif "enum" in schema:
        assert value in schema["enum"]


def answers(client: Any) -> Iterator[tuple[str, str, Any]]:
    """What the server says in a small session, by path and method."""
    debugged = Debugged(client, "count").start()
    debugged.settled()
    yield "/api/sessions/{key}/runs", "post", debugged.position
    debugged.tell("run_to", like={"agent": "count"})
    debugged.tell("edit", value=copy.deepcopy(debugged.hold()["held"]))
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
    yield "/api/sessions/{key}/edits", "get", client.get(f"/api/sessions/{key}/edits").json()
    yield "/api/sessions/{key}/run", "get", client.get(f"/api/sessions/{key}/run").json()
    yield "/api/sessions", "get", client.get("/api/sessions").json()
    draft = client.post(f"/api/sessions/{key}/hits", json={"on": "state"}).json()
    yield "/api/sessions/{key}/hits", "post", draft


def test_the_answers_are_as_described(tmp_path) -> None:
    write_app(tmp_path / "agents", "count", COUNT)
    seen = set()
    with running(tmp_path / "agents", tmp_path / "data") as server, server.client() as client:
        for path, method, value in answers(client):
            assert value, path
            responses = DOCUMENT["paths"][path][method]["responses"]
            good = next(each for status, each in responses.items() if status.startswith("2"))
            check(value, good["content"]["application/json"]["schema"])
            seen.add((path, method))
    described = {(path, each) for path, methods in DOCUMENT["paths"].items() for each in methods}
    assert seen == described


def test_an_answer_that_is_not_as_described_is_found() -> None:
    with pytest.raises(AssertionError):
        check([{"number": 1, "seq": 2}], {"type": "array", "items": {"$ref": "/PastHit"}})
