"""The inspector's details of an event."""

import pytest

from tests.kit.debugged_run import DebuggedRun
from tests.kit.server import running, write_app

FAILS = """
from google.adk.agents import LlmAgent
from devui.runtime.models.scripted_llm import Call, Fail, Rule, Say, ScriptedLlm

RATES = {"EUR": 1.0}

def get_rate(currency: str) -> float:
    return RATES[currency]

def report(callback_context):
    raise OSError("the log is full")

def get_rates(day: str) -> dict:
    return {"day": day, "base": "EUR", "rates": [f"{number:0100}" for number in range(1988)]}

root_agent = LlmAgent(
    name="fails",
    tools=[get_rate, get_rates],
    after_agent_callback=report,
    model=ScriptedLlm(rules=[
        Rule(after="get_rates", then=Say("These are the rates.")),
        Rule(user="all", then=Call("get_rates", day="2026-11-30")),
        Rule(user="rate", then=Call("get_rate", currency="CHF")),
        Rule(user="overload", then=Fail("RESOURCE_EXHAUSTED", "The model is overloaded.")),
    ]),
)
"""
DIES = """
import os

from devui.runtime.agents import Agent
from devui.runtime.models import Fail, Rule, ScriptedLlm

def end(callback_context):
    os._exit(3)

script = ScriptedLlm(rules=[Rule(then=Fail("MALFORMED_FUNCTION_CALL"))])
root_agent = Agent(name="dies", model=script, after_agent_callback=end)
"""
HTML = {"Accept": "text/html"}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("details")
    write_app(folder / "agents", "fails", FAILS)
    write_app(folder / "agents", "dies", DIES)
    with running(folder / "agents", folder / "data", DEVUI_EDITOR="nano") as server:
        yield server


@pytest.fixture
def details(client):
    """Runs a message; returns the *Event* tab of each event."""

    def of(message: str) -> list[str]:
        run = DebuggedRun(client, "fails").start(message, pause=False)
        run.settled()
        events = client.get(f"/api/sessions/{run.key}/events").json()["events"]
        return [_tab(client, run.key, each["number"], "event") for each in events]

    return of


def _tab(client, key: int, number: int, tab: str) -> str:
    html = client.get(f"/sessions/{key}?event={number}&tab={tab}", headers=HTML).text
    return html.partition('id="panel"')[2]


def test_an_error_shows_its_place_in_the_code_and_the_traceback(details):
    *_, error = details("What is the rate?")
    assert "KeyError: &#39;CHF&#39;" in error
    assert "fails/agent.py:8 in get_rate</code>" in error
    assert 'name="place" value="fails/agent.py:8 in get_rate"' in error
    assert "return RATES[currency]" in error


def test_a_model_error_does_not_show_the_traceback_that_ended_its_run(details):
    _, model, ended = details("overload")
    assert "fails/agent.py:11 in report</code>" in ended
    assert "<code>RESOURCE_EXHAUSTED</code> The model is overloaded." in model
    assert "Traceback" not in model


def test_an_error_without_a_message_does_not_show_how_its_process_ended(client):
    run = DebuggedRun(client, "dies").start("go", pause=False)
    assert run.settled()["status"] == "failed"
    error = _tab(client, run.key, 2, "event")
    assert '<p class="error-box" hx-ignore><code>MALFORMED_FUNCTION_CALL</code> </p>' in error


def test_the_size_of_a_large_value_is_shown(client):
    run = DebuggedRun(client, "fails").start("all", pause=False)
    run.settled()
    size = "205 kB · object with 3 keys</span>"
    assert size in _tab(client, run.key, 3, "event")
    assert size in _tab(client, run.key, 3, "request")
    page = client.get(f"/sessions/{run.key}", headers=HTML).text
    row = page.partition('id="e-3"')[2].partition('id="e-4"')[0]
    assert ">205 kB<" in row
    call = _tab(client, run.key, 2, "event")
    assert "get_rates" in call
    assert "object with" not in call
