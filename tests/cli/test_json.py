"""`--json` of every command prints what the table describes (devui/skill/reference/json.md)."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from devui.cli import main
from devui.client import Client
from tests.kit import bug_hunt
from tests.kit.patience import wait_until
from tests.kit.server import ROOT, TOKEN, running
from tests.kit.terminal import RunningCommand, devui

PAGE = ROOT / "devui" / "skill" / "reference" / "json.md"
SPEAKS_JSON = "mcp"


def table() -> Iterator[tuple[str, list[str]]]:
    """Each command of the table, with the members to rely on."""
    page = PAGE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`devui [^|]+) \|[^|]*\| ([^|]+) \|$", page, re.MULTILINE)
    for names, members in rows:
        first, *others = re.findall(r"`([^`]+)`", names)
        words = first.removeprefix("devui ")
        group = "dbg " if words.startswith("dbg ") else ""
        rest = (
            other.removeprefix("devui ") if other.startswith("devui ") else group + other
            for other in others
        )
        for command in (words, *rest):
            yield command, re.findall(r"`(\w+)`", members)


SHAPES = dict(table())


def names_of(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[str]:
    """The names of all commands, without groups."""
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            yield from names_of(command.get_command(click.Context(command), name), (*path, name))
    else:
        yield " ".join(path)


def plain_name(command: str) -> str:
    """The words of a row before its arguments."""
    return " ".join(word for word in command.split() if re.fullmatch("[a-z-]+", word))


def test_the_table_has_every_command():
    names = {plain_name(command.removesuffix(" --diff")) for command in SHAPES}
    assert names == set(names_of(main)) - {SPEAKS_JSON}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("json")
    bug_hunt.copy_of_faulty(folder / "agents", "faulty")
    with running(folder / "agents", folder / "data") as server:
        yield server


class Prints:
    """Runs commands with `--json`, and compares the last line of each with its row."""

    def __init__(self, server) -> None:
        self.server = server
        self.left = dict(SHAPES)

    def __call__(self, row: str, *arguments: object, own: bool = False, status: int = 0) -> dict:
        """Run a command; `own` means that it needs no server."""
        words = [*plain_name(row.removesuffix(" --diff")).split(), *map(str, arguments), "--json"]
        words += [] if own else ["--data-dir", str(self.server.data)]
        done = CliRunner().invoke(main, words)
        assert done.exit_code == status, (words, done.output)
        return self.compared(row, done.stdout)

    def compared(self, row: str, output: str) -> dict:
        """The last line, checked to have the members of its row."""
        last = json.loads(output.splitlines()[-1])
        for each in last if isinstance(last, list) else [last]:
            missing = set(SHAPES[row]) - each.keys()
            assert not missing, f"devui {row} has no {missing}"
        assert last, f"devui {row} printed nothing to compare"
        self.left.pop(row, None)
        return last


@pytest.fixture
def prints(server):
    return Prints(server)


def test_each_command_prints_the_members_in_the_table(prints, server, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failed = _look(prints)
    _control(prints)
    done = _go_on(prints, server)
    prints("compare A B", failed, done, status=1)
    _files(prints, server, done)
    _serve(prints, server)
    assert set(prints.left) == {"dbg attach"}, "no command proves these rows"


def _look(prints) -> int:
    """Inspect a failed run; return its session."""
    ask = ("--new", "faulty", "--no-pause", bug_hunt.QUESTION)
    at = prints("dbg start", *ask, status=1)
    assert at["status"] == "failed"
    for row in ("sessions", "runs", "events", "where", "why", "state", "usage", "trace", "tools"):
        prints(f"dbg {row}")
    prints("dbg event N", 1)
    prints("dbg blame KEY", "bill")
    prints("dbg prompt N", 4)
    prints("dbg prompt N --diff", 4, "--diff")
    prints("dbg note N", 1, "look here")
    prints("dbg notes")
    prints("dbg tag NAME", "slow")
    prints("dbg tags")
    prints("dbg try TOOL", "read_bill", '{"table": 7}', "--yes")
    prints("dbg fork N", 1)
    prints("dbg start", "--new", "faulty", "--no-pause", "divide by zero", status=1)
    assert "dividing 1 by 0" in prints("dbg log")["text"]
    return at["session"]


def _control(prints) -> None:
    """Edit and step a run that is held before a tool and before a commit."""
    number = prints("dbg break add", "tool:read_bill", "--app", "faulty")["id"]
    prints("dbg break list")
    at = prints("dbg start", "--new", "faulty", "--no-pause", bug_hunt.QUESTION)
    here = ("-s", at["session"])
    for row, *value in (("edit", '{"table": 8}'), ("mock", "{}"), ("reject", "no"), ("skip",)):
        prints(f"dbg {row}", *value, *here)
        prints("dbg undo", *here)
    for row, *options in (("change", "--hits", ">= 1"), ("disable",), ("enable",), ("rm",)):
        prints("dbg break rm N" if row == "rm" else f"dbg break {row}", number, *options)
    for row in ("out", "half", "into"):
        at = prints(f"dbg {row}", *here)
    while at["holds"][0]["gate"] != "before_commit":
        at = prints("dbg into", *here)
    prints("dbg drop", *here)
    for row in ("undo", "step", "pause", "finish"):
        prints(f"dbg {row}", *here)


def _go_on(prints, server) -> int:
    """Stop, resume, replay, end and rewind runs; return a session whose runs are done."""
    at = prints("dbg start", "--new", "faulty", "hello")
    here = ("-s", at["session"])
    prints("dbg step", *here)
    prints("dbg stop", *here)
    prints("resume", at["session"])
    prints("dbg start", "again", *here)
    assert prints("dbg continue", *here)["status"] == "done"
    prints("replay", at["session"])
    prints("run", "faulty", "hello")
    with Client(server.url, TOKEN) as client:
        key = client.new_session("faulty")["key"]
        run = client.start_run(key, message="loop forever")["run"]
        wait_until(lambda: client.activity(run)["calls"])
    prints("dbg end", "loop_forever", "-s", key)
    prints("dbg rewind", 1, "-s", key)
    return at["session"]


def _files(prints, server, session: int) -> None:
    """Write, read and check files in the current folder."""
    prints("export", session, "-o", "session.json")
    prints("import", "session.json", "--as-copy")
    test_file = prints("make-test", session, "-o", "tests/test_it.py")
    done = devui("test", test_file["test"], "--json", cwd=Path.cwd())
    assert done.returncode == 0, done.stderr
    assert prints.compared("test", done.stdout)["outcome"] == "passed"
    prints("prune", "--days", 1000)
    prints("link")
    prints("doctor", "--agents", server.agents)
    prints("backup", "-o", "copy")
    prints("create", "mine", own=True)
    assert prints("skill", own=True)["text"].startswith("---")


def _serve(prints, server) -> None:
    """Start another server, which prints how to sign in."""
    words = ("--port", "0", "--no-browser", "--json", "--data-dir", "other")
    with RunningCommand("web", str(server.agents), *words) as web:
        about = prints.compared("web", web.until("link"))
    assert about["link"].startswith(f"{about['url']}/login?")
    assert about["token"]
