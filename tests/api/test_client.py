"""devui.client.Client: a method for each endpoint, and what scripts and notebooks do with it."""

import ast
import os
import re
import subprocess
import sys
from io import BytesIO
from pathlib import Path

import pytest

from devui.client import (
    AuthenticationError,
    BadRequestError,
    Client,
    ConflictError,
    DevuiError,
    NotFoundError,
    UnavailableError,
)
from devui.web.openapi import ADK, DEVELOPMENT, endpoints
from tests.differential.routes import write_apps
from tests.kit import client_calls, client_files
from tests.kit.server import ROOT, SAMPLES, TOKEN, running
from tests.source import modules

GUIDE = ROOT / "docs" / "guide" / "client.md"
MESSAGE = "Split the bill"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    data = tmp_path_factory.mktemp("client") / ".devui"  # as in the guide
    with running(SAMPLES, data) as server:
        yield server


@pytest.fixture(scope="module")
def sessions(server):
    with Client(server.url, TOKEN, "nightly check") as sessions:
        yield sessions


@pytest.mark.parametrize("path", client_files.files(), ids=lambda path: path.name)
def test_the_clients_methods_are_as_generated_from_the_endpoints(path) -> None:
    assert path.read_text(encoding="utf-8") == client_files.files()[path], "run scripts/describe"


def test_the_terminal_and_mcp_use_only_the_clients_public_methods() -> None:
    wrong = [
        module.place(node)
        for module in modules("devui")
        if module.name.startswith(("devui.cli", "devui.mcp"))
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Attribute)
        and re.fullmatch(
            "_(get|get_text|post|post_stream|put|patch|delete|upload|download|follow)", node.attr
        )
        and ast.unparse(node.value) != "self"
    ]
    assert not wrong, "call a method of the client that is an endpoint's"


def test_the_client_imports_nothing_of_the_server() -> None:
    code = "import sys, devui.client; print([m for m in sys.modules if m.startswith('devui.')])"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert not re.search(r"devui\.(web|debugger|store|runtime|worker)", loaded), loaded


def output_of(example: str, server) -> list[str]:
    """The lines that a script prints in the folder where the server was started."""
    return subprocess.run(
        [sys.executable, "-c", example],
        capture_output=True,
        text=True,
        check=True,
        cwd=server.data.parent,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ).stdout.splitlines()


def test_the_examples_of_the_guide_run(server, sessions) -> None:
    guide = GUIDE.read_text(encoding="utf-8")
    debugs, exports, runs, _ = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)
    assert output_of(debugs, server) == ["held by breakpoint", "#3 ['read_bill'] 84.0"]
    [point] = sessions.breakpoints("faulty")
    sessions.delete_breakpoint("faulty", point["id"])
    assert output_of(exports, server) == []
    assert (server.data.parent / "session.json").stat().st_size > 0
    lines = output_of(runs, server)
    assert "FaultyAgent {'bill': -756.0}" in lines
    assert any(each.startswith("failed: ValueError: ") for each in lines)
    assert lines[-1].startswith("invoke_workflow FaultyAgent ")


def test_a_script_holds_continues_follows_and_forks_a_run(sessions) -> None:
    key = sessions.new_session("faulty", state={"n": 1})["key"]
    begun = sessions.start_run(key, message=MESSAGE, pause=True)
    position = sessions.wait(begun)
    assert position["status"] == "held"
    with pytest.raises(ConflictError) as refused:
        sessions.command(position["run"], "continue", position=position["position"] + 9)
    assert refused.value.status == 409
    assert refused.value.position["position"] == position["position"]
    again = {"position": position["position"], "key": "once"}
    after = sessions.command(position["run"], "continue", **again)
    end = sessions.wait(sessions.run(position["run"]))
    assert (end["status"], end["error"]["type"]) == ("failed", "ValueError")
    assert sessions.command(position["run"], "continue", **again) == after
    rows = sessions.events(key)
    assert [row["number"] for row in rows] == list(range(1, len(rows) + 1))
    assert sessions.event(key, 1)["content"]["parts"] == [{"text": MESSAGE}]
    news = next(each for each in sessions.stream(key, after=0) if each["type"] == "event")
    assert news["number"] == 1
    fork = sessions.fork(key, 1)
    sessions.set_note(fork["key"], 1, text="from a script")
    assert sessions.session(fork["key"])["app"] == "faulty"
    assert [each["actor"] for each in sessions.notes(fork["key"])] == ["nightly check"]


