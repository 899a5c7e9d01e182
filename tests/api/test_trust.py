"""A server reveals, writes and contacts nothing that isn't its business (R06, R33, R65, R66)."""

import hashlib
import http.client
import json
import re
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx2
import pytest
from starlette.routing import Route

from devui.keys import kept_key
from devui.web.routes import routes
from devui.web.security.headers import CONTENT_SECURITY_POLICY
from tests.kit.debugged_run import DebuggedRun
from tests.kit.patience import PATIENCE
from tests.kit.server import ROOT, SAMPLES, TOKEN, Server, run, write_app

CANARY = "canary-4711-do-not-tell"

OPEN = ("/health", "/llms.txt")
"""Paths that need no sign-in: the same for everybody, with nothing about agents or sessions."""

WATCH = """
import json, os, sys

def tell(what):
    with open(os.environ["WATCHED"], "a") as file:
        print(json.dumps([os.getpid(), str(what)]), file=file)

def watch(event, args):
    if event == "socket.connect" and isinstance(args[1], tuple):
        tell(args[1][0])
    elif event == "socket.getaddrinfo":
        tell(args[0])

tell("127.0.0.1: watched")
sys.addaudithook(watch)
"""
"""Runs first in every Python process of the server; records who is contacted."""

CALLS = '''
import socket

from devui.runtime.agents import Agent
from devui.runtime.models.scripted_llm import Call, Rule, Say, ScriptedLlm


def call_out() -> str:
    """Asks for a host that does not exist."""
    try:
        socket.getaddrinfo("canary.invalid", 80)
    except OSError:
        return "nobody there"


SAID = "![x](http://canary.invalid/a.png) <img src='http://canary.invalid/b.png'>"
model = ScriptedLlm(
    rules=[Rule(after="call_out", then=Say(SAID)), Rule(then=Call("call_out"))]
)
root_agent = Agent(name="Caller", model=model, tools=[call_out])
'''

