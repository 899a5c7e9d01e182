"""Lines of code open in the editor of the person who runs the server."""

import re
import shlex
import sys
import time
from pathlib import Path

import pytest
from httpx2 import Client, Response

from devui.web.panels.editor.editors import Editor
from tests.kit.debugged_run import DebuggedRun
from tests.kit.patience import PATIENCE
from tests.kit.server import SAMPLES, running

HTML = {"Accept": "text/html"}


@pytest.fixture
def editor(tmp_path: Path) -> Path:
    """A program that writes down what it is told to open."""
    program = tmp_path / "ed.py"
    program.write_text("import sys, pathlib\npathlib.Path(sys.argv[1]).write_text(sys.argv[2])\n")
    return program


def ask(client: Client, place: str) -> Response:
    """Press the page's button for a place."""
    own = {"Origin": str(client.base_url).rstrip("/")}
    return client.post("/editor", data={"place": place}, headers=own)


def places_of_a_bug(client: Client) -> set[str]:
    """The places that buttons open, on a page with a held write and later with a traceback."""
    point = client.post("/api/apps/faulty/breakpoints", json={"on": "state", "name": "bill"})
    run = DebuggedRun(client, "faulty").start("Split the bill", pause=False)
    run.settled()
    pages = [client.get(f"/sessions/{run.key}?tab=state", headers=HTML).text]
    client.delete(f"/api/apps/faulty/breakpoints/{point.json()['id']}")
    assert run.tell("continue")["status"] == "failed"
    pages.append(client.get(f"/sessions/{run.key}", headers=HTML).text)
    return set(re.findall(r'form="open-place" name="place" value="([^"]+)"', "".join(pages)))


def test_a_line_of_an_agent_is_opened_but_no_other_file(editor: Path, tmp_path: Path) -> None:
    opened = tmp_path / "opened"
    words = [sys.executable, editor, opened, "{file}:{line}"]
    command = " ".join(shlex.quote(str(word)) for word in words)
    with (
        running(SAMPLES, tmp_path / "data", DEVUI_EDITOR=command) as server,
        server.client() as client,
    ):
        refused = {
            "travel/nothing.py:3": 404,
            "../README.md:1": 404,
            "/etc/passwd:1": 404,
            "travel/agent.py": 400,
            "travel/agent.py:0": 400,
        }
        for place, status in refused.items():
            answer = ask(client, place)
            assert answer.status_code == status, answer.text
        places = places_of_a_bug(client)
        assert places >= {"faulty/bill.py:13 in read_bill", f"{SAMPLES}/faulty/bill.py:33"}
        answer = ask(client, "travel/agent.py:12 in book")
        assert answer.status_code == 204, answer.text
        line = f"{SAMPLES / 'travel' / 'agent.py'}:12"
        deadline = time.monotonic() + PATIENCE
        while not (opened.exists() and opened.read_text()) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert opened.read_text() == line


def test_lines_of_an_app_that_is_served_alone_are_opened(tmp_path: Path) -> None:
    with running(SAMPLES / "faulty", tmp_path / "data") as server, server.client() as client:
        client.cookies.set("editor", "vscode")
        places = places_of_a_bug(client)
        assert "faulty/bill.py:13 in read_bill" in places
        assert [ask(client, place).status_code for place in places] == [204] * len(places)
        assert ask(client, "travel/agent.py:1").status_code == 404


def test_a_browser_with_a_chosen_editor_gets_its_url(tmp_path: Path) -> None:
    with running(SAMPLES, tmp_path / "data") as server, server.client() as client:
        page = client.get("/", headers=HTML).text
        assert '<button type="button" data-editor="cursor">Cursor</button>' in page
        assert "cursor://" not in page
        file = SAMPLES / "travel" / "agent.py"
        for name, address in {
            "vscode": f"vscode://file{file}:12",
            "cursor": f"cursor://file{file}:12",
            "pycharm": f"pycharm://open?file={file}&line=12",
        }.items():
            client.cookies.set("editor", name)
            answer = ask(client, "travel/agent.py:12 in book")
            assert (answer.status_code, answer.headers["X-Devui-Address"]) == (204, address)
            refused = ask(client, "../README.md:1")
            assert (refused.status_code, "X-Devui-Address" in refused.headers) == (404, False)
        client.cookies.set("editor", "javascript")
        assert "X-Devui-Address" not in ask(client, "travel/agent.py:12").headers


def test_an_editor_that_cannot_be_started_is_named(tmp_path: Path) -> None:
    with (
        running(SAMPLES, tmp_path / "data", DEVUI_EDITOR="/nowhere/vim") as server,
        server.client() as client,
    ):
        answer = ask(client, "travel/agent.py:1")
        assert (answer.status_code, "vim didn't start" in answer.text) == (422, True)


@pytest.mark.parametrize(
    ("command", "name", "arguments"),
    [
        ("code", "VS Code", ["code", "--goto", "/a b.py:7"]),
        ("/opt/pycharm --wait", "PyCharm", ["/opt/pycharm", "--wait", "--line", "7", "/a b.py"]),
        ("gedit +{line} {file}", "gedit", ["gedit", "+7", "/a b.py"]),
        ("notepad", "notepad", ["notepad", "/a b.py"]),
    ],
)
def test_a_command_gets_file_and_line(command: str, name: str, arguments: list[str]) -> None:
    editor = Editor.parse(command)
    assert editor is not None
    assert (editor.name, editor.arguments(Path("/a b.py"), 7)) == (name, arguments)


def test_an_empty_variable_means_no_editor(tmp_path: Path) -> None:
    assert Editor.find({"DEVUI_EDITOR": " ", "PATH": "/usr/bin"}) is None
    assert Editor.find({"PATH": str(tmp_path)}) is None
    (tmp_path / "cursor").touch(mode=0o755)
    editor = Editor.find({"PATH": str(tmp_path)})
    assert editor is not None
    assert editor.name == "Cursor"
