"""The disk takes nothing more while a run goes on, and then again; a damaged journal (R42, R43)."""

import html
import json
import re
import resource
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.faults.zoo import AGENTS, FLOOD
from tests.kit.debugged import Debugged
from tests.kit.frames import messages
from tests.kit.server import running, write_app

ANY = resource.RLIM_INFINITY
PATH = "/apps/fine/users/u/sessions"
WARNING = "The journal cannot be written"


def shown_until_the_disk_is_full(server, client, debugged: Debugged) -> dict[int, str]:
    """Let the run go on until its events fit on the disk no more; those it was seen to commit."""
    seen: dict[int, str] = {}
    with client.stream("GET", f"/api/sessions/{debugged.key}/stream") as answer:
        debugged.start(pause=False)
        for message in messages(answer.iter_lines()):
            told = json.loads(message.data)
            if told["type"] == "event":
                seen[told["number"]] = told["id"]
            if len(seen) == 20:
                break
    log = (server.data / "journal.db-wal").stat().st_size
    psutil.Process(server.pid).rlimit(psutil.RLIMIT_FSIZE, (log, ANY))
    while (refused := client.post(PATH, json={})).status_code != 503:
        assert refused.status_code == 200
    assert "check the disk" in refused.json()["detail"]
    return seen


def page_of(client, path: str) -> str:
    return client.get(path, headers={"Accept": "text/html"}).text


def told_of_the_journal(lines: Iterator[str]) -> Iterator[str]:
    """What comes over a page's stream for its place for the journal."""
    for message in messages(lines):
        if '"#journal"' in message.data:
            yield message.data.split('"#journal"', 1)[1].split("</hx-partial>", 1)[0]


def make_room(server, client, session: str) -> None:
    """Every page says that the disk takes nothing, until it does; nobody has to do anything."""
    for path in ("/", "/apps/flood", session):
        assert WARNING in page_of(client, path), path
    connect = re.search(r'hx-sse:connect="([^"]+)"', page_of(client, session))
    with client.stream("GET", html.unescape(connect[1])) as answer:
        told = told_of_the_journal(answer.iter_lines())
        assert WARNING in next(told)
        psutil.Process(server.pid).rlimit(psutil.RLIMIT_FSIZE, (ANY, ANY))
        assert WARNING not in next(told)
    assert WARNING not in page_of(client, "/")


@pytest.mark.req("R42")
def test_a_run_fails_with_the_reason_and_the_next_one_needs_no_new_server(tmp_path):
    agents = tmp_path / "agents"
    write_app(agents, "flood", FLOOD)
    write_app(agents, "fine", AGENTS["fine"])
    with running(agents, tmp_path / "data") as server, server.client() as client:
        debugged = Debugged(client, "flood")
        seen = shown_until_the_disk_is_full(server, client, debugged)
        kept = debugged.kept()["events"]
        assert {number: kept[number - 1]["id"] for number in seen} == seen
        make_room(server, client, session := f"/sessions/{debugged.key}")
        assert debugged.settled()["status"] == "failed"
        assert "check the disk" in page_of(client, session)
        before = len(debugged.kept()["events"])
        assert client.post(PATH, json={}).status_code == 200
        assert debugged.start(pause=True).settled()["status"] == "held"
        debugged.tell("step_half")
        assert len(debugged.kept()["events"]) == before + 1


@pytest.mark.req("R43")
def test_pages_say_where_a_damaged_journal_was_put(tmp_path):
    (tmp_path / "agents").mkdir()
    (tmp_path / "data").mkdir(mode=0o700)
    (tmp_path / "data" / "journal.db").write_bytes(b"no database at all")
    (tmp_path / "data" / "journal.db").chmod(0o600)
    with running(tmp_path / "agents", tmp_path / "data") as server, server.client() as client:
        page = html.unescape(page_of(client, "/"))
    kept = re.search(r"kept untouched as ([^;]+);", page)
    assert Path(kept[1]).read_bytes() == b"no database at all"
    assert f'sqlite3 "{kept[1]}" .recover' in page
