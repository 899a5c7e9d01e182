"""What ADK's clients ask of an app: its description, and to remember a session (adk-web 1.2)."""

import pytest

from tests.kit.server import make_session, run, running, write_app

AGENT = """
from devui.runtime.agents import Agent, SequentialAgent
from devui.runtime.models.scripted_llm import Call, Rule, Say, ScriptedLlm
from devui.runtime.tools import load_memory

def price(car: str) -> int:
    '''The price of a car.'''
    return 3

def live(context) -> str:
    return "live"

rules = [
    Rule(after="load_memory", then=Say("done")),
    Rule(user="recall", then=Call("load_memory", query="Lisbon")),
    Rule(then=Say("noted")),
]
helper = Agent(name="helper", description="helps", instruction=live, model="m", tools=[price])
root_agent = Agent(
    name="root", description="d", instruction="Be {kind?}.", model=ScriptedLlm(rules=rules),
    tools=[load_memory], sub_agents=[helper],
)
"""


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("info")
    write_app(folder / "agents", "app", AGENT)
    write_app(folder / "agents", "broken", "import nothing_like_it")
    sequence = AGENT + "root_agent = SequentialAgent(name='all', sub_agents=[root_agent])"
    write_app(folder / "agents", "sequence", sequence)
    with running(folder / "agents", folder / "data") as server, server.client() as client:
        yield client


def test_an_app_is_described_with_its_agents_and_tools(client):
    info = client.get("/apps/app/app-info").json()
    agents = info.pop("agents")
    assert info == {
        "name": "app",
        "rootAgentName": "root",
        "description": "d",
        "language": "python",
        "isComputerUse": False,
    }
    assert list(agents) == ["helper", "root"]
    assert agents["root"]["instruction"] == "Be {kind?}."
    assert agents["root"]["sub_agents"] == ["helper"]
    assert agents["helper"]["instruction"] == "<InstructionProvider: live>"
    [tool] = agents["helper"]["tools"]
    [declared] = tool["functionDeclarations"]
    assert (declared["name"], declared["description"]) == ("price", "The price of a car.")


@pytest.mark.parametrize(
    ("app", "status", "words"),
    [("sequence", 400, "not an LlmAgent"), ("broken", 409, "nothing_like_it"), ("no", 404, "no")],
)
def test_an_app_that_cannot_be_described_says_why(client, app, status, words):
    answer = client.get(f"/apps/{app}/app-info")
    assert (answer.status_code, words in answer.json()["detail"]) == (status, True)


def test_a_session_is_added_to_the_memory_of_its_app(client):
    past = make_session(client, "app")["id"]
    run(client, "app", past, "I live in Lisbon")
    assert "I live in Lisbon" not in recalled(client)
    answer = client.patch("/apps/app/users/u/memory", json={"sessionId": past})
    assert (answer.status_code, answer.json()) == (200, None)
    assert "I live in Lisbon" in recalled(client)


def test_adding_a_missing_session_to_memory_is_not_found(client):
    answer = client.patch("/apps/app/users/u/memory", json={"session_id": "nowhere"})
    assert (answer.status_code, answer.json()) == (404, {"detail": "Session not found"})
    assert client.patch("/apps/app/users/u/memory", json={}).status_code == 422


def recalled(client) -> str:
    """What the memory returns to another session."""
    session = make_session(client, "app")["id"]
    [response] = [
        part["functionResponse"]["response"]
        for event in run(client, "app", session, "recall")
        for part in event["content"]["parts"]
        if "functionResponse" in part
    ]
    return str(response)
