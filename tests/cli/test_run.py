"""`devui run`: an agent answers in the terminal, with the running server or one of its own."""

import json
import shlex
import subprocess
import sys

import pytest

from tests.kit.asking_apps import ASKS, NEEDS_KEY
from tests.kit.oracle import adk_python, needs_adk
from tests.kit.pseudo_terminal import CTRL_C, CTRL_D, PseudoTerminal
from tests.kit.server import SAMPLES, running, write_app
from tests.kit.terminal import Terminal, devui, environment

ECHO = """
import asyncio
from devui.runtime.agents import Agent
from devui.runtime.models import Call, Fail, Rule, Say, ScriptedLlm


async def wait() -> str:
    await asyncio.Event().wait()


def count(tool_context) -> int:
    tool_context.state["n"] = tool_context.state.get("n", 0) + 1
    print("counting")
    return tool_context.state["n"]


script = [
    Rule(after="count", then=Say("n is {result}")),
    Rule(user="wait", then=Call("wait")),
    Rule(user="count", then=Call("count")),
    Rule(user="fail", then=Fail(raises=ValueError("no luck"))),
    Rule(then=[Say("well", thought=True), Say("you said {user}")]),
]
root_agent = Agent(name="Parrot", model=ScriptedLlm(rules=script), tools=[wait, count])
"""

ON_ADK = """
from google.adk.agents import BaseAgent
from google.adk.events import Event
from google.genai import types


class Hears(BaseAgent):
    async def _run_async_impl(self, ctx):
        text = f"{BaseAgent.__module__.rpartition('.')[0]} heard {ctx.user_content.parts[0].text}"
        yield Event(author=self.name, content=types.ModelContent(text))


root_agent = Hears(name="hears")
"""

LOGS = """
import logging
from devui.runtime.agents import Agent
from devui.runtime.models import Call, Rule, Say, ScriptedLlm


def look() -> str:
    try:
        raise ValueError("no luck")
    except ValueError:
        logging.getLogger("shop").exception("it broke")
    return "ok"


script = [Rule(after="look", then=Say("fine")), Rule(then=Call("look"))]
root_agent = Agent(name="logs", model=ScriptedLlm(rules=script), tools=[look])
"""

FAILS_ON_ADK = """
from google.adk.agents import Agent
from google.adk.models import BaseLlm, LlmResponse
from google.genai import types


class Caller(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        part = types.Part.from_function_call(name="charge", args={})
        usage = types.GenerateContentResponseUsageMetadata(
            prompt_token_count=1, candidates_token_count=1
        )
        yield LlmResponse(content=types.ModelContent(part), usage_metadata=usage)


def charge() -> dict:
    raise ConnectionError("gateway: 503")


root_agent = Agent(name="fails", model=Caller(model="caller"), tools=[charge])
"""

STUMBLES = """
from devui.runtime.agents import BaseAgent
from devui.runtime.events import Event
from google.genai import types


class Stumbles(BaseAgent):
    async def _run_async_impl(self, ctx):
        yield Event(author=self.name, error_code="BUSY", error_message="try later")
        yield Event(author=self.name, content=types.ModelContent("all is well"))


root_agent = Stumbles(name="stumbles")
"""


@pytest.fixture
def place(tmp_path):
    write_app(tmp_path / "agents", "echo", ECHO)
    write_app(tmp_path / "agents", "asks", ASKS)
    return tmp_path


def sessions(place):
    with running(place / "agents", place / ".devui") as server, server.client() as client:
        return client.get("/api/sessions").json()["sessions"]


def test_only_the_answer_to_a_message_is_on_stdout(place):
    done = devui("run", "agents/echo", "hello", cwd=place)
    assert (done.returncode, done.stdout) == (0, "you said hello\n")
    assert "thinks: well" in done.stderr
    done = devui("run", "echo", "count", "--agents", "agents", "--state", '{"n": 4}', cwd=place)
    assert (done.returncode, done.stdout) == (0, "n is 5\n")
    assert "→ count()" in done.stderr
    assert "stdout: counting" in done.stderr
    assert [each["title"] for each in sessions(place)] == ["count", "hello"]


