"""OAuth 2 and OpenID Connect against a real server: logins, refreshes, clients, accounts.

Source: adk-runtime 8.6, 10.3.
"""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from devui.runtime.apps import ResumabilityConfig
from devui.runtime.auth import (
    AuthConfig,
    AuthCredential,
    AuthCredentialTypes,
    BaseAuthProvider,
    CredentialManager,
    OpenIdConnectWithConfig,
    ServiceAccount,
    ServiceAccountCredential,
)
from devui.runtime.auth.auth_schemes import (
    CustomAuthScheme,
    ExtendedOAuth2,
    OAuth2,
    OAuthFlow,
    OAuthFlows,
    OpenIdConnect,
)
from devui.runtime.auth.credential_service import (
    InMemoryCredentialService,
    SessionStateCredentialService,
)
from devui.runtime.auth.exchanger import (
    CredentialExchangeError,
    ExchangeResult,
)
from devui.runtime.http_client import httpx
from devui.runtime.models import Call
from devui.runtime.tools import ToolContext
from devui.runtime.tools.base_authenticated_tool import AuthenticatedFunctionTool
from tests.kit.oauth import (
    BACK,
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
from tests.kit.oracle import adk_python, needs_adk, run_adk
from tests.kit.stages import run, stored
from tests.kit.turns import answer, calls, responses
from tests.source import ROOT

pytest.importorskip("authlib")


@pytest.fixture(scope="module")
def url():
    with child("tests.kit.oauth_server") as address:
        yield address


def by_hand(url: str, config: AuthConfig):
    """Return a tool like the one in ADK's guide: look for an answer, ask, call the service."""

    async def read(page: str, tool_context: ToolContext):
        credential = tool_context.get_auth_response(config)
        if credential is None:
            tool_context.request_credential(config)
            return {"pending": True}
        return api(url, credential.oauth2.access_token)

    return read


def authenticated(url: str, config: AuthConfig, **kwargs) -> AuthenticatedFunctionTool:
    """Return the same tool as an AuthenticatedFunctionTool."""

    def read(page: str, credential: AuthCredential):
        token = credential.oauth2 or credential.http.credentials
        return api(url, token.access_token if credential.oauth2 else token.token)

    return AuthenticatedFunctionTool(func=read, auth_config=config, **kwargs)


def api(url: str, token: str) -> dict:
    response = httpx.get(f"{url}/api/1", headers={"Authorization": f"Bearer {token}"})
    return {"status": response.status_code, "with": token}


@pytest.mark.parametrize("make", [by_hand, authenticated])
@pytest.mark.parametrize("name", ["app", "open"])
async def test_a_login_is_exchanged_for_a_token(url, make, name):
    runner = runner_with(make(url, config_of(code_flow(url), client(name))))
    request = await ask(runner)
    later = await answer(runner, (request, login(request)))
    [(_, read)] = responses(later)
    assert read["status"] == 200
    assert read["with"] == given_by(url, name)[-1]["token"]
    session = (await stored(runner)).model_dump_json()
    assert "s-3cret" not in session
    assert read["with"] not in str((await stored(runner)).state)


async def test_a_public_client_uses_pkce(url):
    runner = runner_with(authenticated(url, config_of(code_flow(url), client("open"))))
    request = await ask(runner)
    oauth2 = request.args["authConfig"]["exchangedAuthCredential"]["oauth2"]
    assert "code_challenge_method=S256" in oauth2["authUri"]
    assert oauth2["codeVerifier"] not in oauth2["authUri"]
    # A code verifier in the answer is ignored.
    later = await answer(runner, (request, login(request, codeVerifier="x" * 50)))
    assert responses(later)[0][1]["status"] == 200


async def test_a_login_with_another_state_is_refused_before_its_code_is_used(url):
    tool = authenticated(url, config_of(code_flow(url)))
    runner, other = runner_with(tool), runner_with(tool)
    request, foreign = await ask(runner), await ask(other)
    before = len(given_by(url, "app"))
    injected = login(foreign)["exchangedAuthCredential"]["oauth2"]["authResponseUri"]
    [again] = requests(await answer(runner, (request, login(request, authResponseUri=injected))))
    assert len(given_by(url, "app")) == before
    later = await answer(runner, (again, login(again)))
    assert responses(later)[0][1]["status"] == 200


@pytest.mark.parametrize("make", [by_hand, authenticated])
async def test_a_used_code_is_refused_and_the_user_is_asked_again(url, make, caplog):
    runner = runner_with(make(url, config_of(code_flow(url))))
    request = await ask(runner)
    reply = login(request)
    await answer(runner, (request, reply))
    request = await ask(runner)
    old = dict(parse(reply["exchangedAuthCredential"]["oauth2"]["authResponseUri"]))
    state = request.args["authConfig"]["exchangedAuthCredential"]["oauth2"]["state"]
    back = f"{BACK}?code={old['code']}&state={state}"
    assert requests(await answer(runner, (request, login(request, authResponseUri=back))))
    assert f"{url}/token returned no token: invalid_grant" in caplog.text


@pytest.mark.parametrize("resumable", [True, False])
@pytest.mark.parametrize("make", [by_hand, authenticated])
async def test_a_request_can_be_answered_correctly_after_a_wrong_answer(url, make, resumable):
    runner = runner_with(make(url, config_of(code_flow(url))))
    runner.resumability_config = ResumabilityConfig(is_resumable=resumable)
    request = await ask(runner)
    assert requests(await answer(runner, (request, {"result": "yes"})))
    reply = login(request)
    [(_, read)] = responses(await answer(runner, (request, reply)))
    assert read["status"] == 200
    assert await answer(runner, (request, reply)) == []


async def test_concurrent_calls_use_the_code_of_their_login_once(url, caplog):
    config = config_of(code_flow(url))

    def read(page: str, tool_context: ToolContext):  # a plain function: it runs in a thread
        credential = tool_context.get_auth_response(config)
        if credential is None:
            return tool_context.request_credential(config)
        return credential.oauth2.access_token

    runner = runner_with(read, *(Call("read", page=str(page)) for page in range(8)))
    request = await ask(runner)
    later = await answer(runner, (request, login(request)))
    assert not requests(later)
    assert len({value["result"] for _, value in responses(later)}) == 1
    assert "invalid_grant" not in caplog.text


async def test_a_login_is_kept_while_its_call_waits_for_a_confirmation(url, caplog):
    config = config_of(code_flow(url))

    async def read(page: str, tool_context: ToolContext):
        credential = tool_context.get_auth_response(config)
        if credential is None:
            return tool_context.request_credential(config)
        if tool_context.tool_confirmation is None:
            return tool_context.request_confirmation(hint="Now?")
        return api(url, credential.oauth2.access_token)["status"]

    runner = runner_with(read)
    request = await ask(runner)
    events = await answer(runner, (request, login(request)))
    [confirm] = [call for call in calls(events) if call.name == "adk_request_confirmation"]
    later = await answer(runner, (confirm, {"confirmed": True}))
    assert responses(later) == [("read", {"result": 200})]
    assert "invalid_grant" not in caplog.text


def parse(uri: str) -> Any:
    return httpx.URL(uri).params.multi_items()


async def test_the_servers_reason_for_a_refused_login_is_logged(url, caplog):
    scheme = code_flow(url)
    scheme.flows.authorizationCode.scopes = {"nobody": ""}
    runner = runner_with(authenticated(url, config_of(scheme)))
    request = await ask(runner)
    assert requests(await answer(runner, (request, login(request))))
    assert "access_denied: the user said no" in caplog.text


@pytest.mark.parametrize("service", [InMemoryCredentialService(), SessionStateCredentialService()])
async def test_a_credential_service_keeps_the_token_for_later_turns(url, service):
    runner = runner_with(authenticated(url, config_of(code_flow(url))), service=service)
    request = await ask(runner)
    first = responses(await answer(runner, (request, login(request))))
    assert responses(await run(runner)) == first
    assert "s-3cret" not in (await stored(runner)).model_dump_json()


async def test_without_a_service_the_user_is_asked_in_each_turn(url):
    runner = runner_with(authenticated(url, config_of(code_flow(url))))
    request = await ask(runner)
    await answer(runner, (request, login(request)))
    assert requests(await run(runner))


async def test_an_expiring_token_is_refreshed_once_for_concurrent_calls(url):
    tool = authenticated(url, config_of(code_flow(url), client("short")))
    runner = runner_with(tool, CALL, CALL, service=InMemoryCredentialService())
    request = await ask(runner)
    await answer(runner, (request, login(request)))
    before = len(given_by(url, "short"))
    await run(runner)
    renewed = given_by(url, "short")[before:]
    assert {one["grant"] for one in renewed} == {"refresh_token"}
    [(_, one), (_, two)] = responses((await stored(runner)).events)[-2:]
    assert one["status"] == two["status"] == 200


async def test_a_refused_refresh_token_leads_to_a_new_login(url, caplog):
    service = InMemoryCredentialService()
    runner = runner_with(authenticated(url, config_of(code_flow(url), key="k")), service=service)
    request = await ask(runner)
    await answer(runner, (request, login(request)))
    [credential] = service._credentials.values()
    credential.oauth2.expires_at, credential.oauth2.refresh_token = 1, "r-unknown"
    assert requests(await run(runner))
    assert "'k' cannot be renewed" in caplog.text


async def test_the_client_credentials_flow_gets_a_token(url):
    runner = runner_with(authenticated(url, config_of(client_flow(url))))
    [(_, read)] = responses(await run(runner))
    assert read["status"] == 200
    assert given_by(url, "app")[-1]["scope"] == "jobs"


@pytest.mark.parametrize(
    "method", ["client_secret_basic", "client_secret_post", "client_secret_jwt"]
)
async def test_a_client_sends_its_secret_as_configured(url, method):
    raw = client(token_endpoint_auth_method=method)
    runner = runner_with(authenticated(url, config_of(client_flow(url), raw)))
    [(_, read)] = responses(await run(runner))
    assert read["status"] == 200


async def test_a_refused_client_ends_the_run_with_the_servers_error(url):
    raw = client()
    raw.oauth2.client_secret = "wrong"
    runner = runner_with(authenticated(url, config_of(client_flow(url), raw)))
    with pytest.raises(CredentialExchangeError, match="/token returned no token: invalid_client"):
        await run(runner)


async def test_a_secret_is_not_sent_to_the_target_of_a_redirect(url):
    config = config_of(client_flow(f"{url}/moved"))
    with pytest.raises(CredentialExchangeError, match="it redirects to /token"):
        await run(runner_with(authenticated(url, config)))


async def test_a_missing_token_is_an_error(url):
    config = config_of(client_flow(f"{url}/null"))
    with pytest.raises(CredentialExchangeError, match="/null/token has no 'access_token'"):
        await run(runner_with(authenticated(url, config)))


async def test_the_error_for_an_unreachable_server_names_it():
    raw = client()
    runner = runner_with(authenticated("", config_of(client_flow("http://127.0.0.1:1"), raw)))
    with pytest.raises(CredentialExchangeError, match=r"127\.0\.0\.1:1/token returned no token"):
        await run(runner)


def account(url: str, **kwargs) -> AuthCredential:
    key = ServiceAccountCredential(**get(f"{url}/key").json())
    return AuthCredential(
        auth_type=AuthCredentialTypes.SERVICE_ACCOUNT,
        service_account=ServiceAccount(service_account_credential=key, **kwargs),
    )


@pytest.mark.parametrize(
    "fields", [{"scopes": ["a", "b"]}, {"use_id_token": True, "audience": "a b"}]
)
async def test_a_service_account_gets_a_token_once(url, fields):
    tool = authenticated(url, config_of(code_flow(url), account(url, **fields)))
    before = len(given_by(url, "robot@test"))
    runner = runner_with(tool)
    [(_, first)] = responses(await run(runner))
    [(_, second)] = responses(await run(runner))
    assert first == second
    assert first["status"] == 200
    assert [one["scope"] for one in given_by(url, "robot@test")[before:]] == ["a b"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "needs scopes"),
        ({"use_id_token": True}, "needs an audience"),
        ({"scopes": ["a"], "use_default_credential": True}, "default credential"),
    ],
)
async def test_a_service_account_that_cannot_sign_says_why(url, fields, message):
    raw = account(url)
    for name, value in fields.items():  # some are refused by the constructor
        setattr(raw.service_account, name, value)
    if "use_default_credential" in fields:
        raw.service_account.service_account_credential = None
    runner = runner_with(authenticated(url, config_of(code_flow(url), raw)))
    with pytest.raises(CredentialExchangeError, match=message):
        await run(runner)


