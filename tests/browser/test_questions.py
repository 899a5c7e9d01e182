"""Agents' questions to people, answered with forms on the page."""

import re

import pytest
from playwright.sync_api import expect

from tests.kit.browser import SessionPage, Visit
from tests.kit.server import running, write_app

pytestmark = pytest.mark.browser

AGENT = '''
import asyncio

from devui.runtime.agents import Agent
from devui.runtime.auth import AuthConfig
from devui.runtime.auth.auth_schemes import APIKey
from devui.runtime.models.scripted_llm import Call, Rule, Say, ScriptedLlm
from devui.runtime.tools import (
    FunctionTool, LongRunningFunctionTool, get_user_choice, request_input,
)

KEY = AuthConfig(auth_scheme=APIKey(**{"in": "header", "name": "X-Key"}))


def pay(amount: int) -> str:
    """Pays."""
    return f"paid {amount}"


def read(tool_context) -> dict:
    """Reads."""
    credential = tool_context.get_auth_response(KEY)
    if credential is None:
        tool_context.request_credential(KEY)
        return {"status": "a key is needed"}
    return {"with": credential.api_key}


def refund(order: int, tool_context) -> dict:
    """Refunds what a person says."""
    told = tool_context.tool_confirmation
    if told is None:
        tool_context.request_confirmation(hint="How much of order 17?", payload={"amount": 20})
        return {"status": "waits"}
    return {"refunded": told.payload["amount"]} if told.confirmed else {"refunded": 0}


async def ask_boss(what: str) -> None:
    """Asks the boss, which takes long: the page has the question before the run has ended."""
    await asyncio.sleep(1)


async def order(what: str) -> dict:
    """Orders what comes in some days."""
    return {"ticket": 17}


LONG = "a color of which more is to be said than there is room for in a line of the chat"

DETAILS = {
    "type": "object",
    "properties": {"seats": {"type": "integer"}, "window": {"type": "boolean"},
                   "meal": {"enum": ["none", "vegan"]},
                   "names": {"type": "array", "items": {"type": "string"}},
                   "contact": {"type": "object", "properties": {"phone": {"type": "integer"}},
                               "required": ["phone"]}},
    "required": ["seats"],
}

root_agent = Agent(
    name="Asker",
    tools=[FunctionTool(pay, require_confirmation=True), refund, read, get_user_choice,
           request_input, LongRunningFunctionTool(ask_boss), LongRunningFunctionTool(order)],
    model=ScriptedLlm(rules=[
        Rule(after="pay", then=Say("Done: {result}")),
        Rule(after="refund", then=Say("Given back: {result.refunded}")),
        Rule(after="read", then=Say("Read {result.with}")),
        Rule(after="get_user_choice", then=Say("You chose {result}")),
        Rule(after="adk_request_input", then=Say("Noted: {result}")),
        Rule(after="ask_boss", then=Say("The boss says {result}")),
        Rule(after="order", then=Say("Ordered: {result}")),
        Rule(user="pay", then=Call("pay", amount=5)),
        Rule(user="refund", then=Call("refund", order=17)),
        Rule(user="read", then=Call("read")),
        Rule(user="choose", then=Call("get_user_choice", options=["red", "blue", LONG])),
        Rule(user="details", then=Call("adk_request_input", message="Which seats?",
                                       payload={"train": "ICE 7"}, response_schema=DETAILS)),
        Rule(user="order", then=Call("order", what="ink")),
        Rule(user="boss", then=Call("ask_boss", what="a raise")),
    ]),
)
'''


@pytest.fixture(scope="module")
def asker(tmp_path_factory):
    folder = tmp_path_factory.mktemp("asking")
    write_app(folder / "agents", "asker", AGENT)
    with running(folder / "agents", folder / "data", "--no-auth") as server:
        yield server


@pytest.fixture
def asking(browser, asker):
    with Visit(browser, asker) as asking:
        yield asking


def session_with_question(visit: Visit, text: str) -> SessionPage:
    session = visit.session("asker", [text])
    expect(session.page.locator(".ask")).to_have_count(1)
    return session


def button(session: SessionPage, name: str):
    return session.page.locator(".ask").get_by_role("button", name=name, exact=True)


def is_answered(session: SessionPage, visit: Visit, says: str, *, forms: int = 0) -> None:
    """Check that the form is gone, the agent has continued, and the stored page is the same."""
    expect(session.messages.last).to_contain_text(says)
    session.ends()
    expect(session.page.locator(".ask")).to_have_count(forms)
    session.equals(visit.again(session), "#messages")


def test_a_confirmations_payload_is_edited_and_confirmed_with_the_keyboard(asking):
    session = asking.session("asker")
    session.say("refund")
    ask = session.page.locator(".ask")
    expect(ask).to_contain_text("How much of order 17?")
    amount = ask.get_by_label("amount")
    expect(amount).to_have_value("20")
    expect(amount).to_have_attribute("type", "number")
    amount.fill("5")
    session.page.keyboard.press("Tab")
    expect(button(session, "Confirm")).to_be_focused()
    session.page.keyboard.press("Enter")
    is_answered(session, asking, "Given back: 5")


