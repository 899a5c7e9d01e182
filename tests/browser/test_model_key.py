"""The first run without a model's API key: what the page says, and how to continue."""

import pytest
from playwright.sync_api import expect

from tests.kit.browser import Visit
from tests.kit.server import running, write_app

pytestmark = pytest.mark.browser

GEMINI = """
from devui.runtime.agents import Agent

root_agent = Agent(name="oops", model="gemini-2.5-flash")
"""
ACME = """
import os

from devui.runtime.agents import Agent
from devui.runtime.models import Say, Rule, ScriptedLlm


class Acme(ScriptedLlm):
    async def generate_content_async(self, llm_request, stream=False):
        key = os.environ.get("ACME_API_KEY")
        if key != "good":
            raise ValueError(f"Incorrect API key provided: {key}. Check ACME_API_KEY.")
        async for answer in super().generate_content_async(llm_request, stream):
            yield answer


root_agent = Agent(name="acme", model=Acme(rules=[Rule(then=Say("Hello!"))]))
"""


def test_a_run_without_an_api_key_says_where_to_put_one(browser, tmp_path):
    write_app(tmp_path / "agents", "oops", GEMINI)
    keys = {"GOOGLE_API_KEY": "", "GEMINI_API_KEY": ""}
    with (
        running(tmp_path / "agents", tmp_path / "data", "--no-auth", **keys) as server,
        Visit(browser, server) as visit,
    ):
        session = visit.session("oops", ["hello"], ends="failed")
        bar = session.page.locator("#resume .resume")
        expect(bar).to_contain_text("The model has no API key.")
        expect(bar).to_contain_text("Add GOOGLE_API_KEY=… to agents/oops/.env")
        expect(bar).to_contain_text("aistudio.google.com/apikey")
        expect(bar).not_to_contain_text("resumability_config")


def test_a_run_whose_key_was_refused_is_sent_again_with_a_valid_one(browser, tmp_path):
    app = write_app(tmp_path / "agents", "acme", ACME)
    with (
        running(tmp_path / "agents", tmp_path / "data", "--no-auth") as server,
        Visit(browser, server) as visit,
    ):
        session = visit.session("acme", ["hello"], ends="failed")
        bar = session.page.locator("#resume .resume")
        expect(bar).to_contain_text("The API key was refused.")
        expect(bar).to_contain_text("Correct ACME_API_KEY in agents/acme/.env or")
        expect(bar).not_to_contain_text("Vertex")
        session.equals(visit.again(session), "#resume")
        app.with_name(".env").write_text("ACME_API_KEY=good\n")
        bar.get_by_role("button", name="Send again", exact=True).click()
        session.ends()
        expect(session.messages.last).to_contain_text("Hello!")
        expect(bar).to_have_count(0)
