"""An app whose invocations can't be resumed: devui says so and doesn't try."""

import re

from tests.kit.debugged_run import DebuggedRun
from tests.kit.server import running, write_app

APP = """
from devui.runtime.agents import Agent, SequentialAgent
from devui.runtime.models import Call, Rule, Say, ScriptedLlm


def pay(amount: int) -> str:
    return "paid"


script = [Rule(after="pay", then=Say("done")), Rule(then=Call("pay", amount=7))]
payer = Agent(name="payer", model=ScriptedLlm(rules=script), tools=[pay])
root_agent = SequentialAgent(name="shop", sub_agents=[payer])
"""


def test_resuming_without_resumability_is_refused_before_a_run_starts(tmp_path):
    write_app(tmp_path / "agents", "shop", APP)
    with running(tmp_path / "agents", tmp_path / "data") as server, server.client() as client:
        debugged = DebuggedRun(client, "shop").start()
        debugged.settled()
        while debugged.hold()["gate"] != "after_tool":
            debugged.tell("step_into")
        debugged.tell("stop")
        path = f"/sessions/{debugged.key}"
        page = client.get(path, headers={"Accept": "text/html"}).text
        [bar] = re.findall(r'<section class="resume".*?</section>', page, re.DOTALL)
        assert "resumability_config" in bar
        assert "pay(amount=7)" in bar
        assert "Send again in a fork" in bar
        assert "Resume</button>" not in bar
        invocation = debugged.position["invocationId"]
        answer = client.post(f"/api{path}/runs", json={"invocationId": invocation})
        assert answer.status_code == 409
        assert "is_resumable=True" in answer.json()["detail"]
        assert len(client.get(f"/api{path}/runs").json()["runs"]) == 1
        events = len(debugged.kept()["events"])
        [call] = client.get(f"/api{path}/cutoff").json()["unknown"]
        server.stop()
        server.start()
        body = {"invocationId": invocation, "unknown": {call["id"]: {"do": "recorded"}}}
        with server.client() as anew:
            answer = anew.post(f"/api{path}/runs", json=body)
            assert (answer.status_code, "is_resumable=True" in answer.text) == (409, True)
            debugged.client = anew
            assert len(debugged.kept()["events"]) == events
            assert len(anew.get(f"/api{path}/runs").json()["runs"]) == 1
