"""What was sent to models and tools, as a person finds it in the inspector."""

import re

import pytest
from playwright.sync_api import expect

from tests.kit.browser import SessionPage, Visit
from tests.kit.model_call_apps import CENSOR, HUGE, STAND_IN, teller
from tests.kit.server import running, write_app

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("request")
    write_app(folder / "agents", "teller", teller())
    write_app(folder / "agents", "huge", HUGE)
    write_app(folder / "agents", "seller", CENSOR)
    write_app(folder / "agents", "shop", STAND_IN)
    write_app(folder / "agents", "liar", teller(lies=True))
    write_app(folder / "agents", "padded", teller().replace('in Oslo."', 'in Oslo. "'))
    with running(folder / "agents", folder / "data") as server:
        yield server


@pytest.fixture
def session(visit) -> SessionPage:
    """A session whose fourth event is a streamed answer."""
    return send(visit.session("teller"), "How is the weather?")


def send(session: SessionPage, *messages: str) -> SessionPage:
    for message in messages:
        session.send(message)
        session.ends()
    return session


def request_of(session: SessionPage, number: int):
    session.page.locator(f"#e-{number} .seq a").click()
    session.page.locator(f'#e-{number}[aria-selected="true"]').wait_for()
    session.page.keyboard.press("7")
    panel = session.page.locator("#panel")
    expect(session.page.locator("#tab-request")).to_have_attribute("aria-selected", "true")
    return panel


def test_the_prompt_of_an_answer_is_shown_as_sent(session):
    panel = request_of(session, 4)
    expect(panel.locator("h2")).to_have_text("Request from teller to test-model")
    expect(panel.locator(".as-sent")).to_contain_text("As sent by the runtime")
    expect(panel.locator(".block.r-system")).to_contain_text("Be kind about the weather.")
    messages = panel.locator("section .block:is(.r-user, .r-model, .r-result)")
    expect(messages).to_have_count(3)
    expect(messages.nth(0).locator("summary")).to_contain_text("How is the weather?")
    expect(messages.nth(0).locator("summary")).to_contain_text(re.compile(r"≈\d+ tokens"))
    messages.nth(1).locator("summary").click()
    expect(messages.nth(1).locator(".k-call")).to_contain_text('city: "Oslo"')
    tool = panel.locator(".block.r-tools")
    expect(tool.locator("> summary b")).to_have_text("weather")
    tool.locator("> summary").press("Enter")
    expect(tool.locator(".json")).to_contain_text("properties")
    expect(panel.locator("figcaption")).to_contain_text("shares are estimated")
    expect(panel.locator(".facts")).to_contain_text("300 of them cached")


def test_tool_results_in_a_prompt_have_a_name_and_color_of_their_own(session):
    panel = request_of(session, 4)
    result = panel.locator(".block.r-result")
    expect(result.locator(".role")).to_have_text("result")
    expect(result.locator(".role")).to_have_attribute("title", "sent with the role user")
    expect(panel.locator("figcaption")).to_contain_text("tool results")
    share = panel.locator(".shares rect.r-result")
    expect(share.locator("title")).to_have_text(re.compile("^result #3: "))
    fills = panel.locator(".shares rect").evaluate_all(
        "rects => rects.map(r => getComputedStyle(r).fill)"
    )
    assert len({*fills}) == len(fills) == 6, fills  # the last one is the cached share


def test_without_a_selection_the_request_is_that_of_the_last_or_held_call(visit):
    session = visit.session("teller")
    session.tab("request")
    expect(session.panel).to_contain_text("No model has been called")
    send(session, "How is the weather?")
    expect(session.panel.locator(".as-sent")).to_contain_text("The last model call, of event #4")
    expect(session.panel.locator("section .block:not(.r-system, .r-tools)")).to_have_count(3)
    session.page.get_by_label("pause first").check()
    session.send("Say hello sternly")
    session.ends("held")
    for gate in ("after the commit", "before the agent", "before the model call"):
        session.page.get_by_role("button", name="Into").click()
        expect(session.page.locator("#held")).to_contain_text(f"Paused {gate}")
    expect(session.panel.locator(".as-sent")).to_contain_text("Held before the model call")
    expect(session.panel.locator(".block.r-system")).to_contain_text("Be kind about the weather.")
    expect(session.panel.locator("section .block").last).to_contain_text("Say hello sternly")
    session.page.keyboard.press("c")
    session.ends()
    expect(session.panel.locator(".as-sent")).to_contain_text("The last model call, of event #6")


def test_raw_json_is_fetched_when_unfolded_and_can_be_copied(session):
    session.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    panel = request_of(session, 2)
    panel.locator("#raw-request summary").click()
    expect(panel.locator("#request-text pre")).to_contain_text('"contents": [')
    panel.get_by_role("button", name="Copy").click()
    expect(panel.get_by_role("button", name="Copied")).to_be_visible()
    assert '"Be kind' in session.page.evaluate("navigator.clipboard.readText()")


def test_a_tool_response_shows_the_arguments_sent_and_the_raw_result(session):
    panel = request_of(session, 3)
    expect(panel.locator("h2")).to_contain_text("Sent to tools")
    call = panel.locator("section.k-call")
    expect(call).to_contain_text("weather")
    expect(call.locator(".json").nth(0)).to_contain_text('city: "Oslo"')
    expect(call.locator(".json").nth(1)).to_contain_text('sky: "clear"')


def test_a_users_message_says_that_nothing_was_sent(session):
    panel = request_of(session, 1)
    expect(panel).to_contain_text("aren't produced by a model call")


