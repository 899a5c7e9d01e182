"""`devui.serve` in real scripts: blocking, inside a running event loop, and killed."""

import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager

import httpx2
import pytest

from tests.kit.patience import PATIENCE
from tests.kit.server import ROOT, TOKEN

AGENT = '''
import devui
from devui.runtime.agents import LlmAgent
from devui.runtime.models.scripted_llm import Call, Rule, Say, ScriptedLlm

SEEN = []


def look(city: str) -> dict:
    """Looks at the sky."""
    print("looking at", city)
    SEEN.append(city)
    return {"result": "sunny"}


model = ScriptedLlm(rules=[Rule(after="look", then=Say("It is {result}.")),
                           Rule(then=Call("look", city="Rome"))])
agent = LlmAgent(name="guide", tools=[look], model=model)
'''
HERE = {"app_name": "guide", "user_id": "u", "session_id": "s"}
HELLO = {"role": "user", "parts": [{"text": "Hello"}]}
TURN = f"""
import httpx2


def turn(ui):
    headers = {{"Authorization": f"Bearer {{ui.token}}"}}
    with httpx2.Client(base_url=ui.url, headers=headers, timeout={PATIENCE}) as http:
        http.post("/apps/guide/users/u/sessions/s", json={{}}).raise_for_status()
        events = http.post("/run", json={{**{HERE!r}, "new_message": {HELLO!r}}}).json()
        return events[-1]["content"]["parts"][0]["text"]
"""


@contextmanager
def script(folder, text):
    """Run a script whose output can be read."""
    (folder / "mine.py").write_text(text, encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "mine.py"],
        cwd=folder,
        env={"PATH": os.defpath, "PYTHONPATH": str(ROOT), "DEVUI_TOKEN": TOKEN},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def output_of(folder, text) -> str:
    with script(folder, text) as process:
        said, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, said
    return said


def client(address: str) -> httpx2.Client:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    return httpx2.Client(base_url=address, headers=headers, timeout=PATIENCE)


AT_A_TERMINAL = """
import signal

signal.signal(signal.SIGINT, signal.default_int_handler)
"""
"""Makes Ctrl+C work even if the tests run in the background of a shell, which ignores it."""


def test_a_script_serves_its_agent_until_ctrl_c(tmp_path):
    last = "devui.serve(agent, port=0, open_browser=False)\nprint('seen', SEEN, flush=True)\n"
    with script(tmp_path, AT_A_TERMINAL + AGENT + last) as process:
        address = re.search(r"http://[\d.:]+", process.stdout.readline())[0]
        with client(address) as http:
            assert http.get("/list-apps").json() == ["guide"]
            assert "guide" in http.get("/").text
            assert http.post("/apps/guide/users/u/sessions/s", json={}).status_code == 200
            events = http.post("/run", json={**HERE, "new_message": HELLO}).json()
            assert events[-1]["content"]["parts"][0]["text"] == "It is sunny."
            [run] = http.get("/api/sessions/1/runs").json()["runs"]
            assert "looking at Rome" in http.get(f"/runs/{run['run']}/log").text
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, said
    assert "looking at Rome" in said, "what an agent prints is also printed here"
    assert "seen ['Rome']" in said, "the agent ran in the script's own process"
    assert (tmp_path / ".devui").is_dir()


def test_serve_runs_in_the_background_inside_a_running_loop(tmp_path):
    said = output_of(
        tmp_path,
        AGENT
        + TURN
        + """
import asyncio


async def main():
    async with devui.serve(agent, port=0, db=":memory:", open_browser=False) as ui:
        print(await asyncio.to_thread(turn, ui), SEEN)
    print(ui)


asyncio.run(main())
""",
    )
    assert "It is sunny. ['Rome']" in said
    assert re.search(r"<devui http://\S+ stopped>", said)
    assert not (tmp_path / ".devui").exists()


def test_the_page_of_a_session_says_that_its_app_is_not_served(tmp_path):
    serve = "with devui.serve(agent, {}port=0, open_browser=False, block=False) as ui:\n    "
    assert "sunny" in output_of(tmp_path, AGENT + TURN + serve.format("") + "print(turn(ui))\n")
    page = output_of(
        tmp_path,
        AGENT
        + "import httpx2\n"
        + serve.format("name='other', ")
        + "headers = {'Authorization': f'Bearer {ui.token}', 'Accept': 'text/html'}\n"
        + "    print(httpx2.get(f'{ui.url}/sessions/1', headers=headers).text)\n",
    )
    assert "doesn&#39;t serve the app guide" in page
    assert "agents folder" not in page


def test_several_agents_and_apps_have_their_own_names(tmp_path):
    said = output_of(
        tmp_path,
        AGENT
        + TURN
        + """
from devui.runtime.apps import App

other = App(name="second_app", root_agent=LlmAgent(name="other", model=model))
both = [agent, other]
with devui.serve(both, port=0, db="data", open_browser=False, block=False) as ui:
    headers = {"Authorization": f"Bearer {ui.token}"}
    print(sorted(httpx2.get(ui.url + "/list-apps", headers=headers).json()), turn(ui))
    try:
        devui.serve(agent, port=0, db="data", open_browser=False, block=False)
    except RuntimeError as error:
        print("second:", error)
with devui.serve(agent, name="guide", port=0, db="data", open_browser=False, block=False) as ui:
    headers = {"Authorization": f"Bearer {ui.token}"}
    sessions = httpx2.get(ui.url + "/apps/guide/users/u/sessions", headers=headers).json()
    print("kept", [each["id"] for each in sessions])
""",
    )
    assert "['guide', 'second_app'] It is sunny." in said
    assert "second: devui did not start: " in said
    assert "kept ['s']" in said


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("devui.serve('agent')", "TypeError: devui.serve() takes an agent"),
        ("devui.serve([agent, agent])", "ValueError: two agents are called 'guide'"),
        ("devui.serve(agent, name='a b')", "ValueError: 'a b' can't be the name of an app"),
    ],
)
def test_unservable_arguments_are_refused_before_anything_starts(tmp_path, call, words):
    with script(tmp_path, f"{AGENT}{call}\n") as process:
        said, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert words in said
    assert not (tmp_path / ".devui").exists()


def test_the_server_ends_with_a_script_that_is_killed(tmp_path):
    last = "devui.serve(agent, port=0, open_browser=False)\n"
    with script(tmp_path, AGENT + last) as process:
        address = re.search(r"http://[\d.:]+", process.stdout.readline())[0]
        process.kill()
        process.wait()
        with client(address) as http:
            for _ in range(PATIENCE):
                try:
                    http.get("/list-apps")
                except httpx2.TransportError:
                    return
                signal.sigtimedwait([], 1)
    pytest.fail("the server outlived its script")


def test_importing_devui_loads_no_submodules():
    code = "import devui, sys; print([m for m in sys.modules if m.startswith('devui.')])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
