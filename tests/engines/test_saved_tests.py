"""Tests made from sessions play on the engine, and in the Python, that recorded them."""

import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from devui.worker import standalone
from tests.kit.debugged_run import DebuggedRun
from tests.kit.oracle import adk_python, needs_adk
from tests.kit.server import running, write_app
from tests.kit.terminal import Terminal, devui, environment

pytestmark = needs_adk

KIOSK = '''
import time

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.tools import FunctionTool
from google.genai import types


class Script(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        last = llm_request.contents[-1].parts[-1]
        if last.function_response:
            sold = last.function_response.response.get("sold")
            part = types.Part(text=f"Sold: {sold}." if sold else "May I?")
            for word in part.text.split():
                chunk = types.Content(role="model", parts=[types.Part(text=word)])
                yield LlmResponse(content=chunk, partial=True)
        else:
            part = types.Part.from_function_call(name="sell", args={"what": last.text})
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


def sell(what: str, tool_context) -> dict:
    """Sell something."""
    tool_context.state["sold"] = what
    return {"sold": what}


def clock(callback_context, llm_request):
    """Writes what differs with every run."""
    callback_context.state["temp:started"] = time.time()


def note(tool, args, tool_context):
    """Writes an id that is new with every run."""
    tool_context.state["asked"] = tool_context.function_call_id


root_agent = LlmAgent(
    name="kiosk",
    model=Script(model="script"),
    instruction="Sell things.",
    tools=[FunctionTool(sell, require_confirmation=True)],
    before_model_callback=clock,
    before_tool_callback=note,
    output_key="answer",
)
'''
PYTHON = str(adk_python())
QUIET = ("--", "-p", "no:cacheprovider")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    write_app(folder / "agents", "kiosk", KIOSK)
    return folder


@pytest.fixture(scope="module")
def server(folder):
    with running(folder / "agents", folder / "data", "--python", PYTHON) as server:
        yield server


@pytest.fixture(scope="module")
def session(server, folder):
    """A confirmed sale, and the test made from it in `tests`."""
    with server.client() as client:
        debugged = sale(client)
        made = Terminal(server)("make-test", str(debugged.key), "-o", "tests/test_kiosk.py")
        assert made.returncode == 0, made.stderr
        yield debugged


def sale(client):
    """Ask for tea and confirm it, in two runs."""
    debugged = DebuggedRun(client, "kiosk").start("tea", pause=False)
    assert debugged.settled()["status"] == "done"
    [call] = [
        part["functionCall"]
        for event in debugged.kept()["events"]
        for part in event["content"]["parts"]
        if part.get("functionCall", {}).get("name") == "adk_request_confirmation"
    ]
    answer = {"id": call["id"], "name": call["name"], "response": {"confirmed": True}}
    message = {"role": "user", "parts": [{"functionResponse": answer}]}
    assert debugged.start(message, pause=False).settled()["status"] == "done"
    return debugged


def recordings(folder):
    return sorted((folder / "tests" / "test_kiosk.recordings").iterdir())


def recording(folder):
    return json.loads(recordings(folder)[1].read_text())


def test_a_recording_names_its_engine(session, folder):
    code = "from importlib.metadata import version; print(version('google-adk'))"
    version = subprocess.check_output([PYTHON, "-c", code], text=True).strip()
    assert recording(folder)["engine"] == {"name": "google-adk", "version": version}


def test_a_test_plays_where_it_was_recorded(session, folder):
    played = devui("test", "--python", PYTHON, "tests", *QUIET, cwd=folder)
    assert played.returncode == 0, played.stdout + played.stderr
    assert "2 passed" in played.stdout


