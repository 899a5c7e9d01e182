"""No slug, title or plain word is redacted, whatever the settings are called (R64)."""

import html
import json
from urllib.parse import quote

import pytest

from tests.kit.debugged_run import DebuggedRun
from tests.kit.server import running, write_app

pytestmark = pytest.mark.req("R64")

APP = "travel_desk"
USER = "ada.lovelace@example.com"
SESSION = "Trip-To-Zurich-2026-Part2"
TITLE = "Flights to San Francisco, please"
PATH = "/home/ada/Projects/Travel2026/agents"
SAID = [
    *(
        "https://auth.example.com/oauth2/token",
        "Qwen/Qwen3-235B-A22B-Instruct",
        "AwesomeProject2026",
    ),
    *("sk-learn-introduction-for-beginners", "sk-ant-colony-optimization-tutorial", PATH),
    *(
        "xoxo-with-love-and-kisses",
        "Bearer authentication-is-required",
        "task-sk-this-is-a-slug-too",
    ),
    *("gemini-2.5-flash", "us-central1", "acme-travel-vault-2", "X-Api-Key-Header", "********"),
    *("-----BEGIN CERTIFICATE-----", "price https://example.com:8080/a?b=1", "conversation"),
    "62be3b64-d25d-4ab4-a1cc-1489ecac1324",
]
SETTINGS = {
    "APP_SECRET": APP,
    "OWNER": USER,
    "SESSION_NAME": SESSION,
    "DEFAULT_TITLE": TITLE,
    "AGENTS_PATH": PATH,
    "TOKEN_URL": SAID[0],
    "MODEL": SAID[1],
    "PROJECT": SAID[2],
    "KEY_VAULT_NAME": "acme-travel-vault-2",
    "API_KEY_HEADER": "X-Api-Key-Header",
    "DB_PASSWORD": "********",
    "RUN_ID": SAID[-1],
    "AUTH_PROVIDER": "gemini-2.5-flash",
    "SECRET_REGION": "us-central1",
}
"""Settings with the values that the agent says, under names like those of secrets."""
AGENT = f"""
from google.genai import types
from devui.runtime.agents import BaseAgent
from devui.runtime.events import Event, EventActions


class Says(BaseAgent):
    async def _run_async_impl(self, ctx):
        for text in {SAID!r}:
            said = types.Content(role="model", parts=[types.Part(text=text)])
            delta = EventActions(state_delta={{text: text}})
            print(text)
            yield Event(author=self.name, content=said, actions=delta)


root_agent = Says(name="{APP}")
"""


@pytest.fixture(scope="module")
def conversation(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plain")
    write_app(folder / "agents", APP, AGENT)
    lines = "".join(f"{name}={value}\n" for name, value in SETTINGS.items())
    (folder / "agents" / APP / ".env").write_text(lines, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in SETTINGS.items():
            patch.setenv(name, value)
        with running(folder / "agents", folder / "data") as server, server.client() as client:
            debugged = DebuggedRun(client, APP, user=USER, sessionId=SESSION)
            debugged.start(pause=False).settled()
            own = {"HX-Request": "true"}
            titled = client.post(
                f"/sessions/{debugged.key}/title", data={"title": TITLE}, headers=own
            )
            assert titled.is_success
            yield client, debugged


def test_plain_words_are_never_redacted(conversation):
    client, debugged = conversation
    key, run = debugged.key, debugged.run
    events = client.get(f"/api/sessions/{key}/events?last=200").json()["events"]
    ids = [event["id"] for event in events]
    page = f"/sessions/{key}"
    paths = ["/", f"/apps/{APP}", page, f"{page}?tab=state", f"{page}?tab=log", f"/runs/{run}/log"]
    paths += [
        f"{page}?event={n}&tab={tab}" for n in range(2, len(ids) + 1) for tab in ("event", "raw")
    ]
    paths += [f"/api{page}/{what}" for what in ("events?last=200", "export", "state", "recording")]
    paths += [f"/api{page}/export?format=html", "/api/sessions", f"/api/runs/{run}"]
    for path in paths:
        answer = client.get(path, headers={"Accept": "text/html"})
        assert answer.status_code == 200, path
        text = html.unescape(answer.text)
        assert "[redacted]" not in text, (path, text[max(0, text.find("[redacted]") - 99) :][:130])
        assert "redacted-" not in text, path
    exported = client.get(f"/api{page}/export").text
    texts = [*SAID, *ids, APP, USER, SESSION, TITLE]
    assert [text for text in texts if json.dumps(text)[1:-1] not in exported] == []
    state_tab = html.unescape(client.get(f"{page}?tab=state").text)
    assert [text for text in SAID[:8] if text not in state_tab] == []
    assert TITLE in state_tab
    session_path = f"/apps/{APP}/users/{quote(USER, safe='')}/sessions/{SESSION}"
    assert [event["id"] for event in client.get(session_path).json()["events"]] == ids
