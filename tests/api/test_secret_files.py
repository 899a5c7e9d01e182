"""Secrets in files and their names, and kinds of secrets that are easily overlooked (R64)."""

import json
from urllib.parse import quote, unquote

import pytest

from tests.kit.debugged_run import DebuggedRun
from tests.kit.server import running, write_app

pytestmark = pytest.mark.req("R64")

SECRET = "tok-0123456789"
LINES = ["first-line-4711", "second-line-4712"]
VALUES = {
    "PLAIN_TOKEN": SECRET,
    "PGPASSWORD": "pg-9-secret",
    "MYSQL_PWD": "my-9-secret",
    "GH_PAT": "pat-9-secret",
    "SERVICE_API_KEYS": "one-key-1111, two-key-2222",
    "SIGNING_KEY": f"-----BEGIN ODD KEY-----\n{LINES[0]}\n{LINES[1]}\n-----END ODD KEY-----\n",
    "SLASHED_SECRET": "/9j4AAQSkZJRgABAQ",
    "DB_PASSWORD": "swordfish",
}
HIDDEN = [
    *("pg-9-secret", "my-9-secret", "pat-9-secret", "one-key-1111", "two-key-2222"),
    *(*LINES, VALUES["SLASHED_SECRET"], "swordfish", SECRET),
]
OURS = {"CHAT_PASSWORD": "conversation", "ROOT_PASSWORD": "minioadmin"}
"""Values that devui's own pages contain, or that everybody knows."""
HARMLESS = {
    "SORT_KEYS": "created_at,updated_at",
    "PRIMARY_KEY": "session_id",
    "AUTH_PROVIDER": "firebase",
    "CALLBACK_AUTH": "/auth/callback",
}
"""Settings whose names look like those of secrets but aren't."""
AGENT = """
import json
import os
from google.genai import types
from devui.runtime.agents import BaseAgent
from devui.runtime.events import Event

SECRET = os.environ["PLAIN_TOKEN"]
FILES = {
    "odd.bin": b"\\xff\\xfe\\x00" + SECRET.encode() + b"\\x80",
    "latin.txt": "caf\\xe9 ".encode("latin-1") + SECRET.encode(),
    f"of {SECRET}.txt": b"nothing",
}


class Saves(BaseAgent):
    async def _run_async_impl(self, ctx):
        for name, data in FILES.items():
            kind = "text/plain" if name.endswith("txt") else "application/octet-stream"
            await ctx.artifact_service.save_artifact(
                app_name=ctx.app_name, user_id=ctx.user_id, session_id=ctx.session.id,
                filename=name, artifact=types.Part.from_bytes(data=data, mime_type=kind))
        for text in json.loads(ctx.user_content.parts[0].text):
            print(text)
            for each in text.split(","):
                said = types.Content(role="model", parts=[types.Part(text="It is " + each)])
                yield Event(author=self.name, content=said)


root_agent = Saves(name="saves")
"""


@pytest.fixture
def client(tmp_path, monkeypatch):
    for name, value in {**VALUES, **OURS, **HARMLESS}.items():
        monkeypatch.setenv(name, value)
    write_app(tmp_path / "agents", "saves", AGENT)
    with running(tmp_path / "agents", tmp_path / "data") as server, server.client() as client:
        yield client


@pytest.fixture
def leaky_session(client):
    """A session whose agent said and printed all of them."""
    debugged = DebuggedRun(client, "saves")
    debugged.start(json.dumps([*VALUES.values(), *OURS.values()]), pause=False)
    assert debugged.settled()["status"] == "done"
    return debugged


@pytest.mark.parametrize("name", ["odd.bin", "latin.txt"])
def test_a_secret_in_a_binary_file_is_redacted(client, leaky_session, name):
    answer = client.get(f"/sessions/{leaky_session.key}/artifacts/{name}")
    assert answer.status_code == 200
    assert SECRET.encode() not in answer.content
    assert b"[redacted]" in answer.content
    assert int(answer.headers["content-length"]) == len(answer.content)


def test_a_secret_in_a_downloads_file_name_is_redacted(client, leaky_session):
    page = f"/sessions/{leaky_session.key}"
    path = f"{page}/artifacts/{quote(f'of {SECRET}.txt', safe='')}"
    form = {"title": f"about {SECRET}"}
    client.post(f"{page}/title", data=form, headers={"HX-Request": "true"})
    for answer in (client.get(path), client.get(f"/api{page}/export")):
        assert answer.status_code == 200
        filename = unquote(answer.headers["content-disposition"])
        assert "redacted" in filename
        assert SECRET not in filename
    export = client.get(f"/api{page}/export", params={"secrets": "keep"})
    assert SECRET in export.headers["content-disposition"]


def test_secrets_of_many_kinds_are_redacted(client, leaky_session):
    page = f"/sessions/{leaky_session.key}"
    tabs = [f"{page}?event={number}&tab=event" for number in range(2, 14)]
    paths = [page, f"{page}?tab=log", f"/runs/{leaky_session.run}/log", *tabs]
    paths += [f"/api{page}/{what}" for what in ("events", "export", "export?format=html")]
    for path in paths:
        text = client.get(path, headers={"Accept": "text/html"}).text
        assert [each for each in HIDDEN if each in text] == [], path


def cut_near(bound: int) -> list[str]:
    """Texts with the secret near a bound, so that a cut there splits it in some of them."""
    return [f"{'x' * before} {SECRET} and on" for before in range(max(bound - 260, 1), bound, 9)]


@pytest.mark.parametrize(
    ("tab", "bound"), [("state", 65_536), ("event", 200_000), ("raw", 524_288)]
)
def test_a_text_truncated_within_a_secret_shows_nothing_of_it(client, tab, bound):
    for text in cut_near(bound):
        event = {"author": "saves", "content": {"parts": [{"text": text}]}}
        write = {"author": "saves", "actions": {"stateDelta": {"a": text}}}
        debugged = DebuggedRun(client, "saves", events=[write if tab == "state" else event])
        page = f"/sessions/{debugged.key}?at=1&event=1&tab={tab}"
        assert SECRET[:4] not in client.get(page, headers={"Accept": "text/html"}).text, len(text)


def test_a_title_truncated_within_a_secret_shows_nothing_of_it(client):
    for text in cut_near(60):
        debugged = DebuggedRun(client, "saves").start(text, pause=False)
        debugged.settled()
        [row] = client.get("/api/sessions", params={"key": debugged.key}).json()["sessions"]
        assert SECRET[:4] not in row["title"]


def test_harmless_settings_are_not_redacted(client):
    text = "use firebase at /auth/callback"
    state = {"created_at": 1, "session_id": 2}
    created = client.post("/apps/saves/users/u/sessions", json={"state": state}).json()
    path = f"/apps/saves/users/u/sessions/{created['id']}"
    event = {"author": "saves", "content": {"parts": [{"text": text}]}}
    debugged = DebuggedRun(client, "saves", events=[event])
    assert client.get(path).json()["state"] == state
    page = client.get(f"/sessions/{debugged.key}", headers={"Accept": "text/html"}).text
    assert text in page


def test_a_secret_that_is_a_common_word_is_not_redacted(client, leaky_session):
    page = client.get(f"/sessions/{leaky_session.key}", headers={"Accept": "text/html"}).text
    for word in OURS.values():
        assert f"It is {word}" in page
    export = client.get(f"/api/sessions/{leaky_session.key}/export").text
    assert [word for word in OURS.values() if f"It is {word}" in export] == []