def plain_pytest(folder, python):
    command = [sys.executable, "-m", "pytest", "tests", "-p", "no:cacheprovider"]
    variables = environment(DEVUI_WORKER_PYTHON=python)
    return subprocess.run(
        command, cwd=folder, env=variables, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_plain_pytest_uses_the_interpreter_named_in_the_environment(session, folder):
    played = plain_pytest(folder, PYTHON)
    assert played.returncode == 0, played.stdout + played.stderr


@pytest.mark.parametrize(
    ("python", "words"),
    [
        ("nowhere", "DEVUI_WORKER_PYTHON: 'nowhere' isn't a Python interpreter: name one"),
        ("bare", "google-genai is missing, pydantic is missing"),
    ],
)
def test_plain_pytest_says_why_an_interpreter_is_unusable(session, folder, python, words):
    venv.create(folder / "bare", with_pip=False)
    played = plain_pytest(folder, python)
    assert "2 failed" in played.stdout
    assert words in played.stdout


def test_an_agent_sees_its_interpreters_environment_as_activated(session, folder):
    """The same as in a worker."""
    agent = folder / "agents" / "kiosk" / "agent.py"
    seen = folder / "seen"
    look = "import os; print(os.environ['VIRTUAL_ENV'], os.environ['PATH'], file=open"
    agent.write_text(f"{look}({str(seen)!r}, 'w'))\n{KIOSK}")
    try:
        played = plain_pytest(folder, PYTHON)
    finally:
        agent.write_text(KIOSK)
    assert played.returncode == 0, played.stdout
    place = Path(PYTHON).parent
    assert seen.read_text().startswith(f"{place.parent} {place}{os.pathsep}")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "Sell things.",
            "Sell nothing.",
            [
                "kiosk sent its model a different request than recorded: system",
                '+ "Sell nothing.',
                "recorded on google-adk 1.2.3, played on google-adk ",
            ],
        ),
        (
            '["asked"] = tool_context.function_call_id',
            '["asked"] = "adk-another"',
            ["assert 'adk-another' == 'adk-", "2 failed"],
        ),
    ],
)
def test_a_changed_agent_fails_its_test(session, folder, old, new, expected):
    agent = folder / "agents" / "kiosk" / "agent.py"
    agent.write_text(KIOSK.replace(old, new))
    before = {file: file.read_text() for file in recordings(folder)}
    version = recording(folder)["engine"]["version"]
    for file, text in before.items():
        file.write_text(text.replace(f'"version": "{version}"', '"version": "1.2.3"'))
    try:
        played = devui("test", "--python", PYTHON, "tests", *QUIET, cwd=folder)
    finally:
        agent.write_text(KIOSK)
        for file, text in before.items():
            file.write_text(text)
    assert played.returncode == 1
    assert all(each in played.stdout for each in expected), played.stdout


def test_refresh_records_a_run_again_on_its_engine(session, folder):
    agent = folder / "agents" / "kiosk" / "agent.py"
    agent.write_text(KIOSK.replace("Sell things.", "Sell nothing."))
    before = {file: file.read_text() for file in recordings(folder)}
    try:
        played = devui("test", "--refresh", "--python", PYTHON, "tests", *QUIET, cwd=folder)
        assert "recorded again" in played.stdout, played.stdout + played.stderr
        assert played.returncode == 0
        assert recording(folder)["engine"]["name"] == "google-adk"
    finally:
        agent.write_text(KIOSK)
        for file, text in before.items():
            file.write_text(text)


def test_without_the_engine_the_test_says_what_to_do(session, folder):
    version = recording(folder)["engine"]["version"]
    played = devui("test", "tests", *QUIET, cwd=folder)
    assert played.returncode == 1
    assert f"1.json was recorded on google-adk {version}, which {sys.executable}" in played.stdout
    assert "--python" in played.stdout


def test_an_interpreter_that_cannot_run_agents_is_refused(session, folder):
    played = devui("test", "--python", "nowhere", "tests", *QUIET, cwd=folder)
    assert played.returncode == 2
    assert "isn't a Python interpreter" in played.stderr


def test_a_broken_agent_is_reported_with_its_traceback(session, folder):
    agent = folder / "agents" / "kiosk" / "agent.py"
    agent.write_text(f"{KIOSK}\nraise LookupError('no stock')\n")
    try:
        played = devui("test", "--python", PYTHON, "tests", *QUIET, cwd=folder)
    finally:
        agent.write_text(KIOSK)
    assert played.returncode == 1
    assert "LookupError: no stock" in played.stdout
    assert "kiosk/agent.py" in played.stdout