@pytest.mark.parametrize("kind", ["discovered", "extended", "given"])
async def test_endpoints_are_given_or_discovered(url, kind):
    endpoints = {"authorization_endpoint": f"{url}/authorize", "token_endpoint": f"{url}/token"}
    scheme = {
        "discovered": OpenIdConnect(openIdConnectUrl=f"{url}/.well-known/openid-configuration"),
        "extended": ExtendedOAuth2(flows=OAuthFlows(authorizationCode=OAuthFlow()), issuer_url=url),
        "given": OpenIdConnectWithConfig(**endpoints, scopes=["openid"]),
    }[kind]
    runner = runner_with(authenticated(url, config_of(scheme)))
    request = await ask(runner)
    later = await answer(runner, (request, login(request)))
    assert responses(later)[0][1]["status"] == 200


@pytest.mark.parametrize(
    ("scheme", "message"),
    [
        (OpenIdConnect(openIdConnectUrl="{url}/nothing"), "no OpenID Connect configuration"),
        (OAuth2(flows=OAuthFlows(authorizationCode=OAuthFlow())), "no issuer_url"),
        (
            ExtendedOAuth2(
                flows=OAuthFlows(authorizationCode=OAuthFlow()), issuer_url="{url}/other"
            ),
            "does not provide them",
        ),
    ],
)
async def test_endpoints_that_cannot_be_discovered_are_an_error(url, scheme, message):
    plain = scheme.model_dump_json(by_alias=True).replace("{url}", url)
    scheme = type(scheme).model_validate_json(plain)
    with pytest.raises(ValueError, match=message):
        await run(runner_with(authenticated(url, config_of(scheme))))


