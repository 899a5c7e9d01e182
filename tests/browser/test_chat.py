"""The chat as an everyday tool: copying, Markdown, queued messages."""

import re

import pytest
from playwright.sync_api import expect

from tests.kit.browser import Visit
from tests.kit.server import running, write_app

pytestmark = pytest.mark.browser

WRITTEN = """Here is the *plan*:

- [x] read
- [ ] write

```python
total = 1 + 2
```

| a very long heading for a cell | another very long heading | a third one that is long | and more |
|---|---|---|---|
| unbreakablewordthatislong | unbreakablewordthatislong | unbreakablewordthatislong | 4 |

Area: $\\\\pi r^2$ for $5 or $6.
"""
AGENT = f"""
from devui.runtime.agents import LlmAgent
from devui.runtime.models import Rule, Say, ScriptedLlm

root_agent = LlmAgent(name="writer", model=ScriptedLlm(rules=[Rule(then=Say('''{WRITTEN}'''))]))
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    root = tmp_path_factory.mktemp("chat")
    write_app(root / "agents", "writer", AGENT)
    with running(root / "agents", root / "data", "--no-auth") as server:
        yield server


@pytest.fixture
def visit(browser, server):
    with Visit(browser, server) as visit:
        yield visit


def test_messages_and_code_are_copied_as_written(visit):
    visit.context.grant_permissions(["clipboard-read", "clipboard-write"])
    session = visit.session("writer", ["*Go* on"])
    page, status = session.page, session.page.locator("#spoken")

    def copy(confirmation: str) -> str:
        expect(status).to_contain_text(confirmation)
        return page.evaluate("navigator.clipboard.readText()")

    markdown = WRITTEN.replace("\\\\", "\\")
    page.locator("#m-2").hover()
    page.locator("#m-2 > .copy-text").click()
    assert copy("Message copied as Markdown") == markdown
    page.locator("#m-2 .copy-code").focus()  # also reachable by keyboard
    page.keyboard.press("Enter")
    assert copy("Code copied").strip() == "total = 1 + 2"
    session.select(1)
    page.keyboard.press("Y")
    assert copy("#1 copied as Markdown") == "*Go* on"
    stops = page.locator("#messages :is(a, button, [tabindex]):not([tabindex='-1'])")
    assert not stops.and_(page.locator(".copy-text")).count()


def test_a_wide_table_scrolls_on_its_own_and_a_formula_is_rendered(visit):
    session = visit.session("writer")
    session.say("Go")
    table = session.page.get_by_role("region", name="Table")
    table.focus()
    width = "(box) => [box.scrollWidth > box.clientWidth, box.clientWidth]"
    wide, size = table.evaluate(width)
    assert wide
    assert size <= session.page.locator("#m-2").evaluate("(box) => box.clientWidth")
    assert session.fits()
    done = session.page.get_by_role("checkbox", name="Done")
    expect(done).to_be_checked()
    expect(done).to_be_disabled()
    formula = session.page.locator("#m-2 math")
    assert formula.evaluate("(math) => math.getBoundingClientRect().width") > 10
    expect(formula.locator("xpath=..")).to_have_text(re.compile(r"for \$5 or \$6\.$"))


def test_a_message_written_during_a_run_is_queued_edited_and_sent(visit):
    session = visit.session("writer")
    page = session.page
    page.get_by_label("pause first").check()
    session.send("first")
    expect(session.status).to_have_class("run held")
    for text in ("second", "third"):
        session.composer.fill(text)
        session.composer.press("Enter")
        expect(session.composer).to_have_value("")
    queued = page.locator(".queue > .msg")
    expect(queued).to_have_count(2)
    expect(page.locator("#queue")).to_contain_text("Queued: sent when this run ends")
    other = visit.again(session)  # changes made in another window appear here
    expect(other.page.locator(".queue > .msg")).to_have_count(2)
    other.page.locator(".queue > .msg").nth(1).get_by_role("button", name="Remove").click()
    expect(queued).to_have_count(1)
    queued.get_by_text("Edit").click()
    queued.get_by_label("Queued message").fill("second, but *better*")
    queued.get_by_role("button", name="Save").click()
    expect(other.page.locator(".queue > .msg > .plain")).to_have_text("second, but *better*")
    expect(queued.locator("textarea")).to_be_hidden()
    page.keyboard.press("Escape")
    page.locator("#do-continue").click()
    expect(session.messages.filter(has_text="second, but *better*")).to_have_count(1)
    expect(queued).to_have_count(0)
    session.equals(other, "#messages", "#queue")


def test_a_stopped_run_keeps_the_queue_and_says_so(visit):
    session = visit.session("writer")
    page = session.page
    page.get_by_label("pause first").check()
    session.send("first")
    session.composer.fill("second")
    page.get_by_role("button", name="Queue").click()
    page.locator("#stop").click()
    expect(page.locator("#queue")).to_contain_text("Not sent, because the run was stopped")
    page.get_by_role("button", name="Send now").click()
    expect(session.messages.filter(has_text="second")).to_have_count(1)
    expect(page.locator(".queue")).to_have_count(0)
