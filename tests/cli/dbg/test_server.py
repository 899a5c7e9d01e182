"""`devui dbg` finds its server, or says why it can't and what to do."""

import json
import os

import pytest

from tests.kit.server import TOKEN, Server
from tests.kit.terminal import Terminal


def test_without_a_server_the_error_says_what_to_do(tmp_path):
    nobody = Terminal(Server(tmp_path, tmp_path / "nothing"))
    done = nobody("dbg", "where")
    assert done.returncode == 3
    assert "`devui AGENTS_DIR`" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_address_of_a_killed_server_is_known_to_be_stale(terminal, held):
    pid = terminal.server.pid
    terminal.server.kill()
    done = terminal("dbg", "where")
    assert done.returncode == 3
    assert f"process {pid} was the last one and has exited" in done.stderr
    terminal.server.start()
    assert terminal("dbg", "where").stdout.startswith("interrupted")


def test_an_address_without_a_listener_is_reported(tmp_path):
    terminal = Terminal(Server(tmp_path, tmp_path / "data"))
    (tmp_path / "data").mkdir()
    record = {"pid": os.getpid(), "url": "http://127.0.0.1:9"}
    (tmp_path / "data" / "server.json").write_text(json.dumps(record))
    done = terminal("dbg", "where")
    assert (done.returncode, "was the last one and has exited" in done.stderr) == (3, True)
    done = terminal("dbg", "where", "--url", record["url"])
    assert (done.returncode, "no server answers at" in done.stderr) == (3, True)


@pytest.mark.req("R07")
def test_a_wrong_token_is_distinguished_from_a_missing_server(terminal, held):
    for wrong in (["--token", "x" * 20], []):
        done = terminal("dbg", "where", *wrong, DEVUI_TOKEN="y" * 20)
        assert done.returncode == 4
        assert "rejected the token" in done.stderr
    url = ["--url", terminal.server.url]
    assert terminal("dbg", "where", *url, DEVUI_TOKEN=TOKEN).returncode == 0
    assert terminal("dbg", "where", *url).returncode == 4
