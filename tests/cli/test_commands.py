"""`devui` and its commands: which one runs, what help says, what is imported."""

import subprocess
import sys

import pytest

from tests.kit.server import ROOT, running, write_app
from tests.kit.terminal import devui

HELLO = """
from devui.runtime.agents import Agent
from devui.runtime.models import Rule, Say, ScriptedLlm
root_agent = Agent(name="hello", model=ScriptedLlm(rules=[Rule(then=Say("hi"))]))
"""


def test_help_shows_the_usage_and_the_commands(tmp_path):
    help_text = devui("--help", cwd=tmp_path).stdout
    assert "[OPTIONS] [AGENTS_DIR]" in help_text
    assert "--no-browser" in help_text
    for name in ("web", "resume", "compare", "dbg"):
        assert f"\n  {name} " in help_text


@pytest.mark.parametrize("arguments", [["nowhere"], ["web", "nowhere"], ["api_server", "nowhere"]])
def test_the_ui_is_the_default_command(tmp_path, arguments):
    done = devui(*arguments, "--no-browser", cwd=tmp_path)
    assert (done.returncode, "nowhere is not a folder" in done.stderr) == (2, True)


def test_options_without_a_command_are_the_uis(tmp_path):
    assert "99999" in devui("--port", "99999", cwd=tmp_path).stderr


def test_a_folder_named_like_a_command_is_opened_by_its_path(tmp_path):
    write_app(tmp_path / "resume", "hello", HELLO)
    for index, name in enumerate(("./resume", str(tmp_path / "resume"))):
        with running(name, tmp_path / f"data{index}") as server, server.client() as client:
            assert client.get("/list-apps").json() == ["hello"]


def test_the_terminal_imports_nothing_of_the_server():
    heavy = ("starlette", "uvicorn", "aiosqlite", "jinja2", "pydantic", "devui.debugger")
    code = (
        "import sys, devui.cli.dbg.command, devui.cli.resume\n"
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_the_ui_imports_nothing_of_the_terminal():
    names = "[name for name in sys.modules if name.startswith('devui.cli.')]"
    code = f"import sys, devui.cli.web\nprint(sorted({names}))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    own = ("commands", "options", "web")
    assert done.stdout == f"{[f'devui.cli.{name}' for name in own]}\n"
