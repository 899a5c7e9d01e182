"""The look of the pages: themes, widths, and the panes in narrow windows."""

import re
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.kit.browser import SessionPage, Visit

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
    """Return the brightness of the page's background, from 0 to 255."""
    return page.evaluate(
        """() => {
        const context = document.createElement("canvas").getContext("2d");
        context.fillStyle = getComputedStyle(document.body).backgroundColor;
        context.fillRect(0, 0, 1, 1);
        return context.getImageData(0, 0, 1, 1).data[1];
    }"""
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_theme_follows_the_system_until_one_is_chosen(browser, server, signed_in, scheme):
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
def test_text_has_enough_contrast(browser, server, signed_in, scheme):
    with Visit(browser, server, storage_state=signed_in, color_scheme=scheme) as visit:
        session = visit.session("travel", [BOOK])
        session.select(3)
        assert session.page.evaluate(LOW_CONTRAST) == []


FORCED_COLORS = """([selector, property, pseudo]) =>
    [...document.querySelectorAll(selector)].map((part) => getComputedStyle(part, pseudo)[property])
"""
MARKED = [
    (1440, ".tabs [data-tab]", "borderBottomColor", ""),
    (1440, ".views a", "borderBottomColor", ""),
    (390, ".pane-tabs a", "borderBottomColor", ""),
    (1440, ".rail li", "backgroundColor", "::after"),
]


def test_forced_colors_show_which_tab_and_step_is_current(browser, server, signed_in):
    with Visit(browser, server, storage_state=signed_in, forced_colors="active") as visit:
        session = visit.session("travel")
        session.page.get_by_label("pause first").check()
        session.send(BOOK)
        session.page.locator(".rail").wait_for()
        for width, *part in MARKED:
            session.page.set_viewport_size({"width": width, "height": 800})
            seen = session.page.evaluate(FORCED_COLORS, part)
            canvas = "rgb(255, 255, 255)"
            assert len([color for color in seen if color != canvas]) == 1, (part, seen)


@pytest.fixture
def filled(visit):
    """A session full of content that could be too wide."""
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


def test_no_fold_of_an_app_is_wider_than_a_phone(visit, filled):
    page = filled.page
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(f"{visit.server.url}/apps/travel")
    for fold in page.locator("main details").all():
        fold.evaluate("fold => { fold.open = true; }")
        assert filled.fits(), fold.evaluate("fold => fold.outerHTML")
        fold.evaluate("fold => { fold.open = false; }")


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


BAR_ENDS = """bar => [...bar.querySelectorAll("a, button, summary, .run, input")]
    .filter((part) => part.checkVisibility() && !part.closest(".sheet, .sr"))
    .map((part) => [part.textContent || part.title, part.getBoundingClientRect()])
    .map(([name, { left, right }]) => [left, right, name])
    .sort(([one], [other]) => one - other)"""


def fits_without_overlaps(page: Page, width: int) -> None:
    """Check that the top bar's controls are in the window and beside each other."""
    page.set_viewport_size({"width": width, "height": 800})
    ends = page.locator(".topbar").evaluate(BAR_ENDS)
    for (_, right, name), (left, _, after) in pairwise(ends):
        assert right <= left + 1, (width, name, after)
    assert ends[-1][1] <= width, (width, ends[-1])
    expect(page.locator("[data-dialog=palette]")).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("title", ["", "Pay"])
def test_the_top_bar_of_a_fork_fits_narrow_windows(visit, title):
    parent = visit.session("travel", [BOOK], title=title)
    with visit.server.client() as client:
        for _ in range(2):
            made = client.post(f"/api{parent.path}/forks", json={"number": 3}).raise_for_status()
    page = visit.open(f"/sessions/{made.json()['key']}")
    fork, least = SessionPage(page), {390: 48, 480: 48, 701: 120}
    widths = (1440, 1280, 1101, 1100, 900, 720, 701, 480, 390)
    for held in (False, True):
        for width in widths:
            fits_without_overlaps(page, width)
            room = page.locator("#title").bounding_box()["width"]
            assert room >= least.get(width, 120 if width <= 1100 else 60), width
        if not held:
            page.get_by_label("pause first").check()
            fork.send(BOOK)
            expect(page.locator("#stop")).to_be_visible()
    expect(page.locator("#stop")).to_have_text("Stop", use_inner_text=True)
    page.locator("#lineage summary").click()
    for name in ("forked at #3", "Compare the parent with this fork", "other fork at #3"):
        expect(page.locator("#lineage .sheet")).to_contain_text(name, use_inner_text=True)
    page.get_by_role("link", name="Compare the parent with this fork").click()
    expect(page).to_have_url(re.compile("/compare"))


def test_on_a_phone_a_link_to_a_tab_opens_the_inspector(visit):
    session = visit.session("travel")
    for query, pane in ("?tab=graph", "inspector"), ("?tab=artifacts", "inspector"), ("", "chat"):
        phone = visit.context.new_page()
        phone.set_viewport_size({"width": 390, "height": 844})
        phone.goto(session.page.url + query)
        for name in "chat", "inspector":
            expect(phone.locator(f"#{name}")).to_be_visible(visible=name == pane)
        phone.close()


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


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (720, 450), (390, 450)])
def test_the_notice_of_a_failed_run_leaves_the_scrubber_free(visit, width, height):
    session = visit.session("faulty", ["divide 1 by 0"], ends="failed")
    page = session.page
    page.set_viewport_size({"width": width, "height": height})
    chat, composer = page.locator("#chat").bounding_box(), page.locator(".composer").bounding_box()
    assert composer["y"] + composer["height"] <= chat["y"] + chat["height"]
    notice = page.locator("#resume .resume")
    assert notice.bounding_box()["height"] >= 100
    expect(notice.get_by_role("button", name="Dismiss")).to_be_in_viewport(ratio=1)
    for button in notice.get_by_role("button").all():
        box = button.bounding_box()
        assert box["y"] + box["height"] <= composer["y"]
    expect(page.locator("#send")).to_be_in_viewport(ratio=1)


