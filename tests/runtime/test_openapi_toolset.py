"""Tools from OpenAPI specs, against a real HTTP service (adk-runtime 8.9)."""

import json
import subprocess
import sys
from email import message_from_string
from urllib.parse import quote, unquote

import pytest

from devui.runtime.agents import LlmAgent
from devui.runtime.auth import (
    AuthCredential,
    AuthCredentialTypes,
    HttpAuth,
    HttpCredentials,
    OAuth2Auth,
)
from devui.runtime.auth.auth_schemes import APIKey, HTTPBearer
from devui.runtime.http_client import httpx
from devui.runtime.models import Call, Rule, Say, ScriptedLlm
from devui.runtime.runners import InMemoryRunner
from devui.runtime.tools.openapi_tool import OpenAPIToolset
from devui.runtime.tools.openapi_tool.openapi_spec_parser.sending import (
    BlockedHost,
    public_addresses,
)
from tests.kit.oracle import needs_adk, run_adk
from tests.source import ROOT

STRING, OBJECT = {"type": "string"}, {"type": "object"}
BINARY = {**STRING, "format": "binary"}
PAGE = {**STRING, "contentMediaType": "text/html"}
SCHEMAS = {
    "Pet": {
        "type": "object",
        "required": ["petName"],
        "properties": {
            "petName": {"type": "string", "description": "the name"},
            "age": {"type": "integer", "nullable": True},
            "kind": {"$ref": "#/components/schemas/Kind"},
        },
    },
    "Kind": {"type": "string", "enum": ["cat", "dog"]},
    "Node": {"type": "object", "properties": {"next": {"$ref": "#/components/schemas/Node"}}},
}
PARAMETERS = [
    {"name": "verbose", "in": "query", "schema": {"type": "boolean"}},
    {"name": "tags", "in": "query", "schema": {"type": "array", "items": STRING}},
    {"name": "X-Trace", "in": "header", "schema": STRING},
    {"name": "sess", "in": "cookie", "schema": STRING},
    {"name": "from", "in": "query", "schema": STRING},
]


GONE = {"$ref": "#/x/y"}


def post_operation(operation: str, media_type: str, schema: dict) -> dict:
    content = {media_type: {"schema": schema}}
    return {"post": {"operationId": operation, "requestBody": {"content": content}}}


def spec(url: str, **more) -> dict:
    pet = {"$ref": "#/components/schemas/Pet"}
    fields = {"a": STRING, "b": {"type": "integer"}, "c": {"type": "array", "items": STRING}}
    files = {"one": BINARY, "two": {"type": "array", "items": BINARY}, "page": PAGE}
    in_path = {"name": "petId", "in": "path", "required": True, "schema": STRING}
    return {
        "openapi": "3.0.3",
        "info": {"title": "Pets", "version": "1"},
        "servers": [{"url": url}],
        "components": {"schemas": SCHEMAS, "securitySchemes": more.pop("schemes", {})},
        "paths": {
            "/pets/{petId}": {
                "parameters": [{**in_path, "description": "which"}],
                "get": {
                    "operationId": "getPetById",
                    "summary": "short",
                    "description": "Get a pet",
                    "parameters": PARAMETERS,
                },
                "delete": {"summary": "Delete it"},
            },
            "/pets": post_operation("create-pet", "application/json", pet),
            "/bulk": post_operation("bulk", "application/json", {"type": "array", "items": pet}),
            "/form": post_operation(
                "form", "application/x-www-form-urlencoded", {**OBJECT, "properties": fields}
            ),
            "/upload": post_operation(
                "upload", "multipart/form-data", {**OBJECT, "properties": fields | files}
            ),
            "/plain": post_operation("a" * 30 + "B" * 40, "text/plain", STRING),
            "/node": post_operation(
                "node", "application/json", {"$ref": "#/components/schemas/Node"}
            ),
            **{
                f"/{name}": {"get": {"operationId": name}}
                for name in ("text", "list", "nothing", "moved", "broken")
            },
        },
        **more,
    }


