"""Credentials that tools request from the user (adk-runtime 8.6)."""

from collections import Counter
from urllib.parse import parse_qs, urlsplit

import pytest

from devui.runtime.agents import Agent, SequentialAgent
from devui.runtime.auth import (
    AuthConfig,
    AuthCredential,
    AuthCredentialTypes,
    HttpAuth,
    HttpCredentials,
    OAuth2Auth,
)
from devui.runtime.auth.auth_schemes import (
    APIKey,
    HTTPBearer,
    OAuth2,
    OAuthFlow,
    OAuthFlows,
)
from devui.runtime.models import Call, Rule, Say, ScriptedLlm
from devui.runtime.tools import FunctionTool, ToolContext
from tests.kit.stages import run, runner_of, stored
from tests.kit.turns import answer, calls, invocation_of, responses, said_by

API_KEY = AuthConfig(auth_scheme=APIKey(**{"in": "header", "name": "X-Key"}))
BEARER = AuthConfig(auth_scheme=HTTPBearer())
BOTH = pytest.mark.parametrize("resumable", [True, False])


def reader(config: AuthConfig, *steps: Call, failures: int = 0) -> tuple[Agent, Counter[str]]:
    """Return an agent whose tool `read` needs a credential, and the count of its runs."""
    ran: Counter[str] = Counter()

    async def read(page: int, tool_context: ToolContext):
        credential = tool_context.get_auth_response(config)
        if credential is None:
            tool_context.request_credential(config)
            return {"status": "a credential is needed"}
        ran["read"] += 1
        if ran["read"] <= failures:
            raise ConnectionError("offline")
        secret = credential.api_key or credential.http.credentials.token
        return {"page": page, "with": secret}

    rules = [
        Rule(after="read", then=Say("read it")),
        Rule(then=list(steps) or Call("read", page=1)),
    ]
    return Agent(name="reader", model=ScriptedLlm(rules=rules), tools=[read]), ran


def with_credential(request, **credential) -> dict:
    """Return a client's answer: the config it was sent, with the credential filled in."""
    config = dict(request.args["authConfig"])
    config["exchangedAuthCredential"] = AuthCredential(**credential).model_dump(
        mode="json", by_alias=True, exclude_none=True
    )
    return config


def api_key(request) -> dict:
    return with_credential(request, auth_type=AuthCredentialTypes.API_KEY, api_key="k-1")


def requests(events):
    return [call for call in calls(events) if call.name == "adk_request_credential"]


@BOTH
async def test_the_user_is_asked_before_the_interim_response_and_the_run_ends(resumable):
    agent, ran = reader(API_KEY)
    events = await run(runner_of(agent, resumable=resumable))
    call, question, interim = events
    [request] = requests(events)
    assert question.long_running_tool_ids == {request.id}
    assert question.content.role == "user"
    assert request.args["functionCallId"] == call.get_function_calls()[0].id
    assert request.args["authConfig"]["credentialKey"] == API_KEY.credential_key
    assert interim.get_function_responses()[0].response == {"status": "a credential is needed"}
    assert (len(agent.model.requests), ran) == (1, {})


@BOTH
async def test_with_the_credential_the_call_runs_and_the_model_continues(resumable):
    agent, ran = reader(API_KEY)
    runner = runner_of(agent, resumable=resumable)
    [request] = requests(await run(runner))
    later = await answer(runner, (request, api_key(request)))
    assert responses(later) == [("read", {"page": 1, "with": "k-1"})]
    assert said_by("reader", later) == ["read it"]
    assert ran == {"read": 1}
    assert not [key for key in (await stored(runner)).state if key.startswith("temp:")]


async def test_a_token_may_be_sent_as_a_bare_credential():
    agent, _ = reader(BEARER)
    runner = runner_of(agent)
    [request] = requests(await run(runner))
    credential = AuthCredential(
        auth_type=AuthCredentialTypes.HTTP,
        http=HttpAuth(scheme="bearer", credentials=HttpCredentials(token="t-1")),
    ).model_dump(mode="json", by_alias=True, exclude_none=True)
    later = await answer(runner, (request, credential))
    assert responses(later) == [("read", {"page": 1, "with": "t-1"})]


async def test_calls_that_need_the_same_credential_ask_once_and_all_run():
    agent, ran = reader(API_KEY, Call("read", page=1), Call("read", page=2))
    runner = runner_of(agent)
    [request] = requests(await run(runner))
    later = await answer(runner, (request, api_key(request)))
    assert [value["page"] for _, value in responses(later)] == [1, 2]
    assert ran == {"read": 2}


