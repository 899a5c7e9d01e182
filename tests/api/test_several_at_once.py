"""Events with several calls, questions or files: each is shown with its own text."""

import html
import json
import re
import time

import pytest

from tests.kit.debugged_run import DebuggedRun
from tests.kit.patience import PATIENCE
from tests.kit.server import make_session, running, write_app

AGENT = '''
from devui.runtime.agents import LlmAgent
from devui.runtime.models.scripted_llm import Call, Rule, Say, ScriptedLlm
from devui.runtime.tools import FunctionTool, LongRunningFunctionTool


def pay(amount: int, to: str) -> str:
    """Pays."""
    return f"paid {amount} to {to}"


def ticket(what: str) -> dict:
    """Opens a ticket."""
    return {"status": "pending", "what": what}


PEOPLE = ["ann", "bob", "cy", "dee"]
root_agent = LlmAgent(
    name="teller",
    tools=[FunctionTool(pay, require_confirmation=True), LongRunningFunctionTool(ticket)],
    model=ScriptedLlm(rules=[
        Rule(after="pay", then=Say("Paid.")),
        Rule(after="ticket", then=Say("Noted.")),
        Rule(user="ticket", then=Call("ticket", what="a lamp")),
        *(
            Rule(user=f"pay {count}", then=[
                Call("pay", amount=index + 1, to=PEOPLE[index]) for index in range(count)
            ])
            for count in (1, 2, 3, 4)
        ),
    ]),
)
'''
PEOPLE = ["ann", "bob", "cy", "dee"]
PAGE = {"HX-Request": "true"}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("several")
    write_app(folder / "agents", "teller", AGENT)
    with running(folder / "agents", folder / "data") as server:
        yield server


@pytest.fixture
def client(server):
    with server.client() as client:
        yield client


def page_of(client, session):
    """The text of the session's page without tags, and the page."""
    page = client.get(f"/sessions/{session}", headers={"Accept": "text/html"}).text
    return html.unescape(re.sub(r"<[^>]*>", "", page)), page


def labels(page):
    """The labels of the questions in the chat."""
    return [html.unescape(each) for each in re.findall(r'class="question"[^>]*>(.*?)</code>', page)]


def questions(debugged):
    """The calls with which the session asks, with the numbers of their events."""
    for number, event in enumerate(debugged.kept()["events"], 1):
        for part in event.get("content", {}).get("parts", []):
            if part.get("functionCall", {}).get("name") == "adk_request_confirmation":
                yield number, part["functionCall"]


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_every_question_keeps_its_label_before_and_after_its_answer(client, count):
    debugged = DebuggedRun(client, "teller").start(f"pay {count}", pause=False)
    debugged.settled()
    own = [f'pay(amount={index + 1}, to="{PEOPLE[index]}")' for index in range(count)]
    calls = list(questions(debugged))
    _, page = page_of(client, debugged.key)

    assert labels(page) == own
    rows = client.get(f"/api/sessions/{debugged.key}/events").json()["events"]
    row = next(each for each in rows if each["number"] == calls[0][0])
    assert row["text"].startswith("asks for confirmation: " + "; ".join(own)[:150])
    open_questions = client.get(f"/api/runs/{debugged.run}/activity").json()["questions"]
    assert [each["about"] for each in open_questions] == own
    for number, call in reversed(calls):
        fields = {"event": number, "call": call["id"], "choice": "yes"}
        answer = client.post(f"/sessions/{debugged.key}/answers", data=fields, headers=PAGE)
        assert answer.is_success, answer.text
        assert labels(page_of(client, debugged.key)[1])[:count] == own


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_an_events_row_lists_all_its_calls_results_and_files(client, count):
    calls = [{"id": f"c{n}", "name": f"tool{n}", "args": {"n": n}} for n in range(count)]
    answers = [{"id": f"c{n}", "name": f"tool{n}", "response": {"n": n}} for n in range(count)]
    png = {"mimeType": "image/png", "data": "AA=="}
    data = [{**png, "displayName": f"{n}.png"} for n in range(count)]
    kinds = {
        "calls": [{"functionCall": each} for each in calls],
        "answers": [{"functionResponse": each} for each in answers],
        "files": [{"inlineData": each} for each in data],
        "words and files": [{"text": "Look:"}, *({"inlineData": each} for each in data)],
        "codes": [
            {"executableCode": {"code": f"print({n})", "language": "PYTHON"}} for n in range(count)
        ],
    }
    own = {
        "calls": [f"tool{n}(n={n})" for n in range(count)],
        "answers": [f'tool{n} → {{"n": {n}}}' for n in range(count)],
        "files": [f"[{n}.png]" for n in range(count)],
        "words and files": ["Look:", *(f"[{n}.png]" for n in range(count))],
        "codes": [f"print({n})" for n in range(count)],
    }
    events = [
        {"author": "teller", "invocationId": "e-1", "content": {"role": "model", "parts": parts}}
        for parts in kinds.values()
    ]
    session = make_session(client, "teller", events=events)["id"]
    query = {"app": "teller", "user": "u", "id": session}
    key = client.get("/api/sessions", params=query).json()["sessions"][0]["key"]

    rows = client.get(f"/api/sessions/{key}/events").json()["events"]

    for row, texts in zip(rows, own.values(), strict=True):
        assert all(text in row["text"] for text in texts), row["text"]
    words, _ = page_of(client, key)
    assert all(each in words for n in range(count) for each in (f"tool{n}", f"{n}.png"))


def test_a_long_running_call_accepts_several_results_on_the_page(client):
    debugged = DebuggedRun(client, "teller").start("ticket", pause=False)
    debugged.settled()
    call = debugged.kept()["events"][1]["content"]["parts"][0]["functionCall"]
    form = f'name="call" value="{call["id"]}"'

    results = [{"status": "50%"}, {"status": "90%"}, {"status": "done"}]
    for result in results:
        assert form in page_of(client, debugged.key)[1]
        fields = {"event": 2, "call": call["id"], "choice": "send", "response": json.dumps(result)}
        answer = client.post(f"/sessions/{debugged.key}/answers", data=fields, headers=PAGE)
        assert answer.is_success, answer.text

    assert form in page_of(client, debugged.key)[1]
    responses = []
    until = time.monotonic() + PATIENCE
    while len(responses) < len(results) and time.monotonic() < until:
        responses = [
            part["functionResponse"]["response"]
            for event in debugged.kept()["events"]
            for part in event.get("content", {}).get("parts", [])
            if event["author"] == "user" and "functionResponse" in part
        ]
    assert responses == results