@pytest.fixture(scope="module")
def url():
    command = [sys.executable, "-m", "tests.kit.pets_server"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    yield process.stdout.readline().strip()
    process.kill()
    process.communicate()


def toolset(url: str, *, schemes: dict | None = None, security: list | None = None, **kwargs):
    description = spec(url, schemes=schemes or {}, security=security or [])
    return OpenAPIToolset(spec_dict=description, allow_private_network_access=True, **kwargs)


async def ask(tools: OpenAPIToolset, name: str, **args):
    return await tools.get_tool(name).run_async(args=args, tool_context=None)


async def test_each_operation_is_a_tool(url):
    tools = {tool.name: tool for tool in await toolset(url).get_tools()}
    assert list(tools) == [
        *("get_pet_by_id", "pets_pet_id_delete", "create_pet", "bulk", "form", "upload"),
        *("a" * 30 + "_" + "b" * 29, "node", "text", "list", "nothing", "moved", "broken"),
    ]
    assert tools["get_pet_by_id"].description == "Get a pet"
    assert tools["pets_pet_id_delete"].description == "Delete it"
    schema = tools["get_pet_by_id"]._get_declaration().parameters_json_schema
    assert list(schema["properties"]) == [
        *("verbose", "tags", "x_trace", "sess", "param_from", "pet_id")
    ]
    assert schema["properties"]["pet_id"] == {"type": "string", "description": "which"}
    assert schema["required"] == ["pet_id"]
    created = tools["create_pet"]._get_declaration().parameters_json_schema
    assert created["properties"]["kind"] == SCHEMAS["Kind"]
    assert created["required"] == ["pet_name"]
    assert tools["node"].operation.parameters[0].schema == {}


async def test_arguments_are_sent_where_the_spec_says(url):
    request = await ask(
        toolset(url),
        "get_pet_by_id",
        pet_id="a/b c",
        verbose=False,
        tags=["x", "y&z"],
        x_trace="t",
        sess="s",
        param_from="f",
        unknown=1,
    )
    assert request["method"] == "GET"
    assert request["path"] == "/pets/a%2Fb%20c?verbose=false&tags=x&tags=y%26z&from=f"
    assert (request["headers"]["x-trace"], request["headers"]["cookie"]) == ("t", "sess=s")
    assert request["body"] == ""


async def test_bodies_are_sent_in_the_described_media_type(url):
    tools = toolset(url)
    request = await ask(tools, "create_pet", pet_name="é", age=None)
    assert json.loads(request["body"]) == {"petName": "é", "age": None}
    assert request["headers"]["content-type"] == "application/json"
    request = await ask(tools, "bulk", array=[{"petName": "x"}])
    assert json.loads(request["body"]) == [{"petName": "x"}]
    request = await ask(tools, "form", a="1 2", b=3)
    assert request["body"] == "a=1+2&b=3"
    request = await ask(tools, "upload", a="1", b=3)
    assert request["headers"]["content-type"].startswith("multipart/form-data; boundary=")
    assert 'name="b"\r\n\r\n3' in request["body"]
    request = await ask(tools, "a" * 30 + "_" + "b" * 29, body="hi")
    assert (request["body"], request["headers"]["content-type"]) == ("hi", "text/plain")


async def test_form_lists_are_sent_item_by_item_and_files_as_files(url):
    tools = toolset(url)
    request = await ask(tools, "form", a="1", c=["x y", "z", 3])
    assert request["body"] == "a=1&c=x+y&c=z&c=3"
    request = await ask(tools, "form", a="1", c=[])
    assert request["body"] == "a=1"
    request = await ask(
        tools, "upload", a="1", c=["x", "y"], one="q", two=["r", "s"], page="<p>hé</p>"
    )
    form = message_from_string(
        f"Content-Type: {request['headers']['content-type']}\n\n{request['body']}"
    )
    assert [
        (
            part.get_param("name", header="content-disposition"),
            part.get_filename(),
            part["content-type"],
            part.get_payload(),
        )
        for part in form.get_payload()
    ] == [
        ("a", None, None, "1"),
        ("c", None, None, "x"),
        ("c", None, None, "y"),
        ("one", "one", "application/octet-stream", "q"),
        ("two", "two", "application/octet-stream", "r"),
        ("two", "two", "application/octet-stream", "s"),
        ("page", "page", "text/html", "<p>hé</p>"),
    ]


async def test_an_operations_parameter_keeps_a_name_that_the_path_also_uses(url):
    path = {"name": "id", "in": "path", "required": True, "schema": STRING}
    query = {"name": "id", "in": "query", "schema": STRING}
    size = {"name": "size", "in": "query", "schema": STRING}
    description = spec(url)
    description["paths"] = {
        "/pets/{id}": {
            "parameters": [path, size],
            "get": {
                "operationId": "both",
                "parameters": [query, size | {"description": "which"}],
            },
        }
    }
    tools = OpenAPIToolset(spec_dict=description, allow_private_network_access=True)
    declared = tools.get_tool("both")._get_declaration().parameters_json_schema
    assert list(declared["properties"]) == ["id", "size", "id_0"]
    assert declared["properties"]["size"]["description"] == "which"
    request = await ask(tools, "both", id="q", id_0="p")
    assert request["path"] == "/pets/p?id=q"


LIST, PLACE = ["a b", 2, None], {"x": 1, "y": ["s", "t"], "z": None}
STYLES = {
    (None, None): ("v=a+b&v=2&v=null", "x=1&y=s&y=t"),
    ("form", False): ("v=a+b,2", 'v=x,1,y,["s", "t"]'),
    ("spaceDelimited", False): ("v=a+b+2", 'v=x+1+y+["s", "t"]'),
    ("pipeDelimited", False): ("v=a+b|2", 'v=x|1|y|["s", "t"]'),
    ("pipeDelimited", None): ("v=a+b|2", 'v=x|1|y|["s", "t"]'),
    ("pipeDelimited", True): ("v=a+b&v=2&v=null", "x=1&y=s&y=t"),
    ("deepObject", True): ("v=a+b&v=2&v=null", "v[x]=1&v[y]=s&v[y]=t"),
}


@pytest.mark.parametrize("style", STYLES, ids=str)
async def test_query_lists_and_objects_are_serialized_in_their_style(url, style):
    fields = dict(zip(("style", "explode"), style, strict=True))
    fields = {key: value for key, value in fields.items() if value is not None}
    description = spec(url)
    description["paths"] = {
        "/pets": {
            "get": {
                "operationId": "find",
                "parameters": [{"name": "v", "in": "query", "schema": {}} | fields],
            }
        }
    }
    tools = OpenAPIToolset(spec_dict=description, allow_private_network_access=True)
    request_paths = [(await ask(tools, "find", v=value))["path"] for value in (LIST, PLACE)]
    assert request_paths == [f"/pets?{encoded_query(each)}" for each in STYLES[style]]


def encoded_query(query: str) -> str:
    """Return the query encoded as it is sent; `+` already stands for a space."""
    return quote(query, safe="=&+").replace("%20", "+")


async def test_a_parameter_described_as_json_is_sent_as_json(url):
    description = spec(url)
    content = {"application/json": {"schema": {"type": "object"}}}
    description["paths"] = {
        "/pets": {
            "get": {
                "operationId": "find",
                "parameters": [{"name": "v", "in": "query", "content": content}],
            }
        }
    }
    tools = OpenAPIToolset(spec_dict=description, allow_private_network_access=True)
    path = (await ask(tools, "find", v={"x": [1]}))["path"]
    assert unquote(path.replace("+", " ")) == '/pets?v={"x": [1]}'


async def test_responses_are_json_text_or_an_error(url):
    tools = toolset(url)
    assert await ask(tools, "text") == {"text": "plain"}
    assert await ask(tools, "list") == [1, 2]
    assert await ask(tools, "nothing") == {"text": ""}
    assert "HTTP 500: out of order" in (await ask(tools, "broken"))["error"]
    assert "redirects are not followed" in (await ask(tools, "moved"))["error"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({}, "needs pet_id"),
        ({"pet_id": ""}, "cannot be empty"),
        *(({"pet_id": up}, "double dot") for up in (".", "..", "../7", "a/./b", "a\\..\\b")),
    ],
)
async def test_invalid_arguments_are_reported_to_the_model(url, args, message):
    assert message in (await ask(toolset(url), "get_pet_by_id", **args))["error"]