def test_an_agents_file_stands_for_its_folder(place):
    done = devui("run", "agents/echo/agent.py", "hello", cwd=place)
    assert (done.returncode, done.stdout) == (0, "you said hello\n")


def test_a_question_in_memory_says_that_the_session_was_deleted(place):
    done = devui("run", "agents/asks", "pay", "--in-memory", cwd=place)
    assert done.returncode == 2
    assert "--session-id" not in done.stderr
    assert "--in-memory has deleted the session" in done.stderr


def test_a_running_server_executes_the_run_and_has_the_session(place):
    with running(place / "agents", place / ".devui") as server, server.client() as client:
        done = devui("run", "agents/echo", "hello", "--session-id", "s1", cwd=place)
        assert (done.returncode, done.stdout) == (0, "you said hello\n"), done.stderr
        [session] = client.get("/api/sessions").json()["sessions"]
        assert (session["id"], session["app"], session["events"]) == ("s1", "echo", 2)
        done = devui("run", "nobody", "hello", cwd=place)
        assert (done.returncode, "it serves asks, echo" in done.stderr) == (5, True)


def test_piped_input_is_one_message(place):
    command = [sys.executable, "-m", "devui", "run", "agents/echo", "--in-memory"]
    for text, status in (("hello\nyou\n", 0), ("", 2)):
        done = subprocess.run(
            command, input=text, capture_output=True, text=True, cwd=place, env=environment()
        )
        assert (done.returncode, "hello\nyou" in done.stdout) == (status, status == 0)
    assert not (place / ".devui").exists()


def test_jsonl_prints_the_agents_events(place):
    done = devui("run", "agents/echo", "count", "--jsonl", cwd=place)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert {event["author"] for event in events} == {"Parrot"}
    assert [list(event)[:2] for event in events] == [["author", "session_id"]] * len(events)
    assert events[-1]["content"]["parts"][0]["text"] == "n is 1"
    assert [e["actions"] for e in events if "actions" in e] == [{"stateDelta": {"n": 1}}]


def test_a_run_that_fails_or_times_out_exits_with_1(place):
    done = devui("run", "agents/echo", "fail", cwd=place)
    assert (done.returncode, "ValueError: no luck" in done.stderr) == (1, True)
    done = devui("run", "agents/echo", "wait", "--timeout", "1s", cwd=place)
    assert (done.returncode, "stopped after 1 seconds" in done.stderr) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["agents", "hi"], "name one of them: asks, echo"),
        (["agents/echo/notes.py", "hi"], "is not the agent.py or root_agent.yaml of an app"),
        (["agents/none", "hi"], "there is no folder 'agents/none'"),
        (["agents/echo", "hi", "--state", "[]"], "--state must be a JSON object"),
        (["agents/echo", "hi", "--timeout", "soon"], "'soon' is not a time such as 30s or 5m"),
        (["agents/echo", "hi", "--resume", "nope"], "no session with number or id 'nope'"),
        (["other", "hi"], "there is no app 'other' in '.'"),
    ],
)
def test_invalid_arguments_are_refused_with_the_reason(place, arguments, words):
    (place / "agents" / "echo" / "notes.py").write_text("root_agent = 1")
    done = devui("run", *arguments, cwd=place)
    assert done.returncode in {2, 5}
    assert words in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_a_question_is_answered_by_the_next_command(place):
    options = ("--session-id", "s", "--engine", "devui")
    done = devui("run", "agents/asks", "pay", *options, cwd=place)
    assert (done.returncode, done.stdout) == (2, "")
    lines = done.stderr.splitlines()
    assert lines.count("  asks for confirmation: pay") == 2
    assert lines[-5:] == [
        "? Allow this call?",
        "  pay(amount=5)",
        "answer with yes (Confirm) or no (Reject):",
        "  devui run agents/asks --engine devui --session-id s yes",
        "1 more question after this one",
    ]
    done = devui("run", "agents/asks", "perhaps", "--session-id", "s", cwd=place)
    assert (done.returncode, "'Confirm', 'Reject'" in done.stderr) == (2, True)
    done = devui("run", "agents/asks", "yes", "--session-id", "s", cwd=place)
    assert (done.returncode, "paid 5" in done.stderr) == (2, True)  # one question is left
    done = devui("run", "agents/asks", "no", "--session-id", "s", cwd=place)
    assert (done.returncode, "is rejected" in done.stdout) == (0, True), done.stderr