async def test_a_tool_may_have_its_own_response_while_it_waits(url):
    tool = authenticated(url, config_of(code_flow(url)), response_for_auth_required="one moment")
    assert responses(await run(runner_with(tool))) == [("read", {"result": "one moment"})]


async def test_the_model_does_not_see_the_credential_parameter(url):
    runner = runner_with(authenticated(url, config_of(code_flow(url))))
    await run(runner)
    [tool] = runner.agent.model.requests[0].config.tools[0].function_declarations
    assert list(tool.parameters_json_schema["properties"]) == ["page"]


async def test_a_credential_manager_accepts_a_custom_exchanger(url):
    class Mine:
        async def exchange(self, auth_credential, auth_scheme=None):
            token = AuthCredential(
                auth_type="http", http={"scheme": "bearer", "credentials": {"token": "mine"}}
            )
            return ExchangeResult(token, was_exchanged=True)

    manager = CredentialManager(config_of(client_flow(url)))
    manager.register_credential_exchanger(AuthCredentialTypes.OAUTH2, Mine())
    credentials = []

    async def read(page: str, tool_context: ToolContext):
        credentials.append(await manager.get_auth_credential(tool_context))
        return {}

    await run(runner_with(read))
    assert credentials[0].http.credentials.token == "mine"


async def test_fetching_a_token_does_not_block_the_event_loop(url):
    """The server runs on the same loop, so it couldn't answer if the loop was blocked."""

    async def give_token(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        body = b'{"access_token": "t-1", "token_type": "Bearer"}'
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
        writer.write(b"Connection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(give_token, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        config = config_of(client_flow(f"http://127.0.0.1:{port}"))
        [(_, read)] = responses(await run(runner_with(authenticated(url, config))))
    assert read["with"] == "t-1"


def test_without_authlib_the_error_says_what_to_install():
    code = (
        "import sys; sys.modules['authlib'] = None\n"
        "from devui.runtime.auth.tokens import client_token\n"
        "from devui.runtime.auth import OAuth2Auth\n"
        "try: client_token('http://x', OAuth2Auth(client_id='c'), [])\n"
        "except ImportError as error: print(error)"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "pip install 'devui[oauth]'" in process.stdout


async def test_a_custom_scheme_has_its_own_provider():
    class Badge(CustomAuthScheme):
        type_: str = "badge"

    class Desk(BaseAuthProvider):
        supported_auth_schemes = (Badge,)

        async def get_auth_credential(self, auth_config, context):
            return AuthCredential(auth_type="apiKey", api_key=f"badge of {context.user_id}")

    def read(page: str, credential: AuthCredential) -> str:
        return credential.api_key

    config = AuthConfig(auth_scheme=Badge())
    tool = AuthenticatedFunctionTool(func=read, auth_config=config)
    with pytest.raises(ValueError, match="No auth provider is registered for Badge"):
        await run(runner_with(tool))
    CredentialManager.register_auth_provider(Desk())
    assert responses(await run(runner_with(tool))) == [("read", {"result": "badge of u"})]
    read_again = AuthConfig.model_validate_json(config.model_dump_json())
    tool = AuthenticatedFunctionTool(func=read, auth_config=read_again)
    assert responses(await run(runner_with(tool))) == [("read", {"result": "badge of u"})]


@needs_adk
def test_schemes_of_fastapi_are_accepted():
    """google-adk depends on fastapi and accepts its models, so agents' code uses them."""
    code = """
        from fastapi.openapi import models as given
        from devui.runtime.auth import AuthConfig, OpenIdConnectWithConfig
        from devui.runtime.auth.auth_schemes import ExtendedOAuth2, own_scheme

        flow = given.OAuthFlowAuthorizationCode(authorizationUrl="http://a/l", tokenUrl="http://a/t")
        flows = given.OAuthFlows(authorizationCode=flow)
        type = given.SecuritySchemeType.openIdConnect
        for scheme in (
            given.OAuth2(flows=flows),
            ExtendedOAuth2(issuer_url="http://a", flows=flows),
            OpenIdConnectWithConfig(type=type, authorization_endpoint="l", token_endpoint="t"),
            given.OpenIdConnect(openIdConnectUrl="http://a/o"),
            given.HTTPBase(scheme="basic"),
            given.APIKey(**{"in": given.APIKeyIn.query, "name": "key"}),
        ):
            found = AuthConfig(auth_scheme=scheme).auth_scheme
            print(found.model_dump_json(by_alias=True, exclude_none=True))
        assert own_scheme(given.OAuth2(flows=flows)) == AuthConfig(
            auth_scheme=given.OAuth2(flows=flows)
        ).auth_scheme
        """
    schemes = [json.loads(line) for line in run_adk(code).splitlines()]
    login = {"authorizationUrl": "http://a/l", "tokenUrl": "http://a/t", "scopes": {}}
    oauth2 = {"type": "oauth2", "flows": {"authorizationCode": login}}
    assert schemes == [
        oauth2,
        oauth2 | {"issuer_url": "http://a"},
        {"type": "openIdConnect", "authorization_endpoint": "l", "token_endpoint": "t"},
        {"type": "openIdConnect", "openIdConnectUrl": "http://a/o"},
        {"type": "http", "scheme": "basic"},
        {"type": "apiKey", "in": "query", "name": "key"},
    ]


@needs_adk
def test_credential_keys_match_google_adk():
    code = """
        import json
        from google.adk.auth.auth_tool import AuthConfig
        for given in json.loads(args[0]):
            print(AuthConfig(**given).credential_key)
        """
    flow = {
        "authorizationUrl": "http://a/l",
        "tokenUrl": "http://a/t",
        "scopes": {"c": "", "b": ""},
    }
    oauth2 = {"clientId": "c", "clientSecret": "s", "redirectUri": "r", "state": "x"}
    configs = [
        {"authScheme": scheme, "rawAuthCredential": raw}
        for scheme in (
            {"type": "oauth2", "flows": {"authorizationCode": flow}},
            {"type": "apiKey", "in": "header", "name": "X", "credential_key": "mine"},
            {"type": "http", "scheme": "bearer"},
        )
        for raw in (None, {"authType": "oauth2", "oauth2": oauth2})
    ]
    ours = [AuthConfig(**each).credential_key for each in configs]
    assert ours == run_adk(code, json.dumps(configs)).split()


@needs_adk
def test_a_login_is_requested_and_exchanged_as_in_google_adk(url):
    def play(python: Path | str, root: str) -> list:
        command = [str(python), "-W", "ignore", "-m", "tests.kit.oauth_play", root, url]
        process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        return json.loads(process.stdout)

    assert play(sys.executable, "devui.runtime") == play(adk_python(), "google.adk")
