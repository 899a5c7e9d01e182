"""How the pages look: themes, widths, and what narrow windows do with the panes."""

import re
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.kit.browser import Visit

pytestmark = pytest.mark.browser

BOOK = "Book a flight to London next Tuesday"
PAY = "Book it and pay with my card"
LONG = "a" * 300
LOW_CONTRAST = Path(__file__).with_name("contrast.js").read_text(encoding="utf-8")
FIRST_PAINTS = """
window.themes = new Promise((resolve) => {
  const seen = [];
  const look = () => {
    seen.push(document.documentElement.dataset.theme);
    if (seen.length < 20) requestAnimationFrame(look);
    else resolve(seen);
  };
  requestAnimationFrame(look);
});
"""


def background(page: Page) -> int:
    """How bright the page is, from 0 to 255."""
    return page.evaluate(
        """() => {
        const context = document.createElement("canvas").getContext("2d");
        context.fillStyle = getComputedStyle(document.body).backgroundColor;
        context.fillRect(0, 0, 1, 1);
        return context.getImageData(0, 0, 1, 1).data[1];
    }"""
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_theme_follows_the_system_until_it_is_chosen_and_then_stays(
    browser, server, signed_in, scheme
):
    with Visit(browser, server, storage_state=signed_in, color_scheme=scheme) as visit:
        page = visit.open("/")
        assert (background(page) > 128) is (scheme == "light")
        page.get_by_role("button", name="Switch between light and dark").click()
        assert (background(page) > 128) is (scheme == "dark")
        page.add_init_script(FIRST_PAINTS)
        chosen = "dark" if scheme == "light" else "light"
        for path in ("/", "/apps/travel", visit.session("travel").path):
            page.goto(server.url + path)
            assert set(page.evaluate("window.themes")) == {chosen}
            assert (background(page) > 128) is (scheme == "dark")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_on_its_background(browser, server, signed_in, scheme):
    with Visit(browser, server, storage_state=signed_in, color_scheme=scheme) as visit:
        session = visit.session("travel", [BOOK])
        session.select(3)
        assert session.page.evaluate(LOW_CONTRAST) == []


@pytest.fixture
def filled(visit):
    """A session with everything in it that could be too wide."""
    return visit.session(
        "travel", [BOOK, LONG], title=LONG[:200], state=f'{{"{LONG[:200]}": "{LONG}"}}'
    )


@pytest.mark.parametrize("widths", [(1440, 1100), (360, 700, 900)])
def test_no_page_is_wider_than_its_window(visit, filled, widths):
    page = filled.page
    views = ("", "?event=8", "?event=9&tab=event", "?event=9&tab=state", "?tab=log", "?view=trace")
    addresses = [filled.path + view for view in views]
    visit.allow("404")
    for address in [*addresses, "/", "/apps/travel", "/nowhere"]:
        page.set_viewport_size({"width": widths[0], "height": 800})
        page.goto(visit.server.url + address)
        expect(page.locator("#main")).to_be_visible()
        for width in widths:
            page.set_viewport_size({"width": width, "height": 800})
            assert filled.fits(), (address, width)


def test_the_top_bar_of_a_held_run_fits_narrow_windows(visit):
    session = visit.session("travel")
    session.page.get_by_label("pause first").check()
    session.send(BOOK)
    expect(session.page.locator("#stop")).to_be_visible()
    bar = session.page.locator(".topbar")
    for width in (390, 480, 701, 760, 900):
        session.page.set_viewport_size({"width": width, "height": 844})
        assert bar.evaluate("bar => bar.scrollWidth - bar.clientWidth") <= 0, width
        boxes = [session.page.locator(part).bounding_box() for part in ("#title", "#stop", "#why")]
        for before, after in pairwise(boxes):
            assert before["x"] + before["width"] <= after["x"] + 1, width


def test_on_a_phone_the_top_bar_has_room_for_title_and_status(visit):
    session = visit.session("travel", [PAY], title="Pay with my card")
    with visit.server.client() as client:
        for _ in range(2):
            client.post(f"/api{session.path}/forks", json={"number": 2}).raise_for_status()
    page = session.page
    page.reload()
    for width in (360, 390):
        page.set_viewport_size({"width": width, "height": 844})
        bar = page.locator(".topbar")
        assert bar.evaluate("bar => bar.scrollWidth - bar.clientWidth") <= 0, width
        assert page.locator("#title-text").bounding_box()["width"] >= 48, width
        expect(page.locator("[data-dialog=palette]")).to_be_in_viewport(ratio=1)
        is_whole = "status => status.scrollWidth <= status.clientWidth"
        assert session.status.evaluate(is_whole), width


@pytest.mark.parametrize("page", ["/", "/apps/travel"])
def test_on_a_phone_a_list_of_sessions_shows_their_titles(visit, page):
    title = "Book a flight to London"
    visit.session("travel", [BOOK], title=title)
    phone = visit.open(page)
    phone.set_viewport_size({"width": 390, "height": 844})
    name = phone.get_by_role("link", name=title).first
    assert name.evaluate("name => name.scrollWidth <= name.clientWidth")
    row = phone.locator(".session", has=phone.get_by_role("link", name=title)).first
    for part in (".status", "time", "summary"):
        expect(row.locator(part)).to_be_visible()
    assert phone.evaluate("document.documentElement.scrollWidth") == 390


def test_the_menus_of_the_top_bar_stay_in_the_window_of_a_phone(filled):
    page = filled.page
    page.set_viewport_size({"width": 390, "height": 800})
    for menu in page.locator(".topbar > .menu:visible").all():
        menu.locator("> summary").click()
        box = menu.locator("> .sheet").bounding_box()
        assert box["x"] >= 0, box
        assert box["x"] + box["width"] <= 390, box
        page.keyboard.press("Escape")
    page.get_by_label("Sessions", exact=True).click()
    number = filled.path.rpartition("/")[2]
    expect(page.locator(".ids")).to_contain_text(f"number {number}", use_inner_text=True)


def test_a_long_name_in_the_top_bar_gives_way_to_the_name_of_the_page(filled):
    phone = filled.page
    phone.set_viewport_size({"width": 390, "height": 800})
    session = phone.url.split("?")[0]
    for page in ("export", "test"):
        phone.goto(f"{session}/{page}")
        bar = phone.locator(".topbar")
        height = bar.bounding_box()["height"]
        for name in bar.locator("> a, > b").all():
            assert name.bounding_box()["height"] <= height
        here = bar.locator("> b")
        assert here.evaluate("(element) => element.scrollWidth <= element.clientWidth")


@pytest.mark.parametrize("width", [1100, 900])
def test_the_inspector_of_a_narrow_window_is_a_drawer(filled, width):
    page = filled.page
    page.set_viewport_size({"width": width, "height": 800})
    inspector = page.locator("#inspector")
    expect(inspector).to_be_hidden()
    page.locator("#totals").click()
    expect(page.locator("#spending")).to_be_in_viewport(ratio=1)
    page.locator("#totals").click()
    filled.row(3).click()
    expect(inspector).to_be_in_viewport(ratio=0.9)
    expect(filled.panel).to_contain_text("find_airports")
    page.get_by_role("button", name="Close the inspector").click()
    expect(inspector).to_be_hidden()
    filled.row(4).click()
    expect(inspector).to_be_in_viewport(ratio=0.9)
    page.keyboard.press("Escape")
    expect(inspector).to_be_hidden()
    page.keyboard.press("1")  # the tab that is shown already
    expect(inspector).to_be_in_viewport(ratio=0.9)
    page.keyboard.press("Escape")
    filled.composer.fill("The page can be used")
    page.goto(f"{filled.page.url.split('?')[0]}?tab=state")
    expect(inspector).to_be_in_viewport(ratio=0.9)


def test_a_phone_shows_one_pane_at_a_time(filled):
    page = filled.page
    page.set_viewport_size({"width": 390, "height": 800})
    page.reload()
    tabs = page.get_by_role("navigation", name="Panes")
    panes = {"Chat": "#messages", "Events": "#rows", "Inspector": "#panel"}
    for name in ("Events", "Inspector", "Chat"):
        tabs.get_by_role("link", name=name).click()
        for pane, selector in panes.items():
            assert page.locator(selector).is_visible() is (pane == name), (name, pane)
        assert filled.fits()
    tabs.get_by_role("link", name="Events").click()
    filled.row(3).click()
    expect(filled.panel).to_be_visible()
    expect(filled.panel).to_contain_text("find_airports")


def test_a_pane_that_was_resized_stays_so(filled):
    page = filled.page
    bar = page.get_by_role("separator", name="Resize the chat")
    before = page.locator("#chat").bounding_box()["width"]
    bar.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    after = page.locator("#chat").bounding_box()["width"]
    assert after == pytest.approx(before + 72, abs=2)
    page.reload()
    assert page.locator("#chat").bounding_box()["width"] == pytest.approx(after, abs=2)


def test_the_ends_of_chat_and_timeline_are_in_sight_while_an_answer_arrives(visit):
    session = visit.session("travel", [BOOK])
    session.say(PAY)
    expect(session.messages.last).to_be_in_viewport()
    session.say(BOOK)
    expect(session.messages.last).to_be_in_viewport()
    expect(session.events.last).to_be_in_viewport()


def test_nobody_is_told_of_something_new_that_is_in_sight(visit):
    session = visit.session("faulty", ["hello"])
    session.select(1)
    session.say("hello")
    expect(session.events.last).to_be_in_viewport()
    for newer in session.page.locator("[data-newer]").all():
        expect(newer).to_be_hidden()


def test_a_reader_who_has_scrolled_up_is_left_there_and_told_what_is_new(visit):
    session = visit.session("travel", [BOOK, PAY, BOOK, BOOK])
    box = session.page.locator("#timeline .scroller")
    box.evaluate("(box) => { box.scrollTop = 0; }")
    first = session.row(1)
    expect(first).to_be_in_viewport()
    elsewhere = visit.again(session)
    elsewhere.say("Book it")
    expect(first).to_be_in_viewport()
    newer = session.page.locator("#timeline [data-newer]")
    expect(newer).to_contain_text("new")
    newer.click()
    expect(session.events.last).to_be_in_viewport()
    expect(newer).to_be_hidden()
    for pane in ("#chat", "#timeline"):
        session.page.locator(f"{pane} .scroller").evaluate("(box) => { box.scrollTop = 0; }")
    session.say("Book it again")  # one's own message is not left out of sight
    expect(session.messages.last).to_be_in_viewport()
    session.page.set_viewport_size({"width": 1440, "height": 900})
    assert session.row(1).locator(".what").bounding_box()["width"] > 300
    expect(session.page).to_have_title(re.compile("^Book a flight"))


def test_the_chat_follows_the_answer_to_ones_own_message_while_an_earlier_event_is_selected(visit):
    session = visit.session("travel", [BOOK, PAY, BOOK, BOOK])
    session.select(3)
    session.page.locator("#chat .scroller").evaluate("(box) => { box.scrollTop = 0; }")
    session.say(PAY)
    expect(session.messages.last).to_be_in_viewport(ratio=1)
    expect(session.row(3)).to_have_attribute("aria-selected", "true")
    expect(session.row(3)).to_be_in_viewport()


SCROLLED_AS_A_ROW_CAME = """() => {
  const box = document.querySelector("#timeline .scroller"), rows = document.querySelector("#rows");
  box.scrollTop = 0;
  rows.append(rows.lastElementChild.cloneNode(true));
}"""


def test_a_row_that_comes_as_the_reader_scrolls_up_does_not_take_them_back(visit):
    session = visit.session("travel", [BOOK, PAY, BOOK, BOOK])
    expect(session.events.last).to_be_in_viewport()
    session.page.evaluate(SCROLLED_AS_A_ROW_CAME)
    expect(session.page.locator("#timeline [data-newer]")).to_contain_text("1 new")
    expect(session.row(1)).to_be_in_viewport()


SCROLLED_AS_A_ROW_WENT = """async () => {
  const box = document.querySelector("#timeline .scroller");
  const frame = () => new Promise(requestAnimationFrame);
  box.dispatchEvent(new WheelEvent("wheel", { bubbles: true }));
  box.scrollTop = 0;
  document.querySelector("#rows").lastElementChild.remove();
  for (let frames = 0; frames < 3; frames++) await frame();
  return box.scrollTop;
}"""


def test_a_row_that_goes_as_the_reader_scrolls_up_does_not_take_them_back(visit):
    """As rows far from the reader do once a page has opened."""
    session = visit.session("travel", [BOOK, PAY, BOOK, BOOK])
    expect(session.events.last).to_be_in_viewport()
    assert session.page.evaluate(SCROLLED_AS_A_ROW_WENT) == 0


MOVED_AS_A_ROW_CAME = """(pixels) => {
  const box = document.querySelector("#timeline .scroller"), rows = document.querySelector("#rows");
  const row = rows.lastElementChild.cloneNode(true);
  row.removeAttribute("id");
  box.scrollTop -= pixels;
  rows.append(row);
}"""


def test_only_the_reader_takes_a_list_away_from_its_end_by_a_row(visit):
    session = visit.session("travel", [BOOK, PAY, BOOK, BOOK])
    expect(session.events.last).to_be_in_viewport()
    newer = session.page.locator("#timeline [data-newer]")
    # A browser does so where a live row goes before the event comes.
    session.page.evaluate(MOVED_AS_A_ROW_CAME, 40)
    expect(session.events.last).to_be_in_viewport()
    expect(newer).to_be_hidden()
    session.page.locator("#timeline .scroller").hover()
    session.page.mouse.wheel(0, -40)
    session.page.evaluate(MOVED_AS_A_ROW_CAME, 0)
    expect(newer).to_contain_text("1 new")


def test_the_scrubber_keeps_its_place_when_a_run_is_held_and_an_event_selected(visit):
    session = visit.session("travel")
    scrubber = session.page.locator("#scrubber")
    idle = scrubber.bounding_box()
    session.page.get_by_label("pause first").check()
    session.send(BOOK)
    expect(session.page.locator("#do-continue")).to_be_visible()
    assert scrubber.bounding_box() == idle
    buttons = session.page.locator("#debugger")
    buttons.get_by_role("button", name="Step", exact=True).click()
    session.row(1).click()
    expect(session.page.locator("#go-live")).to_be_visible()
    assert scrubber.bounding_box() == idle
