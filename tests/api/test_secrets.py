"""No secret leaves the server: what an agent got hold of is on no page and in no answer (R64)."""

import base64
import html
import json
import re
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from urllib.parse import quote

import pytest

from tests.kit.debugged_run import DebuggedRun
from tests.kit.frames import frames
from tests.kit.server import run_body, running, write_app

KEY = "sk-ant-" + "a1B2c3D4" * 5
SECRETS = {
    "SERVICE_PASSWORD": 'pass "word" <7> & more',
    "PLAIN_TOKEN": "tok-0123456789",
    "STARRED_SECRET": "9*star*7-light",
}
OF_FILE = "Zürich-hunter2/hunter2"
KNOWN = (*SECRETS.values(), OF_FILE, KEY)
LEAKY = """
import base64
import os
from devui.runtime.agents import BaseAgent
from devui.runtime.events import Event, EventActions
from google.genai import types


def part(text):
    return types.Content(role="model", parts=[types.Part(text=text)])


class Leaky(BaseAgent):
    async def _run_async_impl(self, ctx):
        names = ("SERVICE_PASSWORD", "PLAIN_TOKEN", "STARRED_SECRET", "OF_FILE_SECRET")
        known = [os.environ[name] for name in names]
        known.append(KEY)
        for secret in known:
            print("I know", secret)
            yield Event(author=self.name, content=part(f"It is *{secret}*."),
                        actions=EventActions(state_delta={"seen": {secret: [secret]}, "n": 1}))
        streamed = "streamed " + known[1]
        for end in range(1, len(streamed)):
            yield Event(author=self.name, content=part(streamed[end - 1]), partial=True)
        yield Event(author=self.name, content=part(streamed))
        for n, secret in enumerate(known):
            data = types.Blob(data=b"." * n + secret.encode(), mime_type="text/plain")
            coded = base64.b64encode(data.data).decode()
            said = part(f"```python\\nkey = {secret}\\n```\\n{coded}")
            said.parts.append(types.Part(inline_data=data))
            yield Event(author=self.name, content=said)
        raise ValueError("cannot use " + " and ".join(known))


KEY = "%s"
root_agent = Leaky(name="leaky")
"""
CUT = """
import os
from devui.runtime.agents import BaseAgent
from devui.runtime.events import Event
from google.genai import types


class Cut(BaseAgent):
    async def _run_async_impl(self, ctx):
        for author, secret in (("known", os.environ["PLAIN_TOKEN"]), ("shaped", "KEY")):
            said = types.Content(role="model", parts=[types.Part(text="It is " + secret[:13])])
            yield Event(author=author, content=said, partial=True)
        raise ValueError("cut off")


root_agent = Cut(name="cut")
"""
STREAMS = """
import asyncio
import os
from pathlib import Path

from devui.runtime.agents import Agent
from devui.runtime.models.scripted_llm import Rule, Say, ScriptedLlm

SAID = f"One is {os.environ['PLAIN_TOKEN']}, the other KEY and no more."
SEEN = Path(__file__).with_name("seen")


class Waiting(ScriptedLlm):
    # The last letters are said when somebody has seen others.

    async def generate_content_async(self, llm_request, stream=False):
        letters = 0
        async for answer in super().generate_content_async(llm_request, stream):
            letters += 1
            while letters > len(SAID) - 9 and not SEEN.exists():
                await asyncio.sleep(0.01)
            yield answer


model = Waiting(rules=[Rule(then=Say(SAID, chunks=len(SAID), delay=0.01))])
root_agent = Agent(name="streams", model=model)
"""


@pytest.fixture
def leaky(tmp_path, monkeypatch):
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    write_app(tmp_path / "agents", "leaky", LEAKY % KEY)
    write_app(tmp_path / "agents", "streams", STREAMS.replace("KEY", KEY))
    write_app(tmp_path / "agents", "cut", CUT.replace("KEY", KEY))
    (tmp_path / "agents" / "leaky" / ".env").write_text(
        f"OF_FILE_SECRET={OF_FILE}\n", encoding="utf-8"
    )
    with running(tmp_path / "agents", tmp_path / "data") as server, server.client() as client:
        yield client


