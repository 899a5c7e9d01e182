"""An agent's question is answered once, no matter who else answers at the same moment (R31)."""

import re
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from tests.kit.debugged_run import DebuggedRun
from tests.kit.server import make_session, running, write_app

AGENT = '''
from pathlib import Path

import os

from devui.runtime.agents import LlmAgent
from devui.runtime.apps import App
from devui.runtime.plugins import BasePlugin
from devui.runtime.models.scripted_llm import Call, Rule, Say, ScriptedLlm
from devui.runtime.tools import FunctionTool

PAID = Path(__file__).with_name("paid")


def pay(amount: int) -> str:
    """Pays.

    Args:
        amount: How much.
    """
    with PAID.open("a") as file:
        print(amount, file=file)
    return f"paid {amount}"


class Dies(BasePlugin):
    """Ends the process before the message that begins a run has become an event."""

    async def on_user_message_callback(self, **_):
        if PAID.with_name("dies").exists():
            os._exit(5)


root_agent = LlmAgent(
    name="asker",
    tools=[FunctionTool(pay, require_confirmation=True)],
    model=ScriptedLlm(rules=[
        Rule(after="pay", then=Say("Done.")),
        Rule(user="pay", then=Call("pay", amount=5)),
    ]),
)
app = App(name="asker", root_agent=root_agent, plugins=[Dies(name="dies")])
'''
QUESTIONS = """
from devui.runtime import Workflow
from devui.runtime.events import RequestInput


async def ask(node_input: str):
    yield RequestInput(interrupt_id="always the same", message=f"What of {node_input}?")


def last(node_input):
    return f"got {node_input}"


root_agent = Workflow(name="questions", edges=[("START", ask, last)])
"""
CLIENTS, ROUNDS = 4, 5
PAGE = {"HX-Request": "true"}
JSON = {"Content-Type": "application/json"}
"""The headers with which the page sends a form."""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("answers")
    write_app(folder / "agents", "asker", AGENT)
    write_app(folder / "agents", "questions", QUESTIONS)
    with running(folder / "agents", folder / "data") as server:
        yield server


def paid_in(server) -> list[str]:
    ledger = server.agents / "asker" / "paid"
    return ledger.read_text().split() if ledger.exists() else []


def told_of_foreign_answers(client) -> int:
    """The number of refused foreign answers that every page shows."""
    page = client.get("/", headers={"Accept": "text/html"}).text
    match = re.search(r"(\d+) times?: an answer to a question from no run here", page)
    one = "an answer to a question from no run here" in page
    return int(match[1]) if match else int(one)


@pytest.mark.req("R31")
def test_answering_a_question_from_an_imported_session_makes_no_call(server):
    with server.client() as client:
        debugged = DebuggedRun(client, "asker").start("pay", pause=False)
        debugged.settled()
        paid, foreign_answers = paid_in(server), told_of_foreign_answers(client)
        events = debugged.kept()["events"]
        call = events[2]["content"]["parts"][0]["functionCall"]
        call["args"]["originalFunctionCall"]["args"] = {"amount": 5_000}
        session_id = make_session(client, "asker", events=events)["id"]
        answer = {"id": call["id"], "name": call["name"], "response": {"confirmed": True}}
        message = {"role": "user", "parts": [{"functionResponse": answer}]}
        body = {"appName": "asker", "userId": "u", "sessionId": session_id, "newMessage": message}
        for path in ("/run", "/run_sse"):
            refused = client.post(path, json=body)
            assert (refused.status_code, "no run on this server" in refused.text) == (409, True)
        query = {"app": "asker", "user": "u", "id": session_id}
        key = client.get("/api/sessions", params=query).json()["sessions"][0]["key"]
        fields = {"event": 3, "call": call["id"], "choice": "yes"}
        response = client.post(f"/sessions/{key}/answers", data=fields, headers=PAGE)
        assert response.status_code == 409
        assert paid_in(server) == paid
        assert told_of_foreign_answers(client) == foreign_answers + 3
        fork = client.post(f"/api/sessions/{debugged.key}/forks", json={"number": 3}).json()
        response = client.post(f"/sessions/{fork['key']}/answers", data=fields, headers=PAGE)
        assert response.status_code == 204, response.text
        bundle = client.get(f"/api/sessions/{debugged.key}/export").content
        # A bundle is read-only, and its question stays foreign in a fork of it.
        landed = client.post("/api/sessions/import", content=bundle, headers=JSON).json()["key"]
        fork = client.post(f"/api/sessions/{landed}/forks", json={"number": 3}).json()
        response = client.post(f"/sessions/{fork['key']}/answers", data=fields, headers=PAGE)
        assert response.status_code == 409, response.text