def test_on_a_phone_all_steps_of_a_held_run_are_in_the_window(visit):
    session = visit.session("travel")
    page = session.page
    page.get_by_label("pause first").check()
    session.send(BOOK)
    expect(page.locator("#steps button")).to_have_count(6)
    for width in (1440, 720, 480, 390, 360):
        page.set_viewport_size({"width": width, "height": 800})
        for button in page.locator("#steps button").all():
            expect(button).to_be_in_viewport(ratio=1)
            assert button.inner_text().strip()


GAPS_TO_BARS = """(cells) => cells.map((cell) => {
    const text = document.createRange();
    text.selectNodeContents(cell.firstChild);
    const bar = parseFloat(getComputedStyle(cell, "::after").top);
    return cell.getBoundingClientRect().top + bar - text.getBoundingClientRect().bottom;
})"""


@pytest.mark.parametrize("width", [1440, 390])
def test_the_bar_of_a_duration_leaves_its_figure_free(visit, width):
    session = visit.session("travel", [BOOK])
    session.page.set_viewport_size({"width": width, "height": 800})
    if width == 390:
        session.page.get_by_role("tab", name="Events", exact=True).first.click()
    gaps = session.page.locator("#rows .dt[data-bar]:visible").evaluate_all(GAPS_TO_BARS)
    assert len(gaps) > 1
    assert min(gaps) >= 0, gaps


LEFT_EDGES = """(list) => [...list.children].map((row) => [...row.children]
    .map((cell) => cell.checkVisibility() && Math.round(cell.getBoundingClientRect().left)))"""


def test_the_recent_sessions_share_their_columns(visit):
    visit.session("travel", [BOOK], id="s1", user="a-user-with-a-long-name")
    visit.session("field_state", id="an-id-that-is-longer-than-its-column")
    visit.session("summary", title=LONG[:90])
    start = visit.open("/")
    for width in (1440, 1000, 901, 720):
        start.set_viewport_size({"width": width, "height": 800})
        rows = start.locator("ul.sessions").evaluate(LEFT_EDGES)
        assert len(rows) > 2
        assert all(row == rows[0] for row in rows), (width, rows)
        shown = [left for left in rows[0] if left]
        assert shown == sorted(shown), (width, rows)  # on one line
        assert start.evaluate("document.documentElement.scrollWidth") == width


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


def test_the_menus_of_the_top_bar_stay_within_a_phones_window(filled):
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


def test_a_long_name_in_the_top_bar_yields_to_the_name_of_the_page(filled):
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
def test_a_narrow_window_shows_the_inspector_as_a_drawer(filled, width):
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
    page.keyboard.press("1")  # the current tab's key
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
        tabs.get_by_role("tab", name=name).click()
        for pane, selector in panes.items():
            assert page.locator(selector).is_visible() is (pane == name), (name, pane)
        assert filled.fits()
    tabs.get_by_role("tab", name="Events").click()
    filled.row(3).click()
    expect(filled.panel).to_be_visible()
    expect(filled.panel).to_contain_text("find_airports")
    expect(filled.panel.get_by_text("Write a note")).to_be_visible()
    for hint in filled.page.locator("#panel .note kbd, #panel .fork kbd, .hint").all():
        expect(hint).to_be_hidden()  # phones have no such keys


