"""Code planted in a journal, which would run if it were decoded: it never runs (R29)."""

import os
import pickle
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.kit.debugged_run import DebuggedRun
from tests.kit.server import SAMPLES, Server, running
from tests.store.old_journals import of_version

pytestmark = pytest.mark.req("R29")

HTML = {"Accept": "text/html"}


class Bomb:
    """Creates a folder when unpickled."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self):
        return os.mkdir, (str(self.marker),)


def plant(journal: sqlite3.Connection, bomb: Bomb) -> None:
    """Plant it in an event, a state value and a file, as far as the schema allows."""
    text = pickle.dumps(bomb, protocol=0).decode()
    with pytest.raises(sqlite3.IntegrityError, match="cannot store BLOB"):
        journal.execute("UPDATE events SET data = ?", [pickle.dumps(bomb)])
    planted = [
        ("UPDATE events SET data = ? WHERE session = 1 AND number = 2", text),
        ("UPDATE writes SET value = ? WHERE key = 'n'", text),
        ("UPDATE artifacts SET text = NULL, data = ?", pickle.dumps(bomb)),
    ]
    for statement, planted_here in planted:
        assert journal.execute(statement, [planted_here]).rowcount > 0, statement
    journal.commit()


def test_planted_pickles_are_unreadable_and_never_decoded(tmp_path):
    marker = tmp_path / "marker"
    with running(SAMPLES, tmp_path / "new") as server, server.client() as client:
        flown = DebuggedRun(client, "travel").start("Find me a flight to London", pause=False)
        flown.settled()
        whole = flown.kept()["events"]
        DebuggedRun(client, "travel", state={"n": 1})
    old = of_version(1, tmp_path / "new", tmp_path / "old")
    with closing(sqlite3.connect(old / "journal.db")) as journal:
        plant(journal, Bomb(marker))
    server = Server(SAMPLES, old).start()  # migrates the journal
    with server.client() as client:
        flown.client = client
        page = client.get("/sessions/1?event=2&tab=raw", headers=HTML)
        assert (page.status_code, "UNREADABLE_EVENT" in page.text) == (200, True)
        assert "is no event any more" in page.text
        events = flown.kept()["events"]
        assert events[1].pop("errorCode") == "UNREADABLE_EVENT"
        assert events[1]["id"] == whole[1]["id"]
        assert [*events[:1], *events[2:]] == [*whole[:1], *whole[2:]]
        state = client.get("/sessions/2?tab=state", headers=HTML)
        assert (state.status_code, "devui doctor" in state.text) == (500, True)
        files = f"/apps/travel/users/u/sessions/{flown.session}/artifacts"
        [name] = client.get(files).json()
        assert b"mkdir" in client.get(f"/sessions/1/artifacts/{name}").content
    with pytest.raises(AssertionError, match="event #2 of session 1 cannot be read"):
        server.stop()
    assert not marker.exists()
    pickle.loads(pickle.dumps(Bomb(marker)))
    assert marker.exists()
