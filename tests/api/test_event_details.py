"""What the inspector says of one event."""

import re

import pytest

from tests.kit.debugged import Debugged
from tests.kit.server import running, write_app

FAILS = """
from google.adk.agents import LlmAgent
from devui.runtime.models.scripted_llm import Call, Fail, Rule, ScriptedLlm

RATES = {"EUR": 1.0}

def get_rate(currency: str) -> float:
    return RATES[currency]

def report(callback_context):
    raise OSError("the log is full")

root_agent = LlmAgent(
    name="fails",
    tools=[get_rate],
    after_agent_callback=report,
    model=ScriptedLlm(rules=[
        Rule(user="rate", then=Call("get_rate", currency="CHF")),
        Rule(user="overload", then=Fail("RESOURCE_EXHAUSTED", "The model is overloaded.")),
    ]),
)
"""
HTML = {"Accept": "text/html"}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("details")
    write_app(folder / "agents", "fails", FAILS)
    with running(folder / "agents", folder / "data", DEVUI_EDITOR="nano") as server:
        yield server


@pytest.fixture
def details(client):
    """The tab *Event* of each event of a run, the last one first."""

    def of(app: str, message: str) -> list[str]:
        run = Debugged(client, app).start(message, pause=False)
        run.settled()
        events = client.get(f"/api/sessions/{run.key}/events").json()["events"]
        return [_detail(client, run.key, each["number"]) for each in reversed(events)]

    return of


def _detail(client, key: int, number: int) -> str:
    html = client.get(f"/sessions/{key}?event={number}", headers=HTML).text
    return re.search(r'<div class="event k-.*?class="raw-fold"', html, re.DOTALL)[0]


def test_an_error_says_where_in_the_code_and_has_the_traceback(details):
    error, *_ = details("fails", "What is the rate?")
    assert "KeyError: &#39;CHF&#39;" in error
    assert "fails/agent.py:8 in get_rate</code>" in error
    assert 'name="place" value="fails/agent.py:8 in get_rate"' in error
    assert "return RATES[currency]" in error


def test_an_error_of_a_model_is_not_the_exception_that_ended_its_run(details):
    ended, model, _ = details("fails", "overload")
    assert "fails/agent.py:11 in report</code>" in ended
    assert "<code>RESOURCE_EXHAUSTED</code> The model is overloaded." in model
    assert "Traceback" not in model
