"""Services described by OpenAPI, called as tools: declarations, requests, answers."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from tests.differential.case import Case, Difference, add, case
from tests.differential.differing_tasks import MISSING_FIELDS
from tests.differential.differing_tools import (
    FIELDS_OF_ALL,
    FORM_FILES,
    MEDIA_RANGES,
    PATH_STYLES,
    QUERY_STYLES,
    READ_ONLY,
    SWAGGER_2,
    UNTOLD_PLACES,
    WHOLE_NUMBERS,
)
from tests.differential.script import Call

NAMED = {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}
SPEC: dict[str, Any] = {
    "openapi": "3.0.0",
    "info": {"title": "Pets", "version": "1"},
    "paths": {
        "/pets": {
            "get": {
                "operationId": "listPets",
                "summary": "List pets.",
                "parameters": [
                    {"name": "limit", "in": "query", "schema": {"type": "integer"}},
                    {
                        "name": "kind",
                        "in": "query",
                        "description": "Which kind.",
                        "schema": {"type": "string", "enum": ["cat", "dog"]},
                    },
                    {"name": "X-Trace", "in": "header", "schema": {"type": "string"}},
                ],
                "responses": {"200": {"description": "The pets."}},
            },
            "post": {
                "operationId": "addPet",
                "description": "Add a pet.",
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {
                            "schema": {
                                "type": "object",
                                "required": ["petName"],
                                "properties": {
                                    "petName": {"type": "string", "description": "Its name."},
                                    "age": {"type": "integer"},
                                    "tags": {"type": "array", "items": {"type": "string"}},
                                },
                            }
                        }
                    },
                },
                "responses": {"200": {"description": "It."}},
            },
        },
        "/pets/{name}": {
            "get": {
                "operationId": "getPet",
                "summary": "One pet.",
                "parameters": [NAMED],
                "responses": {"200": {"description": "It."}},
            },
            "delete": {
                "operationId": "deletePet",
                "parameters": [NAMED],
                "responses": {"204": {"description": "Gone."}},
            },
        },
        "/text": {"get": {"operationId": "text", "responses": {"200": {"description": "A text."}}}},
        "/list": {"get": {"operationId": "list", "responses": {"200": {"description": "Some."}}}},
        "/broken": {"get": {"operationId": "broken", "responses": {"200": {"description": "No."}}}},
    },
}
CALLS: dict[str, Call] = {
    "nothing": Call("list_pets", {}),
    "a query": Call("list_pets", {"limit": 2, "kind": "cat"}),
    "a header": Call("list_pets", {"x_trace": "t1"}),
    "a body": Call("add_pet", {"pet_name": "Tom", "age": 3, "tags": ["a", "b"]}),
    "a part of the body": Call("add_pet", {"pet_name": "Tom"}),
    "a missing field of the body": Call("add_pet", {"age": 3}),
    "a path": Call("get_pet", {"name": "Tom & Jerry"}),
    "a path with a slash": Call("get_pet", {"name": "cats/Tom"}),
    "a path that goes up": Call("get_pet", {"name": ".."}),
    "a path beside it": Call("get_pet", {"name": "../text"}),
    "a path beside it, with backslashes": Call("get_pet", {"name": "cats\\..\\Tom"}),
    "dots in a path": Call("get_pet", {"name": ".tom..txt"}),
    "an empty path": Call("get_pet", {"name": ""}),
    "a missing path": Call("get_pet", {}),
    "a method": Call("delete_pet", {"name": "Tom"}),
    "what nobody asked for": Call("get_pet", {"name": "Tom", "size": 1}),
    "a text": Call("text", {}),
    "a list": Call("list", {}),
    "an error": Call("broken", {}),
}


@contextmanager
def service() -> Iterator[str]:
    """Yield the URL of a service that answers with the request it received."""
    command = [sys.executable, "-m", "tests.kit.pets_server"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def without_clients_words(tool: Any, args: Any, tool_context: Any, tool_response: Any) -> Any:
    """Return the echo without headers that an HTTP library adds."""
    if not isinstance(tool_response, dict) or "headers" not in tool_response:
        return None
    headers = tool_response["headers"]
    own_headers = {
        key: value
        for key, value in headers.items()
        if key.startswith(("x-", "content-type", "cookie"))
    }
    body = tool_response["body"]
    if match := re.search("boundary=(.*)", own_headers.get("content-type", "")):
        body = body.replace(match[1], "BOUNDARY")
        own_headers["content-type"] = own_headers["content-type"].replace(match[1], "BOUNDARY")
    return tool_response | {"headers": own_headers, "body": body}


async def served(stage, calls, spec=None, **how):
    with service() as address:
        toolset = stage.ns.OpenAPIToolset(
            spec_dict=(spec or SPEC) | {"servers": [{"url": address}]},
            allow_private_network_access=True,
            **how,
        )
        agent = stage.agent(
            "agent",
            *calls,
            "Done.",
            tools=[toolset],
            after_tool_callback=without_clients_words,
        )
        await stage.open(agent)
        await stage.say()
        await stage.runner.close()


for _name, _call in CALLS.items():
    _differs = MISSING_FIELDS if _name.startswith(("a missing", "an empty")) else None
    add(Case(f"a service is called with {_name}", partial(served, calls=[_call]), _differs))


_ITEMS, _FIELDS = {"type": "array", "items": {}}, {"type": "object"}
_STRUCTURED = [
    {"name": "names", "in": "path", "required": True, "schema": _ITEMS},
    {"name": "place", "in": "path", "required": True, "schema": _FIELDS},
    {"name": "X-Items", "in": "header", "schema": _ITEMS},
    {"name": "X-Fields", "in": "header", "schema": _FIELDS},
    {"name": "items", "in": "cookie", "schema": _ITEMS},
    {"name": "fields", "in": "cookie", "schema": _FIELDS},
]
STRUCTURED_SPEC = SPEC | {
    "paths": {
        "/pets/{names}/{place}": {
            "get": {"operationId": "near", "parameters": _STRUCTURED, "responses": {}}
        }
    }
}
_PLACED = {"names": ["Tom", "a/b c"], "place": {"x": 1, "y": True}}
STRUCTURED: dict[str, dict[str, Any]] = {
    "a path": {},
    "a header": {"x_items": ["a", 2, 1.5, False], "x_fields": {"a": 1, "b": "c"}},
    "a cookie": {"items": ["a", 2], "fields": {"a": 1, "b": "c"}},
    "a header, with nothing in them": {"x_items": ["a", None], "x_fields": {"a": None, "b": 1}},
    "a header, within each other": {"x_items": [[1, 2], {"a": [3]}], "x_fields": {"a": {"b": 1}}},
}
for _name, _args in STRUCTURED.items():
    _play = partial(served, calls=[Call("near", _PLACED | _args)], spec=STRUCTURED_SPEC)
    add(Case(f"a service is called with lists and objects in {_name}", _play))


_NOTE = {"type": "object", "properties": {"text": {"type": "string"}}}
for _kind in ("application/json", "application/x-www-form-urlencoded", "multipart/form-data"):
    _body = {"content": {_kind: {"schema": _NOTE}}}
    _spec = SPEC | {
        "paths": {
            "/notes": {"post": {"operationId": "note", "requestBody": _body, "responses": {}}}
        }
    }
    _play = partial(served, calls=[Call("note", {})], spec=_spec)
    add(Case(f"a service is called with nothing of a body of {_kind}", _play))


_STYLED = [
    {"name": "joined", "in": "query", "explode": False, "schema": _ITEMS},
    {"name": "piped", "in": "query", "style": "pipeDelimited", "schema": _ITEMS},
    {"name": "where", "in": "query", "style": "deepObject", "explode": True, "schema": _FIELDS},
    {"name": "fields", "in": "query", "schema": _FIELDS},
]
STYLED_SPEC = SPEC | {
    "paths": {"/pets": {"get": {"operationId": "find", "parameters": _STYLED, "responses": {}}}}
}
for _name, _value in {
    "joined": ["a", 2],
    "piped": ["a", 2],
    "where": {"x": 1, "y": "b"},
    "fields": {"x": 1, "y": "b"},
}.items():
    _play = partial(served, calls=[Call("find", {_name: _value})], spec=STYLED_SPEC)
    add(Case(f"a service is called with a query of the style {_name}", _play, QUERY_STYLES))


def placed(where: str, **style: Any) -> dict[str, Any]:
    """Return the description of a service with one parameter of this style."""
    parameter = {"name": "v", "in": where, "required": True, "schema": _FIELDS} | style
    path = "/pets/{v}" if where == "path" else "/pets"
    find = {"operationId": "find", "parameters": [parameter], "responses": {}}
    return SPEC | {"paths": {path: {"get": find}}}


_PLACES: dict[str, tuple[dict[str, Any], Difference | None]] = {
    "a path": (placed("path"), None),
    "a path of the style simple": (placed("path", style="simple"), None),
    "a path of the style simple, exploded": (placed("path", explode=True), PATH_STYLES),
    "a path of the style label": (placed("path", style="label"), PATH_STYLES),
    "a path of the style matrix": (placed("path", style="matrix", explode=True), PATH_STYLES),
    "a cookie": (placed("cookie"), None),
}
for _name, (_spec, _differs) in _PLACES.items():
    _play = partial(served, calls=[Call("find", {"v": {"x": 1, "y": "b"}})], spec=_spec)
    add(Case(f"a service is called with fields in {_name}", _play, _differs))


@case(differs=SWAGGER_2)
async def a_service_is_described_in_swagger_2(stage):
    query = {"name": "kind", "in": "query", "type": "string"}
    spec = {
        "swagger": "2.0",
        "info": {"title": "Pets", "version": "1"},
        "host": "pets.test",
        "paths": {"/pets": {"get": {"operationId": "listPets", "parameters": [query]}}},
    }
    try:
        toolset = stage.ns.OpenAPIToolset(spec_dict=spec)
    except ValueError:
        stage.note("refused")
    else:
        stage.note("tools", [tool.name for tool in await toolset.get_tools()])


@case()
async def a_service_with_a_prefix_and_a_filter(stage):
    calls = [Call("pets_get_pet", {"name": "Tom"}), Call("pets_add_pet", {})]
    await served(stage, calls, tool_filter=["get_pet"], tool_name_prefix="pets")


@case()
async def a_service_is_called_in_a_batch(stage):
    calls = [[CALLS["a query"], CALLS["a path"], CALLS["an error"]]]
    await served(stage, calls)


@case()
async def a_service_on_this_machine_is_refused_by_default(stage):
    with service() as address:
        toolset = stage.ns.OpenAPIToolset(spec_dict=SPEC | {"servers": [{"url": address}]})
        agent = stage.agent("agent", CALLS["a path"], "Done.", tools=[toolset])
        await stage.open(agent)
        await stage.say()


@case()
async def an_operation_is_given_its_key_later(stage):
    scheme = {"type": "apiKey", "in": "header", "name": "x-key"}
    _, key = stage.ns.token_to_scheme_credential("apikey", "header", "x-key", "k1")
    with service() as address:
        toolset = stage.ns.OpenAPIToolset(
            spec_dict=SPEC | {"servers": [{"url": address}]}, allow_private_network_access=True
        )
        for name, credential in (("get_pet", key), ("list_pets", key.model_dump_json())):
            tool = toolset.get_tool(name)
            tool.configure_auth_scheme(scheme)
            tool.configure_auth_credential(credential)
            tool.configure_credential_key("the key")
            tool.set_default_headers({"x-trace": "t0", "x-kept": "yes"})
            stage.note("set", tool.auth_scheme.name, tool.auth_credential.api_key)
        toolset.configure_ssl_verify_all(False)
        calls = [CALLS["a path"], CALLS["a header"], CALLS["a text"]]
        agent = stage.agent(
            "agent", calls, "Done.", tools=[toolset], after_tool_callback=without_clients_words
        )
        await stage.open(agent)
        await stage.say()
        await stage.runner.close()


@case()
async def operations_become_tools_one_by_one(stage):
    scheme, key = stage.ns.token_to_scheme_credential("apikey", "header", "x-key", "k1")

    def headers(context):
        return {"x-trace": f"of {context.agent_name}"}

    with service() as address:
        operations = stage.ns.OpenApiSpecParser().parse(SPEC | {"servers": [{"url": address}]})
        for one in operations:
            where = one.endpoint
            stage.note(one.name, one.description, where.path, where.method, one.auth_scheme)
        one.auth_scheme, one.auth_credential = scheme, key
        make = stage.ns.RestApiTool.from_parsed_operation
        tools = [
            make(each, header_provider=headers, allow_private_network_access=True)
            for each in operations
        ]
        agent = stage.agent(
            "agent",
            [CALLS["a path"], CALLS["a query"], CALLS["a header"]],
            "Done.",
            tools=tools,
            after_tool_callback=without_clients_words,
        )
        await stage.open(agent)
        await stage.say()


def _form(media_type: str) -> dict[str, Any]:
    fields = {
        "name": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "age": {"type": "integer"},
        "photo": {"type": "string", "format": "binary"},
    }
    body = {"content": {media_type: {"schema": {"type": "object", "properties": fields}}}}
    answers = {"200": {"description": "It."}}
    return {"post": {"operationId": "send", "requestBody": body, "responses": answers}}


@case()
async def a_service_is_sent_a_form_with_a_list(stage):
    spec = SPEC | {"paths": {"/form": _form("application/x-www-form-urlencoded")}}
    calls = [
        Call("send", {"name": "Tom & Jerry", "tags": ["a b", "c"], "age": 3}),
        Call("send", {"name": "ü", "tags": []}),
    ]
    await served(stage, calls, spec=spec)


@case(differs=FORM_FILES)
async def a_service_is_sent_a_form_with_a_file(stage):
    spec = SPEC | {"paths": {"/form": _form("multipart/form-data")}}
    await served(stage, [Call("send", {"name": "Tom", "photo": "pixels"})], spec=spec)


@case()
async def an_operation_has_two_parameters_of_one_name(stage):
    query = {"name": "name", "in": "query", "schema": {"type": "string"}}
    size = {"name": "size", "in": "query", "schema": {"type": "integer"}}
    one = {
        "operationId": "getPet",
        "parameters": [query, size],
        "responses": {"200": {"description": "It."}},
    }
    spec = SPEC | {"paths": {"/pets/{name}": {"parameters": [NAMED, size], "get": one}}}
    calls = [Call("get_pet", {"name": "Tom", "name_0": "Jerry", "size": 1})]
    await served(stage, calls, spec=spec)


@case(differs=UNTOLD_PLACES)
async def a_description_forgets_a_parameter_of_the_path(stage):
    one = {"operationId": "feedPet", "parameters": [NAMED], "responses": {}}
    spec = SPEC | {"paths": {"/pets/{name}/{foodKind}": {"post": one}}}
    calls = [
        Call("feed_pet", {"name": "Tom", "food_kind": "fish"}),
        Call("feed_pet", {"name": "T"}),
    ]
    await served(stage, calls, spec=spec)


def _ranged(media_type):
    """Return the description of a service whose body has a range of media types."""
    fields = {"type": "object", "properties": {"petName": {"type": "string"}}}
    schema = {"type": "string"} if media_type.startswith("text/") else fields
    body = {"content": {media_type: {"schema": schema}}}
    one = {"operationId": "addPet", "requestBody": body, "responses": {}}
    return SPEC | {"paths": {"/pets": {"post": one}}}


for _name, _args in {"*/*": {"pet_name": "Tom"}, "text/*": {"body": "Tom"}}.items():
    _play = partial(served, calls=[Call("add_pet", _args)], spec=_ranged(_name))
    add(Case(f"a service takes a body of any type in {_name}", _play, MEDIA_RANGES))


@case()
async def a_description_refers_to_what_it_does_not_hold(stage):
    nowhere = {"$ref": "#/components/schemas/Nothing"}
    answers = {"200": {"description": "It.", "content": {"application/json": {"schema": nowhere}}}}
    one = {
        "operationId": "getPet",
        "parameters": [{"$ref": "#/components/parameters/Nothing"}],
        "responses": answers,
    }
    spec = SPEC | {
        "components": {"schemas": {"Unused": {"type": "object", "properties": {"a": nowhere}}}},
        "paths": {"/pets/{name}": {"parameters": [NAMED], "get": one}, "/gone": {"$ref": "#/gone"}},
    }
    await served(stage, [Call("get_pet", {"name": "Tom"})], spec=spec)


@case()
async def a_toolset_has_an_empty_filter(stage):
    await served(stage, [Call("text")], tool_filter=[])


def _posted(schema, *parameters, path="/pets"):
    """Return the description of a service that takes a body with this schema."""
    body = {"content": {"application/json": {"schema": schema}}}
    add_pet = {"operationId": "addPet", "requestBody": body, "responses": {}}
    return SPEC | {"paths": {path: {"post": add_pet | {"parameters": list(parameters)}}}}


@case(differs=READ_ONLY)
async def a_service_gives_a_field_by_itself(stage):
    fields = {"id": {"type": "string", "readOnly": True}, "name": {"type": "string"}}
    schema = {"type": "object", "required": ["id", "name"], "properties": fields}
    await served(stage, [Call("add_pet", {"name": "Tom"})], spec=_posted(schema))


@case(differs=WHOLE_NUMBERS)
async def a_service_is_sent_whole_numbers(stage):
    whole = {"type": ["integer", "null"]}
    fields = {"ages": {"type": "array", "items": whole}, "weight": {"type": "number"}}
    shop = {"name": "shop", "in": "path", "required": True, "schema": {"type": "integer"}}
    days = {"name": "days", "in": "query", "schema": whole}
    schema = {"type": "object", "properties": {"tom": {"type": "object", "properties": fields}}}
    tom = {"ages": [2.0, 2.5, None], "weight": 4.0, "more": 1.0}
    call = Call("add_pet", {"shop": 7.0, "days": 3.0, "tom": tom})
    await served(stage, [call], spec=_posted(schema, shop, days, path="/shops/{shop}"))


@case(differs=FIELDS_OF_ALL)
async def a_body_has_fields_of_its_own_and_of_all(stage):
    base = {"type": "object", "required": ["kind"], "properties": {"kind": {"type": "string"}}}
    schema = {"type": "object", "allOf": [{"allOf": [base]}], "properties": {"age": {}}}
    calls = [Call("add_pet", {"age": 3, "kind": "cat"}), Call("add_pet", {"age": 3})]
    await served(stage, calls, spec=_posted(schema))