SPIES = """
import os, sys, urllib.error, urllib.request
from pathlib import Path

from devui.runtime.agents import BaseAgent
from devui.runtime.events import Event

ACTS = [
    "/run",
    "/sessions/1/answers",
    *(f"/api/sessions/1/{what}" for what in ("runs", "trials", "forks", "rewind")),
    "/api/runs/1/commands",
    "/apps/travel/users/u/sessions",
]
# What begins a run, answers for a person, runs a tool again, changes a session.


class Spies(BaseAgent):
    async def _run_async_impl(self, ctx):
        told = [*os.environ.values(), *sys.argv, Path("/proc/self/cmdline").read_text()]
        told += [Path(f"/proc/{os.getppid()}/cmdline").read_text()]
        open_files = [Path("/proc/self/fd", name) for name in os.listdir("/proc/self/fd")]
        told += [str(os.readlink(file)) for file in open_files if file.is_symlink()]
        base = ctx.user_content.parts[0].text
        statuses = [self.asked(base + "/list-apps", None)]
        statuses += [self.asked(base + path, b"{}") for path in ACTS]
        found = {"told": told, "statuses": statuses, "in": os.getcwd()}
        yield Event(author=self.name, output=found)

    def asked(self, url, data):
        request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
        try:
            return urllib.request.urlopen(request, timeout=120).status
        except urllib.error.HTTPError as error:
            return error.code


root_agent = Spies(name="Spies")
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("trust")
    shutil.copytree(SAMPLES / "travel", folder / "agents" / "travel")
    write_app(folder / "agents", "caller", CALLS)
    write_app(folder / "agents", "spies", SPIES)
    for env in (folder / ".env", folder / "agents" / ".env", folder / "agents" / "travel" / ".env"):
        env.write_text(f"A_KEY={CANARY}\n")
    (folder / "guard").mkdir()
    (folder / "guard" / "sitecustomize.py").write_text(WATCH)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", f"{folder / 'guard'}:{ROOT}")
        patch.setenv("WATCHED", str(folder / "watched"))
        patch.setenv("ANOTHER_API_KEY", CANARY)
        patch.setenv("PYTHONDONTWRITEBYTECODE", "1")
        server = Server(folder / "agents", folder / "data").start()
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="module")
def debugged(server) -> Iterator[DebuggedRun]:
    """A session with events, artifacts and a run."""
    with server.client() as client:
        debugged = DebuggedRun(client, "travel")
        debugged.start("Find me a flight to London", pause=False).settled()
        yield debugged


def reading(debugged: DebuggedRun) -> list[str]:
    """The path of every GET route, with the names of things that exist, and 1 for numbers."""
    names = {
        "app": "travel",
        "user": "u",
        "session": debugged.session,
        "key": str(debugged.key),
        "number": "2",
        "run": debugged.run,
        "direction": "next",
        "name:path": "itinerary.md",
        "version": "0",
    }
    paths = []
    for route in routes:
        if isinstance(route, Route) and "GET" in (route.methods or ()):
            path = route.path
            for name, value in names.items():
                path = path.replace(f"{{{name}}}", value)
            paths.append(re.sub(r"\{[^}]*\}", "1", path))
    return paths


def journal(server: Server) -> str:
    """A hash of everything in the journal."""
    with closing(sqlite3.connect(f"file:{server.data}/journal.db?mode=ro", uri=True)) as opened:
        return hashlib.sha256("\n".join(opened.iterdump()).encode()).hexdigest()


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def beginning(client, path: str) -> str:
    """The text of an answer; of a stream, the first piece."""
    with client.stream("GET", path, headers={"Accept": "text/html"}) as answer:
        if answer.headers.get("content-type", "").startswith("text/event-stream"):
            return next(answer.iter_text(), "")
        assert answer.status_code < 500 or answer.status_code == 501, path
        return answer.read().decode(errors="replace")


@pytest.mark.req("R06")
@pytest.mark.req("R65")
def test_reading_changes_nothing_and_reveals_no_environment_variables(server, debugged):
    before = journal(server), files(server.agents)
    for path in reading(debugged) * 2:
        assert CANARY not in beginning(debugged.client, path), path
    assert (journal(server), files(server.agents)) == before


@pytest.mark.req("R05")
@pytest.mark.req("R06")
@pytest.mark.req("R13")
def test_no_answer_can_be_embedded_or_cached_by_others(server, debugged):
    expected = {
        "cross-origin-resource-policy": "same-origin",
        "cross-origin-opener-policy": "same-origin",
        "cache-control": "no-store",
    }
    with httpx2.Client(base_url=server.url, verify=False, timeout=PATIENCE) as stranger:
        for path in reading(debugged):
            for client in (stranger, debugged.client):
                with client.stream("GET", path) as answer:
                    assert {name: answer.headers.get(name) for name in expected} == expected, path
                    assert not [name for name in answer.headers if "access-control" in name], path
                    if answer.headers.get("content-type", "").startswith("text/html"):
                        policy = answer.headers["content-security-policy"]
                        assert policy == CONTENT_SECURITY_POLICY, path
                        assert answer.headers["x-content-type-options"] == "nosniff", path
                        assert answer.headers["x-frame-options"] == "DENY", path
                    if path.startswith("/api/") and "json" in answer.headers["content-type"]:
                        assert answer.read().startswith(b"{"), path
                    is_allowed = client is debugged.client or path in OPEN
                    assert (answer.status_code == 401) is not is_allowed, path


@pytest.mark.req("R07")
def test_every_route_needs_a_sign_in(server, debugged):
    open_routes = []
    for route in routes:
        for method in (route.methods or set()) - {"HEAD"}:
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
            headers = {"Content-Type": "application/json", "Origin": server.url}
            connection.request(method, route.path.replace("{", "").replace("}", ""), "{}", headers)
            if connection.getresponse().status != 401:
                open_routes.append(f"{method} {route.path}")
            connection.close()
    assert open_routes == [f"GET {path}" for path in OPEN]


@pytest.mark.req("R06")
def test_no_route_accepts_simple_cross_site_requests(server, debugged):
    before, accepted = journal(server), []
    kinds = ["text/plain", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded"]
    for route in routes:
        for method in (route.methods or set()) - {"GET", "HEAD"}:
            path = re.sub(r"\{[^}]*\}", "1", route.path.replace("{app}", "travel"))
            for kind in kinds:
                headers = {"Content-Type": kind}
                answer = debugged.client.request(method, path, content=b"{}", headers=headers)
                accepted += [] if answer.status_code == 415 else [f"{method} {path}: {kind}"]
    assert accepted == []
    assert journal(server) == before


@pytest.mark.req("R65")
@pytest.mark.parametrize(
    "path",
    [
        "/.env",
        "/static/.env",
        "/static/../.env",
        "/static/%2e%2e/.env",
        "/static/..%2f..%2f.env",
        "/static//etc/passwd",
        "/apps/travel/.env",
        "/apps/../.env",
        "/apps/%2e%2e%2f.env",
        "/agents/travel/.env",
        "/apps/travel/users/u/sessions/..%2f..%2f.env",
        "/sessions/1/artifacts/../../../.env",
        "/sessions/1/artifacts/%2e%2e%2f%2e%2e%2f.env",
        "/sessions/1/artifacts//proc/self/environ",
        "/env",
        "/debug",
        "/api/config",
        "/api/env",
        "/server.json",
        "/journal.db",
        "/.devui/server.json",
        "/proc/self/environ",
    ],
)
def test_no_path_serves_other_files_or_the_environment(server, debugged, path):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    connection.request("GET", path, headers={"Authorization": f"Bearer {TOKEN}"})
    answer = connection.getresponse()
    text = answer.read().decode(errors="replace")
    connection.close()
    assert answer.status in {400, 404}, answer.status
    assert CANARY not in text
    assert "root:" not in text


ODD_NAMES = [
    *("a'b", 'a"b', 'a"]b', "a]b", "a[b", "a--b", "a;b", "a/*b", "a%b", "a_b", "a!b", "a\\b"),
    *("$.a", "a.b", "a b", "aXb", "a*b", "a?b", "' OR 1=1 --", '"] || "'),
]
"""Names with characters that SQL, LIKE, GLOB or JSON paths interpret; and `aXb` for `a_b`."""


@pytest.mark.req("R30")
def test_names_and_words_are_matched_literally(debugged):
    client, where = debugged.client, "/apps/travel/users/u/sessions"
    events = [{"author": name, "content": {"parts": [{"text": name}]}} for name in ODD_NAMES]
    session_id = client.post(where, json={"sessionId": "o_d%", "events": events}).json()["id"]
    client.post(where, json={"sessionId": "oXdX"})
    query = {"app": "travel", "user": "u", "id": session_id}
    [row] = client.get("/api/sessions", params=query).json()["sessions"]
    key = row["key"]
    state = {name: number for number, name in enumerate(ODD_NAMES)}
    assert client.patch(f"{where}/{session_id}", json={"stateDelta": state}).status_code == 200
    for name, number in state.items():
        history = client.get(f"/api/sessions/{key}/state/history", params={"key": name})
        assert [each["new"] for each in history.json()["writes"]] == [number], name
        quoted = '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
        query = {"filter": quoted, "after": 0, "limit": len(ODD_NAMES)}
        rows = client.get(f"/api/sessions/{key}/events", params=query).json()["events"]
        # The last event set all the keys.
        assert [each["number"] for each in rows] == [number + 1, len(ODD_NAMES) + 1], name
    for wrong in ODD_NAMES:
        params = {"app": "travel", "user": "u", "id": wrong}
        assert client.get("/api/sessions", params=params).json()["sessions"] == [], wrong


@pytest.mark.req("R33")
def test_nothing_is_written_to_the_agents_folder(server, debugged):
    before = files(server.agents)
    client, key = debugged.client, debugged.key
    page = {"Origin": server.url, "HX-Request": "true", "Accept": "text/html"}
    done = [
        client.post("/apps/travel/reload", headers=page),
        client.post("/apps/travel/sessions", data={"title": "../x"}, headers=page),
        client.post(f"/sessions/{key}/title", data={"title": "agent.py"}, headers=page),
        client.patch(
            f"/apps/travel/users/u/sessions/{debugged.session}",
            json={"stateDelta": {"agent.py": 1}},
        ),
        client.post(f"/api/sessions/{key}/forks", json={"number": 2}),
        client.post("/apps/travel/users/u/sessions/agent.py", json={"..": "x"}),
        client.post("/api/apps/travel/breakpoints", json={"on": "tool", "name": "agent.py"}),
    ]
    assert [answer.status_code for answer in done if answer.status_code >= 400] == []
    run(client, "travel", debugged.session, "Find me a flight to Oslo")
    assert files(server.agents) == before


@pytest.mark.req("R09")
def test_an_agent_sees_no_secret_of_the_server_and_is_refused(server, debugged):
    spies = DebuggedRun(debugged.client, "spies").start(server.url, pause=False)
    assert spies.settled()["status"] == "done", spies.position
    output = spies.kept()["events"][-1]["output"]
    key = kept_key(server.data, server.pid)
    assert output["statuses"] == [401] * 9
    # Only Linux says whose connection it is. Elsewhere, the session's page doesn't show it.
    is_known = sys.platform == "linux"
    whose = r" of (?:\w+, )*spies\b" if is_known else r"\."
    for path, is_shown in (("/", True), (f"/sessions/{spies.key}", is_known)):
        page = debugged.client.get(path, headers={"Accept": "text/html"}).text
        match = re.search(rf"Refused (\d+) requests without the token from a program{whose}", page)
        assert bool(match) is is_shown, path
        # Other tests may have caused refusals, too.
        assert match is None or int(match[1]) >= len(output["statuses"])
    assert CANARY in output["told"]  # it does have its own secrets
    assert not [text for text in output["told"] if TOKEN in text or key in text]
    around = [file for file in Path(output["in"]).rglob("*") if file.is_file()]
    assert key
    assert server.data / "journal.db" in around
    assert not [file for file in around if key.encode() in file.read_bytes()]


@pytest.mark.req("R66")
@pytest.mark.req("R19")
def test_the_server_contacts_no_other_host(server, debugged):
    caller = DebuggedRun(debugged.client, "caller").start("go", pause=False)
    caller.settled()
    assert "canary.invalid" in beginning(debugged.client, f"/sessions/{caller.key}")
    log = server.data.parent / "watched"
    calls = [json.loads(line) for line in log.read_text().splitlines()]
    others = [(pid, host) for pid, host in calls if not host.startswith(("127.", "::1"))]
    # The server is watched, and the agent's own call, in its own process, is recorded.
    assert server.pid in {pid for pid, _ in calls}
    assert {host for _, host in others} == {"canary.invalid"}
    assert server.pid not in {pid for pid, _ in others}
