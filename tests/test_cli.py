"""The command: where it listens, what it prints, what it refuses (R01, R39)."""

import inspect
import json
import os
import re
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import httpx2
import pytest

from devui import __version__
from devui.cli import web
from devui.fast_api import get_fast_api_app
from devui.keys import kept_key, key_file
from devui.settings import Settings
from tests.kit.patience import PATIENCE
from tests.kit.ports import default_port_taken
from tests.kit.server import SAMPLES, TOKEN, Server, running
from tests.kit.terminal import devui


@pytest.fixture
def server(tmp_path):
    with running(SAMPLES, tmp_path / "data") as server:
        yield server


def test_the_version_is_printed(tmp_path):
    assert __version__ in devui("--version", cwd=tmp_path).stdout


def test_help_has_examples(tmp_path):
    assert "devui agents/travel" in devui("--help", cwd=tmp_path).stdout


def test_an_invalid_price_table_is_reported_at_the_start(tmp_path):
    (tmp_path / "prices.json").write_text('{"models": [{"name": "m", "input": 1}]}')
    done = devui(".", "--no-browser", "--port", "0", cwd=tmp_path)
    assert done.returncode == 1
    wrong = f"{tmp_path / 'prices.json'} isn't a valid price table: 'output' is missing"
    assert wrong in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.req("R08")
def test_the_printed_link_signs_a_browser_in_once(server):
    with httpx2.Client(follow_redirects=True) as browser:
        assert browser.get(server.link).status_code == 200
        assert "travel" in browser.get(server.url).text
    with httpx2.Client(follow_redirects=True) as another:
        again = another.get(server.link, headers={"Accept": "text/html"})
        assert again.status_code == 401
        assert "already used" in again.text


@pytest.mark.req("R07")
def test_nothing_is_disclosed_without_a_sign_in(server):
    page = httpx2.get(server.url, headers={"Accept": "text/html"})
    assert page.status_code == 401
    assert "travel" not in page.text
    assert httpx2.get(f"{server.url}/list-apps").status_code == 401


@pytest.mark.req("R67")
def test_failed_sign_ins_are_counted_and_reported(server):
    browser = {"Accept": "text/html", "Sec-Fetch-Site": "none"}
    browser |= {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    form = {"Origin": server.url, "Sec-Fetch-Site": "same-origin"}
    assert httpx2.get(server.link).status_code == 303
    for _ in range(2):
        assert httpx2.get(server.link).status_code == 401
        assert httpx2.get(server.url, headers=browser).status_code == 401
    wrong = httpx2.post(f"{server.url}/login", data={"token": "<i>"}, headers=form)
    assert wrong.status_code == 401
    with server.client() as client:
        page = client.get("/").text
        notices = page.split('id="journal"', 1)[1].split("<h1", 1)[0]
        assert (
            "Once: a sign-in with a wrong token. None of these requests had an effect." in notices
        )
        assert "not signed in" not in notices
        quiet = page.split('class="refused', 1)[1].split("</p>", 1)[0]
        assert "2 requests from browsers that weren" in quiet
        assert "2 requests with a sign-in link that was already used or has expired" in quiet


@pytest.mark.req("R08")
def test_a_cookie_does_not_outlive_its_server(tmp_path):
    server = Server(SAMPLES, tmp_path / "data").start()
    with httpx2.Client(follow_redirects=True) as browser:
        assert browser.get(server.link).status_code == 200
        server.stop()
        server.start()
        assert browser.get(server.url).status_code == 401
    server.stop()


LOOPBACK = {"0100007F", "0" * 24 + "01000000"}
"""127.0.0.1 and ::1, as the kernel writes them."""


def listening(server: Server) -> set[str]:
    """Return the addresses that have a listener on the server's port."""
    ports = [
        line.split()[1]
        for table in ("tcp", "tcp6")
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]
        if line.split()[3] == "0A" and int(line.split()[1].split(":")[1], 16) == server.port
    ]
    return {port.split(":")[0] for port in ports}


@pytest.mark.req("R01")
def test_a_server_listens_on_loopback_only(server):
    assert listening(server)
    assert listening(server) <= LOOPBACK


