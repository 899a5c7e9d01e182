"""How tools from OpenAPI specs send requests, and which they refuse to send (adk-runtime 8.9)."""

import asyncio
import json
import socket

import pytest

from devui.runtime.http_client import httpx
from devui.runtime.tools.openapi_tool import OpenAPIToolset
from tests.kit.oauth import child

STRING = {"type": "string"}
PARAMETERS = [
    {"name": place, "in": where, "schema": STRING}
    for place, where in (("X-Trace", "header"), ("sess", "cookie"), ("kind", "query"))
]
FIELDS = {"type": "object", "properties": {"a": STRING}}


@pytest.fixture(scope="module")
def url():
    with child("tests.kit.pets_server") as address:
        yield address


def post_operation(operation: str, media_type: str) -> dict:
    content = {media_type: {"schema": FIELDS}}
    return {"post": {"operationId": operation, "requestBody": {"content": content}}}


def toolset(url: str, **how) -> OpenAPIToolset:
    spec = {
        "openapi": "3.0.3",
        "info": {"title": "Pets", "version": "1"},
        "servers": [{"url": url}],
        "paths": {
            "/pets": {"get": {"operationId": "find", "parameters": PARAMETERS}},
            "/slow": {"get": {"operationId": "slow"}},
            "/page": {"get": {"operationId": "page"}},
            "/json": post_operation("send_json", "application/json"),
            "/form": post_operation("send_form", "application/x-www-form-urlencoded"),
            "/parts": post_operation("send_parts", "multipart/form-data"),
        },
    }
    return OpenAPIToolset(spec_dict=spec, **how)


def inside(url: str, **how) -> OpenAPIToolset:
    return toolset(url, allow_private_network_access=True, **how)


async def ask(tools: OpenAPIToolset, name: str = "find", **args):
    return await tools.get_tool(name).run_async(args=args, tool_context=None)


class Internet(httpx.AsyncBaseTransport):
    """A transport to other hosts: each answers with the requested host, or redirects."""

    def __init__(self, down: tuple[str, ...] = (), leads_to: str | None = None) -> None:
        self.hosts: list[str] = []
        self.addresses: list[str] = []
        """The full URLs of the requests."""
        self.last_headers: dict[str, str] = {}
        """The headers of the last request."""
        self._down, self._leads_to = down, leads_to

    async def handle_async_request(self, request):
        self.hosts.append(request.url.host)
        self.addresses.append(str(request.url))
        self.last_headers = dict(request.headers)
        if request.url.host in self._down:
            raise httpx.ConnectError("nobody is there", request=request)
        if self._leads_to and len(self.hosts) == 1:
            return httpx.Response(302, headers={"location": self._leads_to})
        name = request.extensions.get("sni_hostname")
        return httpx.Response(200, json={"host": request.headers["host"], "certified": name})

    def client(self, **how):
        return httpx.AsyncClient(transport=self, **how)


class Resolving(asyncio.SelectorEventLoop):
    """A loop that resolves names to the given addresses, one answer after the other."""

    def __init__(self, *answers: list[str]) -> None:
        super().__init__()
        self._answers = list(answers)

    async def getaddrinfo(self, host, port, **how):
        if not self._answers:
            raise socket.gaierror("there is no such name")
        addresses = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        return [(None, None, 0, "", (address, port)) for address in addresses]


def asked_in(loop: Resolving, tools: OpenAPIToolset):
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        return runner.run(ask(tools))


async def test_a_slow_service_is_waited_for(url):
    assert (await ask(inside(url), "slow"))["path"] == "/slow"


async def test_a_service_that_times_out_is_reported(url):
    hasty = inside(url, httpx_client_factory=lambda: httpx.AsyncClient(timeout=0.1))
    assert "did not answer in time" in (await ask(hasty, "slow"))["error"]


