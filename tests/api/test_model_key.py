"""What the page says of a model's key, by the error that ended the run."""

import re

import pytest

from tests.kit.debugged import Debugged
from tests.kit.server import running, write_app

FAILS = """
from devui.runtime.agents import BaseAgent


class Fails(BaseAgent):
    async def _run_async_impl(self, ctx):
        raise ValueError(ctx.user_content.parts[0].text)
        yield


root_agent = Fails(name="fails")
"""
PUT, CORRECT = "Put {}=… into agents/fails/.env", "Correct {} in agents/fails/.env"


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("key")
    write_app(folder / "agents", "fails", FAILS)
    with running(folder / "agents", folder / "data") as server, server.client() as client:
        yield client


@pytest.mark.parametrize(
    ("error", "words", "is_google"),
    [
        ("No API key was provided.", PUT.format("GOOGLE_API_KEY"), True),
        (
            "400 API key not valid. Please pass a valid API key.",
            CORRECT.format("GOOGLE_API_KEY"),
            True,
        ),
        ("401 Incorrect API key provided: x.", CORRECT.format("OPENAI_API_KEY"), False),
        ("Incorrect API key provided. Check XAI_API_KEY.", CORRECT.format("XAI_API_KEY"), False),
        ("authentication_error: invalid x-api-key", CORRECT.format("ANTHROPIC_API_KEY"), False),
        ("Missing Mistral API Key", PUT.format("MISTRAL_API_KEY"), False),
        ("Missing Gemini API Key", PUT.format("GOOGLE_API_KEY"), True),
        ("the door key is missing", "", False),
    ],
)
def test_the_variable_is_that_of_the_service(client, error, words, is_google):
    debugged = Debugged(client, "fails").start(error, pause=False)
    assert debugged.settled()["status"] == "failed"
    page = client.get(f"/sessions/{debugged.key}", headers={"Accept": "text/html"}).text
    [bar] = re.findall(r'<section class="resume".*?</section>', page, re.DOTALL)
    text = " ".join(re.sub("<[^>]*>", "", bar).split())
    assert words in text
    assert ("API key" in text) == bool(words)
    assert ("aistudio" in text) == is_google
