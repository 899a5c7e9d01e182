"""A journal is copied while its server writes to it (R45)."""

import stat

import pytest

from devui.store.sqlite.checkup import check_journal
from tests.faults.misbehaving_agents import FLOOD
from tests.kit.debugged_run import DebuggedRun
from tests.kit.journal_checks import delta_of
from tests.kit.server import get_session, running, write_app
from tests.kit.terminal import devui

pytestmark = pytest.mark.req("R45")


@pytest.fixture
def writing(tmp_path):
    """A server, and a run on it that writes many events."""
    write_app(tmp_path / "agents", "flood", FLOOD)
    with running(tmp_path / "agents", tmp_path / "data") as server, server.client() as client:
        yield server, DebuggedRun(client, "flood").start(pause=False)


def test_a_copy_is_the_journal_at_one_moment(writing, tmp_path):
    server, debugged = writing
    while not (before := debugged.kept()["events"]):
        pass
    for number in range(3):
        copy = tmp_path / f"copy{number}"
        done = devui("backup", "--data-dir", str(server.data), "-o", str(copy), cwd=tmp_path)
        after = debugged.kept()["events"]
        assert done.returncode == 0, done.stderr
        assert len(before) < len(after), "nobody was writing"
        assert stat.S_IMODE(copy.stat().st_mode) == 0o700
        assert stat.S_IMODE((copy / "journal.db").stat().st_mode) == 0o600
        report = check_journal(copy / "journal.db", delta_of)
        assert (report.faults, len(before) <= report.events <= len(after)) == ([], True)
        events = "1 event," if report.events == 1 else f"{report.events:,} events,"
        assert f"1 session with {events}" in done.stdout
        before = after
    with running(server.agents, copy) as other, other.client() as client:
        copied_events = get_session(client, "flood", debugged.session)["events"]
        assert copied_events == debugged.kept()["events"][: report.events]


def test_backup_overwrites_nothing_and_needs_a_journal(writing, tmp_path):
    server, _ = writing
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("mine")
    done = devui(
        "backup", "--data-dir", str(server.data), "-o", str(tmp_path / "full"), cwd=tmp_path
    )
    assert (done.returncode, "is not empty" in done.stderr) == (2, True)
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["mine"]
    done = devui(
        "backup", "--data-dir", str(tmp_path / "full"), "-o", str(tmp_path / "new"), cwd=tmp_path
    )
    assert (done.returncode, "no journal in" in done.stderr) == (2, True)
    assert not (tmp_path / "new").exists()
