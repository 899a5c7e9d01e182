"""`breakpoint()` in an agent that `devui.serve` serves, with a person at the terminal."""

import re
import threading
import time

import httpx2
import pytest

from tests.kit.patience import PATIENCE, wait_until
from tests.kit.pseudo_terminal import PseudoTerminal
from tests.kit.server import ROOT, TOKEN

SCRIPT = """
import asyncio
import devui
from devui.runtime.agents import LlmAgent
from devui.runtime.models.scripted_llm import Call, Rule, Say, ScriptedLlm


{kind}def look(city: str) -> dict:
    \"\"\"Looks at the sky.\"\"\"
    weather = "rainy"
    breakpoint()
    return {{"result": weather}}


async def nap() -> dict:
    \"\"\"Sleeps for longer than a run may take.\"\"\"
    await asyncio.sleep(5)
    return {{"result": "rested"}}


model = ScriptedLlm(rules=[Rule(after="nap", then=Say("Now {{result}}.")),
                           Rule(user="nap", then=Call("nap")),
                           Rule(after="look", then=Say("It is {{result}}.")),
                           Rule(then=Call("look", city="Rome"))])
agent = LlmAgent(name="guide", tools=[look, nap], model=model)
devui.serve(agent, port=0, limits={{"seconds": 4}}, open_browser=False)
"""
LONGER = 8
"""Seconds; longer than the run's time limit and the watchdog's patience."""
RUN = {
    "app_name": "guide",
    "user_id": "u",
    "session_id": "s",
    "new_message": {"role": "user", "parts": [{"text": "Hello"}]},
}
HTML = {"Accept": "text/html"}
STOPPED = "pdb has stopped the agent&#39;s code."
NAP = {"role": "user", "parts": [{"text": "Take a nap"}]}
LATER = {**RUN, "session_id": "later", "new_message": NAP}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["", "async "])
def test_pdb_gets_the_terminal_and_has_no_time_limit(tmp_path, kind):
    (tmp_path / "mine.py").write_text(SCRIPT.format(kind=kind), encoding="utf-8")
    env = {"PYTHONPATH": str(ROOT), "DEVUI_TOKEN": TOKEN}
    with PseudoTerminal("mine.py", cwd=tmp_path, program=(), **env) as terminal:
        terminal.until("Ctrl+C")
        address = re.search(r"http://[\d.:]+", terminal.screen)[0]
        headers = {"Authorization": f"Bearer {TOKEN}"}
        with httpx2.Client(base_url=address, headers=headers, timeout=PATIENCE) as http:
            for session in ("s", "later"):
                made = http.post(f"/apps/guide/users/u/sessions/{session}", json={})
                made.raise_for_status()
            answers = []
            turn = threading.Thread(target=lambda: answers.append(http.post("/run", json=RUN)))
            turn.start()
            terminal.until("(Pdb) ")
            wait_until(lambda: STOPPED in http.get("/sessions/1", headers=HTML).text)
            if not kind:  # otherwise the loop is stopped, so no run starts
                later = http.post("/run", json=LATER).json()
                assert later[-1]["content"]["parts"][0]["text"] == "Now rested."
            until = time.monotonic() + LONGER
            while time.monotonic() < until:
                [run] = http.get("/api/sessions/1/runs").json()["runs"]
                assert run["status"] == "running"
            page = http.get("/sessions/1", headers=HTML).text
            assert STOPPED in page
            assert "blocking the event loop" not in page
            terminal.type("weather = 'sunny'")
            terminal.until("(Pdb) ")
            terminal.type("p weather")
            terminal.until("'sunny'")
            terminal.type("c")
            turn.join(PATIENCE)
            assert answers[0].json()[-1]["content"]["parts"][0]["text"] == "It is sunny."
            page = http.get("/sessions/1", headers=HTML).text
            assert "pdb has stopped" not in page
        assert terminal.left() == 0