@pytest.mark.req("R31")
def test_an_answer_to_another_sessions_question_makes_no_call(server):
    with server.client() as client:
        debugged, other = (DebuggedRun(client, "asker").start("pay", pause=False) for _ in range(2))
        debugged.settled()
        other.settled()
        paid = paid_in(server)
        ids = [
            each.kept()["events"][2]["content"]["parts"][0]["functionCall"]["id"]
            for each in (debugged, other)
        ]
        for call in ("never-asked", ids[1]):
            fields = {"event": 3, "call": call, "choice": "yes"}
            path = f"/sessions/{debugged.key}/answers"
            refused = client.post(path, data=fields, headers=PAGE)
            assert refused.status_code in {404, 409}, refused.text
            part = {"id": call, "name": "adk_request_confirmation", "response": {"confirmed": True}}
            message = {"role": "user", "parts": [{"functionResponse": part}]}
            where = {"appName": "asker", "userId": "u", "sessionId": debugged.session}
            assert client.post("/run", json={**where, "newMessage": message}).status_code == 409
        assert paid_in(server) == paid
        fields = {"event": 3, "call": ids[0], "choice": "yes", "amount": "9999"}
        assert client.post(path, data=fields, headers=PAGE).status_code == 204
        last = client.get(f"/api/sessions/{debugged.key}/run").json()
        debugged.run = last["run"]
        assert debugged.settled()["status"] == "done"
        assert paid_in(server) == [*paid, "5"], "with what the journal has"


@pytest.mark.req("R31")
def test_simultaneous_answers_start_one_run(server):
    with server.client() as client:
        for _ in range(ROUNDS):
            debugged = DebuggedRun(client, "asker").start("pay", pause=False)
            debugged.settled()
            confirmation = debugged.kept()["events"][2]["content"]["parts"][0]["functionCall"]
            fields = {"event": 3, "call": confirmation["id"], "choice": "yes"}
            assert answered_together(server, debugged.key, fields) == [204, 409, 409, 409]
            last = client.get(f"/api/sessions/{debugged.key}/run").json()
            assert last["run"] != debugged.run
            debugged.run = last["run"]
            assert debugged.settled()["status"] == "done"
            assert debugged.texts()[-1] == "Done."
            path = f"/sessions/{debugged.key}/answers"
            again = client.post(path, data=fields, headers=PAGE)
            assert (again.status_code, "already answered in #5" in again.text) == (409, True)
    assert paid_in(server)[-ROUNDS:] == ["5"] * ROUNDS


@pytest.mark.req("R31")
def test_a_second_answer_is_refused_and_points_to_the_first(server):
    with server.client() as client:
        debugged = DebuggedRun(client, "asker").start("pay", pause=False)
        debugged.settled()
        [question] = client.get(f"/api/runs/{debugged.run}/activity").json()["questions"]
        response = {"id": question["call"], "name": question["name"]}

        def answer(confirmed: bool) -> dict[str, object]:
            function_response = {**response, "response": {"confirmed": confirmed}}
            return {"role": "user", "parts": [{"functionResponse": function_response}]}

        debugged.start(answer(True), pause=False).settled()
        assert debugged.texts()[-1] == "Done."
        body = {"appName": "asker", "userId": "u", "sessionId": debugged.session}
        for path, again in (
            (f"/api/sessions/{debugged.key}/runs", {"message": answer(False)}),
            ("/run", {**body, "newMessage": answer(True)}),
            ("/run_sse", {**body, "newMessage": answer(False)}),
        ):
            refused = client.post(path, json=again)
            assert (refused.status_code, "already answered in #5" in refused.text) == (409, True), (
                path
            )
        assert len(debugged.kept()["events"]) == 7