def test_a_confirmation_without_a_hint_asks_in_plain_words(asking):
    session = session_with_question(asking, "pay")
    expect(session.page.locator(".ask")).to_contain_text("Allow this call? pay(amount=5)")
    expect(session.page.locator(".ask")).not_to_contain_text("ToolConfirmation")
    expect(session.page.locator("#messages .outcome.done")).to_contain_text("waits for")
    expect(session.page.locator("#messages .outcome.failed")).to_have_count(0)


@pytest.mark.req("R31")
def test_a_confirmed_call_is_made(asking):
    session = session_with_question(asking, "pay")
    expect(session.page.locator(".ask pre")).to_have_text("pay(amount=5)")
    expect(session.page.locator("#messages")).to_contain_text("waits for confirmation")
    expect(session.page.locator("#messages .k-code")).to_have_count(0)
    button(session, "Confirm").dblclick()
    is_answered(session, asking, "Done: paid 5")
    session.tab("log")
    expect(session.panel).to_contain_text(re.compile("answered by [a-z]+ tab"))


def test_an_answer_that_is_being_sent_dims_its_button(asking):
    session = session_with_question(asking, "pay")
    routes = []
    session.page.route("**/answers", lambda route: routes.append(route))
    button(session, "Confirm").click()
    expect(button(session, "Confirm")).to_have_css("opacity", "0.55")
    routes.pop().continue_()
    is_answered(session, asking, "Done: paid 5")


def test_a_rejected_call_is_not_made(asking):
    session = session_with_question(asking, "pay")
    button(session, "Reject").click()
    expect(session.messages.last).to_contain_text("rejected")
    expect(session.page.locator(".ask")).to_have_count(0)


def test_the_two_answers_to_a_confirmation_look_alike(asking):
    session = session_with_question(asking, "pay")
    looks = session.page.locator(".ask button").evaluate_all(
        "(all) => all.map((one) => { const s = getComputedStyle(one);"
        " return [s.backgroundColor, s.color, s.borderColor, s.fontWeight].join(); })"
    )
    assert len(looks) == 2
    assert len(set(looks)) == 1


@pytest.mark.req("R31")
def test_a_question_open_in_two_tabs_is_answered_once(asking):
    session = session_with_question(asking, "pay")
    other = asking.again(session)
    stale = other.page.locator(".ask").evaluate(
        "(form) => new URLSearchParams([...new FormData(form), ['choice', 'yes']]).toString()"
    )
    button(session, "Confirm").click()
    is_answered(session, asking, "Done: paid 5")
    expect(other.page.locator(".ask")).to_have_count(0)
    asking.allow("409|Conflict")
    refused = other.page.evaluate(
        "([path, body]) => fetch(path, {method: 'POST', body, headers: {'HX-Request': 'true',"
        " 'content-type': 'application/x-www-form-urlencoded'}}).then((r) => r.status)",
        [other.path + "/answers", stale],
    )
    assert refused == 409


def test_the_top_bar_says_when_a_run_waits_for_a_person(asking):
    session = session_with_question(asking, "choose")
    expect(session.status).to_have_text("waiting for you")
    expect(asking.again(session).status).to_have_text("waiting for you")
    for lists in ("/", "/apps/asker"):
        status = asking.open(lists).locator(f'.session:has([href="{session.path}"]) .status')
        expect(status).to_have_text("waiting for you")
    button(session, "red").click()
    is_answered(session, asking, "You chose red")
    expect(session.status).to_have_text("done")


def test_a_choice_is_a_button_for_each_option(asking):
    session = session_with_question(asking, "choose")
    long = session.page.locator(".ask .answers button").last
    assert long.evaluate("(one) => one.offsetWidth <= one.closest('.answers').clientWidth")
    button(session, "blue").click()
    is_answered(session, asking, "You chose blue")


def test_an_input_has_a_form_made_from_its_schema(asking):
    session = asking.session("asker")
    session.say("details")  # so that the announcement comes while the page is open
    expect(session.messages.get_by_text("Which seats?").filter(visible=True)).to_have_count(1)
    expect(session.page.locator(".ask pre")).to_have_text('{"train": "ICE 7"}')
    expect(session.page.get_by_label("names (JSON list)")).to_be_visible()
    session.page.get_by_label("seats").fill("2")
    session.page.get_by_label("window").check()
    session.page.get_by_label("meal").select_option("vegan")
    names = session.page.get_by_label("names (JSON list)")
    names.fill('["Ada", 7]')
    asking.allow("422")
    button(session, "Send answer").click()
    session.told_at(names, "names: .1. must be text")
    names.fill("")
    status = session.page.locator("#spoken")
    expect(status).to_contain_text("Asker asks for input: Which seats?")
    button(session, "Send answer").click()
    expected = '{"seats": 2, "window": true, "meal": "vegan"}'
    is_answered(session, asking, f"Noted: {expected}")