def test_schemas_that_refer_to_each_other_are_read(url):
    names = [f"S{number}" for number in range(10)]
    refer = {name: {"$ref": f"#/components/schemas/{name}"} for name in names}
    description = spec(url)
    description["components"]["schemas"] = {
        name: {"type": "object", "properties": refer} for name in names
    }
    description["paths"] = {
        "/first": post_operation("first", "application/json", refer["S0"]),
        "/last": post_operation("last", "application/json", refer["S9"]),
    }
    tools = OpenAPIToolset(spec_dict=description)
    for name, own, other in (("first", "S0", "S9"), ("last", "S9", "S0")):
        properties = tools.get_tool(name)._get_declaration().parameters_json_schema["properties"]
        properties = {key.upper(): value for key, value in properties.items()}
        assert properties[own] == {}
        assert list(properties[other]["properties"]) == names


async def test_a_schema_that_allows_anything_is_a_normal_field(url):
    schema = {**OBJECT, "required": ["a"], "properties": {"a": True}, "allOf": [True]}
    description = spec(url) | {
        "paths": {"/notes": post_operation("note", "application/json", schema)}
    }
    tools = OpenAPIToolset(spec_dict=description, allow_private_network_access=True)
    assert json.loads((await ask(tools, "note", a=[1]))["body"]) == {"a": [1]}


