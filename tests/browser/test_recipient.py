"""The agent named by the message field: the one that takes the next message."""

import pytest
from playwright.sync_api import expect

from tests.kit.browser import Visit
from tests.kit.server import running, write_app

pytestmark = pytest.mark.browser

DESK = """
from devui.runtime.agents import Agent, LoopAgent
from devui.runtime.models import Call, Rule, Say, ScriptedLlm

def agent(name, *rules, **options):
    return Agent(name=name, model=ScriptedLlm(rules=[*rules, Rule(then=Say("Here."))]), **options)

def hand_over(words, name):
    return Rule(user=words, then=Call("transfer_to_agent", agent_name=name))

editor = agent("editor", hand_over("back", "desk"))
clerk = agent("clerk", disallow_transfer_to_parent=True)
loop = LoopAgent(name="loop", sub_agents=[agent("writer")], max_iterations=1)
rules = [hand_over(f"to {name}", name) for name in ("editor", "clerk", "loop")]
root_agent = agent("desk", *rules, sub_agents=[editor, clerk, loop])
"""


@pytest.fixture
def visit(browser, tmp_path):
    write_app(tmp_path / "agents", "desk", DESK)
    with (
        running(tmp_path / "agents", tmp_path / "data", "--no-auth") as server,
        Visit(browser, server) as visit,
    ):
        yield visit


def test_the_field_names_the_agent_that_takes_the_next_message(visit):
    session = visit.session("desk")
    for words in ("to loop", "to clerk"):
        session.say(words)
        expect(session.messages.last).to_contain_text("Here.")
        expect(session.composer).to_have_attribute("placeholder", "Message desk")
    session.say("to editor")
    hint = session.page.locator("#composer-to")
    expect(hint).to_have_text("editor takes the next message, after a transfer from desk")
    expect(session.composer).to_have_accessible_name("Message editor")
    session.equals(visit.again(session), "#composer-to")
    session.composer.press_sequentially("half a mess")
    with visit.server.client() as client:
        number = session.messages.last.get_attribute("data-event")
        client.post(f"/api{session.path}/rewind", json={"number": int(number or 0)})
    expect(session.composer).to_have_attribute("placeholder", "Message desk")
    expect(session.composer).to_have_value("half a mess")
    expect(session.composer).to_be_focused()
    session.say("to editor")
    session.say("back")
    expect(session.composer).to_have_attribute("placeholder", "Message desk")
    expect(hint).to_have_text("")