@pytest.mark.req("R01")
@pytest.mark.parametrize(
    ("arguments", "env", "words"),
    [
        (["--host", "0.0.0.0"], {}, "can be reached from other machines"),
        (["--host", "0.0.0.0", "--allow-remote"], {}, "DEVUI_TOKEN"),
        (["--host", "0.0.0.0"], {"DEVUI_TOKEN": TOKEN}, "--allow-remote"),
        (["--host", "::", "--no-auth", "--allow-remote"], {"DEVUI_TOKEN": TOKEN}, "--no-auth"),
        ([], {"DEVUI_TOKEN": "short"}, "use at least 16"),
        (["--port", "99999"], {}, "99999"),
        (["nowhere"], {}, "nowhere is not a folder"),
        ([__file__], {}, "is not a folder, nor the agent.py or root_agent.yaml of an app"),
    ],
)
def test_an_invalid_host_token_or_folder_is_refused_in_one_line(tmp_path, arguments, env, words):
    done = devui(*arguments, "--no-browser", cwd=tmp_path, **env)
    assert done.returncode != 0
    assert words in done.stderr
    assert "Traceback" not in done.stderr


BINDS = """
import itertools, json, sys

from click.testing import CliRunner

from devui.cli import main

bound = []
sys.addaudithook(lambda event, args: event == "socket.bind" and bound.append(str(args[1])))
told = []
tokens, flags = ["", "a-token-of-my-own-1"], [[], ["--allow-remote"]]
for host, token, flag in itertools.product(sys.argv[1:], tokens, flags):
    if not (token and flag):
        asked = [".", "--no-browser", "--port=0", f"--host={host}", *flag]
        done = CliRunner().invoke(main, asked, env={"DEVUI_TOKEN": token})
        told.append([host, done.exit_code, done.output])
print(json.dumps([told, bound]))
"""
"""Tries every host without what it requires, and prints the outcomes and what was bound."""


@pytest.mark.req("R01")
def test_nothing_listens_before_a_public_host_is_refused(tmp_path):
    hosts = ["0.0.0.0", "::", "192.0.2.7", "box.example", "0", "127.1"]
    command = [sys.executable, "-c", BINDS, *hosts]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    outcomes, listeners = json.loads(done.stdout)
    assert listeners == []
    assert [host for host, _, _ in outcomes] == [host for host in hosts for _ in range(3)]
    for host, status, output in outcomes:
        assert (status, output.count("\n")) == (1, 1), output
        assert output.startswith(f"Error: {host!r} can be reached from other machines")


@pytest.mark.req("R01")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--adk-web"], ["an installed google-adk", "pip install google-adk", "--python"]),
        (["--allow-origins", "localhost:3000"], ["'localhost:3000' is not an origin", "http://"]),
        (["--allow_origins", "regex:("], ["regex:( is not a valid regular expression"]),
    ],
)
def test_options_for_other_front_ends_are_checked_before_the_start(tmp_path, arguments, words):
    done = devui(str(SAMPLES), *arguments, "--no-browser", cwd=tmp_path)
    assert done.returncode == 1
    for word in words:
        assert word in done.stderr


def test_the_defaults_are_the_safe_choices():
    defaults = web.command.make_context("web", []).params
    safe = {"host": "127.0.0.1", "allow_remote": False, "no_auth": False}
    assert {name: defaults[name] for name in safe} == safe
    signature = inspect.signature(get_fast_api_app).parameters
    assert (signature["host"].default, signature["allowed_hosts"].default) == ("127.0.0.1", ())
    settings = Settings(agents=Path())
    assert (settings.host, settings.auth) == ("127.0.0.1", True)


@pytest.mark.req("R01")
@pytest.mark.req("R07")
def test_an_empty_option_means_the_default_and_never_off(tmp_path):
    server = Server(SAMPLES, tmp_path / "data", "--host", "")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tests.kit.server.TOKEN", "")
        server.start()
    try:
        assert listening(server) <= LOOPBACK
        for headers in ({}, {"Authorization": "Bearer"}, {"Authorization": "Bearer x"}):
            assert httpx2.get(f"{server.url}/list-apps", headers=headers).status_code == 401
    finally:
        server.stop()