def test_a_session_reopened_on_a_phone_shows_the_chat_first(filled):
    page, session = filled.page, filled.page.url.partition("?")[0]
    page.set_viewport_size({"width": 390, "height": 800})
    page.get_by_role("tab", name="Inspector").click()
    page.reload()
    expect(filled.panel).to_be_visible()
    page.goto(f"{session.partition('/sessions')[0]}/apps/travel")
    page.locator(f'a.name[href="{session[session.index("/sessions") :]}"]').click()
    expect(page.locator("#messages")).to_be_visible()
    page.get_by_role("tab", name="Events", exact=True).first.click()
    page.locator("#scrub").press("ArrowLeft")
    expect(page.locator("#as-of")).to_contain_text("as of")
    expect(page.locator("#rows")).to_be_visible()


def test_a_resized_pane_keeps_its_width(filled):
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


def test_the_ends_of_chat_and_timeline_stay_visible_as_an_answer_arrives(visit):
    session = visit.session("travel", [BOOK])
    session.say(PAY)
    expect(session.messages.last).to_be_in_viewport()
    session.say(BOOK)
    expect(session.messages.last).to_be_in_viewport()
    expect(session.events.last).to_be_in_viewport()


ROWS_CAME_TOGETHER = """() => {
  const rows = document.querySelector("#rows");
  const first = Number(document.querySelector("#scrub").max) + 1;
  rows.append(...[first, first + 1].map((number) => {
    const row = rows.lastElementChild.cloneNode(true);
    Object.assign(row, { id: `e-${number}` }).dataset.event = number;
    return row;
  }));
}"""


def test_rows_that_arrive_together_all_count_as_new(visit):
    session = visit.session("travel", [BOOK, PAY, BOOK, BOOK])
    session.page.locator("#timeline .scroller").evaluate("(box) => { box.scrollTop = 0; }")
    session.page.evaluate(ROWS_CAME_TOGETHER)
    expect(session.page.locator("#timeline [data-newer]")).to_have_text("2 new ↓")


def test_a_visible_event_is_not_announced_as_new(visit):
    session = visit.session("faulty", ["hello"])
    session.select(1)
    session.say("hello")
    expect(session.events.last).to_be_in_viewport()
    for newer in session.page.locator("[data-newer]").all():
        expect(newer).to_be_hidden()


def test_a_reader_who_scrolled_up_stays_there_and_sees_how_many_rows_are_new(visit):
    session = visit.session("travel", [BOOK, PAY, BOOK, BOOK])
    box = session.page.locator("#timeline .scroller")
    box.evaluate("(box) => { box.scrollTop = 0; }")
    first = session.row(1)
    expect(first).to_be_in_viewport()
    count = session.events.count()
    visit.again(session).say("Book it")
    session.ends()
    expect(first).to_be_in_viewport()
    newer = session.page.locator("#timeline [data-newer]")
    expect(newer).to_have_text(f"{session.events.count() - count} new ↓")
    rows = session.page.locator("#timeline .scroller").bounding_box()
    assert newer.bounding_box()["y"] >= rows["y"] + rows["height"]
    session.row(count + 2).evaluate("(row) => row.scrollIntoView({ block: 'end' })")
    expect(newer).to_have_text(f"{session.events.count() - count - 2} new ↓")
    newer.click()
    expect(session.events.last).to_be_in_viewport()
    expect(newer).to_be_hidden()
    for pane in ("#chat", "#timeline"):
        session.page.locator(f"{pane} .scroller").evaluate("(box) => { box.scrollTop = 0; }")
    session.say("Book it again")  # your own message is scrolled into view
    expect(session.messages.last).to_be_in_viewport()
    session.page.set_viewport_size({"width": 1440, "height": 900})
    assert session.row(1).locator(".what").bounding_box()["width"] > 300
    expect(session.page).to_have_title(re.compile("^Book a flight"))


def is_live(session: SessionPage) -> None:
    expect(session.page.locator("#as-of")).to_contain_text("live")
    expect(session.page.locator('#rows [aria-selected="true"]')).to_have_count(0)
    expect(session.events.last).to_be_in_viewport(ratio=1)


