"""Each key in the list of shortcuts does something on the page that lists it."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.kit.browser import Visit

pytestmark = pytest.mark.browser

BOOK = "Book a flight to London next Tuesday"
PAY = "Book it and pay with my card"
SPY = """
window.copied = [];
Object.defineProperty(navigator, "clipboard", {
  value: { writeText: async (text) => { window.copied.push(text); } },
});
"""
LOOK = """() => {
  const active = document.activeElement;
  const opened = [...document.querySelectorAll("dialog, details, [popover]")]
    .map((each) => each.open || each.matches(":popover-open"));
  const fields = [...document.querySelectorAll("input, textarea")].map((each) => each.value);
  const text = document.body.innerText.replace(/just now|[0-9]+ (sec|min)[.] ago|[0-9.]+ s/g, "");
  return JSON.stringify([location.href, document.documentElement.dataset.theme, window.copied,
    [...document.querySelectorAll("*")].indexOf(active), opened, fields, text]);
}"""
"""What somebody who presses a key may notice, except that time passes."""
RESTED = f"""async () => {{
  const look = {LOOK}, before = look();
  await new Promise((done) => setTimeout(done, 250));
  return look() === before && before;
}}"""
NAMES = {"↓": "ArrowDown", "↑": "ArrowUp", "←": "ArrowLeft", "→": "ArrowRight", "Esc": "Escape"}


def listed(page: Page) -> Iterator[str]:
    """Yield the keys in the list of shortcuts, and close it."""
    page.keyboard.press("?")
    dialog = page.locator("dialog#keys")
    expect(dialog).to_be_visible()
    for key in dialog.locator("dt kbd").all_inner_texts():
        yield NAMES.get(key, key)
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()


def press(page: Page, keys: str) -> None:
    """Press keys one after the other: `g g`, `Ctrl+K`."""
    for key in keys.split():
        page.keyboard.press(key.replace("Ctrl+", "Control+"))


def reaction(page: Page, key: str) -> str:
    """Press a key; return how the page failed to react, or ""."""
    before = page.wait_for_function(RESTED).json_value()
    press(page, key)
    try:
        page.wait_for_function(f"(before) => ({LOOK})() !== before", arg=before, timeout=10_000)
    except Exception as error:  # noqa: BLE001  all keys are tried
        return (
            "" if "navigation" in str(error) or "destroyed" in str(error) else f"{key} does nothing"
        )
    return ""


@pytest.fixture
def visit(browser, server, signed_in):
    with Visit(browser, server, storage_state=signed_in) as visit:
        visit.context.add_init_script(SPY)
        yield visit
    with server.client() as client:  # `b` and `l` add breakpoints
        for each in client.get("/api/apps/travel/breakpoints").json()["breakpoints"]:
            client.delete(f"/api/apps/travel/breakpoints/{each['id']}").raise_for_status()


DOCUMENTS = (
    "/",
    "/apps/travel",
    "/apps/travel/graph",
    "/apps/travel/tools",
    "/search?q=london",
    "/docs",
    "/nowhere",
    "/compare?left={key}",
    "/sessions/{key}/export",
    "/sessions/{key}/test",
)


@pytest.mark.slow
def test_each_key_listed_on_a_page_that_reads_like_a_document_works(visit):
    visit.allow("404")
    key = visit.session("travel", [BOOK]).path.rpartition("/")[2]
    problems, keys = [], {}
    for template in DOCUMENTS:
        path = template.format(key=key)
        page = visit.open(path)
        page.locator("body").click(position={"x": 2, "y": 200})  # out of fields that have the focus
        keys[template] = [*listed(page)]
        for each in keys[template]:
            page.goto(visit.server.url + path)
            page.evaluate("document.activeElement.blur()")
            problems += [f"{path}: {problem}" for problem in [reaction(page, each)] if problem]
        page.close()
    assert not problems, "\n".join(problems)
    assert [path for path in DOCUMENTS if "C" in keys[path]] == ["/", "/apps/travel"]
    assert all({"?", "t", "Ctrl+K"} <= {*each} for each in keys.values())


BEFORE = {"Enter": "f", "ArrowRight": "f ArrowLeft", "ArrowLeft": "f ArrowRight", "o": "j"}
"""What is pressed on the page of a comparison before a key that needs a row."""


@pytest.mark.slow
def test_each_key_listed_on_a_comparison_works(visit):
    left = visit.session("travel", [BOOK]).path.rpartition("/")[2]
    right = visit.session("travel", [PAY]).path.rpartition("/")[2]
    page = visit.open(f"/compare?left={left}&right={right}")
    address, problems = page.url, []
    for each in [*listed(page)]:
        page.goto(address)
        press(page, BEFORE.get(each, ""))
        problems += [problem for problem in [reaction(page, each)] if problem]
    assert not problems, "\n".join(problems)


QUERIES = {
    "{": "?at=15&tab=state&key=trip",
    "}": "?at=6&tab=state&key=trip",
    "<": "?at=15",
    ",": "?at=5",
    ".": "?at=5",
    ">": "?at=5",
    "Space": "?at=5",
    "[": "?event=8&tab=request",
    "]": "?event=8&tab=request",
    "1": "?event=5&tab=raw",
}
"""What the page of the session shows before a key; by default, `?event=5`."""
PRELUDES = {
    "ArrowLeft": "j",
    "ArrowRight": "j ArrowLeft ArrowLeft",
    "Enter": "Tab",
    "Escape": "r",
    "]": "[",
    "g g": "",
}
HELD = ("c", "F8", "n", "F10", "m", "i", "o", "S")
HITS = ("Shift+F8", "Shift+F9")
"""Keys that need a breakpoint: tests of breakpoints cover them."""
FIELDS = ("Enter", "Ctrl+Enter", "Shift+Enter")
"""Keys of the message field and of a note: tests of the chat and of notes cover them."""


@pytest.mark.slow
def test_each_key_listed_on_a_session_works(visit):
    session = visit.session("travel", [BOOK, PAY])
    session.page.evaluate("document.activeElement.blur()")
    problems, keys, path = [], [*listed(session.page)], session.path
    for each in dict.fromkeys(keys):
        if each in {*HELD, *HITS, *FIELDS, "p", "g n"}:
            continue
        tab = visit.open(path + QUERIES.get(each, "?event=5"))
        tab.evaluate("document.activeElement.blur()")
        press(tab, PRELUDES.get(each, ""))
        problems += [problem for problem in [reaction(tab, each)] if problem]
        tab.close()
    assert not problems, "\n".join(problems)
    assert {*HELD, "p", "g n", "C", "j", "g g", "Ctrl+K"} <= {*keys}


@pytest.mark.slow
def test_each_key_of_a_held_run_works(visit):
    problems = []
    for each in (*HELD, "g n"):
        session = visit.session("travel")
        session.page.get_by_label("pause first").check()
        session.send(BOOK)
        expect(session.page.locator("#run .held")).to_be_visible()
        session.page.evaluate("document.activeElement.blur()")
        if each == "g n":  # it needs an event
            press(session.page, "n")
            expect(session.row(1)).to_be_attached()
            session.select(1)
        problems += [problem for problem in [reaction(session.page, each)] if problem]
        session.page.close()
    running = visit.session("faulty")
    running.send("Loop forever")
    expect(running.page.locator("#do-pause")).to_be_visible()
    running.page.evaluate("document.activeElement.blur()")
    problems += [problem for problem in [reaction(running.page, "p")] if problem]
    assert not problems, "\n".join(problems)
    running.page.locator("#stop").click()
    running.ends("stopped")


NEW = re.compile(r"^New session")


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("place", ["/", "/apps/travel", "session"])
def test_a_new_session_takes_one_key_or_one_visible_button(visit, width, place):
    last = visit.session("travel", [BOOK])
    page = last.page if place == "session" else visit.open(place)
    page.set_viewport_size({"width": width, "height": 844})
    card = page.locator("#app-travel") if place == "/" else page.locator("body")
    button = card.get_by_role("button", name=NEW).locator("visible=true").first
    expect(button).to_be_visible()
    before = page.url
    button.click()
    page.wait_for_url(lambda url: url != before and "/sessions/" in url)
    expect(page.locator(".topbar summary b").first).to_have_text("travel")
    page.goto(before)
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Shift+C")
    page.wait_for_url(lambda url: url != before and "/sessions/" in url)
    expect(page.locator("main[data-session]")).to_be_visible()
