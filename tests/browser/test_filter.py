"""The timeline's filter: typed, suggested, kept in the address, applied to live events."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.test_long_sessions import EVENTS, make, numbers
from tests.kit.browser import SessionPage, scroll_through

pytestmark = pytest.mark.browser

BOOK = "Book a flight to London next Tuesday"
HOME = "I live in Paris, remember that"


def expect_counts(session, visible, hidden):
    counts = f"{visible} shown, {hidden} hidden"
    expect(session.page.locator("#filter-said")).to_have_text(counts)


def test_a_filter_is_typed_linked_applied_to_new_events_and_cleared(visit):
    session = visit.session("travel", [BOOK])
    page, keyboard = session.page, session.page.keyboard
    page.evaluate("document.activeElement.blur()")
    keyboard.press("/")
    options = page.locator("#filter-words [role=option]:visible")
    expect(options.first).to_have_text(re.compile(r"kind:call\s+3 events"))
    keyboard.type("-kind:res")
    expect(options).to_have_count(1)
    keyboard.press("ArrowDown")
    keyboard.press("Enter")
    expect(page.locator("#filter-field")).to_have_value("-kind:result ")
    keyboard.type("author:travelagent")
    keyboard.press("Enter")
    expect_counts(session, 4, 4)
    assert numbers(session) == [2, 4, 6, 8]
    dimmed = page.locator("#ticks path.aside")
    expect(dimmed).to_have_count(2)  # the user's and the results'
    expect(page.locator("#filter-field")).to_be_focused()
    session.select(4)
    page.locator("#next").click()
    expect(session.row(6)).to_have_attribute("aria-selected", "true")
    session.tab("raw")
    address = re.compile(r"event=6&tab=raw&filter=-kind%3Aresult\+author%3Atravelagent$")
    expect(page).to_have_url(address)
    other = SessionPage(visit.open(page.url.removeprefix(visit.server.url)))
    expect(other.row(6)).to_have_attribute("aria-selected", "true")
    expect_counts(other, 4, 4)
    other.page.locator("#go-live").click()
    news_obey(session, other)
    other.page.get_by_role("link", name="Clear the filter").click()
    expect(other.events).to_have_count(12)
    expect(dimmed).to_have_count(2)
    expect(other.page.locator("#ticks path.aside")).to_have_count(0)
    assert "filter" not in other.page.url


def news_obey(session, other):
    """Check that a message sent on one page is filtered on both, even in a new invocation."""
    other.send(HOME)
    other.ends()
    expect_counts(other, 6, 6)
    assert numbers(other) == [2, 4, 6, 8, 10, 12]
    header = other.page.locator("#rows > .inv").last
    expect(header).to_contain_text(HOME)
    expect(header).to_contain_text("4 events")
    expect(other.messages.last).to_contain_text("from now")
    other.page.reload()
    assert numbers(other) == [2, 4, 6, 8, 10, 12]
    expect_counts(session, 6, 6)


def test_a_filter_leaves_the_rest_of_the_page_alone(visit):
    session = visit.session("travel", [BOOK])
    page = session.page
    page.evaluate("window.sameDocument = true")
    session.composer.fill("half a mess")
    filtered(page, "kind:call")
    expect_counts(session, 3, 5)
    assert numbers(session) == [2, 4, 6]
    expect(page.locator("#filter-field")).to_be_focused()
    expect(session.composer).to_have_value("half a mess")
    expect(page).to_have_url(re.compile(r"/sessions/\d+\?filter=kind%3Acall$"))
    filtered(page, "kind:nothing")
    expect(page.locator("#filter-error")).to_contain_text("Unknown kind: nothing. Use user")
    expect(session.events).to_have_count(8)
    filtered(page, "-kind:call")
    expect_counts(session, 5, 3)
    page.get_by_role("link", name="Clear the filter").click()
    expect(session.events).to_have_count(8)
    expect(page).to_have_url(re.compile(r"/sessions/\d+$"))
    expect(session.composer).to_have_value("half a mess")
    page.go_back()
    expect_counts(session, 5, 3)


def test_filtering_during_a_run_neither_loses_nor_duplicates_rows(visit):
    session = visit.session("travel")
    page = session.page
    page.evaluate("window.sameDocument = true")
    session.send(BOOK)
    for text in ("kind:call", "", "-kind:user", "kind:call"):
        filtered(page, text)
    session.ends()
    expect_counts(session, 3, 5)
    assert numbers(session) == [2, 4, 6]
    ids = session.messages.evaluate_all("(all) => all.map((each) => each.id)")
    whole = visit.again(session)
    assert ids == whole.messages.evaluate_all("(all) => all.map((each) => each.id)")
    session.say(HOME)
    expect_counts(session, 4, 8)
    assert page.evaluate("window.sameDocument") is True


def filtered(page, text):
    page.locator("#filter-field").fill(text)
    page.keyboard.press("Enter")
    applied = page.locator("[data-filter-text], #filter-error").first
    expect(applied).to_be_attached() if text else expect(applied).not_to_be_attached()


def test_a_link_shows_an_event_that_its_filter_would_hide_and_says_so(visit):
    session = visit.session("travel", [BOOK])
    session = visit.again(session, "?event=1&filter=kind:call")
    expect(session.row(1)).to_have_attribute("aria-selected", "true")
    expect(session.row(1)).to_contain_text("not in the filter")
    expect_counts(session, 3, 5)
    assert numbers(session) == [1, 2, 4, 6]
    past = visit.again(session, "?at=3&filter=kind:call")
    expect_counts(past, 1, 2)
    assert numbers(past) == [2, 3]
    none = visit.again(session, "?filter=is:error")
    expect(none.page.locator(".no-match")).to_be_visible()
    expect_counts(none, 0, 8)
    wrong = visit.again(session, "?filter=kind:nothing")
    expect(wrong.page.locator("#filter-error")).to_contain_text("Unknown kind: nothing. Use user")
    expect(wrong.events).to_have_count(8)


def test_a_thousand_events_are_filtered_and_fetched_in_windows(visit, server):
    path = make(server, "filtered")
    session = SessionPage(visit.open(f"{path}?filter=author:user"))
    expect_counts(session, EVENTS // 10, EVENTS - EVENTS // 10)
    before = numbers(session)
    assert before == list(range(before[0], EVENTS, 10))
    assert sorted(scroll_through(session.page, "#rows")["passed"]) == list(range(1, EVENTS, 10))
    around = SessionPage(visit.open(f"{path}?filter=author:user&event=491"))
    expect(around.row(491)).to_be_in_viewport()


def test_chips_filter_by_kinds_and_agents_and_follow_the_run(visit):
    session = visit.session("travel")
    page, chips = session.page, session.page.locator("#filter-chips a")
    session.say("Book a **flight** to London")
    expect(page.locator("#rows .what").first).to_have_text("Book a **flight** to London")
    expect(page).to_have_title(re.compile("^Book a flight to London"))
    expect(chips).to_have_text(["user 1", "text 1", "call 3", "result 3", "TravelAgent 7"])
    top = page.locator("#rows").bounding_box()["y"]
    call = page.get_by_role("link", name="call 3")
    call.click()
    expect_counts(session, 3, 5)
    expect(call).to_have_attribute("aria-current", "true")
    expect(call).to_be_focused()
    page.get_by_role("link", name="text 1").click()
    expect(page.locator("#filter-field")).to_have_value("kind:call,text")
    expect(page).to_have_url(re.compile(r"filter=kind%3Acall%2Ctext$"))
    session.say(HOME)
    expect(chips.filter(has_text="call")).to_have_text("call 4")
    expect_counts(session, 6, 6)
    other = visit.again(session, "?at=8&filter=kind:call")
    expect(other.page.locator("#filter-chips a").first).to_have_text("user 1")
    assert other.page.locator("#rows").bounding_box()["y"] == top


def test_only_the_last_answer_of_an_invocation_is_marked_as_final(visit):
    session = visit.session("story_flow")
    session.say("a cat")
    final = session.page.locator("#rows .flag.final")
    expect(final).to_have_count(1)
    live = session.page.locator("#rows .row:has(.flag.final)").get_attribute("id")
    again = visit.again(session)
    expect(again.page.locator("#rows .row:has(.flag.final)")).to_have_attribute("id", live)


def test_a_word_of_a_row_can_be_selected(visit):
    session = visit.session("travel", [BOOK])
    session.row(8).locator(".what").dblclick(position={"x": 30, "y": 8})
    expect(session.row(8)).to_have_attribute("aria-selected", "true")
    assert session.page.evaluate("() => getSelection().toString().trim()") == "found"


def test_two_quick_clicks_on_chips_both_count(visit):
    session = visit.session("travel", [BOOK])
    page = session.page
    click_both = "() => ['kind:user', 'kind:text'].forEach((term) => CHIP(term).click())"
    chip = "document.querySelector(`#filter-chips a[title$='${term}']`)"
    page.evaluate(click_both.replace("CHIP(term)", chip))
    expect(page.locator("#filter-field")).to_have_value("kind:user,text")
    expect(page.locator("#filter-chips a[aria-current=true]")).to_have_count(2)
    expect(page).to_have_url(re.compile(r"filter=kind%3Auser%2Ctext$"))


def test_names_match_by_prefix_and_those_of_chips_exactly(visit):
    session = visit.session("story_flow")
    session.say("a cat")
    page, applied = session.page, session.page.locator("#filter-field")
    chips = page.locator("#filter-chips a")
    count = session.events.count()

    def expect_shown(visible):
        expect_counts(session, visible, count - visible)

    story = chips.filter(has_text="StoryGenerator")
    stories = int(story.locator("b").inner_text())
    texts = int(chips.and_(page.locator("[title$='kind:text']")).locator("b").inner_text())
    assert 0 < stories < texts < count
    filtered(page, "author:storyg")
    expect_shown(stories)
    filtered(page, 'author:"storyg"')
    expect_shown(0)
    filtered(page, "kind:te")
    expect_shown(texts)
    filtered(page, "")
    story.click()
    expect(applied).to_have_value('author:"StoryGenerator"')
    expect_shown(stories)
    critic = chips.filter(has=page.get_by_text("Critic", exact=True))
    critics = int(critic.locator("b").inner_text())
    critic.click()
    expect(applied).to_have_value('author:"StoryGenerator","Critic"')
    expect_shown(stories + critics)
    expect(page.locator("#filter-chips a[aria-current=true]")).to_have_count(2)
    story.click()
    expect(applied).to_have_value('author:"Critic"')
    expect_shown(critics)  # without those of the CriticReviserLoop


def test_words_are_suggested_again_after_a_filter_while_the_field_keeps_the_focus(visit):
    session = visit.session("travel", [BOOK])
    page = session.page
    field, options = (
        page.locator("#filter-field"),
        page.locator("#filter-words [role=option]:visible"),
    )
    field.click()
    field.press_sequentially("kind:ca")
    expect(options).to_have_text([re.compile("kind:call")])
    field.press("ArrowDown")
    field.press("Enter")
    field.press("Enter")
    expect(page).to_have_url(re.compile("kind%3Acall"))
    expect(field).to_be_focused()
    expect(options).to_have_count(0)
    field.press_sequentially(" tool:find")
    expect(options.first).to_contain_text("tool:find_airports")