def test_a_requested_port_that_is_taken_is_an_error(tmp_path, server):
    done = devui(str(SAMPLES), "--port", str(server.port), "--no-browser", cwd=tmp_path)
    assert done.returncode != 0
    assert f"cannot listen on 127.0.0.1:{server.port}" in done.stderr


def test_the_next_free_port_is_used_if_none_was_requested(tmp_path):
    with default_port_taken() as busy_port:
        server = Server(SAMPLES, tmp_path / "data")
        server.port = None
        server.start()
        assert server.port > busy_port
        server.stop()


@pytest.mark.req("R39")
def test_a_data_folder_serves_one_server_at_a_time(tmp_path, server):
    done = devui(str(SAMPLES), "--no-browser", "--data-dir", str(server.data), cwd=tmp_path)
    assert done.returncode != 0
    assert f"process {server.pid} at {server.url};" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.req("R41")
def test_a_server_that_cannot_start_because_of_a_lock_says_so_in_one_line(tmp_path):
    data = tmp_path / "data"
    with running(SAMPLES, data):
        pass
    with closing(sqlite3.connect(data / "journal.db", isolation_level=None)) as other:
        other.execute("PRAGMA user_version = 20")  # an old version, which is migrated first
        other.execute("BEGIN IMMEDIATE")
        done = devui(str(SAMPLES), "--no-browser", "--data-dir", str(data), cwd=tmp_path)
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert "database is locked: close the program that holds it" in line


@pytest.mark.req("R10")
def test_the_data_folder_says_where_its_server_is_until_it_stops(tmp_path):
    server = Server(SAMPLES, tmp_path / "data").start()
    file = server.data / "server.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert json.loads(file.read_text()) == {"url": server.url, "pid": server.pid}
    key = key_file(server.data, server.pid)
    assert key is not None
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert stat.S_IMODE(key.parent.stat().st_mode) == 0o700
    assert TOKEN not in key.read_text()
    headers = {"Authorization": f"Bearer {kept_key(server.data, server.pid)}"}
    assert httpx2.get(f"{server.url}/list-apps", headers=headers).status_code == 200
    assert server.stop() == 0
    assert not file.exists()
    assert not key.exists()


def test_a_server_without_a_sign_in_keeps_no_key(tmp_path):
    with running(SAMPLES, tmp_path / "data", "--no-auth") as server:
        assert key_file(server.data, server.pid) is None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--log-level", "loud"], "'loud' is not one of"),
        (["--host", "203.0.113.5", "--allow-remote"], "choose another --host"),
        (["--data-dir", "/proc/nope"], "cannot be used"),
    ],
)
def test_an_unusable_option_is_reported_without_a_traceback(tmp_path, options, said):
    done = devui(
        str(SAMPLES), "--no-browser", "--port", "0", *options, cwd=tmp_path, DEVUI_TOKEN=TOKEN
    )
    assert done.returncode not in (0, None)
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unavailable_address_is_not_mistaken_for_a_taken_port(tmp_path):
    options = ["--no-browser", "--host", "203.0.113.5", "--allow-remote"]
    done = devui(str(SAMPLES), *options, cwd=tmp_path, DEVUI_TOKEN=TOKEN)
    assert "cannot listen on 203.0.113.5:8000" in done.stderr
    assert "--host" in done.stderr


def test_a_generated_token_is_printed_for_scripts(tmp_path):
    command = [sys.executable, "-m", "devui", str(SAMPLES), "--no-browser", "--port", "0"]
    env = {k: v for k, v in os.environ.items() if k != "DEVUI_TOKEN"}
    with subprocess.Popen(
        [*command, "--data-dir", str(tmp_path / "data")],
        stdout=subprocess.PIPE,
        text=True,
        env={**env, "PYTHONUNBUFFERED": "1"},
    ) as process:
        link = re.search(r"http://[^/]+/", process.stdout.readline())[0]
        bearer = process.stdout.readline().split("send  ")[1].strip()
        name, _, value = bearer.partition(": ")
        assert httpx2.get(f"{link}list-apps", headers={name: value}).status_code == 200
        process.terminate()
        assert process.wait(PATIENCE) == 0
