"""Apps as their author works on them: broken, fixed, broken again, removed."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.kit.browser import SessionPage, Visit
from tests.kit.server import running, write_app

pytestmark = pytest.mark.browser

GOOD = """
from devui.runtime.agents import Agent
from devui.runtime.models.scripted_llm import Rule, Say, ScriptedLlm

root_agent = Agent(
    name="Echo",
    description="Answers {answer}.",
    model=ScriptedLlm(rules=[Rule(then=Say("{answer}"))]),
)
"""
BROKEN = "x = 1\n\ndef broken(:\n    pass\n"


def good(answer: str) -> str:
    return GOOD.replace("{answer}", answer)


@pytest.fixture
def agents(tmp_path):
    return tmp_path / "agents"


@pytest.fixture
def workshop(browser, tmp_path, agents):
    """A browser on a server whose agents the test may change."""
    write_app(agents, "steady", good("steady"))
    with (
        running(agents, tmp_path / "data") as server,
        Visit(browser, server) as workshop,
    ):
        workshop.context.new_page().goto(server.link)
        yield workshop


def slow(answer: str, gate: Path) -> str:
    """Return the code of an app whose import blocks until the file `gate` exists.

    Its description isn't a literal, so it is unknown before.
    """
    wait = (
        f"import pathlib, time\nwhile not pathlib.Path({str(gate)!r}).exists(): time.sleep(0.02)\n"
    )
    literal = f'"Answers {answer}."'
    return wait + good(answer).replace(literal, f"str({literal})")


def traceback_is_shown(page: Page) -> None:
    failure = page.locator(".failure").first
    expect(failure).to_contain_text("SyntaxError")
    expect(failure).to_contain_text("agent.py:3")
    failure.locator("summary").click()
    expect(failure.locator("pre")).to_contain_text("def broken(:")


def test_a_broken_app_is_listed_with_its_error_and_location(workshop, agents):
    write_app(agents, "sick", BROKEN)
    page = workshop.open("/apps/sick")
    expect(page.locator(".failure")).to_be_attached()
    traceback_is_shown(page)
    page = workshop.open("/")
    expect(page.locator("#app-sick .status")).to_have_text("failed to load")
    traceback_is_shown(page)
    expect(page.locator("#app-steady")).to_be_visible()


def test_a_broken_app_recovers_when_its_file_is_fixed(workshop, agents):
    write_app(agents, "sick", BROKEN)
    page = workshop.open("/apps/sick")
    expect(page.locator(".failure")).to_be_attached()
    write_app(agents, "sick", good("healthy"))
    expect(page.locator(".failure")).to_have_count(0)
    expect(page.locator(".app-head .status")).to_have_text("ready")
    expect(page.locator("main")).to_contain_text("Answers healthy")
    page.get_by_role("button", name="New session").first.click()
    session = SessionPage(page)
    session.say("Hi")
    expect(session.messages.last).to_contain_text("healthy")


def test_an_app_that_breaks_is_reported_in_its_open_session(workshop, agents):
    write_app(agents, "work", good("first"))
    session = workshop.session("work", ["Hi"])
    write_app(agents, "work", BROKEN)
    notice = session.page.locator("#warnings")
    expect(notice).to_contain_text("work failed to load")
    expect(notice).to_contain_text("agent.py:3")
    expect(notice).to_contain_text("The previous version stays in use")
    session.say("Hi again")
    expect(session.messages.last).to_contain_text("first")
    write_app(agents, "work", good("second"))
    expect(notice.locator(".notice")).to_have_count(0)
    session.say("And now?")
    expect(session.messages.last).to_contain_text("second")


def test_a_message_to_an_app_that_does_not_load_fails_with_the_reason(workshop, agents):
    write_app(agents, "sick", BROKEN)
    page = workshop.open("/apps/steady")
    answer = page.request.post(
        f"{workshop.server.url}/apps/sick/sessions", headers={"Origin": workshop.server.url}
    )
    session = SessionPage(workshop.open("/" + answer.url.split("/", 3)[3]))
    session.send("Hi")
    session.ends("failed")
    expect(session.messages.last).to_contain_text("SyntaxError")
    expect(session.page.locator("#rows > .run-end")).to_contain_text("agent.py:3")


def test_sessions_of_a_removed_app_can_be_read(workshop, agents):
    write_app(agents, "gone", good("still here"))
    session = workshop.session("gone", ["Hi"])
    (agents / "gone" / "agent.py").unlink()
    page = workshop.open(session.path)
    expect(page.locator("#warnings")).to_contain_text(
        "The app gone is no longer in the agents folder"
    )
    expect(page.locator("#messages")).to_contain_text("still here")
    expect(page.locator("#send")).to_be_disabled()


def test_an_empty_agents_folder_shows_how_to_start(browser, tmp_path, agents):
    agents.mkdir()
    with (
        running(agents, tmp_path / "data", "--no-auth") as server,
        Visit(browser, server) as visit,
    ):
        page = visit.open("/")
        expect(page.locator("main")).to_contain_text("No apps found in")
        code = page.locator("main pre").inner_text()
        path, _, text = code.partition("\n")
        write_app(agents, path.split("/")[0], text)
        page.get_by_role("link", name="Check again").click()
        page.get_by_role("link", name="hello", exact=True).click()
        page.get_by_role("button", name="New session").first.click()
        session = SessionPage(page)
        session.say("Hi")
        expect(session.messages.last).to_contain_text(re.compile("Hello!"))


def test_a_message_to_an_app_that_does_not_load_can_be_sent_again(workshop, agents):
    write_app(agents, "sick", BROKEN)
    session = workshop.session("sick")
    session.send("Do you hear me?")
    session.ends("failed")
    expect(session.page.locator(".msg.unsent")).to_have_text("Do you hear me?")
    expect(session.events).to_have_count(0)
    session.equals(workshop.again(session), "#messages")
    write_app(agents, "sick", good("I do"))
    expect(session.page.locator("#warnings")).not_to_contain_text("failed to load")
    session.page.get_by_role("button", name="Send again").click()
    session.ends()
    expect(session.messages.last).to_contain_text("I do")
    expect(session.row(1)).to_contain_text("Do you hear me?")


def test_a_page_opened_before_its_app_has_loaded_is_updated(workshop, agents, tmp_path):
    write_app(agents, "late", slow("at last", tmp_path / "gate"))
    session = workshop.session("late")
    early = workshop.again(session)
    for page in (session, early):
        expect(page.composer).to_have_attribute("placeholder", "Message late")
        expect(page.page.locator("#welcome")).not_to_contain_text("Answers at last")
    session.composer.fill("A draft")
    (tmp_path / "gate").touch()
    for page in (session, early):
        expect(page.composer).to_have_attribute("placeholder", "Message Echo")
        expect(page.page.locator("#welcome")).to_contain_text("Answers at last")
    expect(session.composer).to_be_focused()
    expect(session.composer).to_have_value("A draft")
    early.say("Hello")
    expect(early.messages.last).to_contain_text("at last")