async def test_an_argument_cannot_add_a_cookie(url):
    description = spec(url)
    cookie = {"name": "sess", "in": "cookie", "schema": {}}
    description["paths"] = {"/pets": {"get": {"operationId": "find", "parameters": [cookie]}}}
    tools = OpenAPIToolset(spec_dict=description, allow_private_network_access=True)
    for value in ("s; admin=1", ["s; admin=1"], {"a": "b;c"}):
        assert "semicolon" in (await ask(tools, "find", sess=value))["error"]
    assert (await ask(tools, "find", sess="a b,c"))["headers"]["cookie"] == "sess=a b,c"


@pytest.mark.parametrize("name", ["a/b", ".tom..txt", "..."])
async def test_a_path_argument_stays_one_segment(url, name):
    request = await ask(toolset(url), "get_pet_by_id", pet_id=name)
    assert request["path"] == f"/pets/{quote(name, safe='')}"


async def test_an_agent_uses_the_service(url):
    model = ScriptedLlm(
        rules=[
            Rule(after="pets_create_pet", then=Say("{result.method} {result.path}")),
            Rule(then=Call("pets_create_pet", pet_name="Rex")),
        ]
    )
    tools = toolset(url, tool_name_prefix="pets", tool_filter=["create_pet"])
    root = LlmAgent(name="a", model=model, tools=[tools])
    async with InMemoryRunner(agent=root) as runner:
        events = await runner.run_debug("A pet, please", quiet=True)
    assert events[-1].content.parts[0].text == "POST /pets"
    [declared] = model.requests[0].config.tools[0].function_declarations
    assert declared.name == "pets_create_pet"


def credential(**kwargs) -> AuthCredential:
    kind = {"api_key": "apiKey", "http": "http", "oauth2": "oauth2"}[next(iter(kwargs))]
    return AuthCredential(auth_type=AuthCredentialTypes(kind), **kwargs)


@pytest.mark.parametrize(
    ("scheme", "fields", "header", "value"),
    [
        ({"in": "header", "name": "X-Key"}, {"api_key": "k"}, "x-key", "k"),
        ({"in": "cookie", "name": "key"}, {"api_key": "k"}, "cookie", "key=k"),
        (
            None,
            {"http": HttpAuth(scheme="bearer", credentials=HttpCredentials(token="t"))},
            "authorization",
            "Bearer t",
        ),
        (
            None,
            {"http": HttpAuth(scheme="basic", credentials=HttpCredentials(username="u"))},
            "authorization",
            "Basic dTo=",
        ),
        (None, {"oauth2": OAuth2Auth(access_token="t")}, "authorization", "Bearer t"),
    ],
)
async def test_credentials_are_sent_as_the_scheme_requires(url, scheme, fields, header, value):
    tools = toolset(
        url,
        auth_scheme=APIKey(**scheme) if scheme else HTTPBearer(),
        auth_credential=credential(**fields),
    )
    assert (await ask(tools, "get_pet_by_id", pet_id="1"))["headers"][header] == value


async def test_the_security_scheme_comes_from_the_spec(url):
    key = {"type": "apiKey", "in": "query", "name": "key"}
    tools = toolset(
        url, schemes={"k": key}, security=[{"k": []}], auth_credential=credential(api_key="s e")
    )
    assert (await ask(tools, "get_pet_by_id", pet_id="1"))["path"] == "/pets/1?key=s+e"


async def test_the_user_is_asked_for_a_missing_credential(url):
    tools = toolset(url, auth_scheme=HTTPBearer())
    model = ScriptedLlm(rules=[Rule(user="go", then=Call("text")), Rule(then=Say("ok"))])
    root = LlmAgent(name="a", model=model, tools=[tools])
    async with InMemoryRunner(agent=root) as runner:
        events = await runner.run_debug("go", quiet=True)
    [asking] = [event for event in events if event.actions.requested_auth_configs]
    assert asking.get_function_responses()[0].response["pending"] is True


async def test_headers_may_depend_on_the_call(url):
    async def provide(context) -> dict[str, str]:
        return {"X-User": context.user_id}

    model = ScriptedLlm(
        rules=[Rule(user="go", then=Call("form", a="1")), Rule(then=Say("{result.headers.x-user}"))]
    )
    root = LlmAgent(name="a", model=model, tools=[toolset(url, header_provider=provide)])
    async with InMemoryRunner(agent=root) as runner:
        events = await runner.run_debug("go", quiet=True)
    [response] = [r for event in events for r in event.get_function_responses()]
    assert response.response["headers"]["x-user"] == "debug_user_id"