def test_a_repeated_question_is_answered_at_its_latest_event(server):
    with server.client() as client:
        debugged = DebuggedRun(client, "questions")
        for words in ("one", "two"):
            debugged.start(words, pause=False).settled()
        page = client.get(f"/sessions/{debugged.key}", headers={"Accept": "text/html"}).text
        path = f"/sessions/{debugged.key}/answers"
        assert page.count(f'action="{path}"') == 1

        fields = {"call": "always the same", "answer": "7"}
        older = client.post(path, data={**fields, "event": 2}, headers=PAGE)
        newer = client.post(path, data={**fields, "event": 4}, headers=PAGE)
        assert (older.status_code, "asked again in #4" in older.text) == (409, True)
        assert newer.status_code == 204
        debugged.run = client.get(f"/api/sessions/{debugged.key}/run").json()["run"]
        debugged.settled()
        assert debugged.kept()["events"][-1]["output"] == "got 7"


@pytest.mark.req("R31")
def test_a_question_with_a_non_ascii_id_can_be_answered(server):
    code = QUESTIONS.replace("always the same", "Größe 😀")
    write_app(server.agents, "umlauts", code)
    with server.client() as client:
        debugged = DebuggedRun(client, "umlauts").start("one", pause=False)
        debugged.settled()
        [question] = client.get(f"/api/runs/{debugged.run}/activity").json()["questions"]
        fields = {"call": question["call"], "answer": "7", "event": 2}
        response = client.post(f"/sessions/{debugged.key}/answers", data=fields, headers=PAGE)
        assert response.status_code == 204, response.text
        debugged.run = client.get(f"/api/sessions/{debugged.key}/run").json()["run"]
        debugged.settled()
        assert debugged.kept()["events"][-1]["output"] == "got 7"


def test_an_answer_lost_with_its_run_is_asked_for_again(server):
    dies = server.agents / "asker" / "dies"
    with server.client() as client:
        debugged = DebuggedRun(client, "asker").start("pay", pause=False)
        debugged.settled()
        call = debugged.kept()["events"][2]["content"]["parts"][0]["functionCall"]["id"]
        path, fields = (
            f"/sessions/{debugged.key}/answers",
            {"event": 3, "call": call, "choice": "yes"},
        )
        dies.touch()
        assert client.post(path, data=fields, headers=PAGE).status_code == 204
        debugged.run = client.get(f"/api/sessions/{debugged.key}/run").json()["run"]
        assert debugged.settled()["status"] == "failed"
        dies.unlink()
        cut = client.get(f"/api/sessions/{debugged.key}/cutoff").json()
        assert (cut["status"], cut["question"]) == ("waiting", 3)
        page = client.get(f"/sessions/{debugged.key}", headers={"Accept": "text/html"}).text
        assert "The run ended before your answer was committed." in page
        assert ("Waiting for an answer" in page, "waiting for you" in page) == (True, True)
        assert client.post(path, data=fields, headers=PAGE).status_code == 204
        debugged.run = client.get(f"/api/sessions/{debugged.key}/run").json()["run"]
        assert debugged.settled()["status"] == "done"


def answered_together(server, session, fields):
    """The sorted statuses of CLIENTS clients that send the form at the same moment."""
    together = Barrier(CLIENTS)

    def answer():
        with server.client() as client:
            client.get("/health")
            together.wait()
            path = f"/sessions/{session}/answers"
            return client.post(path, data=fields, headers=PAGE).status_code

    with ThreadPoolExecutor(CLIENTS) as pool:
        futures = [pool.submit(answer) for _ in range(CLIENTS)]
        return sorted(each.result() for each in futures)
