"""A graph as the root of an app: what is shown of it, and how it resumes after a kill."""

import itertools
import re

import pytest

from tests.kit.frames import frames
from tests.kit.server import get_session, make_session, run, run_body, running, write_app

HTML = {"Accept": "text/html"}
LARGE = "Order 2077: the sofa has a scratch, please refund it."
APP = """
from pathlib import Path

from devui.runtime import Workflow
from devui.runtime.events import RequestInput
from devui.runtime.workflow import START, JoinNode, node

DONE = Path(__file__).with_name("done")


def note(name):
    with DONE.open("a") as file:
        print(name, file=file)


def first(node_input: str):
    note("first")
    return len(node_input)


def letter():
    note("letter")


def left(node_input: int):
    note("left")
    return node_input + 1


def right(node_input: int):
    note("right")
    return node_input + 2


async def ask(node_input):
    yield RequestInput(interrupt_id="how many", message="How many?", response_schema=int)


def last(node_input: int):
    note("last")
    return f"{node_input} sent"


root_agent = Workflow(
    name="graph",
    edges=[(START, first, (left, right), JoinNode(name="both"), letter, ask, last)],
)
"""
WRONG = """
from devui.runtime import Workflow


def divide(node_input: str):
    return 1 / 0


root_agent = Workflow(name="wrong", edges=[("START", divide)])
"""
ENDED = ["first", "last", "left", "letter", "right"]


def reply(client, app, session, interrupt, value):
    """Answer a node's question."""
    response = {"id": interrupt, "name": "adk_request_input", "response": {"result": value}}
    message = {"role": "user", "parts": [{"functionResponse": response}]}
    body = run_body(app, session, "", newMessage=message)
    with client.stream("POST", "/run_sse", json=body) as answer:
        assert answer.status_code == 200
        return list(frames(answer.iter_lines()))


def resume(client, app, session, invocation):
    """Resume an interrupted invocation."""
    body = {"app_name": app, "user_id": "u", "session_id": session, "invocation_id": invocation}
    with client.stream("POST", "/run_sse", json=body) as answer:
        return list(frames(answer.iter_lines()))


def nodes(events):
    return [event["nodeInfo"]["path"] for event in events]


def test_the_page_shows_nodes_their_outputs_and_their_questions(client):
    session = make_session(client, "refunds")["id"]
    *_, question = run(client, "refunds", session, LARGE)
    app_page = client.get("/apps/refunds", headers=HTML).text
    address = re.search(r'href="(/sessions/\d+)"', app_page)[1]
    page = client.get(address, headers=HTML).text

    assert 'title="node refunds@1/check_price@1, branch check_price@1"' in page
    assert "hx-ignore>ask_manager</span>" in page
    assert "asks for input" in page
    assert "Refund € 840 for order 2077?" in page

    reply(client, "refunds", session, question["longRunningToolIds"][0], True)

    assert "Good news: € 840 for a sofa" in client.get(address, headers=HTML).text


@pytest.mark.parametrize("seen", [1, 2, 3, 4, 5])
def test_a_graph_resumes_from_its_events_after_a_kill(tmp_path, seen):
    write_app(tmp_path / "agents", "graph", APP)
    with running(tmp_path / "agents", tmp_path / "data") as server:
        with server.client() as client:
            session = make_session(client, "graph")["id"]
            with client.stream("POST", "/run_sse", json=run_body("graph", session, "go")) as answer:
                early = list(itertools.islice(frames(answer.iter_lines()), seen))
                server.kill()
        server.start()
        with server.client() as client:
            resume(client, "graph", session, early[0]["invocationId"])
            events = reply(client, "graph", session, "how many", 3)
            final = get_session(client, "graph", session)["events"]

    assert [event["id"] for event in final[1:]][:seen] == [event["id"] for event in early]
    assert events[-1]["output"] == "3 sent"
    assert {event["invocationId"] for event in final} == {early[0]["invocationId"]}
    paths = [path for path in nodes(final) if path]
    assert sorted(set(paths)) == sorted(paths), "no node has told its end twice"


def test_a_question_answered_after_a_restart_repeats_no_node(tmp_path):
    write_app(tmp_path / "agents", "graph", APP)
    with running(tmp_path / "agents", tmp_path / "data") as server:
        with server.client() as client:
            session = make_session(client, "graph")["id"]
            first = run(client, "graph", session, "go")
            server.kill()
        server.start()
        with server.client() as client:
            events = reply(client, "graph", session, "how many", 7)

    assert first[-1]["longRunningToolIds"] == ["how many"]
    assert [event["output"] for event in events] == ["7 sent"]
    done = (tmp_path / "agents" / "graph" / "done").read_text().split()
    assert sorted(done) == ENDED


def test_an_error_in_a_node_is_reported_with_its_place(tmp_path):
    write_app(tmp_path / "agents", "wrong", WRONG)
    with running(tmp_path / "agents", tmp_path / "data") as server, server.client() as client:
        session = make_session(client, "wrong")["id"]
        event, error = run(client, "wrong", session, "go")
        key = client.get("/api/sessions").json()["sessions"][0]["key"]
        page = client.get(f"/sessions/{key}", headers={"Accept": "text/html"}).text

    assert event["errorCode"] == "ZeroDivisionError"
    assert event["nodeInfo"]["path"] == "wrong@1/divide@1"
    assert event["errorMessage"] == "division by zero"
    assert re.search(r"wrong/agent\.py:\d+", page)
    assert error["error"] == "ZeroDivisionError: division by zero"