async def test_private_networks_are_unreachable_unless_allowed(url):
    closed = OpenAPIToolset(spec_dict=spec(url))
    response = await ask(closed, "text")
    assert "private network" in response["error"]
    assert "allow_private_network_access" in response["error"]
    inside = ("169.254.169.254", "10.0.0.1", "[::1]", "0.0.0.0", "[::ffff:127.0.0.1]", "[fec0::1]")
    tunnels = ("[64:ff9b::a9fe:a9fe]", "[2002:7f00:1::]", "[::127.0.0.1]", "[::ffff:0:127.0.0.1]")
    for address in (*inside, *tunnels):
        with pytest.raises(BlockedHost, match="private"):
            await public_addresses(f"http://{address}:80/x")
    for address in ("8.8.8.8", "64:ff9b::808:808", "2606:4700::1111"):
        url = f"https://[{address}]/x" if ":" in address else f"https://{address}/x"
        assert await public_addresses(url) == [address]


async def test_a_custom_client_is_used(url):
    tools = toolset(url, httpx_client_factory=lambda: httpx.AsyncClient(headers={"X-Own": "1"}))
    assert (await ask(tools, "get_pet_by_id", pet_id="1"))["headers"]["x-own"] == "1"


async def test_names_can_be_preserved_and_servers_have_variables(url):
    host, _, port = url.rpartition(":")
    description = spec(f"{host}:{{port}}/")
    description["servers"][0]["variables"] = {"port": {"default": port}}
    tools = OpenAPIToolset(
        spec_str=json.dumps(description),
        preserve_property_names=True,
        allow_private_network_access=True,
    )
    request = await ask(tools, "create_pet", petName="x")
    assert json.loads(request["body"]) == {"petName": "x"}


async def test_a_spec_may_be_yaml(url):
    yaml = pytest.importorskip("yaml")
    description = yaml.safe_dump(spec(url))
    tools = OpenAPIToolset(
        spec_str=description, spec_str_type="yaml", allow_private_network_access=True
    )
    assert (await ask(tools, "get_pet_by_id", pet_id="7"))["path"] == "/pets/7"
    for text, message in {"[1": "Invalid YAML", "- a": "not an object"}.items():
        with pytest.raises(ValueError, match=message):
            OpenAPIToolset(spec_str=text, spec_str_type="yaml")


async def test_a_dangling_reference_allows_anything_and_causes_a_warning(url, caplog):
    body = {**OBJECT, "properties": {"a": STRING, "b": GONE, "c": GONE}}
    description = spec(url) | {"paths": {"/form": post_operation("form", "application/json", body)}}
    (tool,) = await OpenAPIToolset(spec_dict=description).get_tools()
    schema = tool._get_declaration().parameters_json_schema
    assert schema["properties"] == {"a": STRING, "b": {}, "c": {}}
    (warning,) = [one for one in caplog.messages if "doesn't contain" in one]
    assert warning.count("#/x/y") == 1


async def test_a_missing_server_url_is_reported_to_the_model():
    assert "no server" in (await ask(OpenAPIToolset(spec_dict=spec("/api")), "text"))["error"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "spec_dict or spec_str"),
        ({"spec_str": "[]"}, "not an object"),
        ({"spec_dict": {"swagger": "2.0"}}, "Swagger 2"),
        ({"spec_dict": {"openapi": "3.1.0", "paths": GONE}}, "'#/x/y', which is"),
        (
            {"spec_dict": {"openapi": "3.1.0", "paths": {"/a": {"post": {"requestBody": GONE}}}}},
            "'#/x/y', which is",
        ),
        ({"spec_dict": {"openapi": "3.1.0", "paths": {"$ref": "other.json"}}}, "outside"),
    ],
)
def test_the_error_for_an_unusable_spec_says_why(arguments, message):
    with pytest.raises(ValueError, match=message):
        OpenAPIToolset(**arguments)


@needs_adk
async def test_google_adk_creates_the_same_tools_from_a_spec(url):
    theirs = run_adk(
        """
        import json
        from google.adk.tools.openapi_tool import OpenAPIToolset
        tools = await OpenAPIToolset(spec_str=args[0]).get_tools()
        found = {}
        for tool in tools:
            schema = tool._get_declaration().parameters_json_schema
            found[tool.name] = [sorted(schema["properties"]), sorted(schema["required"])]
        print(json.dumps(found))
        """,
        json.dumps(spec(url)),
    )
    ours = {}
    for tool in await toolset(url).get_tools():
        schema = tool._get_declaration().parameters_json_schema
        ours[tool.name] = [sorted(schema["properties"]), sorted(schema["required"])]
    assert ours == json.loads(theirs.splitlines()[-1])