def test_sending_a_message_returns_the_page_from_an_earlier_event_to_live(visit):
    session = visit.session("travel", [BOOK, PAY, BOOK, BOOK])
    session.select(3)
    session.tab("state")
    session.page.locator("#chat .scroller").evaluate("(box) => { box.scrollTop = 0; }")
    session.say(PAY)
    expect(session.messages.last).to_be_in_viewport(ratio=1)
    is_live(session)
    expect(session.page.locator("#tab-state")).to_have_attribute("aria-selected", "true")


def test_stepping_returns_your_own_page_to_live_but_not_another_readers(visit):
    session = visit.session("travel", [BOOK])
    session.page.get_by_label("pause first").check()
    session.send(PAY)
    expect(session.page.locator("#do-step_event")).to_be_visible()
    reader = visit.again(session, "?event=3")
    session.select(3)
    session.page.locator("#do-step_event").click()
    is_live(session)
    session.select(2)
    session.page.locator("#held").get_by_role("button", name="Continue").click()
    session.ends()
    is_live(session)
    reader.ends()
    expect(reader.row(3)).to_have_attribute("aria-selected", "true")


def test_an_unsaved_note_is_not_lost_when_a_message_is_sent(visit):
    session = visit.session("travel", [BOOK])
    session.select(3)
    session.page.keyboard.press("Shift+N")
    note = session.panel.locator("#note-edit textarea")
    note.fill("Ask for the class")
    session.say(PAY)
    expect(session.row(3)).to_have_attribute("aria-selected", "true")
    expect(note).to_have_value("Ask for the class")


SCROLLED_AS_A_ROW_CAME = """() => {
  const box = document.querySelector("#timeline .scroller"), rows = document.querySelector("#rows");
  const row = rows.lastElementChild.cloneNode(true);
  row.dataset.event = Number(document.querySelector("#scrub").max) + 1;
  row.removeAttribute("id");
  box.scrollTop = 0;
  rows.append(row);
}"""


def test_a_row_added_while_the_reader_scrolls_up_does_not_scroll_back(visit):
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


def test_a_row_removed_while_the_reader_scrolls_up_does_not_scroll_back(visit):
    """A page that has just opened removes rows far from the reader."""
    session = visit.session("travel", [BOOK, PAY, BOOK, BOOK])
    expect(session.events.last).to_be_in_viewport()
    assert session.page.evaluate(SCROLLED_AS_A_ROW_WENT) == 0


MOVED_AS_A_ROW_CAME = """(pixels) => {
  const box = document.querySelector("#timeline .scroller"), rows = document.querySelector("#rows");
  const row = rows.lastElementChild.cloneNode(true);
  row.removeAttribute("id");
  row.dataset.event = Number(rows.lastElementChild.dataset.event) + 1;
  box.scrollTop -= pixels;
  rows.append(row);
}"""


def test_only_the_reader_can_scroll_a_list_away_from_its_end(visit):
    session = visit.session("travel", [BOOK, PAY, BOOK, BOOK])
    expect(session.events.last).to_be_in_viewport()
    newer = session.page.locator("#timeline [data-newer]")
    # Browsers scroll like this when a live row is removed before its event arrives.
    session.page.evaluate(MOVED_AS_A_ROW_CAME, 40)
    expect(session.events.last).to_be_in_viewport()
    expect(newer).to_be_hidden()
    session.page.locator("#timeline .scroller").hover()
    session.page.mouse.wheel(0, -40)
    session.page.evaluate(MOVED_AS_A_ROW_CAME, 0)
    expect(newer).to_contain_text("1 new")


def test_the_scrubber_stays_in_place_when_a_run_is_held_or_an_event_selected(visit):
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


@pytest.mark.parametrize("width", [1440, 390])
def test_the_settings_of_the_next_run_fit_one_line(visit, width):
    page = visit.session("travel").page
    page.set_viewport_size({"width": width, "height": 800})
    summary = page.locator(".settings > summary")
    height = summary.bounding_box()["height"]
    summary.click()
    fields = page.locator(".settings")
    fields.get_by_label("Model").fill("gemini-3-pro-preview-with-a-long-name")
    fields.get_by_label("Temperature").fill("0.5")
    summary.click()
    expect(summary).to_contain_text("temperature 0.5")
    assert summary.bounding_box()["height"] <= height + 4
    summary.click()
    fields.get_by_label("Top-p").fill("0.9")
    summary.click()
    expect(summary).to_have_text("Settings 3 changed")