@BOTH
async def test_a_call_that_failed_with_its_credential_is_rerun_on_resume(resumable):
    agent, ran = reader(API_KEY, failures=1)
    runner = runner_of(agent, resumable=resumable)
    [request] = requests(await run(runner))
    with pytest.raises(ConnectionError):
        await answer(runner, (request, api_key(request)))
    later = await run(runner, None, invocation_id=await invocation_of(runner))
    assert said_by("reader", later) == ["read it"]
    assert ran == {"read": 2}


@BOTH
async def test_a_sequence_waits_for_the_credential_and_continues(resumable):
    agent, _ = reader(API_KEY)
    last = Agent(name="last", model=ScriptedLlm(rules=[Rule(then=Say("bye"))]))
    sequence = SequentialAgent(name="seq", sub_agents=[agent, last])
    runner = runner_of(sequence, resumable=resumable)
    events = await run(runner)
    assert said_by("last", events) == []
    [request] = requests(events)
    later = await answer(runner, (request, api_key(request)))
    assert said_by("last", later) == ["bye"]


async def test_the_agents_own_secrets_are_not_sent():
    raw = AuthCredential(auth_type=AuthCredentialTypes.API_KEY, api_key="s-3cret")
    agent, _ = reader(API_KEY.model_copy(update={"raw_auth_credential": raw}))
    runner = runner_of(agent)
    events = await run(runner)
    assert requests(events)
    assert "s-3cret" not in "".join(event.model_dump_json() for event in events)
    assert "s-3cret" not in (await stored(runner)).model_dump_json()


def oauth2(**credential) -> AuthConfig:
    flow = OAuthFlow(
        authorizationUrl="https://login.example/auth?tenant=1",
        tokenUrl="https://login.example/token",
        scopes={"mail": "read mail", "files": "read files"},
    )
    return AuthConfig(
        auth_scheme=OAuth2(flows=OAuthFlows(authorizationCode=flow)),
        raw_auth_credential=AuthCredential(
            auth_type=AuthCredentialTypes.OAUTH2, oauth2=OAuth2Auth(**credential)
        ),
    )


async def test_a_login_request_contains_the_authorization_url():
    config = oauth2(client_id="c", client_secret="s-3cret", redirect_uri="http://here/back")
    agent, _ = reader(config)
    runner = runner_of(agent)
    [request] = requests(await run(runner))
    login = request.args["authConfig"]["exchangedAuthCredential"]["oauth2"]
    query = parse_qs(urlsplit(login["authUri"]).query)
    assert query["tenant"] == ["1"]
    assert query["client_id"] == ["c"]
    assert query["scope"] == ["mail files"]
    assert query["redirect_uri"] == ["http://here/back"]
    assert query["state"] == [login["state"]]
    assert "s-3cret" not in str(request.args)


@pytest.mark.parametrize(
    "login",
    [
        {"auth_response_uri": "http://here/back?code=1"},
        {"auth_response_uri": "http://here/back?code=1&state=another"},
        {"auth_response_uri": "http://here/back?state={state}"},
        {"auth_code": "1", "state": "another"},
    ],
)
async def test_an_invalid_login_is_refused_and_the_user_is_asked_again(login):
    agent, ran = reader(oauth2(client_id="c"))
    runner = runner_of(agent)
    [request] = requests(await run(runner))
    state = request.args["authConfig"]["exchangedAuthCredential"]["oauth2"]["state"]
    login = OAuth2Auth(**{key: value.format(state=state) for key, value in login.items()})
    credential = with_credential(request, auth_type=AuthCredentialTypes.OAUTH2, oauth2=login)
    [again] = requests(await answer(runner, (request, credential)))
    assert again.id != request.id
    assert ran == {}


@pytest.mark.parametrize(
    ("config", "match"),
    [
        (AuthConfig(auth_scheme=oauth2().auth_scheme), "raw_auth_credential with oauth2"),
        (oauth2(), "needs a client_id"),
    ],
)
async def test_a_config_without_a_way_to_log_in_is_refused(config, match):
    agent, _ = reader(config)
    with pytest.raises(ValueError, match=match):
        await run(runner_of(agent))