def spelled(secret):
    """The secret as spelled in HTML, JSON and URLs."""
    spellings = {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
    spellings |= {quote(secret), quote(secret, safe="")}
    html = {
        text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") for text in spellings
    }
    return spellings | {text.replace('"', "&#34;") for text in html}


def ascii_json(text):
    """The same JSON values as `json.dumps` spells them."""
    lines = [line.removeprefix("data: ") for line in text.splitlines()]
    return "\n".join(json.dumps(json.loads(line)) for line in lines if line)


def decode(text):
    """The decoded text of each piece of base64 in a text, at every offset."""
    for piece in re.findall(r"[0-9A-Za-z+/_-]{10,}", text):
        standard = piece.replace("-", "+").replace("_", "/")
        for begin in range(4):
            whole = standard[begin : begin + (len(standard) - begin) // 4 * 4]
            yield base64.b64decode(whole).decode(errors="replace")


def exits(client, debugged):
    """Every answer about a session whose agent said all secrets."""
    key, run = debugged.key, debugged.run
    page = f"/sessions/{key}"
    yield client.get(page)
    for number, tab in product((2, 3, 4, 5, 7, 8), ("event", "raw", "state")):
        yield client.get(f"{page}?event={number}&tab={tab}")
    for tab in ("log", "request", "run"):
        yield client.get(f"{page}?tab={tab}")
    yield client.get(f"{page}?view=trace")
    yield client.get(f"/runs/{run}/log")
    yield client.get(f"/api/runs/{run}")
    names = ("events", "state", "spans", "trace", "edits", "uncommitted", "cutoff", "export")
    names += ("recording", "filter", "notes", "usage", "trials", "forks", "test")
    for name in (*names, "export/preview"):
        yield client.get(f"/api/sessions/{key}/{name}")
    yield client.get(f"/api/sessions/{key}/state/history", params={"key": "seen"})
    yield client.get(f"/api/sessions/{key}/export?format=html")
    yield client.get(f"/api/sessions/{key}/export/preview")
    yield client.get("/apps/leaky")


@pytest.mark.req("R64")
def test_no_answer_contains_a_secret(leaky):
    client = leaky
    debugged = DebuggedRun(client, "leaky").start(pause=False)
    debugged.settled()
    shapes = [text for secret in (*SECRETS.values(), OF_FILE, KEY) for text in spelled(secret)]
    seen = 0
    for answer in exits(client, debugged):
        assert answer.status_code == 200, answer.url
        leaks = [
            answer.text.partition(text)[0][-60:] + text for text in shapes if text in answer.text
        ]
        assert leaks == [], answer.url
        visible = words(answer.text)
        assert [text for text in KNOWN if re.sub(r"\s", "", text) in visible] == [], answer.url
        base64_texts = "\n".join(decode(answer.text))
        assert [text for text in KNOWN[:-1] if text in base64_texts] == [], answer.url
        seen += "[redacted]" in answer.text
    assert seen > 15  # there were secrets to redact
    again = client.post("/apps/leaky/users/u/sessions", json={}).json()["id"]
    # Clients of ADK's API have the token, and get what the agent said.
    body = run_body("leaky", again, "go", streaming=True)
    streamed = client.post("/run_sse", json=body).text
    session = client.get(f"/apps/leaky/users/u/sessions/{debugged.session}").text
    for reply in (streamed, session):
        assert [
            text for text in KNOWN if json.dumps(f"It is *{text}*.") not in ascii_json(reply)
        ] == []
        assert "[redacted]" not in reply
    revealed = client.get(f"/api/sessions/{debugged.key}/export?secrets=keep")
    assert KEY in revealed.text  # explicitly requested
    assert "x-devui-revealed" not in revealed.headers


@pytest.mark.req("R64")
def test_a_link_with_a_redacted_key_still_works(leaky):
    debugged = DebuggedRun(leaky, "leaky").start(pause=False)
    debugged.settled()
    secrets = [*SECRETS.values(), OF_FILE, KEY]
    delta = {f"of {secret}": number for number, secret in enumerate(secrets)}
    session = f"/apps/leaky/users/u/sessions/{debugged.session}"
    assert leaky.patch(session, json={"stateDelta": delta}).status_code == 200
    page = leaky.get(f"/sessions/{debugged.key}?tab=state").text
    links = {html.unescape(link) for link in re.findall(r'href="([^"]*key=of[^"]*)"', page)}
    assert len(links) == len(secrets)
    for link in links:
        assert "redacted-" in link
        target = leaky.get(link)
        assert "set by" in target.text, link
        [back] = re.findall(r'id="write-back"[^>]* href="([^"]*)"', target.text)
        redirect = leaky.get(html.unescape(back))
        assert redirect.status_code == 303
        for answer in (
            target.text,
            redirect.headers["location"],
            leaky.get(redirect.headers["location"]).text,
        ):
            assert [text for secret in secrets for text in spelled(secret) if text in answer] == []
    unknown = leaky.get(f"/sessions/{debugged.key}?key=redacted-{'0' * 16}")
    assert "never written" in unknown.text


@pytest.fixture
def session_and_keys(leaky):
    """A session with state keys that contain secrets, and those keys."""
    debugged = DebuggedRun(leaky, "leaky").start(pause=False)
    debugged.settled()
    keys = [f"of {secret}" for secret in (*SECRETS.values(), OF_FILE, KEY)]
    session = f"/apps/leaky/users/u/sessions/{debugged.session}"
    assert leaky.patch(session, json={"stateDelta": dict.fromkeys(keys, 1)}).status_code == 200
    return debugged, keys


@pytest.mark.req("R64")
def test_forms_accept_redacted_names(leaky, session_and_keys):
    debugged, keys = session_and_keys
    page = f"/sessions/{debugged.key}"
    number = leaky.get(f"/api{page}/events").json()["events"][-1]["number"]
    detail = leaky.get(f"{page}?event={number}").text
    drafts = [html.unescape(v) for v in re.findall(r'name="draft" value="([^"]*)"', detail)]
    placeholders = [each for each in drafts if "redacted-" in each]
    assert len(set(placeholders)) == len(keys)
    form = {"draft": placeholders[0]}
    answer = leaky.post(f"{page}/breakpoints", data=form, headers={"HX-Request": "true"})
    assert answer.status_code in {200, 204}, answer.text
    [point] = leaky.get("/api/apps/leaky/breakpoints").json()["breakpoints"]
    hits = leaky.get(f"/api{page}/hits?breakpoint={point['id']}").json()["hits"]
    assert [hit["number"] for hit in hits] == [number]
    dialog = leaky.get(f"{page}/export").text
    left_out = [html.unescape(v) for v in re.findall(r'name="keys" value="(of [^"]*)"', dialog)]
    again = leaky.get(f"{page}/export", params={"keys": left_out}).text
    assert len(re.findall(r'name="keys" value="of [^"]*" checked', again)) == len(keys)


@pytest.mark.req("R64")
def test_json_bodies_accept_redacted_names(leaky, session_and_keys):
    debugged, keys = session_and_keys
    values = leaky.get(f"/api/sessions/{debugged.key}/state").json()["values"]
    names = [each["key"] for each in values if each["key"].startswith("of ")]
    assert len(set(names)) == len(keys)
    body = {"number": 1, "state": dict.fromkeys(names, 2), "id": "f"}
    fork = leaky.post(f"/api/sessions/{debugged.key}/forks", json=body).json()
    records = leaky.get(f"/api/sessions/{fork['key']}/export?secrets=keep").json()["records"]
    [delta] = [
        record["event"]["actions"]["stateDelta"]
        for record in records
        if record["type"] == "event" and "stateDelta" in record["event"].get("actions", {})
    ][-1:]
    assert delta == dict.fromkeys(keys, 2)
    point = leaky.post("/api/apps/leaky/breakpoints", json={"on": "state", "name": names[0]}).json()
    assert point["name"] == names[0]
    hits = leaky.get(f"/api/sessions/{debugged.key}/hits?breakpoint={point['id']}").json()["hits"]
    assert len(hits) == 1


@pytest.mark.req("R64")
def test_editing_a_redacted_event_keeps_its_secret(leaky):
    debugged = DebuggedRun(leaky, "leaky").start()
    debugged.settled()
    debugged.tell("run_to", like={"agent": "leaky"})
    event = debugged.hold()["held"]
    assert "[redacted]" in json.dumps(event)
    event["content"]["parts"].append({"text": "by hand"})
    debugged.tell("edit", value=event)
    debugged.tell("continue")
    bundle = leaky.get(f"/api/sessions/{debugged.key}/export?secrets=keep").json()
    edited = [r for r in bundle["records"] if r["type"] == "event" and "by hand" in json.dumps(r)]
    texts = [part["text"] for part in edited[0]["event"]["content"]["parts"]]
    secret = SECRETS["SERVICE_PASSWORD"]
    assert texts == [f"It is *{secret}*.", "by hand"]
    assert edited[0]["event"]["actions"]["stateDelta"]["seen"] == {secret: [secret]}


CLEAN = "One is [redacted], the other [redacted] and no more."


def words(page):
    """The text of a page, without tags and whitespace."""
    return re.sub(r"<[^>]*>|\s", "", html.unescape(page))


def told_by_sse(client, debugged):
    """The events of a streaming run, as a client of ADK's API gets them."""
    body = run_body("streams", debugged.session, "go", streaming=True)
    with client.stream("POST", "/run_sse", json=body) as answer:
        return list(frames(answer.iter_lines()))


@pytest.mark.req("R64")
def test_a_secret_streamed_letter_by_letter_shows_nothing_of_it(leaky, tmp_path):
    begun = [SECRETS["PLAIN_TOKEN"][:4], KEY[:8]]
    debugged = DebuggedRun(leaky, "streams")
    path = f"/sessions/{debugged.key}"
    with leaky.stream("GET", f"{path}/stream") as live, ThreadPoolExecutor() as beside:
        telling = beside.submit(told_by_sse, leaky, debugged)
        updates = []
        for line in live.iter_lines():
            updates.append(words(line))
            if "Oneis[redacted],theother[redacted]andnomore." in updates[-1]:
                break
            if "Oneis" in updates[-1]:
                (tmp_path / "agents" / "streams" / "seen").touch()
        frames = telling.result()
    texts = [frame["content"]["parts"][0]["text"] for frame in frames]
    assert (
        "".join(texts[:-1])
        == texts[-1]
        == CLEAN.replace("[redacted]", "{}").format(SECRETS["PLAIN_TOKEN"], KEY)
    )
    assert len(texts) > 30, "it was streamed"
    assert len([line for line in updates if "Oneis" in line]) > 1
    pages = [f"{path}?event=2&tab={tab}" for tab in ("event", "raw", "request")]
    pages += [f"/api{path}/export?format=html", path]
    spans = leaky.get(f"/api{path}/spans").json()["spans"]
    numbers = [each["id"] for each in spans if each["type"] == "model"]
    files = [f"/api{path}/{what}" for what in (f"spans/{numbers[0]}", "recording", "export")]
    for seen in (*updates, *(words(leaky.get(page).text) for page in pages)):
        assert [each for each in begun if each in seen] == [], seen
    for file in files:
        letters = re.findall(r'"text":\s*"([^"]*)"', leaky.get(file).text)
        assert [each for each in begun if each in "".join(letters)] == [], file
        assert "[redacted]" in "".join(letters), file


@pytest.mark.req("R64")
def test_a_run_cut_off_within_a_secret_shows_nothing_of_it(leaky):
    debugged = DebuggedRun(leaky, "cut").start(pause=False)
    assert debugged.settled()["status"] == "failed"
    key = debugged.key
    for path in (f"/sessions/{key}", f"/api/sessions/{key}/cutoff", f"/api/sessions/{key}/export"):
        text = leaky.get(path).text
        assert text.count("It is ") >= 2, path
        assert [each for each in (SECRETS["PLAIN_TOKEN"][:4], KEY[:8]) if each in text] == [], path


@pytest.mark.req("R64")
def test_a_preview_truncated_within_a_secret_shows_nothing_of_it(leaky):
    """Wherever it is cut: texts of many lengths, in rows, lists, trees and menus."""
    secret = SECRETS["PLAIN_TOKEN"]
    texts = ["x" * before + " " + secret for before in range(20, 600, 6)]
    events = [
        {
            "author": "leaky",
            "content": {
                "parts": [{"text": text}, {"functionCall": {"name": "f", "args": {"a": text}}}]
            },
            "actions": {"stateDelta": {f"key{len(text)}": text}},
        }
        for text in texts
    ]
    body = {"sessionId": "previews", "events": events}
    assert leaky.post("/apps/leaky/users/u/sessions", json=body).status_code == 200
    [row] = leaky.get("/api/sessions", params={"id": "previews"}).json()["sessions"]
    paths = [f"/sessions/{row['key']}{query}" for query in ("", "?event=9", "?tab=state", "?at=50")]
    paths += ["/", "/apps/leaky", f"/api/sessions/{row['key']}/events?last=200"]
    seen = [leaky.get(path).text for path in paths]
    assert [text for text in seen if secret[:4] in text] == []
    assert sum(text.count("[redacted]…") for text in seen) > 5


ODD = {
    "QUOTES_SECRET": "aB3'x\\y9\"Zq",
    "MARKUP_TOKEN": "p&q<r>'s'&amp;\\n7",
    "LETTERS_PASSWORD": "žlutý-kůň 😀 %2B+x",
}
ECHO = """
import os
from devui.runtime.agents import BaseAgent
from devui.runtime.events import Event, EventActions
from google.genai import types


class Echo(BaseAgent):
    async def _run_async_impl(self, ctx):
        for name in {names}:
            secret = os.environ[name]
            for text in (secret, repr(secret), ascii([secret]), str({{"k": {{"k": secret}}}})):
                said = types.Content(role="model", parts=[types.Part(text=f"It is {{text}} here")])
                delta = {{"text": text, secret: [text]}}
                print("knows", text)
                yield Event(author=self.name, content=said, actions=EventActions(state_delta=delta))
        raise ValueError(repr([os.environ[name] for name in {names}]))


root_agent = Echo(name="echo")
"""


@pytest.mark.req("R64")
def test_secrets_with_odd_characters_are_redacted_in_every_spelling(tmp_path, monkeypatch):
    for name, value in ODD.items():
        monkeypatch.setenv(name, value)
    write_app(tmp_path / "agents", "echo", ECHO.format(names=list(ODD)))
    with running(tmp_path / "agents", tmp_path / "data") as server, server.client() as client:
        debugged = DebuggedRun(client, "echo").start(pause=False)
        debugged.settled()
        page = f"/sessions/{debugged.key}"
        paths = [f"{page}?event={n}&tab={tab}" for n in (2, 4, 9, 13) for tab in ("raw", "state")]
        paths += [f"{page}?tab=log", f"/runs/{debugged.run}/log", f"/api{page}/export"]
        paths += [f"/api{page}/export?format=html", f"/api{page}/state", page]
        for path in paths:
            text = unescaped(client.get(path, headers={"Accept": "text/html"}).text)
            leaks = [value for value in ODD.values() if unescaped(value) in text]
            assert leaks == [], (path, text)
            assert "[redacted]" in text, path


def unescaped(text):
    """The text without escapes and markup."""
    text = html.unescape(html.unescape(text)).replace("\\\\", "\\")
    return re.sub(r"<[^<>]*>|[\\\\'\"&<>;\s]|amp", "", text)


SETTINGS = {
    "GOOGLE_CLOUD_LOCATION": "us-central1",
    "MODEL": "gemini-2.5-flash",
    "COMPANY_NAME": "Acme Travel Ltd",
    "SUPPORT_URL": "http://localhost:9000/help",
    "DEFAULT_CITY": "San Francisco",
    "GREETING": "Hello, traveller!",
    "KEYBOARD_LAYOUT": "dvorak-programmer",
    "CUSTOMER": "customer-0815",
    "PUBLIC_KEY": "not-a-secret-2222",
    "DEVUI_SECRETS": "CUST*,!PUBLIC_*",
}


@pytest.mark.req("R64")
def test_plain_settings_are_not_secrets_unless_devui_secrets_says_so(tmp_path):
    write_app(tmp_path / "agents", "echo", ECHO.format(names=list(SETTINGS)))
    lines = "".join(f"{name}='{value}'\n" for name, value in SETTINGS.items())
    (tmp_path / "agents" / "echo" / ".env").write_text(lines, encoding="utf-8")
    with running(tmp_path / "agents", tmp_path / "data") as server, server.client() as client:
        debugged = DebuggedRun(client, "echo").start(pause=False)
        debugged.settled()
        page = html.unescape(client.get(f"/sessions/{debugged.key}?limit=100").text)
    visible = {name: value in page for name, value in SETTINGS.items()}
    assert visible == {**dict.fromkeys(SETTINGS, True), "CUSTOMER": False}
