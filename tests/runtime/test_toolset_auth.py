"""Toolsets that need a login before they can be listed or called (adk-runtime 8.6, 8.9)."""

from importlib import import_module

import pytest

from devui.runtime.auth import AuthConfig, AuthCredential
from devui.runtime.auth.auth_schemes import APIKey, HTTPBearer
from devui.runtime.auth.credential_service import InMemoryCredentialService
from devui.runtime.auth.exchanger import CredentialExchangeError
from devui.runtime.models import Call
from devui.runtime.tools import BaseToolset, FunctionTool
from devui.runtime.tools.openapi_tool import OpenAPIToolset
from tests.kit.oauth import (
    CALL,
    ask,
    child,
    client,
    client_flow,
    code_flow,
    config_of,
    get,
    given_by,
    login,
    requests,
    runner_with,
)
from tests.kit.stages import run
from tests.kit.turns import answer, responses

pytest.importorskip("authlib")


@pytest.fixture(scope="module")
def url():
    with child("tests.kit.oauth_server") as address:
        yield address


def service(url: str, **kwargs) -> OpenAPIToolset:
    spec = {
        "openapi": "3.0.3",
        "info": {"title": "Pages", "version": "1"},
        "servers": [{"url": url}],
        "paths": {
            "/api/{page}": {
                "parameters": [
                    {"name": "page", "in": "path", "required": True, "schema": {"type": "string"}}
                ],
                "get": {"operationId": "read"},
            }
        },
    }
    return OpenAPIToolset(spec_dict=spec, allow_private_network_access=True, **kwargs)


async def test_an_openapi_service_gets_the_users_token(url):
    tools = service(url, auth_scheme=code_flow(url), auth_credential=client())
    runner = runner_with(tools, service=InMemoryCredentialService())
    request = await ask(runner)
    [(_, read)] = responses(await answer(runner, (request, login(request))))
    assert read == {"page": "/api/1", "with": given_by(url, "app")[-1]["token"]}


async def test_a_token_that_the_service_refuses_is_refreshed(url):
    tools = service(url, auth_scheme=code_flow(url), auth_credential=client())
    runner = runner_with(tools, service=InMemoryCredentialService())
    request = await ask(runner)
    [(_, before)] = responses(await answer(runner, (request, login(request))))
    get(f"{url}/expire")
    [(_, after)] = responses(await run(runner))
    assert after["page"] == "/api/1"
    assert after["with"] != before["with"]


async def test_a_refused_token_that_cannot_be_refreshed_leads_to_a_new_login(url):
    credentials = InMemoryCredentialService()
    tools = service(url, auth_scheme=code_flow(url), auth_credential=client())
    runner = runner_with(tools, service=credentials)
    request = await ask(runner)
    await answer(runner, (request, login(request)))
    get(f"{url}/expire")
    for credential in credentials._credentials.values():
        credential.oauth2.refresh_token = None
    [again] = requests(await run(runner))
    [(_, read)] = responses(await answer(runner, (again, login(again))))
    assert read["page"] == "/api/1"


async def test_concurrent_calls_refresh_a_refused_token_once(url):
    tools = service(url, auth_scheme=code_flow(url), auth_credential=client())
    runner = runner_with(tools, CALL, Call("read", page="2"), service=InMemoryCredentialService())
    first, *others = requests(await run(runner))
    await answer(runner, *((each, login(first)) for each in (first, *others)))
    get(f"{url}/expire")
    before = len(given_by(url, "app"))
    read = [response for _, response in responses(await run(runner))]
    assert [each["page"] for each in read] == ["/api/1", "/api/2"]
    assert len(given_by(url, "app")) == before + 1


async def test_a_user_who_has_just_logged_in_is_not_asked_again(url):
    tools = service(url, auth_scheme=code_flow(url), auth_credential=client())
    runner = runner_with(tools, service=InMemoryCredentialService())
    wrong = {"authType": "oauth2", "oauth2": {"accessToken": "of somebody else"}}
    for _ in range(2):  # a later turn asks again
        request = await ask(runner)
        config = {**request.args["authConfig"], "exchangedAuthCredential": wrong}
        [(_, read)] = responses(await answer(runner, (request, config)))
        assert "HTTP 401" in read["error"]


async def test_a_token_for_other_scopes_is_kept_without_asking_the_user(url):
    tools = service(url, auth_scheme=code_flow(url), auth_credential=client())
    runner = runner_with(
        tools, CALL, Call("read", page="scoped"), service=InMemoryCredentialService()
    )
    first, *others = requests(await run(runner))
    await answer(runner, *((each, login(first)) for each in (first, *others)))
    (_, read), (_, scoped) = responses(await run(runner))
    assert "HTTP 401" in scoped["error"]
    assert read["with"] == given_by(url, "app")[-1]["token"]