def test_closing_the_client_ends_its_streams_and_downloads(server, sessions) -> None:
    key = sessions.new_session("faulty")["key"]
    with Client(server.url, TOKEN) as client:
        stream = client.stream(key, after=0)
        client.set_note(key, 0, text="look here")
        position = client.wait(client.start_run(key, message="hello"))
        assert next(stream)["type"] in {"event", "position"}
        pieces = client.export_session(key, format="html")
        assert next(pieces).startswith(b"<!doctype html>")
    assert position["status"] == "done"
    assert list(stream) == []
    assert list(pieces) == []


def test_an_exported_session_is_imported(sessions) -> None:
    key = sessions.new_session("faulty")["key"]
    sessions.wait(sessions.start_run(key, message="hello"))
    bundle = b"".join(sessions.export_session(key))
    copy = sessions.import_session(BytesIO(bundle), ids="new")
    assert copy["events"] == len(sessions.events(key))


@pytest.mark.parametrize(
    ("names", "constant", "message"),
    [
        ({"GET /none": "none"}, {"GET /gone"}, "no such routes"),
        ({}, set(), "name the methods .* /openapi.json"),
        ({}, {"GET /docs"}, "needed in CONSTANT"),
        ({}, {"GET /run_live"}, "needed in CONSTANT"),
        (client_files.ADK_NAMES, {"GET /debug/trace/{event}"}, "needed in CONSTANT"),
    ],
    ids=["no route", "no method", "a page", "refused", "a second address"],
)
def test_an_adk_route_without_a_method_must_be_listed_as_such(names, constant, message) -> None:
    adk = [each for each in endpoints() if each.family in {ADK, DEVELOPMENT}]
    with pytest.raises(AssertionError, match=message):
        client_files.named(adk, names, constant)


def test_the_answers_of_adks_endpoints_match_their_types(tmp_path) -> None:
    """mypy checks these calls (pyproject.toml); here they are made."""
    agents = write_apps(tmp_path)
    (agents / client_calls.APP / "extra.yaml").write_text("name: extra\n", encoding="utf-8")
    with running(agents, tmp_path / "data") as server, Client(server.url, TOKEN) as client:
        client_calls.call_every_method(client)
        assert client_calls.failure(client) == "ValueError: no such thing"
    source = Path(client_calls.__file__).read_text(encoding="utf-8")
    assert set(re.findall(r"adk\.(\w+)\(", source)) == set(client_files.ADK_NAMES.values())


def test_errors_have_a_class_a_status_and_a_readable_message(server, sessions) -> None:
    cases = [
        (lambda: sessions.run("no-such-run"), NotFoundError, 404),
        (lambda: sessions.session(99999), NotFoundError, None),
        (lambda: sessions.search("is:nonsense"), BadRequestError, 400),
        (lambda: sessions.import_spans({"resourceSpans": 1}), BadRequestError, 400),
        (lambda: Client(server.url, "wrong").jobs(), AuthenticationError, 401),
        (lambda: Client("http://127.0.0.1:1").jobs(), UnavailableError, None),
        (lambda: Client.of_folder(server.data / "elsewhere"), UnavailableError, None),
    ]
    for call, kind, status in cases:
        with pytest.raises(DevuiError) as failed:
            call()
        assert (type(failed.value), failed.value.status) == (kind, status)
        assert len(failed.value.message) > 20
        assert "{" not in failed.value.message