def test_a_prompt_that_only_grew_keeps_its_cached_prefix(session):
    panel = request_of(session, 4)
    panel.get_by_label("Diff with").select_option(label="previous call of teller, #2")
    differences = panel.locator("#differences")
    expect(differences.locator(".verdict")).to_have_text("The cached prefix holds: 2 new messages.")
    lines = differences.locator(".block-diff > li")
    expect(lines).to_have_count(3)
    expect(lines.nth(0)).to_contain_text("system instruction and 1 unchanged message")
    expect(lines.nth(1)).to_have_class(re.compile("added"))
    expect(differences.locator(".cache-break")).to_have_count(0)
    expect(session.page).to_have_url(re.compile("with=0"))


def test_a_changed_system_instruction_is_diffed_by_word_and_breaks_the_cache(session):
    send(session, "Say hello sternly")
    panel = request_of(session, 6)
    select = panel.get_by_label("Diff with")
    select.focus()
    session.page.keyboard.press("ArrowDown")
    changed = panel.locator("#differences .block-diff .changed").first
    expect(changed).to_contain_text("cache prefix breaks here")
    expect(changed.locator("del").first).to_contain_text("kind")
    expect(changed.locator("ins").first).to_contain_text("stern")
    expect(panel.locator("#differences .cache-break")).to_have_count(1)
    expect(panel.locator("#differences")).to_contain_text("temperature")
    panel.locator("#differences h3 a").click()
    expect(session.page.locator('#e-4[aria-selected="true"]')).to_be_visible()


def test_a_huge_prompt_is_folded_and_its_blocks_load_when_unfolded(visit):
    session = send(visit.session("huge"), "one", "two")
    panel = request_of(session, 4)
    expect(panel.locator("h3", has_text="Messages")).to_contain_text("202")
    system = panel.locator(".block.r-system")
    expect(system.locator(".block-body .plain")).to_have_count(0)
    system.locator("summary").click()
    expect(system.locator(".block-body .plain")).to_contain_text("rule 3 is good.")
    panel.get_by_label("Diff with").select_option("0")
    differences = panel.locator("#differences")
    expect(differences.locator(".changed .cache-break")).to_have_count(1)
    expect(differences).to_contain_text("200 unchanged messages")


def test_without_scripts_a_request_can_be_read_and_compared(session, browser, server, signed_in):
    with Visit(browser, server, storage_state=signed_in, java_script_enabled=False) as plain:
        page = plain.open(f"{session.path}?event=4&tab=request")
        expect(page.locator(".block.r-system .block-body")).to_contain_text("Be kind")
        page.get_by_label("Diff with").select_option("0")
        page.get_by_role("button", name="Show").click()
        expect(page.locator("#differences")).to_contain_text("cached prefix holds")


def test_a_streamed_answer_can_be_browsed_chunk_by_chunk(session):
    streamed = request_of(session, 4).locator(".streamed")
    expect(streamed.locator(".plain")).to_have_text("It is sunny in Oslo.")
    session.page.keyboard.press("[")
    expect(streamed.locator("output")).to_contain_text("chunk 2 of 3")
    expect(streamed.locator("output")).to_contain_text(
        re.compile(r"after the previous chunk, \d+ char")
    )
    expect(streamed.locator(".here")).to_be_visible()
    expect(streamed.locator("[data-chunk]").nth(2)).to_be_hidden()
    streamed.get_by_role("slider").press("Home")
    expect(streamed.locator("[data-chunk]:visible")).to_have_text(["It is "])
    expect(streamed.locator(".mismatch")).to_have_count(0)


def test_an_answer_that_differs_from_its_chunks_is_marked(visit):
    session = send(visit.session("liar"), "How is the weather?")
    expect(request_of(session, 4).locator(".mismatch")).to_be_visible()


def test_an_answer_with_an_extra_trailing_space_is_not_marked(visit):
    session = send(visit.session("padded"), "How is the weather?")
    expect(request_of(session, 4).locator(".streamed")).to_be_visible()
    expect(session.page.locator(".mismatch")).to_have_count(0)


def test_a_models_answer_is_shown_next_to_the_callbacks_replacement(visit):
    session = visit.session("seller")
    session.page.get_by_label("stream", exact=True).uncheck()
    send(session, "What is the price?")
    answer = request_of(session, 4).locator(".answer")
    expect(answer).to_contain_text("The price is 900 euros.")
    expect(answer.locator("del")).to_contain_text("900")
    expect(answer.locator("ins")).to_contain_text("***")
    session.page.keyboard.press("1")
    changed = session.page.locator("#panel .changed-answer")
    expect(changed).to_contain_text("changed the model's answer")
    mark = session.events.locator(".flag.changed")
    expect(mark).to_have_count(1)
    expect(session.row(4).locator(".flag.changed")).to_have_attribute(
        "title", "a callback, plugin, or planner changed the model's answer"
    )
    visit.again(session).equals(session, "#rows")
    changed.get_by_role("link").click()
    expect(answer.locator(".changed-answer")).to_be_visible()


def test_a_callbacks_replacement_for_an_error_is_not_compared(visit):
    session = send(visit.session("shop"), "Are you open?")
    answer = request_of(session, 2).locator(".answer")
    expect(answer.locator(".changed-answer")).to_be_visible()
    expect(answer.locator("ins")).to_contain_text("Closed today.")


def test_an_answer_that_no_callback_changed_has_no_mark(visit):
    session = visit.session("seller")
    send(session, "What is the price?")
    answer = request_of(session, 2).locator(".answer")
    expect(answer.locator(".k-call")).to_contain_text('city: "Rome"')
    expect(answer.locator(".changed-answer, .block-diff")).to_have_count(0)
    expect(session.events.locator(".flag.changed")).to_have_count(1)  # its second answer
    session.page.keyboard.press("1")
    expect(session.page.locator("#panel .event h2")).to_contain_text("#2")
    expect(session.page.locator("#panel .changed-answer")).to_have_count(0)