def test_a_custom_client_connects_to_the_address_that_was_checked():
    internet = Internet()
    tools = toolset("https://pets.test:8443", httpx_client_factory=internet.client)
    request = asked_in(Resolving(["8.8.8.8"], ["127.0.0.1"]), tools)
    assert internet.hosts == ["8.8.8.8"]
    assert request == {"host": "pets.test:8443", "certified": "pets.test"}


@pytest.mark.parametrize("address", ["8.8.8.8", "[2606:4700::1111]"])
def test_port_path_query_and_password_are_kept_with_the_address(address):
    internet = Internet()
    server = "https://ann:p%40ss@pets.test:8443/a%2Fb"
    tools = toolset(server, httpx_client_factory=internet.client)
    request = asked_in(Resolving([address.strip("[]")]), tools)
    assert internet.addresses == [f"https://ann:p%40ss@{address}:8443/a%2Fb/pets"]
    assert internet.last_headers["authorization"] == "Basic YW5uOnBAc3M="
    assert request == {"host": "pets.test:8443", "certified": "pets.test"}


def test_a_custom_clients_proxy_resolves_the_host_itself(url):
    tools = toolset(
        "http://pets.test",
        httpx_client_factory=lambda: httpx.AsyncClient(proxy=url, trust_env=False),
    )
    for addresses in ([["8.8.8.8"]], []):
        request = asked_in(Resolving(*addresses), tools)
        assert request["path"] == "http://pets.test/pets"
    assert "private network" in asked_in(Resolving(["10.0.0.1"]), tools)["error"]


