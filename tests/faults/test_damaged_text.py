"""A text in the journal is no longer UTF-8: its row says so, and the rest is served (R43)."""

import json
import shutil
import sqlite3
from contextlib import closing

import pytest

from tests.kit.debugged_run import DebuggedRun
from tests.kit.server import SAMPLES, Server, get_session
from tests.kit.terminal import devui

HTML = {"Accept": "text/html"}
TEXTS = {
    "events": ("data", "summary", "id", "invocation_id", "author", "kind", "run"),
    "sessions": ("title", "id", "user", "app"),
    "runs": ("id", "invocation_id"),
    "writes": ("value", "key"),
    "output": ("text",),
    "spans": ("name", "agent"),
}
"""The text columns that pages read, by table."""

pytestmark = pytest.mark.req("R43")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The data folder of a server with two sessions of an app."""
    data = tmp_path_factory.mktemp("whole") / "data"
    server = Server(SAMPLES, data).start()
    with server.client() as client:
        for _ in range(2):
            state = {"text": "some text", "list": ["of", "texts"]}
            flown = DebuggedRun(client, "travel", state=state)
            flown.start("Find me a flight to London", pause=False)
            assert flown.settled()["status"] == "done"
    server.stop()
    return data


def damage(file, table: str, column: str) -> int:
    """Put an invalid UTF-8 byte into the middle of each text of a column in session 2."""
    with closing(sqlite3.connect(file)) as journal:
        journal.execute("PRAGMA foreign_keys = OFF")
        of = {
            "sessions": "key = 2",
            "writes": "seq IN (SELECT born FROM sessions WHERE key = 2)",
            "output": "run IN (SELECT id FROM runs WHERE session = 2)",
        }.get(table, "session = 2")
        middle = f"length({column}) / 2"
        damaged = (
            f"CAST(CAST(substr({column}, 1, {middle}) AS BLOB) || x'ff' || "
            f"CAST(substr({column}, {middle} + 2) AS BLOB) AS TEXT)"
        )
        done = journal.execute(
            f"UPDATE {table} SET {column} = {damaged} WHERE {of} AND {column} <> ''"
        )
        journal.commit()
        return done.rowcount


@pytest.mark.parametrize(
    ("table", "column"), [(table, each) for table, names in TEXTS.items() for each in names]
)
def test_a_damaged_text_breaks_no_page(whole, tmp_path, table, column):
    data = shutil.copytree(whole, tmp_path / "data")
    damaged = damage(data / "journal.db", table, column)
    if not damaged:
        pytest.skip("nothing of that is there")
    done = devui("doctor", "--data-dir", str(data), "--json", cwd=tmp_path)
    assert done.returncode == 1
    faults = [each["what"] for each in json.loads(done.stdout)["journal"]]
    assert any(f"{column!r} is no UTF-8 text" in each for each in faults), faults
    server = Server(SAMPLES, data).start()
    with server.client() as client:
        for path in ("/", "/apps/travel", "/sessions/1", "/sessions/2", "/sessions/2?tab=state"):
            page = client.get(path, headers=HTML)
            assert page.status_code == 200, (path, page.text)
        whole_one = client.get("/sessions/1", headers=HTML).text
        assert "damaged in the journal" not in whole_one.split('id="rows"', 1)[1]
        if (table, column) in {("events", "summary"), ("sessions", "title"), ("sessions", "id")}:
            assert "damaged in the journal" in client.get("/sessions/2", headers=HTML).text
        if (table, column) == ("events", "data"):
            raw = client.get("/sessions/2?event=2&tab=raw", headers=HTML).text
            assert "is no event any more" in raw
        if (table, column) == ("sessions", "title"):
            assert "damaged in the journal" in client.get("/apps/travel", headers=HTML).text
        assert client.get("/api/sessions/2/export").status_code == 200
    with pytest.raises(AssertionError, match="is no UTF-8 text"):
        server.stop()


def test_an_event_with_a_wrong_checksum_is_unreadable(whole, tmp_path):
    data = shutil.copytree(whole, tmp_path / "data")
    change = "UPDATE events SET data = replace(data, 'London', 'Lisbon') WHERE session = 2"
    with closing(sqlite3.connect(data / "journal.db")) as journal:
        assert journal.execute(change).rowcount > 0
        old = "UPDATE events SET checksum = NULL WHERE session = 2 AND number = 1"
        assert journal.execute(old).rowcount == 1  # as in journals without checksums
        journal.commit()
        texts = journal.execute("SELECT data FROM events WHERE session = 2 ORDER BY number")
        changed = ["Lisbon" in text for (text,) in texts]
    assert changed[0]
    assert 1 < sum(changed) < len(changed)
    done = devui("doctor", "--data-dir", str(data), "--json", cwd=tmp_path)
    for number, is_changed in enumerate(changed, 1):
        fault = f"event #{number} of session 2 is not what was written: its checksum differs"
        assert (fault in done.stdout) == (is_changed and number > 1)
    server = Server(SAMPLES, data).start()
    with server.client() as client:
        [row] = [s for s in client.get("/api/sessions").json()["sessions"] if s["key"] == 2]
        events = get_session(client, "travel", row["id"])["events"]
        lost = [event.get("errorCode") == "UNREADABLE_EVENT" for event in events]
        assert lost == [False, *changed[1:]]
        records = client.get("/api/sessions/2/export").json()["records"]
        exported = [each["event"] for each in records if each.get("type") == "event"]
        assert [e.get("errorCode") == "UNREADABLE_EVENT" for e in exported] == lost
        number = lost.index(True) + 1
        raw = client.get(f"/sessions/2?event={number}&tab=raw", headers=HTML).text
        assert "not the one that was written" in raw
        fork = client.post("/api/sessions/2/forks", json={"number": number})
        assert fork.status_code == 201, fork.text
    with pytest.raises(AssertionError, match="its checksum differs"):
        server.stop()
    with closing(sqlite3.connect(data / "journal.db")) as journal:
        sums = "SELECT checksum FROM events WHERE session = ? AND number <= ? ORDER BY number"
        of = [journal.execute(sums, [key, number]).fetchall() for key in (2, 3)]
    assert of[0] == of[1]
