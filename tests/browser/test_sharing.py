"""Notes, stars, links and exported sessions, as a person handles them."""

import json

import pytest
from playwright.sync_api import expect

from tests.kit.browser import DESKTOP, Visit
from tests.kit.server import SAMPLES, running

pytestmark = pytest.mark.browser

BOOK = "Book a flight to London next Tuesday"
SECRET = "hunter2-hunter2"


@pytest.fixture
def own_visit(browser, tmp_path, monkeypatch):
    monkeypatch.setenv("SERVICE_PASSWORD", SECRET)
    with (
        running(SAMPLES, tmp_path / "data", "--no-auth") as server,
        Visit(browser, server) as own_visit,
    ):
        yield own_visit


def test_a_session_is_annotated_linked_exported_imported_and_continued(own_visit, tmp_path):
    own_visit.context.grant_permissions(["clipboard-read", "clipboard-write"])
    session = own_visit.session("travel", [BOOK], state=json.dumps({"pin": f"it is {SECRET}"}))
    page, path = session.page, session.path
    noted_and_linked(own_visit, page, path)
    page.get_by_label("Sessions", exact=True).click()
    page.get_by_role("link", name="Export…").click()
    expect(page.locator(".left-out")).to_contain_text("the value of a secret variable")
    page.get_by_label("city", exact=True).check()
    expect(page.locator(".left-out")).to_contain_text("the state key city")
    bundle = downloaded(page, "Bundle (JSON)", tmp_path / "it.json")
    for text in (SECRET, '"city":"London"'):
        assert text not in bundle
    document = downloaded(page, "Web page (HTML)", tmp_path / "it.html")
    assert SECRET not in document
    imported_and_forked(own_visit, page, tmp_path / "it.json")
    read_from_the_disk(own_visit, tmp_path / "it.html")


def test_an_adk_web_session_that_already_exists_is_imported_as_a_copy(own_visit, tmp_path):
    own_visit.allow("status 409|the server responded with a status of 409")
    session = own_visit.session("travel", ["hello"])
    page, path, file = session.page, session.path, tmp_path / "it.json"
    page.get_by_label("Sessions", exact=True).click()
    page.get_by_role("link", name="Export…").click()
    downloaded(page, "Session for adk web", file)
    page.goto(f"{own_visit.server.url}/")
    page.get_by_text("Import sessions from a file").click()
    page.get_by_label("File").set_input_files(file)
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_role("heading", name="Not imported: already here")).to_be_visible()
    expect(page.get_by_role("link", name="hello")).to_have_attribute("href", path)
    page.get_by_label("File").set_input_files(file)
    page.get_by_role("button", name="Import as a copy").click()
    expect(page.locator("#messages")).to_contain_text("hello")
    assert page.url != f"{own_visit.server.url}{path}"


def noted_and_linked(visit, page, path):
    page.locator("#e-3 .seq a").click()
    expect(page.locator("#do-star")).to_be_visible()
    other = visit.open(f"{path}?event=2")
    page.bring_to_front()
    page.keyboard.press("x")
    expect(page.locator("#nm-3 .starred")).to_be_visible()
    other.bring_to_front()  # a page updates when it becomes visible, if not before
    expect(other.locator("#nm-3 .starred")).to_be_visible()
    other.close()
    page.bring_to_front()
    page.keyboard.press("N")
    page.keyboard.type("why these <b>airports</b>?")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#note-3 .note-text")).to_have_text("why these <b>airports</b>?")
    page.locator("#tab-raw").click()
    expect(page.locator("#raw-text")).to_be_visible()
    page.evaluate(
        "new MutationObserver(() => { window.seen ||= spoken.classList.contains('shown'); })"
        ".observe(spoken, { attributes: true })"
    )
    page.keyboard.press("y")
    link = page.wait_for_function("() => navigator.clipboard.readText()").json_value()
    assert link.endswith(f"{path}?event=3&tab=raw")
    page.wait_for_function("() => window.seen")  # the confirmation has been shown
    page.goto(link)
    expect(page.locator("#e-3")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#raw-text")).to_be_visible()
    expect(page.locator("#nm-3 .noted")).to_have_attribute("title", "why these <b>airports</b>?")


def downloaded(page, name, place):
    page.get_by_role("radio", name=name).check()
    with page.expect_download() as begun:
        page.get_by_role("button", name="Download").click()
    begun.value.save_as(place)
    return place.read_text()


def imported_and_forked(visit, page, file):
    page.goto(f"{visit.server.url}/")
    page.get_by_text("Import sessions from a file").click()
    page.get_by_label("File").set_input_files(file)
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.locator("#resume")).to_contain_text("Imported")
    expect(page.locator("#send")).to_be_disabled()
    expect(page.locator("#nm-3 .starred")).to_be_visible()
    read_only = page.url
    page.get_by_role("button", name="Fork to continue").click()
    expect(page.locator("#resume .resume")).to_have_count(0)
    assert page.url != read_only
    page.locator("#composer-text").fill("Thank you")
    page.locator("#send").click()
    expect(page.locator("#e-9")).to_be_visible()


def read_from_the_disk(visit, file):
    context = visit.context.browser.new_context(viewport=DESKTOP, offline=True)
    page, troubles = context.new_page(), []
    page.on("console", lambda message: troubles.append(message.text))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("requestfailed", lambda request: troubles.append(request.url))
    page.goto(file.as_uri())
    expect(page.locator("#messages")).to_contain_text("three flights")
    expect(page.locator("#rows .row")).to_have_count(8)
    page.get_by_role("button", name="Fold this invocation").click()
    expect(page.locator("#rows .row:visible")).to_have_count(0)
    page.get_by_role("button", name="Fold this invocation").click()
    expect(page.locator("#rows .row:visible")).to_have_count(8)
    for _ in range(3):
        page.keyboard.press("j")
    expect(page.locator("#e-3")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#d-3")).to_contain_text("why these <b>airports</b>?")
    expect(page.locator("#d-2")).to_be_hidden()
    page.keyboard.press("/")
    page.keyboard.type("save_itinerary")
    expect(page.locator("#rows .row:visible")).to_have_count(2)
    page.locator("#e-7 .seq a").click()
    expect(page.locator("#d-7")).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    for pane in ("Chat", "Events", "Inspector"):
        expect(page.get_by_role("region", name=pane)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert troubles == []
    assert page.locator("form, [hx-get], [hx-post], script[src], link[href]").count() == 0
    assert page.locator(".try, .again, .fork").count() == 0  # these need a server
    context.close()
