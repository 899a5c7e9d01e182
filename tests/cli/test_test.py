"""A session becomes a test that plays without a server and fails if the agent diverges."""

import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.kit.debugged_run import DebuggedRun
from tests.kit.server import Server, running, write_app
from tests.kit.terminal import Terminal, devui

TRIP = '''
import os

from devui.runtime.agents import Agent
from devui.runtime.models import Call, Rule, Say, ScriptedLlm

LIVE = "LOG"
INSTRUCTION = "Book a trip."


def book(city: str, tool_context) -> dict:
    """Book a flight."""
    with open(LIVE, "a") as log:
        log.write(city + chr(10))
    tool_context.state["city"] = city
    tool_context.state["temp:seat"] = 12
    return {"booked": city, "secret": os.environ.get("BOOKING_TOKEN", "")}


def polite(callback_context, llm_response):
    """What is changed in the tests."""


model = ScriptedLlm(
    rules=[
        Rule(after="book", then=Say("Booked:\\n- \\u201cOslo\\u201d\\n- \\u202eseat 12", chunks=3)),
        Rule(user=r"to (?P<city>\\w+)", then=Call("book", city="{city}")),
        Rule(then=Say("Where to?")),
    ]
)
root_agent = Agent(
    name="trip", model=model, tools=[book], instruction=INSTRUCTION, after_model_callback=polite
)
'''
CHANGED = '"""What is changed in the tests."""'
EXPECTED = """\
def test_i_want_to_oslo() -> None:
    # The user says: "I want to Oslo"
    result = play(AGENT, HERE / "test_trip.recordings/2.json")

    assert result.error is None
    assert result.agents == ["trip"]
    assert result.tools == [("book", {"city": "Oslo"})]
    assert result.text == "Booked:\\n- “Oslo”\\n- \\u202eseat 12"
    assert result.state["city"] == "Oslo"
    assert result.as_recorded, result.difference
"""
SECRET = "booking-token-2f8a91"


class Stage:
    """A server with a session of two runs, and the log of what its tool did."""

    def __init__(self, folder: Path, server: Server, client: Any) -> None:
        self.folder, self.server = folder, server
        self.terminal = Terminal(server)
        self.agent = folder / "agents" / "trip" / "agent.py"
        self.session = DebuggedRun(client, "trip").start("Hello!", pause=False)
        self.session.settled()
        self.session.start("I want to Oslo", pause=False).settled()

    @property
    def live(self) -> list[str]:
        return (self.folder / "live.log").read_text().split()

    def play(self, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
        """Run `devui test` in the folder, without pytest's cache."""
        cache = ("-p", "no:cacheprovider")
        return devui("test", *arguments, "--", *cache, cwd=self.folder, **env)

    def change(self, old: str, new: str, *more: tuple[str, str]) -> None:
        text = source(self.folder)
        for before, after in ((old, new), *more):
            text = text.replace(before, after)
        self.agent.write_text(text)


def source(folder: Path) -> str:
    return TRIP.replace("LOG", str(folder / "live.log"))


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    folder = tmp_path_factory.mktemp("kept")
    write_app(folder / "agents", "trip", source(folder))
    (folder / "agents" / ".env").write_text(f"BOOKING_TOKEN={SECRET}\n")
    with running(folder / "agents", folder / "data") as server, server.client() as client:
        yield Stage(folder, server, client)


@pytest.fixture(autouse=True)
def unchanged(stage: Stage) -> Iterator[None]:
    """Restores the recorded agent and its log for each test."""
    stage.change("", "")
    yield
    stage.change("", "")
    (stage.folder / "live.log").write_text("Oslo\n")


def test_a_session_becomes_a_test_that_plays_without_a_server(stage: Stage, tmp_path) -> None:
    done = stage.terminal("make-test", str(stage.session.key), "-o", "tests/test_trip.py")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "wrote tests/test_trip.py and 2 recordings beside it",
        "left out: a value of .env, 3 times",
        "run it with: devui test tests/test_trip.py",
    ]
    files = [path for path in (stage.folder / "tests").rglob("*") if path.is_file()]
    texts = [path.read_text() for path in files]
    assert not [text for text in texts if SECRET in text]
    code = (stage.folder / "tests" / "test_trip.py").read_text()
    assert code[code.index("def test_i") :] == EXPECTED
    before, report = stage.live, tmp_path / "report.xml"
    test_run = stage.play("tests", "--junit", str(report))
    assert test_run.returncode == 0, test_run.stdout + test_run.stderr
    assert stage.live == before == ["Oslo"]
    suite = ET.parse(report).getroot().find("testsuite")
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "0", "0")


