"""`devui skill`: its content is true, and a shell client that follows it fixes a bug."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from devui.cli import main
from tests.kit import bug_hunt
from tests.kit.server import ROOT, running
from tests.kit.terminal import devui

SKILL = ROOT / "devui" / "skill"
PAGES = [SKILL / "SKILL.md", *sorted((SKILL / "reference").glob("*.md"))]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("skill")
    bug_hunt.copy_of_faulty(folder / "agents", "faulty")
    with running(folder / "agents", folder / "data") as server:
        yield server


def test_the_skill_is_one_page_that_links_to_the_others():
    page = PAGES[0].read_text(encoding="utf-8")
    assert len(page.splitlines()) <= 150
    assert re.match(r"---\nname: devui\ndescription: .{50,}\n---\n", page)
    links = set(re.findall(r"\]\((reference/\w+\.md)\)", page))
    assert links == {file.relative_to(SKILL).as_posix() for file in PAGES[1:]}


def commands_in(text: str) -> Iterator[list[str]]:
    """The words after `devui` in every piece of code."""
    for code in re.findall(r"^```sh\n(.*?)^ *```|`([^`\n]+)`", text, re.DOTALL | re.MULTILINE):
        for line in "".join(code).splitlines():
            if match := re.match(r"\s*devui (.+?)(?:\s+#.*)?$", line):
                yield match[1].split()


@pytest.mark.parametrize("file", PAGES, ids=lambda file: file.name)
def test_every_command_and_option_of_the_skill_exists(file):
    commands = [*commands_in(file.read_text(encoding="utf-8"))]
    assert len(commands) > 3
    for words in commands:
        command: click.Command = main
        if words[0] == "agents":
            words[0] = "web"
        while isinstance(command, click.Group) and words and re.match("[a-z]", words[0]):
            command = command.get_command(click.Context(command), words.pop(0))
            assert command is not None, f"no such command: {words}"
        known_options = {option for each in command.params for option in each.opts} | {"--help"}
        options = {word for word in words if re.match(r"--?[a-z]", word)}
        assert options - known_options <= {"--json"}, f"{command.name}: {options - known_options}"


def test_install_does_not_overwrite_files_of_others(tmp_path):
    assert devui("skill", cwd=tmp_path).stdout == PAGES[0].read_text(encoding="utf-8")
    assert "version 1" in devui("skill", "json", cwd=tmp_path).stdout
    assert devui("skill", "nothing", cwd=tmp_path).returncode == 2

    assert devui("skill", "--install", cwd=tmp_path).returncode == 0
    place = tmp_path / ".claude" / "skills" / "devui"
    files = {file.relative_to(place) for file in place.rglob("*.md")}
    assert files == {file.relative_to(SKILL) for file in PAGES}

    own = tmp_path / "skills" / "devui" / "SKILL.md"
    own.parent.mkdir(parents=True)
    own.write_text("mine")
    refusal = devui("skill", "--install", "skills", cwd=tmp_path)
    assert (refusal.returncode, "--force" in refusal.stderr) == (1, True)
    assert [file.name for file in own.parent.iterdir()] == ["SKILL.md"]
    assert devui("skill", "--install", "skills", "--force", cwd=tmp_path).returncode == 0
    assert own.read_text(encoding="utf-8") == PAGES[0].read_text(encoding="utf-8")


class Shell:
    """A coding agent with a shell, which reads JSON."""

    def __init__(self, terminal) -> None:
        self.terminal = terminal

    def __call__(self, *arguments, status: int = 0) -> list[dict]:
        done = self.terminal(*map(str, arguments), "--json")
        assert done.returncode == status, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]


def documented() -> dict[str, list[str]]:
    """The members that the page says each command prints, by command."""
    page = (SKILL / "reference" / "json.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `devui ([^`]+)`[^|]*\|[^|]*\| ([^|]+) \|$", page, re.MULTILINE)
    return {command: re.findall(r"`(\w+)`", members) for command, members in rows}


def test_a_shell_client_that_follows_the_skill_fixes_the_bug(terminal, server):
    shell, shapes = Shell(terminal), documented()
    app = server.agents / "faulty"

    def check(command: str, lines: list[dict]) -> list[dict]:
        missing = set(shapes.pop(command)) - lines[-1].keys()
        assert not missing, f"devui {command} has no {missing}"
        return lines

    ask = ("dbg", "start", "--new", "faulty", "--no-pause", bug_hunt.QUESTION)
    [*_, at] = check("dbg start", shell(*ask, status=1))
    assert at["status"] == "failed"
    check("dbg sessions", shell("dbg", "sessions"))
    check("dbg where", shell("dbg", "where"))
    check("dbg why", shell("dbg", "why"))
    [run] = check("dbg runs", shell("dbg", "runs"))
    file = re.search(r'File "([^"]+)"', run["error"]["traceback"])[1]
    keys = bug_hunt.keys_read(bug_hunt.function_at(Path(file), run["error"]["line"]))
    check("dbg state", shell("dbg", "state"))

    writes = [
        (key, write)
        for key in keys
        for write in shell("dbg", "blame", key)[0]["writes"]
        if isinstance(write["new"], float) and write["new"] < 0
    ]
    check("dbg blame KEY", shell("dbg", "blame", keys[0]))
    key, bad = writes[0]
    call = check("dbg prompt N", shell("dbg", "prompt", bad["number"]))[0]
    check("dbg prompt N --diff", shell("dbg", "prompt", bad["number"] + 1, "--diff"))
    check("dbg event N", shell("dbg", "event", bad["number"]))
    [[argument, value]] = call["sent"].items()

    right = {key: bad["old"] * (1 - value / 100)}
    fork = ("dbg", "fork", bad["number"], "--state", json.dumps(right), "--run")
    [fork_json, *_, proven] = shell(*fork)
    assert proven["status"] == "done"
    assert not set(shapes.pop("dbg fork N")) - fork_json.keys()
    last = check("dbg events", shell("dbg", "events", "-s", fork_json["key"], "--last", "1"))[0]
    assert bug_hunt.RIGHT in last["text"]

    bug_hunt.mend(*bug_hunt.definition_of(app, call["name"]), argument)
    rows = shell("dbg", "events", "-s", at["session"])
    calls = [row for row in rows if row["kind"] == "call" and row["number"] < bad["number"]]
    before = calls[-1]["number"] - 1
    again = shell("dbg", "fork", before, "--run", "--guard", "run", "-s", at["session"])
    assert again[-1]["status"] == "done"
    check("compare A B", shell("compare", at["session"], again[0]["key"], status=1))
    shell("dbg", "break", "add", "state:bill", "--if", "new < 0", "--app", "faulty")
    check("dbg break list", shell("dbg", "break", "list"))
    assert shell("dbg", "events", "--filter", "is:error", "-s", again[0]["key"]) == []