def test_an_api_key_is_requested_and_used(asking):
    session = session_with_question(asking, "read")
    field = session.page.get_by_label("API key")
    expect(field).to_have_attribute("type", "password")
    field.fill("k-123")
    button(session, "Send answer").click()
    is_answered(session, asking, "Read k-123")


def test_the_placeholder_result_of_an_unconfirmed_call_is_not_final(asking):
    session = session_with_question(asking, "pay")
    expect(session.events.last).to_contain_text("waits for confirmation")
    expect(session.events.locator(".flag.final")).to_have_count(0)
    button(session, "Confirm").click()
    is_answered(session, asking, "Done: paid 5")
    expect(session.events.last.locator(".flag.final")).to_be_visible()


def test_the_result_of_a_long_running_tool_is_given_as_text(asking):
    session = session_with_question(asking, "boss")
    result = session.page.get_by_label("Result of the call")
    result.fill("maybe")
    result.press("Control+Enter")
    is_answered(session, asking, "The boss says maybe", forms=1)


def test_the_result_of_a_long_running_tool_is_given_as_json(asking):
    session = session_with_question(asking, "boss")
    session.page.locator(".ask textarea").fill("{nonsense")
    asking.allow("422")
    button(session, "Send result").click()
    result = session.page.get_by_label("Result of the call")
    session.told_at(result, "invalid JSON: .* at line 1 column 2")
    expect(result).to_have_value("{nonsense")
    result.fill('{"result": "yes"}')
    button(session, "Send result").click()
    is_answered(session, asking, "The boss says yes", forms=1)  # it may get further results


def test_a_question_survives_a_reload(asking):
    session = session_with_question(asking, "pay")
    session.page.reload()
    button(session, "Confirm").click()
    is_answered(session, asking, "Done: paid 5")


def test_each_result_of_a_long_running_tool_is_shown_where_it_was_given(asking):
    session = session_with_question(asking, "boss")
    result = session.page.get_by_label("Result of the call")
    for value in ("thinking", "yes"):
        result.fill(value)
        button(session, "Send result").click()
        expect(session.messages.last).to_contain_text(f"The boss says {value}")
        session.ends()
    lines = session.page.locator(".msg.user .answer-line")
    expect(lines).to_have_text(['Answered ask_boss: "thinking"', 'Answered ask_boss: "yes"'])
    texts = session.page.locator(".msg header, .answer-line").all_inner_texts()
    assert [text.split()[0] for text in texts] == [
        "Asker",
        "Answered",
        "Asker",
        "Answered",
        "Asker",
    ]
    is_answered(session, asking, "The boss says yes", forms=1)


def test_a_further_result_starts_with_the_previous_one(asking):
    session = session_with_question(asking, "boss")
    other = asking.again(session)
    result = session.page.get_by_label("Result of the call")
    expect(result).to_have_value('{\n  "status": "done"\n}')
    result.fill('{"status": "asked", "by": "mail"}')
    button(session, "Send result").click()
    session.ends()
    value = '{\n  "status": "asked",\n  "by": "mail"\n}'
    expect(result).to_have_value(value)
    expect(other.page.get_by_label("Result of the call")).to_have_value(value)
    expect(asking.again(session).page.get_by_label("Result of the call")).to_have_value(value)
    result.fill("yes")
    button(session, "Send result").click()
    is_answered(session, asking, "The boss says yes", forms=1)
    expect(result).to_have_value("yes")


def test_a_result_starts_with_what_the_tool_has_returned_so_far(asking):
    session = session_with_question(asking, "order")
    value = '{\n  "ticket": 17\n}'
    expect(session.page.get_by_label("Result of the call")).to_have_value(value)
    expect(session.messages.last).to_contain_text("Ordered: ")
    session.equals(asking.again(session), "#messages")


def test_answers_to_confirmations_and_credential_requests_name_their_tool(asking):
    session = session_with_question(asking, "pay")
    button(session, "Reject").click()
    line = session.page.locator(".msg.user .answer-line")
    expect(line).to_have_text("Rejected pay")
    session = session_with_question(asking, "refund")
    button(session, "Confirm").click()
    line = session.page.locator(".msg.user .answer-line")
    expect(line).to_have_text('Confirmed refund: {"amount": 20}')
    session = session_with_question(asking, "read")
    session.page.get_by_label("API key").fill("very-secret")
    button(session, "Send answer").click()
    line = session.page.locator(".msg.user .answer-line")
    expect(line).to_have_text("Provided a credential for read")
    is_answered(session, asking, "Read")