def test_a_diverging_agent_fails_its_test_with_the_reason(stage: Stage) -> None:
    strict = ("make-test", str(stage.session.key), "-o", "astray/test_trip.py")
    assert stage.terminal(*strict).returncode == 0
    for file in (stage.folder / "astray").rglob("*.json"):  # as an older devui would write it
        recording = json.loads(file.read_text())
        recording["engine"]["version"] = "1.2.3"
        file.write_text(json.dumps(recording))
    lenient = (*strict[:3], "astray/test_texts.py", "--check", "text", "--check", "state")
    assert stage.terminal(*lenient).returncode == 0

    stage.change("Book a trip.", "Book two trips.")
    test_run = stage.play("astray")
    assert test_run.returncode == 1
    assert (
        "trip sent its model a different request than recorded: system differs." in test_run.stdout
    )
    assert '+ "Book two trips.' in test_run.stdout
    assert "recorded on" not in test_run.stdout
    assert "2 failed, 2 passed" in test_run.stdout

    stage.change(CHANGED, 'llm_response.content.parts[0].text = "No."')
    test_run = stage.play("astray/test_texts.py")
    assert test_run.returncode == 1
    assert "assert 'No.' == 'Where to?'" in test_run.stdout

    stage.change(CHANGED, "import socket; socket.create_connection(('127.0.0.1', 9), 1)")
    test_run = stage.play("astray/test_texts.py")
    assert test_run.returncode == 1
    assert "replays make no live calls" in test_run.stdout
    assert stage.live == ["Oslo"]


def test_refresh_records_changed_runs_again_and_reports_differences(stage: Stage) -> None:
    key = str(stage.session.key)
    assert stage.terminal("make-test", key, "-o", "anew/test_trip.py").returncode == 0
    files = sorted((stage.folder / "anew").rglob("*.json"))
    contents = [file.read_bytes() for file in files]

    # Only changed requests are made live: one to the model, none to the tool.
    stage.change('"Book a trip."', '"Book a trip.{city?}"')
    changed = stage.play("anew", "--refresh")
    assert changed.returncode == 0, changed.stdout + changed.stderr
    assert changed.stdout.splitlines()[-4:] == [
        "anew/test_trip.recordings/2.json: recorded again",
        "  reason: trip sent its model a different request than recorded: system differs.",
        "  live calls: the model of trip",
        "  same outcome: agents, tools, text and state",
    ]
    assert stage.live == ["Oslo"]
    same = [file.read_bytes() == before for file, before in zip(files, contents, strict=True)]
    assert same == [True, False]
    assert stage.play("anew").returncode == 0

    # A person judges the new outcome; a run that fails now is not recorded.
    bergen = ('Call("book", city="{city}")', 'Call("book", city="Bergen")')
    stage.change("Book a trip.", "Book to Bergen.", bergen)
    other = stage.play("anew/test_trip.py", "--refresh")
    assert other.returncode == 1
    assert '  tools: book(city="Oslo") → book(city="Bergen")' in other.stdout
    assert "if a check fails on a new recording, edit it" in other.stdout
    assert stage.live == ["Oslo", "Bergen"]
    assert not [file for file in files if SECRET in file.read_text()]
    contents = [file.read_bytes() for file in files]
    stage.change(CHANGED, "raise OSError('the line is down')")
    failed = stage.play("anew/test_trip.py", "--refresh")
    assert (failed.returncode, "it fails now: OSError: the line is" in failed.stdout) == (1, True)
    assert [file.read_bytes() for file in files] == contents


def test_tests_that_cannot_be_made_or_run_are_refused_with_the_reason(stage: Stage) -> None:
    key = str(stage.session.key)
    done = stage.terminal("make-test", key, "--list")
    assert '[x] state:city   Final state city: "Oslo"' in done.stdout
    unknown = stage.terminal("make-test", key, "--check", "color")
    assert (unknown.returncode, "'color'; run with --list" in unknown.stderr) == (2, True)
    assert stage.terminal("make-test", key, "--run", "none").returncode == 5
    first = stage.terminal("make-test", key, "-o", "twice/test_trip.py", "--check", "text")
    again = stage.terminal("make-test", key, "-o", "twice/test_trip.py")
    assert (first.returncode, again.returncode) == (0, 2)
    assert "use --force to overwrite it" in again.stderr
    assert "result.tools" not in (stage.folder / "twice" / "test_trip.py").read_text()
    test_file = stage.folder / "agents" / "test_spoken.py"
    test_file.write_text('TEXT = "import devui.testing"\n')
    nothing = stage.play("agents")
    assert (nothing.returncode, "devui make-test" in nothing.stderr) == (2, True)
    (stage.folder / "bare").mkdir()
    (stage.folder / "bare" / "sitecustomize.py").write_text(
        "import sys; sys.modules['pytest'] = None"
    )
    bare = stage.play("twice", PYTHONPATH=str(stage.folder / "bare"))
    assert (bare.returncode, f"{sys.executable} -m pip install pytest" in bare.stderr) == (2, True)
    (stage.folder / "twice" / "test_trip.py").write_text("import devui.testing\nthis is none\n")
    assert stage.play("twice").returncode == 2
