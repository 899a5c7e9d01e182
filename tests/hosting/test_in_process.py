"""`devui --in-process`: the agents of a folder run in the process at the terminal."""

import re
import threading

import httpx2
import pytest

from tests.kit.patience import PATIENCE
from tests.kit.pseudo_terminal import PseudoTerminal
from tests.kit.server import ROOT, TOKEN, write_app
from tests.kit.terminal import devui

GUIDE = """
from devui.runtime.agents import LlmAgent
from devui.runtime.models.scripted_llm import Call, Rule, Say, ScriptedLlm


def look(city: str) -> dict:
    \"\"\"Looks at the sky.\"\"\"
    weather = "rainy"
    breakpoint()
    return {"result": weather}


model = ScriptedLlm(rules=[Rule(after="look", then=Say("It is {result}.")),
                           Rule(then=Call("look", city="Rome"))])
root_agent = LlmAgent(name="guide", tools=[look], model=model)
"""
HTML = {"Accept": "text/html"}


def ask(http: httpx2.Client, app: str) -> list[dict]:
    """Return the events of a turn in a new session."""
    session = http.post(f"/apps/{app}/users/u/sessions", json={}).json()["id"]
    message = {"role": "user", "parts": [{"text": "Hello"}]}
    run = {"app_name": app, "user_id": "u", "session_id": session, "new_message": message}
    return http.post("/run", json=run).json()


@pytest.mark.slow
def test_pdb_works_in_the_terminal_and_a_broken_app_says_why(tmp_path):
    write_app(tmp_path / "agents", "guide", GUIDE)
    write_app(tmp_path / "agents", "leaves", "raise SystemExit(3)\n")
    env = {"PYTHONPATH": str(ROOT), "DEVUI_TOKEN": TOKEN}
    command = ("--in-process", "--no-browser", "--port", "0", "--", "agents")
    with PseudoTerminal(*command, cwd=tmp_path, **env) as terminal:
        terminal.until("http://")
        address = "http://" + re.search(r"http://([\d.:]+)", terminal.screen)[1]
        headers = {"Authorization": f"Bearer {TOKEN}"}
        with httpx2.Client(base_url=address, headers=headers, timeout=PATIENCE) as http:
            assert http.get("/list-apps").json() == ["guide", "leaves"]
            answers = []
            turn = threading.Thread(target=lambda: answers.append(ask(http, "guide")))
            turn.start()
            terminal.until("(Pdb) ")
            terminal.type("weather = 'sunny'")
            terminal.until("(Pdb) ")
            terminal.type("c")
            turn.join(PATIENCE)
            assert answers[0][-1]["content"]["parts"][0]["text"] == "It is sunny."
            assert "SystemExit" in str(ask(http, "leaves"))
            write_app(
                tmp_path / "agents", "leaves", "import os\nseen = os.environ['DEVUI_TOKEN']\n"
            )
            assert "KeyError: 'DEVUI_TOKEN'" in str(ask(http, "leaves"))
            write_app(tmp_path / "agents", "leaves", "x = 1\n")
            assert "exports neither" in str(ask(http, "leaves"))
            write_app(tmp_path / "agents", "leaves", GUIDE.replace("    breakpoint()\n", ""))
            assert ask(http, "leaves")[-1]["content"]["parts"][0]["text"] == "It is rainy."
        assert terminal.left() == 0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--python", "x"), "--python can't be combined with --in-process"),
        (("--debug-port", "5678"), "--debug-port can't be combined with --in-process"),
        (("--max-workers", "2"), "--max-workers can't be combined with --in-process"),
        ((), "contains no apps"),
    ],
)
def test_unsupported_options_are_refused(tmp_path, options, sentence):
    refused = devui(".", "--in-process", *options, cwd=tmp_path)
    assert (refused.returncode, sentence in refused.stderr) == (2, True)


def test_the_exit_status_is_1_if_the_server_does_not_start(tmp_path):
    write_app(tmp_path, "guide", GUIDE)
    refused = devui(".", "--in-process", "--host", "0.0.0.0", cwd=tmp_path)
    assert refused.returncode == 1
    assert "DEVUI_TOKEN" in refused.stderr
