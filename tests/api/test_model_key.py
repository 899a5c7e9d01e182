"""The page's advice about a model's key, by the error that ended the run."""

import re

import pytest

from tests.kit.debugged_run import DebuggedRun
from tests.kit.server import make_session, run, run_body, running, write_app

FAILS = """
from devui.runtime.agents import Agent
from devui.runtime.models import BaseLlm


class Fails(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        raise ValueError(llm_request.contents[-1].parts[0].text)
        yield


root_agent = Agent(name="fails", model=Fails(model="fails"))
"""
FAILING_TOOL = """
from devui.runtime.agents import Agent
from devui.runtime.models import Call, Rule, ScriptedLlm


def look_up(city: str) -> str:
    raise ValueError(city)


model = ScriptedLlm(rules=[Rule(user="(?P<words>.*)", then=Call("look_up", city="{words}"))])
root_agent = Agent(name="tool", model=model, tools=[look_up])
"""
ADD, CORRECT = "Add {}=… to agents/fails/.env", "Correct {} in agents/fails/.env"


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("key")
    write_app(folder / "agents", "fails", FAILS)
    write_app(folder / "agents", "tool", FAILING_TOOL)
    with running(folder / "agents", folder / "data") as server, server.client() as client:
        yield client


def bar_of(client, debugged):
    page = client.get(f"/sessions/{debugged.key}", headers={"Accept": "text/html"}).text
    [bar] = re.findall(r'<section class="resume".*?</section>', page, re.DOTALL)
    return " ".join(re.sub("<[^>]*>", "", bar).split())


@pytest.mark.parametrize(
    ("error", "words", "is_google"),
    [
        ("No API key was provided.", ADD.format("GOOGLE_API_KEY"), True),
        (
            "400 API key not valid. Please pass a valid API key.",
            CORRECT.format("GOOGLE_API_KEY"),
            True,
        ),
        ("401 Incorrect API key provided: x.", CORRECT.format("OPENAI_API_KEY"), False),
        ("Incorrect API key provided. Check XAI_API_KEY.", CORRECT.format("XAI_API_KEY"), False),
        ("authentication_error: invalid x-api-key", CORRECT.format("ANTHROPIC_API_KEY"), False),
        ("API key expired for MAP2_API_KEY", CORRECT.format("MAP2_API_KEY"), False),
        (
            "Missing credentials. Please pass an `api_key`, or set the `OPENAI_API_KEY`.",
            ADD.format("OPENAI_API_KEY"),
            False,
        ),
        ("Missing Mistral API Key", ADD.format("MISTRAL_API_KEY"), False),
        ("Missing Gemini API Key", ADD.format("GOOGLE_API_KEY"), True),
        ("the door key is missing", "", False),
    ],
)
def test_the_advice_names_the_variable_of_the_service(client, error, words, is_google):
    debugged = DebuggedRun(client, "fails").start(error, pause=False)
    assert debugged.settled()["status"] == "failed"
    text = bar_of(client, debugged)
    assert words in text
    assert ("API key" in text) == bool(words)
    assert ("aistudio" in text) == is_google


@pytest.mark.parametrize(
    ("error", "hint"),
    [
        ("No API key was provided.", " Set GOOGLE_API_KEY in agents/fails/.env or devui's"),
        ("Missing Mistral API Key", " Set MISTRAL_API_KEY in agents/fails/.env or devui's"),
        ("No API key was provided. Set GOOGLE_API_KEY.", ""),
        ("400 API key not valid.", ""),
        ("the door key is missing", ""),
    ],
)
def test_a_run_over_http_says_where_to_set_a_missing_key(client, error, hint):
    session = make_session(client, "fails")["id"]
    hint = hint and f"{hint} environment."
    answer = client.post("/run", json=run_body("fails", session, error))
    assert answer.status_code == 500
    assert answer.json() == {"detail": f"ValueError: {error}{hint}"}
    [*_, frame] = run(client, "fails", session, error)
    assert frame["error"] == f"ValueError: {error}{hint}"
    assert frame["error_details"]["error_message"] == f"{error}{hint}"


def test_a_tools_invalid_key_is_not_taken_for_the_models(client):
    debugged = DebuggedRun(client, "tool").start("invalid x-api-key", pause=False)
    assert debugged.settled()["status"] == "failed"
    text = bar_of(client, debugged)
    assert "raised ValueError" in text
    assert "API key" not in text
