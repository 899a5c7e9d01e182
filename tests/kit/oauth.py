"""Agents whose tools need a login at the tests' OAuth 2 server, and their users."""

import subprocess
import sys
from contextlib import contextmanager
from typing import Any

from devui.runtime.agents import Agent
from devui.runtime.auth import AuthConfig, AuthCredential, AuthCredentialTypes, OAuth2Auth
from devui.runtime.auth.auth_schemes import OAuth2, OAuthFlow, OAuthFlows
from devui.runtime.http_client import httpx
from devui.runtime.models import Call, Rule, Say, ScriptedLlm
from tests.kit.stages import run, runner_of
from tests.kit.turns import calls
from tests.source import ROOT

BACK = "http://localhost/back"
SECRET = "s-3cret-of-the-client"
CALL = Call("read", page="1")


@contextmanager
def child(module: str, *args: str):
    """Run a server of the tests as a child process, and yield the address that it prints first."""
    command = [sys.executable, "-m", module, *args]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


def get(address: str) -> Any:
    return httpx.get(address, follow_redirects=False)


def given_by(url: str, client: str) -> list[dict]:
    return [one for one in get(f"{url}/tokens").json() if one["client"] == client]


def code_flow(url: str, **more) -> OAuth2:
    flow = OAuthFlow(
        authorizationUrl=f"{url}/authorize", tokenUrl=f"{url}/token", scopes={"mail": ""}
    )
    return OAuth2(flows=OAuthFlows(authorizationCode=flow), **more)


def client_flow(url: str) -> OAuth2:
    flow = OAuthFlow(tokenUrl=f"{url}/token", scopes={"jobs": ""})
    return OAuth2(flows=OAuthFlows(clientCredentials=flow))


def client(name: str = "app", **more) -> AuthCredential:
    secret = None if name == "open" else SECRET
    oauth2 = OAuth2Auth(client_id=name, client_secret=secret, redirect_uri=BACK, **more)
    return AuthCredential(auth_type=AuthCredentialTypes.OAUTH2, oauth2=oauth2)


def config_of(scheme, raw=None, key=None) -> AuthConfig:
    return AuthConfig(auth_scheme=scheme, raw_auth_credential=raw or client(), credential_key=key)


def runner_with(tool, *steps: Call, service=None):
    calls = list(steps) or [CALL]
    rules = [Rule(after=calls[0].name, then=Say("read it")), Rule(then=calls)]
    runner = runner_of(Agent(name="reader", model=ScriptedLlm(rules=rules), tools=[tool]))
    runner.credential_service = service
    return runner


def requests(events):
    return [call for call in calls(events) if call.name == "adk_request_credential"]


def login(request, **changed) -> dict:
    """Return what a client answers after the user has been to the login page."""
    config = dict(request.args["authConfig"])
    oauth2 = dict(config["exchangedAuthCredential"]["oauth2"])
    oauth2["authResponseUri"] = get(oauth2["authUri"]).headers["location"]
    config["exchangedAuthCredential"] = {"authType": "oauth2", "oauth2": {**oauth2, **changed}}
    return config


async def ask(runner):
    [request] = requests(await run(runner))
    return request