async def test_a_clients_refused_token_is_replaced(url):
    tools = service(url, auth_scheme=client_flow(url), auth_credential=client())
    runner = runner_with(tools, service=InMemoryCredentialService())
    [(_, before)] = responses(await run(runner))
    get(f"{url}/expire")
    [(_, after)] = responses(await run(runner))
    assert after["page"] == "/api/1"
    assert after["with"] != before["with"]


async def test_a_refused_openapi_client_ends_the_run(url):
    raw = client()
    raw.oauth2.client_secret = "wrong"
    tools = service(url, auth_scheme=client_flow(url), auth_credential=raw)
    with pytest.raises(CredentialExchangeError, match="invalid_client"):
        await run(runner_with(tools))


async def test_a_credential_that_does_not_match_the_scheme_is_an_error(url):
    key = AuthCredential(auth_type="apiKey", api_key="k")
    tools = service(url, auth_scheme=HTTPBearer(), auth_credential=key)
    with pytest.raises(ValueError, match="apiKey cannot be used with the security scheme http"):
        await run(runner_with(tools))


class Guarded(BaseToolset):
    """A toolset that lists its tools with the credential of its config."""

    def __init__(self, config: AuthConfig) -> None:
        super().__init__()
        self.config = config
        self.tokens: list[str | None] = []

    def get_auth_config(self) -> AuthConfig:
        return self.config

    async def get_tools(self, readonly_context=None):
        credential = readonly_context.get_credential(self.config.credential_key)
        self.tokens.append(credential.oauth2.access_token if credential else None)

        def read(page: str) -> str:
            return f"page {page}"

        return [FunctionTool(read)]


async def test_a_toolset_is_listed_once_its_credential_is_available(url):
    tools = Guarded(config_of(code_flow(url)))
    runner = runner_with(tools, service=InMemoryCredentialService())
    [event] = await run(runner)
    [request] = requests([event])
    assert request.args["functionCallId"] == "_adk_toolset_auth_Guarded"
    assert tools.tokens == []
    later = await answer(runner, (request, login(request)))
    assert responses(later) == [("read", {"result": "page 1"})]
    assert set(tools.tokens) == {given_by(url, "app")[-1]["token"]}
    assert responses(await run(runner)) == [("read", {"result": "page 1"})]


async def test_a_toolset_with_an_incomplete_config_is_used_without_a_credential(url, caplog):
    tools = Guarded(AuthConfig(auth_scheme=code_flow(url)))
    await run(runner_with(tools))
    assert tools.tokens == [None]
    assert "Guarded is used without a credential" in caplog.text


@pytest.fixture(scope="module")
def mcp_url():
    pytest.importorskip("mcp")
    with child("tests.kit.mcp_server", "http") as address:
        yield address


def mcp_toolset(address: str, **kwargs):
    """Return a toolset, with its module imported by name since it belongs to an extra."""
    tools = import_module("devui.runtime.tools.mcp_tool")
    params = tools.StreamableHTTPConnectionParams(url=address, timeout=60)
    return tools.McpToolset(connection_params=params, tool_filter=["header"], **kwargs)


HEADER = Call("header", name="authorization")


def texts_of(events) -> list[str]:
    return [response["content"][0]["text"] for _, response in responses(events)]


async def test_an_mcp_server_gets_the_users_token(url, mcp_url):
    tools = mcp_toolset(mcp_url, auth_scheme=code_flow(url), auth_credential=client())
    async with runner_with(tools, HEADER, service=InMemoryCredentialService()) as runner:
        request = await ask(runner)
        later = await answer(runner, (request, login(request)))
        assert texts_of(later) == [f"Bearer {given_by(url, 'app')[-1]['token']}"]
        assert texts_of(await run(runner)) == texts_of(later)


async def test_the_clients_token_overrides_other_headers_for_an_mcp_server(url, mcp_url):
    tools = mcp_toolset(
        mcp_url,
        auth_scheme=client_flow(url),
        auth_credential=client(),
        header_provider=lambda context: {"authorization": "Bearer mine"},
    )
    async with runner_with(tools, HEADER) as runner:
        events = await run(runner)
    assert texts_of(events) == [f"Bearer {given_by(url, 'app')[-1]['token']}"]


def test_an_mcp_server_accepts_keys_in_headers_only(mcp_url):
    with pytest.raises(ValueError, match="only in a header"):
        mcp_toolset(mcp_url, auth_scheme=APIKey(**{"in": "query", "name": "k"}))