def payer(*configs: AuthConfig, confirmed: str) -> tuple[Agent, list[list[str]]]:
    """Return an agent whose tool `pay` needs keys and a confirmation, and the list of keys it used.

    `confirmed` says who asks for the confirmation: the runtime, or the tool, first or last.
    """
    paid: list[list[str]] = []

    async def pay(tool_context: ToolContext):
        if confirmed == "first" and tool_context.tool_confirmation is None:
            return tool_context.request_confirmation(hint="Pay?")
        credentials = [tool_context.get_auth_response(config) for config in configs]
        for config, credential in zip(configs, credentials, strict=True):
            if credential is None:
                return tool_context.request_credential(config)
        if confirmed == "last" and tool_context.tool_confirmation is None:
            return tool_context.request_confirmation(hint="Pay?")
        paid.append([credential.api_key for credential in credentials])
        return "paid"

    rules = [Rule(after="pay", then=Say("done")), Rule(then=Call("pay"))]
    tool = FunctionTool(pay, require_confirmation=confirmed == "by the runtime")
    return Agent(name="payer", model=ScriptedLlm(rules=rules), tools=[tool]), paid


@BOTH
@pytest.mark.parametrize("confirmed", ["by the runtime", "first", "last"])
async def test_a_credential_is_kept_while_more_is_requested_for_the_call(resumable, confirmed):
    other = API_KEY.model_copy(update={"credential_key": "other"})
    agent, paid = payer(API_KEY, other, confirmed=confirmed)
    runner = runner_of(agent, resumable=resumable)
    events, names = await run(runner), []
    while questions := [call for call in calls(events) if call.name.startswith("adk_request")]:
        [question] = questions
        names.append(question.name)
        reply = {"confirmed": True} if "confirm" in question.name else api_key(question)
        events = await answer(runner, (question, reply))
    assert paid == [["k-1", "k-1"]]
    assert len(names) == 3


@BOTH
async def test_an_answer_without_a_credential_does_not_block_a_later_one(resumable):
    agent, _ = reader(API_KEY)
    runner = runner_of(agent, resumable=resumable)
    [request] = requests(await run(runner))
    [again] = requests(await answer(runner, (request, {})))
    later = await answer(runner, (again, api_key(again)))
    assert responses(later) == [("read", {"page": 1, "with": "k-1"})]


@BOTH
@pytest.mark.parametrize("second", [True, False])
async def test_a_call_runs_once_however_many_of_its_requests_are_answered(resumable, second):
    ran: list[bool] = []

    async def pay(tool_context: ToolContext):
        if tool_context.get_auth_response(API_KEY) is None:
            tool_context.request_credential(API_KEY)
        if tool_context.tool_confirmation is None:
            tool_context.request_confirmation(hint="Pay?")
            return None
        ran.append(tool_context.tool_confirmation.confirmed)
        return "paid"

    rules = [Rule(after="pay", then=Say("done")), Rule(then=Call("pay"))]
    agent = Agent(name="payer", model=ScriptedLlm(rules=rules), tools=[pay])
    runner = runner_of(agent, resumable=resumable)
    events = await run(runner)
    [request] = requests(events)
    [first] = [call for call in calls(events) if "confirm" in call.name]
    events = await answer(runner, (request, api_key(request)))
    [again] = [call for call in calls(events) if "confirm" in call.name]

    await answer(runner, (first, {"confirmed": True}), (again, {"confirmed": second}))

    assert ran == [second]


CODE_FLOW = OAuthFlow(
    authorizationUrl="https://a.example/auth", tokenUrl="https://a.example/token", scopes={"s": "d"}
)
CLIENT = {"client_id": "i", "client_secret": "x"}


async def test_no_login_is_added_to_a_token_that_the_client_obtained():
    config = AuthConfig(
        auth_scheme=OAuth2(flows=OAuthFlows(authorizationCode=CODE_FLOW)),
        raw_auth_credential=AuthCredential(
            auth_type=AuthCredentialTypes.OAUTH2, oauth2=OAuth2Auth(**CLIENT)
        ),
    )
    got = []

    def read(tool_context: ToolContext):
        credential = tool_context.get_auth_response(config)
        if credential is None:
            tool_context.request_credential(config)
            return None
        got.append(credential.oauth2)
        return "ok"

    rules = [Rule(after="read", then=Say("read it")), Rule(then=Call("read"))]
    runner = runner_of(Agent(name="reader", model=ScriptedLlm(rules=rules), tools=[read]))
    [request] = requests(await run(runner))
    token = OAuth2Auth(**CLIENT, access_token="token")
    await answer(runner, (request, with_credential(request, auth_type="oauth2", oauth2=token)))
    assert [(each.access_token, each.auth_uri, each.state) for each in got] == [
        ("token", None, None)
    ]