def test_an_agent_that_ends_its_process_fails_only_its_own_test(session, folder):
    agent = folder / "agents" / "kiosk" / "agent.py"
    begins = "    if not llm_request.contents[-1].parts[-1].function_response:\n"
    ends = f'{begins}        __import__("os")._exit(3)\n    callback_context'
    agent.write_text(KIOSK.replace("    callback_context", ends))
    try:
        played = devui("test", "--python", PYTHON, "tests", *QUIET, cwd=folder)
    finally:
        agent.write_text(KIOSK)
    assert f"{PYTHON} ended with status 3" in played.stdout
    assert "1 failed, 1 passed" in played.stdout


STUCK = """
import os, pathlib, signal, time

if not pathlib.Path({flag!r}).exists():
    os.kill(os.getppid(), signal.SIGALRM)
while not pathlib.Path({flag!r}).exists():
    time.sleep(0.05)
"""
LIMITED = """
import signal
from pathlib import Path

import pytest
from devui.testing import play

HERE = Path(__file__).parent
AGENT = HERE.parent / "agents" / "kiosk"


def test_goes_on_after_a_time_limit():
    def late(*_):
        raise TimeoutError

    signal.signal(signal.SIGALRM, late)
    with pytest.raises(TimeoutError):
        play(AGENT, HERE / "test_kiosk.recordings" / "1.json")
    Path({flag!r}).touch()
    result = play(AGENT, HERE / "test_kiosk.recordings" / "2.json")
    assert result.text == "Sold: tea."
"""


@pytest.mark.slow
def test_a_recording_is_played_afresh_after_a_time_limit(session, folder, tmp_path):
    """The answer for the interrupted recording is not taken for that of the next one."""
    # In a copy: this agent signals its parent, which would be the server that reloads its app.
    for name in ("agents", "tests"):
        shutil.copytree(folder / name, tmp_path / name)
    flag = str(tmp_path / "flag")
    test = tmp_path / "tests" / "test_limited.py"
    test.write_text(LIMITED.format(flag=flag))
    agent = tmp_path / "agents" / "kiosk" / "agent.py"
    agent.write_text(STUCK.format(flag=flag) + KIOSK)
    played = devui("test", "--python", PYTHON, str(test), *QUIET, cwd=tmp_path)
    assert "1 passed" in played.stdout, played.stdout


@pytest.mark.slow
def test_a_thread_started_by_an_agent_does_not_block_pytest(session, folder):
    agent = folder / "agents" / "kiosk" / "agent.py"
    agent.write_text(
        f"{KIOSK}\n__import__('threading').Thread(target=time.sleep, args=[600]).start()"
    )
    try:
        played = devui("test", "--python", PYTHON, "tests", *QUIET, cwd=folder)
    finally:
        agent.write_text(KIOSK)
    assert "2 passed" in played.stdout


@pytest.mark.slow
def test_the_page_runs_the_test_in_the_servers_interpreter(session, folder, server):
    form = {"file": "tests/test_kiosk.py", "play": "yes"}
    with server.client() as client:
        answer = client.post(
            f"/sessions/{session.key}/test", data=form, headers={"Origin": str(client.base_url)}
        )
    page = answer.text
    assert "2 passed" in page
    assert f"devui test --python {PYTHON} tests/test_kiosk.py" in page


def test_a_run_recorded_on_devuis_engine_plays_on_it(folder, tmp_path):
    """In a process that has imported google-adk, where either engine could play it."""
    options = ("--python", PYTHON, "--engine", "devui")
    with (
        running(folder / "agents", tmp_path / "data", *options) as server,
        server.client() as client,
    ):
        session = sale(client)
        answer = client.get(f"/api/sessions/{session.key}/recording").json()
    assert answer["engine"]["name"] == "devui"
    file = tmp_path / "1.json"
    file.write_text(json.dumps(answer))
    code = (
        "import runpy, sys; runpy.run_path(sys.argv[1]); from devui.testing import play;"
        "result = play(*sys.argv[2:]); print(result.text, result.events[0].author);"
        "print(result.difference)"
    )
    command = [PYTHON, "-P", "-c", code, standalone.__file__, folder / "agents" / "kiosk", file]
    printed = subprocess.check_output(command, text=True)
    assert printed.splitlines() == ["Sold: tea. user", "None"]
