"""Where the key to a server is kept: in a private folder of the user, not in the data folder."""

import json
import os
import platform
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from devui.keys import key_file
from devui.store.sqlite.folder import DataFolder
from tests.store.test_opening import umask


@pytest.fixture
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that has the home and temporary folders, whatever the environment says."""
    for name in ("RUNTIME_DIR", "STATE_HOME"):
        monkeypatch.delenv(f"XDG_{name}", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    return tmp_path


def kept_in(folder: Path) -> Path | None:
    """Announce a server on the data folder; return the folder of its key, None if it isn't kept."""
    with umask(0o000):
        held = DataFolder.claim(folder)
        try:
            held.announce("http://127.0.0.1:8123", "a-key")
            file = key_file(folder, os.getpid())
            assert file is None or stat.S_IMODE(file.stat().st_mode) == 0o600
            assert file is None or stat.S_IMODE(file.parent.stat().st_mode) == 0o700
            return file and file.parent
        finally:
            held.release()


@pytest.mark.req("R09")
@pytest.mark.req("R10")
def test_a_key_is_kept_in_the_xdg_runtime_or_state_folder(
    homes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = homes / "data"
    assert kept_in(data) == homes / "home" / ".local" / "state" / "devui"
    monkeypatch.setenv("XDG_STATE_HOME", str(homes / "state"))
    assert kept_in(data) == homes / "state" / "devui"
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(homes / "gone"))
    assert kept_in(data) == homes / "state" / "devui"
    (homes / "gone").mkdir()
    assert kept_in(data) == homes / "gone" / "devui"


@pytest.mark.req("R09")
def test_a_key_falls_back_to_a_private_temporary_folder_or_none(homes: Path) -> None:
    (homes / "home").touch()  # nothing can be created below it
    (homes / "temporary").mkdir()
    ours = homes / "temporary" / f"devui-{os.geteuid()}"
    assert kept_in(homes / "data") == ours
    ours.rmdir()
    ours.symlink_to(homes)
    assert kept_in(homes / "data") is None


@pytest.mark.req("R09")
def test_keys_of_killed_servers_are_removed(homes: Path) -> None:
    key_file = homes / "home" / ".local" / "state" / "devui" / f"{'0' * 32}-1.json"
    key_file.parent.mkdir(parents=True)
    ended_process = subprocess.Popen([sys.executable, "-c", ""])
    ended_process.wait()
    record = {"pid": ended_process.pid, "host": platform.node(), "key": "k"}
    others = [{**record, "pid": os.getppid()}, {**record, "host": "another"}, {}]
    for number, each in enumerate([record, *others]):
        key_file.with_stem(str(number)).write_text(json.dumps(each))
    assert kept_in(homes / "data") == key_file.parent
    assert {file.stem for file in key_file.parent.iterdir()} == {"1", "2", "3"}