def test_a_client_without_a_proxy_connects_to_the_checked_address(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    internet = Internet()
    tools = toolset("http://pets.test", httpx_client_factory=internet.client)
    asked_in(Resolving(["8.8.8.8"]), tools)
    assert internet.hosts == ["8.8.8.8"]


def test_a_mounted_transport_connects_to_the_checked_address():
    internet = Internet()
    nobody = httpx.AsyncHTTPTransport(proxy="http://127.0.0.1:9")
    mounts = {"all://pets.test": internet, "all://": nobody}
    tools = toolset(
        "http://pets.test", httpx_client_factory=lambda: httpx.AsyncClient(mounts=mounts)
    )
    asked_in(Resolving(["8.8.8.8"]), tools)
    assert internet.hosts == ["8.8.8.8"]


@pytest.fixture
def older():
    """The HTTP library whose clients google-adk accepts."""
    return pytest.importorskip("httpx")


async def test_a_client_of_the_older_library_is_accepted_and_its_errors_reported(url, older):
    def tools(**how):
        return inside(url, httpx_client_factory=lambda: older.AsyncClient(**how))

    assert (await ask(tools()))["path"] == "/pets"
    assert "did not answer in time" in (await ask(tools(timeout=0.1), "slow"))["error"]


def test_a_client_of_the_older_library_tries_the_next_address(older):
    hosts = []

    async def answer(request):
        hosts.append(request.url.host)
        if request.url.host == "8.8.8.8":
            raise older.ConnectError("nobody is there", request=request)
        return older.Response(200, json={"host": request.headers["host"]})

    def client():
        return older.AsyncClient(transport=older.MockTransport(answer))

    tools = toolset("https://pets.test:8443", httpx_client_factory=client)
    http_request = asked_in(Resolving(["8.8.8.8", "8.8.4.4"]), tools)
    assert (hosts, http_request) == (["8.8.8.8", "8.8.4.4"], {"host": "pets.test:8443"})


def test_a_proxy_of_the_older_library_resolves_the_host_itself(url, older):
    def client():
        return older.AsyncClient(proxy=url, trust_env=False)

    request = asked_in(Resolving(), toolset("http://pets.test", httpx_client_factory=client))
    assert request["path"] == "http://pets.test/pets"


class Token(httpx.Auth):
    """Authentication that requests a token from another host, as OAuth2 clients do."""

    def auth_flow(self, request):
        yield httpx.Request("POST", "http://login.test/token")
        yield request


def test_a_token_request_to_another_host_uses_the_clients_own_transport():
    internet, login = Internet(), Internet()
    mounts = {"all://pets.test": internet, "all://login.test": login}
    tools = toolset(
        "http://pets.test",
        httpx_client_factory=lambda: httpx.AsyncClient(mounts=mounts, auth=Token()),
    )
    asked_in(Resolving(["8.8.8.8"]), tools)
    assert (login.hosts, internet.hosts) == (["login.test"], ["8.8.8.8"])


def test_a_proxy_as_the_clients_only_transport_resolves_the_host_itself(url):
    def client():
        return httpx.AsyncClient(transport=httpx.AsyncHTTPTransport(proxy=url))

    request = asked_in(Resolving(), toolset("http://pets.test", httpx_client_factory=client))
    assert request["path"] == "http://pets.test/pets"


async def test_a_long_error_is_truncated_for_the_model(url):
    error = (await ask(inside(url), "page"))["error"]
    assert error.endswith("... (5000 characters more were left out)")
    assert len(error) < 10_200


def test_each_address_of_a_host_is_tried():
    internet = Internet(down=("2606:4700::1111", "8.8.8.8"))
    tools = toolset("https://pets.test", httpx_client_factory=internet.client)
    response = asked_in(Resolving(["2606:4700::1111", "8.8.8.8", "8.8.4.4"]), tools)
    assert internet.hosts == ["2606:4700::1111", "8.8.8.8", "8.8.4.4"]
    assert response["host"] == "pets.test"
    internet = Internet(down=("8.8.8.8", "8.8.4.4"))
    tools = toolset("https://pets.test", httpx_client_factory=internet.client)
    response = asked_in(Resolving(["8.8.8.8", "8.8.4.4"]), tools)
    assert "nobody is there" in response["error"]


async def test_a_client_cannot_follow_redirects():
    internet = Internet(leads_to="http://169.254.169.254/secrets")
    tools = toolset(
        "http://8.8.8.8", httpx_client_factory=lambda: internet.client(follow_redirects=True)
    )
    assert "redirects are not followed" in (await ask(tools))["error"]
    assert internet.hosts == ["8.8.8.8"]


async def test_with_private_network_access_a_custom_client_may_follow_redirects():
    internet = Internet(leads_to="http://10.0.0.2/pets")
    tools = inside(
        "http://10.0.0.1", httpx_client_factory=lambda: internet.client(follow_redirects=True)
    )
    assert (await ask(tools))["host"] == "10.0.0.2"
    assert internet.hosts == ["10.0.0.1", "10.0.0.2"]


def test_a_proxy_from_the_environment_is_used(url, monkeypatch):
    for name in ("NO_PROXY", "no_proxy", "HTTP_PROXY", "REQUEST_METHOD"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", url)
    for how in ({}, {"httpx_client_factory": httpx.AsyncClient}):
        # Such a network may resolve no names except those of its proxies.
        response = asked_in(Resolving(), toolset("http://pets.test", **how))
        assert response["path"] == "http://pets.test/pets"
        assert response["headers"]["host"] == "pets.test"
        response = asked_in(Resolving(["10.0.0.1"]), toolset("http://pets.test", **how))
        assert "private network" in response["error"]
    response = asked_in(Resolving(), toolset("http://169.254.169.254"))
    assert "private network" in response["error"]
    monkeypatch.setenv("no_proxy", "pets.test")
    assert "is not known" in asked_in(Resolving(), toolset("http://pets.test"))["error"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({"x_trace": "Zoë"}, "header X-Trace can hold printable ASCII characters only, not 'ë'"),
        ({"x_trace": "a\r\nX-Own: 1"}, r"not '\r', '\n'"),
        (
            {"sess": "日本"},
            "header Cookie can hold printable ASCII characters only, not '日', '本'",
        ),
        ({"kind": "\ud83d"}, r"'\ud83d' contains a lone surrogate and can't be sent"),
    ],
    ids=["letter", "line", "cookie", "half"],
)
async def test_text_that_cannot_be_sent_is_a_readable_error(url, args, message):
    response = await ask(inside(url), **args)
    assert message in response["error"]
    assert "codec" not in response["error"]


async def test_a_header_with_spaces_and_tabs_is_sent(url):
    response = await ask(inside(url), x_trace="a b\tc")
    assert response["headers"]["x-trace"] == "a b\tc"


async def test_an_object_without_any_fields_is_sent(url):
    tools = inside(url)
    response = await ask(tools, "send_json")
    assert json.loads(response["body"]) == {}
    assert response["headers"]["content-type"] == "application/json"
    response = await ask(tools, "send_form")
    assert (response["body"], response["headers"]["content-length"]) == ("", "0")
    assert response["headers"]["content-type"] == "application/x-www-form-urlencoded"
    assert (await ask(tools, "send_parts"))["body"] == ""


COLORS, SHADES = ["blue", "a/b", None], {"R": 100, "G": "x,y", "B": None}
IN_PATHS = {
    ("simple", False): ("blue", "blue%2Ca%2Fb", "R%2C100%2CG%2Cx%2Cy"),
    ("simple", True): ("blue", "blue%2Ca%2Fb", "R=100,G=x%2Cy"),
    ("label", False): (".blue", ".blue,a%2Fb", ".R,100,G,x%2Cy"),
    ("label", True): (".blue", ".blue.a%2Fb", ".R=100.G=x%2Cy"),
    ("matrix", False): (";c=blue", ";c=blue,a%2Fb", ";c=R,100,G,x%2Cy"),
    ("matrix", True): (";c=blue", ";c=blue;c=a%2Fb", ";R=100;G=x%2Cy"),
}


def styled(url: str, where: str, **fields) -> OpenAPIToolset:
    parameter = {
        "name": "c",
        "in": where,
        **({} if "content" in fields else {"schema": {}}),
        **fields,
    }
    path = "/at/{c}" if where == "path" else "/at"
    paths = {path: {"get": {"operationId": "find", "parameters": [parameter]}}}
    spec = {"openapi": "3.0.3", "servers": [{"url": url}], "paths": paths}
    return OpenAPIToolset(spec_dict=spec, allow_private_network_access=True)


@pytest.mark.parametrize("style", IN_PATHS, ids=str)
async def test_path_parameters_are_serialized_in_their_style(url, style):
    tools = styled(url, "path", style=style[0], explode=style[1])
    request_paths = [(await ask(tools, c=value))["path"] for value in ("blue", COLORS, SHADES)]
    assert request_paths == [f"/at/{each}" for each in IN_PATHS[style]]


@pytest.mark.parametrize("value", [".", "..", "../x", "", []])
@pytest.mark.parametrize("style", ["label", "matrix"])
async def test_no_style_leads_to_another_path(url, style, value):
    response = await ask(styled(url, "path", style=style, explode=True), c=value)
    assert "error" in response


async def test_a_label_cannot_lead_to_a_parent_path(url):
    assert "error" in await ask(styled(url, "path", style="label", explode=True), c=["", ""])


async def test_header_parameters_are_serialized_as_described(url):
    for explode, header in ((False, "R,100,G,x,y"), (True, "R=100,G=x,y")):
        response = await ask(styled(url, "header", explode=explode), c=SHADES)
        assert response["headers"]["c"] == header
    content = {"application/json": {"schema": {"type": "object"}}}
    response = await ask(styled(url, "header", content=content), c={"x": [1]})
    assert response["headers"]["c"] == '{"x": [1]}'


async def test_cookie_parameters_are_serialized_with_commas(url):
    for fields in ({}, {"style": "form"}, {"explode": True}):
        response = await ask(styled(url, "cookie", **fields), c=SHADES)
        assert response["headers"]["cookie"] == "c=R,100,G,x,y"