def test_the_printed_answer_repeats_adks_session_option(place):
    option = ("--session_service_uri", "sqlite:///kept/my.db")
    done = devui("run", "agents/asks", "pay", *option, "--session-id", "s", cwd=place)
    printed = done.stderr.splitlines()[-2].strip()
    assert printed == f"devui run agents/asks {' '.join(option)} --session-id s yes"
    done = devui(*shlex.split(printed)[1:], cwd=place)
    assert "paid 5" in done.stderr


def test_a_question_for_several_values_is_answered_with_json(place):
    devui("run", "agents/asks", "seats", "--session-id", "s", cwd=place)
    done = devui("run", "agents/asks", "two", "--session-id", "s", cwd=place)
    assert (done.returncode, "JSON object of seats, window" in done.stderr) == (2, True)
    answer = '{"seats": 2, "window": true}'
    done = devui("run", "agents/asks", answer, "--session-id", "s", cwd=place)
    assert (done.returncode, done.stdout.startswith("So ")) == (0, True), done.stderr


def test_adks_scripts_and_saved_sessions_are_replayed_and_continued(place):
    script = place / "script.json"
    script.write_text(json.dumps({"state": {"n": 10}, "queries": ["count", "count"]}))
    done = devui("run", "agents/echo", "--replay", "script.json", "--save_session", cwd=place)
    assert (done.returncode, done.stdout) == (0, "n is 11\nn is 12\n"), done.stderr
    [session_file] = (place / "agents" / "echo").glob("*.session.json")
    assert json.loads(session_file.read_text())["state"] == {"n": 12}
    done = devui("run", "agents/echo", "count", "--resume", str(session_file), cwd=place)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "n is 13")
    assert "n is 11" in done.stdout
    devui("export", "1", "-o", "bundle.json", "--agents", "agents", cwd=place)
    done = devui("run", "agents/echo", "--replay", "bundle.json", cwd=place)
    assert (done.returncode, done.stdout) == (0, "n is 11\nn is 12\n"), done.stderr
    done = devui("run", "agents/echo", "count", "--resume", "bundle.json", cwd=place)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "n is 13"), done.stderr


def test_a_script_without_queries_is_refused_with_an_example(place):
    (place / "x.json").write_text('{"queries": [1]}')
    done = devui("run", "agents/echo", "--replay", "x.json", cwd=place)
    assert (done.returncode, '"queries": ["…"]' in done.stderr) == (2, True)


def test_questions_are_answered_in_a_chat(place):
    with PseudoTerminal("run", "agents/asks", cwd=place) as terminal:
        terminal.until("you: ")
        terminal.type("pay")
        terminal.until("yes (Confirm) or no (Reject): ")
        terminal.type("perhaps")
        terminal.until("number from 1 to 2")
        terminal.until("yes (Confirm) or no (Reject): ")
        terminal.type("y")
        terminal.until("yes (Confirm) or no (Reject): ")
        terminal.type("2")
        terminal.until("asker: ")
        terminal.until("you: ")
        terminal.type("seats")
        terminal.until("seats")
        terminal.until(": ")
        terminal.type("two")
        terminal.until("yes or no): ")
        terminal.type("yes")
        terminal.until("seats: ")
        terminal.until("skips it): ")
        terminal.type("")
        terminal.until("not answered")
        terminal.until("you: ")
        terminal.type("exit")
        assert terminal.ended() == 0


