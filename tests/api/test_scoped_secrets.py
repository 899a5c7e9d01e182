"""An app's secrets are redacted in answers about that app, and in those about several."""

import html

import pytest

from tests.kit.debugged_run import DebuggedRun
from tests.kit.server import running, write_app

pytestmark = pytest.mark.req("R64")

SECRETS = {"first": "one-4711-first", "team.second": "two-4712-second"}
SHARED = "all-4713-of-them"
OURS = "env-4714-of-ours"
EVERY = [*SECRETS.values(), SHARED, OURS]
AGENT = """
from google.genai import types
from devui.runtime.agents import BaseAgent
from devui.runtime.events import Event


class Echo(BaseAgent):
    async def _run_async_impl(self, ctx):
        for text in ctx.user_content.parts[0].text.split(","):
            print("printed", text)
            said = types.Content(role="model", parts=[types.Part(text=text)])
            yield Event(author=self.name, content=said)


root_agent = Echo(name="echo")
"""


@pytest.fixture(scope="module")
def sessions(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scoped")
    agents = folder / "agents"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SERVER_TOKEN", OURS)
        for app, secret in SECRETS.items():
            parent, _, name = app.rpartition(".")
            write_app(agents / parent, name, AGENT)
            (agents / parent / name / ".env").write_text(f"APP_TOKEN={secret}\n", encoding="utf-8")
        (agents / ".env").write_text(f"SHARED_TOKEN={SHARED}\n", encoding="utf-8")
        with running(agents, folder / "data") as server, server.client() as client:
            by_app = {app: DebuggedRun(client, app) for app in SECRETS}
            for app in SECRETS:
                by_app[app].start(",".join(EVERY), pause=False).settled()
            yield client, by_app


def hidden_secrets(client, path):
    """The secrets that an answer lacks."""
    answer = client.get(path, headers={"Accept": "text/html"})
    assert answer.status_code == 200, (path, answer.text)
    text = html.unescape(answer.text)
    return [each for each in EVERY if each not in text]


@pytest.mark.parametrize("app", SECRETS)
def test_answers_about_one_app_hide_its_secrets_and_the_servers(sessions, app):
    client, by_app = sessions
    key, run = by_app[app].key, by_app[app].run
    paths = [f"/sessions/{key}", f"/sessions/{key}?tab=log", f"/runs/{run}/log"]
    paths += [f"/api/sessions/{key}/{what}" for what in ("events", "export", "export?format=html")]
    paths += [f"/api/sessions/{key}/recording"]
    for path in paths:
        assert hidden_secrets(client, path) == [SECRETS[app], SHARED, OURS], path


@pytest.mark.parametrize("app", SECRETS)
def test_answers_about_several_apps_hide_the_secrets_of_each(sessions, app):
    client, by_app = sessions
    title = {"title": ", ".join(EVERY)}
    own = {"HX-Request": "true"}
    assert client.post(f"/sessions/{by_app[app].key}/title", data=title, headers=own).is_success
    keys = [each.key for each in by_app.values()]
    for path in ("/api/sessions", f"/compare?left={keys[0]}&right={keys[1]}"):
        assert hidden_secrets(client, path) == EVERY, path
    assert hidden_secrets(client, f"/apps/{app}") == [SECRETS[app], SHARED, OURS]
