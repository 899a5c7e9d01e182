"""One tool that needs a login, run on either runtime: what it asks for, and what follows.

`python -m tests.kit.oauth_play google.adk http://127.0.0.1:8000` prints it as JSON.
"""

import asyncio
import json
import sys
import urllib.request
from importlib import import_module
from typing import Any
from urllib.error import HTTPError
from urllib.parse import parse_qsl, urlsplit

from google.genai import types

from tests.differential.script import call
from tests.differential.stage import Stage


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: Any) -> None:
        """Don't follow the redirect: its address is what is wanted."""


def log_in(address: str) -> str:
    """Return the address where the user ends up."""
    try:
        urllib.request.build_opener(_NoRedirect).open(address)
    except HTTPError as redirected:
        return str(redirected.headers["Location"])
    raise ValueError(f"{address} leads nowhere")


def _config(stage: Stage, url: str, secret: str | None) -> Any:
    flow = {"authorizationUrl": f"{url}/authorize", "tokenUrl": f"{url}/token"}
    flow["scopes"] = {"mail": "", "files": ""}
    client = {"client_id": "app" if secret else "open", "client_secret": secret}
    client["redirect_uri"] = "http://localhost/back"
    config = {
        "auth_scheme": {"type": "oauth2", "flows": {"authorizationCode": flow}},
        "raw_auth_credential": {"auth_type": "oauth2", "oauth2": client},
    }
    return stage.ns.AuthConfig.model_validate(config)


async def play(root: str, url: str, secret: str | None) -> list[Any]:
    """Ask, log in, answer, and call the tool again; return an outline of what happened."""
    stage = Stage(root)

    def read(page: str, credential: Any) -> dict[str, Any]:
        return {"has token": bool(credential.oauth2.access_token)}

    tool = stage.ns.AuthenticatedFunctionTool(func=read, auth_config=_config(stage, url, secret))
    answers = (call("read", page="1"), "done", call("read", page="2"), "done again")
    service = stage.ns.InMemoryCredentialService()
    agent = stage.agent("agent", *answers, tools=[tool])
    await stage.open(agent, services={"credential_service": service})
    await stage.say()
    question = stage.call("adk_request_credential")
    config = json.loads(json.dumps(question.get_function_calls()[0].args["authConfig"]))
    oauth2 = config["exchangedAuthCredential"]["oauth2"]
    query = dict(parse_qsl(urlsplit(oauth2["authUri"]).query))
    oauth2["authResponseUri"] = log_in(oauth2["authUri"])
    await stage.say(stage.answer(question, **config))
    await stage.say("again")
    hidden = {"state", "code_challenge"}
    visible = {key: "…" if key in hidden else value for key, value in query.items()}
    return [visible, sorted(oauth2), [_outline(event) for event in stage.events]]


def _outline(event: Any) -> list[Any]:
    summary: list[Any] = [event.author]
    for part in (event.content or types.Content()).parts or []:
        if part.function_call:
            summary.append(part.function_call.name)
        elif part.function_response:
            response = part.function_response.response
            summary.append("waits" if "result" in response else response)
        else:
            summary.append(part.text)
    return summary


def main() -> None:
    """Run it with a secret and without one, and print the results."""
    root, url = sys.argv[1:]
    import_module(root)
    secrets = ("s-3cret-of-the-client", None)
    json.dump([asyncio.run(play(root, url, secret)) for secret in secrets], sys.stdout)


if __name__ == "__main__":
    main()