def test_credentials_and_long_running_results_are_given_in_a_chat(place):
    write_app(place / "agents", "needs", NEEDS_KEY)
    with PseudoTerminal("run", "agents/needs", cwd=place) as terminal:
        terminal.until("you: ")
        terminal.type("read it")
        terminal.until("needs an API key.")
        terminal.until("API key")
        terminal.until(": ")
        terminal.type("secret-key-123")
        terminal.until('{"characters": 14}')
        terminal.until("you: ")
        terminal.type("ask the boss")
        terminal.until("skips it): ")
        terminal.type("no way")
        terminal.until("the boss says no way")
        terminal.until("you: ")
        terminal.press(CTRL_D)
        assert terminal.ended() == 0
    assert "secret-key-123" not in terminal.screen


@needs_adk
def test_an_agent_written_for_google_adk_runs_on_it(place):
    write_app(place / "agents", "theirs", ON_ADK)
    python = str(adk_python())
    done = devui("run", "agents/theirs", "hello", "--python", python, "--in-memory", cwd=place)
    assert (done.returncode, done.stdout) == (0, "google.adk.agents heard hello\n"), done.stderr


@needs_adk
def test_a_failure_is_printed_once_with_the_apps_lines(place):
    write_app(place / "agents", "theirs", FAILS_ON_ADK)
    python = str(adk_python())
    done = devui("run", "agents/theirs", "pay", "--python", python, "--in-memory", cwd=place)
    line = FAILS_ON_ADK.splitlines().index('    raise ConnectionError("gateway: 503")') + 1
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[1:] == [
        "  → charge()",
        "failed",
        "      ConnectionError: gateway: 503",
        f"        theirs/agent.py:{line} in charge",
        '          raise ConnectionError("gateway: 503")',
    ]


def test_an_error_is_printed_before_the_debugger_holds_the_run(place):
    write_app(place / "agents", "stumbles", STUMBLES)
    with running(place / "agents", place / ".devui") as server:
        terminal = Terminal(server)
        added = terminal("dbg", "break", "add", "event:text", "--app", "stumbles")
        assert added.returncode == 0, added.stderr
        with terminal.open("run", "stumbles", "hi") as run:
            run.complaint("paused by the debugger")
            assert "  BUSY: try later" in run.complaints
            assert terminal("dbg", "continue").returncode == 0
            status, _ = run.ended()
    assert (status, run.lines) == (0, ["all is well"])


def test_an_app_that_cannot_be_imported_fails_with_the_line(place):
    write_app(place / "agents", "torn", "from .missing import tools\n")
    done = devui("run", "agents/torn", "hi", cwd=place)
    assert done.returncode == 1
    assert "        torn/agent.py:1 in <module>" in done.stderr.splitlines()


def test_a_logged_traceback_is_printed_line_by_line(place):
    write_app(place / "agents", "logs", LOGS)
    done = devui("run", "agents/logs", "hi", cwd=place)
    assert (done.returncode, done.stdout) == (0, "fine\n")
    lines = done.stderr.splitlines()
    assert "      error: shop: it broke" in lines
    assert "        ValueError: no luck" in lines


def test_ctrl_c_stops_the_run_and_a_second_one_leaves(place):
    with PseudoTerminal("run", "agents/echo", cwd=place) as terminal:
        terminal.until("you: ")
        terminal.type("wait")
        terminal.until("→ wait()")
        terminal.press(CTRL_C)  # only once: a second one would leave
        terminal.until("stopping the run")
        terminal.until("you: ")
        terminal.type("hello")
        terminal.until("Parrot: you said hello")
        terminal.until("you: ")
        terminal.interrupt("press Ctrl-C again to leave")
        assert terminal.left() == 130
    with PseudoTerminal("run", "agents/echo", cwd=place) as terminal:
        terminal.until("you: ")
        terminal.press(CTRL_D)
        assert terminal.ended() == 0


def test_an_interrupted_message_exits_with_130(place):
    with PseudoTerminal("run", "agents/echo", "wait", cwd=place) as terminal:
        terminal.until("→ wait()")
        terminal.press(CTRL_C)
        assert terminal.ended() == 130
    assert [each["run"] for each in sessions(place)] == [None]


def test_the_samples_answer(place):
    done = devui("run", str(SAMPLES / "travel"), "Find a flight to London", cwd=place)
    assert (done.returncode, "three flights" in done.stdout) == (0, True), done.stderr
