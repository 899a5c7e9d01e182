"""A browser in which nothing goes wrong unnoticed, and a session page as a person uses it."""

import os
import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Dialog,
    Locator,
    Page,
    Playwright,
    Request,
    Response,
    Route,
    StorageState,
    expect,
    sync_playwright,
)

from tests.kit import firefox
from tests.kit.debugged_run import settled
from tests.kit.patience import PATIENCE
from tests.kit.server import Server

_ARGUMENTS = [
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking"),
]

DESKTOP = {"width": 1440, "height": 900}

_REPORT_VIOLATIONS = """
document.addEventListener("securitypolicyviolation", (event) => {
  console.error(`CSP: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
});
"""

_SAY_LEAVING = """
console.debug("here");
for (const end of ["beforeunload", "pagehide"])
  addEventListener(end, () => console.debug("leaving"));
"""
_CUT_BY_LEAVING = re.compile(
    "htmx:sse:error: Error in input stream|htmx:error: NetworkError when attempting to fetch"
)
"""What htmx reports when Firefox ends a page's requests, which it does once the page is left."""

_KEPT: dict[str, StorageState] = {}
"""Cookies by the sign-in link that they came from."""

_OUTLINE = Path(__file__).with_name("outline.js").read_text(encoding="utf-8")


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start the installed Chromium."""
    path = os.environ.get("DEVUI_CHROMIUM") or "/usr/bin/chromium"
    options = {"executable_path": path, "args": _ARGUMENTS, "timeout": PATIENCE * 1000}
    with _driver() as driver:
        yield from _until_closed(driver.chromium.launch(**options))


@contextmanager
def chosen() -> Iterator[Browser]:
    """Start the Firefox that `DEVUI_FIREFOX` names, or Chromium."""
    path = os.environ.get("DEVUI_FIREFOX")
    if not path:
        with chromium() as browser:
            yield browser
        return
    with tempfile.TemporaryDirectory() as folder, _driver() as driver:
        program = firefox.executable(path, Path(folder))
        yield from _until_closed(
            driver.firefox.launch(channel="moz-firefox", executable_path=program)
        )


@contextmanager
def _driver() -> Iterator[Playwright]:
    expect.set_options(timeout=PATIENCE * 1000)
    with sync_playwright() as driver:
        yield driver


def _until_closed(browser: Browser) -> Iterator[Browser]:
    try:
        yield browser
    finally:
        browser.close()


def cookies(browser: Browser, server: Server) -> StorageState:
    """Return the cookies of a browser that signed in with the server's link, which works once."""
    if server.link not in _KEPT:
        with Visit(browser, server) as visit:
            page = visit.context.new_page()
            page.goto(server.link)
            assert page.url == f"{server.url}/"
            _KEPT[server.link] = visit.context.storage_state()
    return _KEPT[server.link]


class Visit:
    """One browser profile; its complaints are everything that no page should have done."""

    def __init__(self, browser: Browser, server: Server, **options: Any) -> None:
        # Drawing pulsing dots takes a tenth of the processor. (Playwright overrides Chromium's own
        # argument for this.)
        options = {"viewport": DESKTOP, "reduced_motion": "reduce", **options}
        self.context, self.server = browser.new_context(**options), server
        self.complaints: list[str] = []
        self.requests: list[str] = []
        """Every request of every page, as `GET /path`."""
        self._allowed: list[re.Pattern[str]] = []
        self._answers: list[bool] = []
        self._leaving: set[Page | None] = set()
        """Pages that are being left and haven't loaded since; only Firefox reports that."""
        self.context.set_default_timeout(PATIENCE * 1000)
        self.context.add_init_script(_REPORT_VIOLATIONS)
        if browser.browser_type.name == "firefox":
            self.context.add_init_script(_SAY_LEAVING)
        self.context.on("page", self._watch)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self.context.close()
        if kind is None:
            assert not self.unexpected(), "\n".join(self.unexpected())
            assert not self._answers, "a dialog that a test answers didn't open"

    def unexpected(self) -> list[str]:
        """Return the complaints that no `allow` covers."""
        return [
            complaint
            for complaint in self.complaints
            if not any(pattern.search(complaint) for pattern in self._allowed)
        ]

    def allow(self, pattern: str) -> None:
        """Accept complaints of this form as part of the test."""
        self._allowed.append(re.compile(pattern))

    def answer_next_dialog(self, *, accept: bool) -> None:
        """Expect a dialog, and accept or dismiss it; without one, the visit fails."""
        self._answers.append(accept)

    def open(self, path: str = "/") -> Page:
        """Open a new tab."""
        page = self.context.new_page()
        page.goto(self.server.url + path)
        return page

    def session(
        self, app: str, messages: Sequence[str] = (), *, ends: str = "done", **fields: str
    ) -> "SessionPage":
        """Create a session of an app, as the form on the app's page does, and open it.

        The messages are answered before the page opens: a turn costs the browser ten times as much
        while it watches. Each of their runs must end with the status `ends`.
        """
        response = self.context.request.post(
            f"{self.server.url}/apps/{app}/sessions",
            form={**fields},
            headers={"Origin": self.server.url},
            max_redirects=0,
        )
        assert response.status == 303, response.text()
        path = response.headers["location"]
        with self.server.client() as client:
            for text in messages:
                body = {"message": text, "streaming": True, "actor": "a page"}
                run = client.post(f"/api{path}/runs", json=body).raise_for_status().json()["run"]
                assert settled(client, run)["status"] == ends, text
        return SessionPage(self.open(path))

    def again(self, session: "SessionPage", query: str = "") -> "SessionPage":
        """Open the same session in another tab."""
        return SessionPage(self.open(session.path + query))

    def _watch(self, page: Page) -> None:
        page.on("pageerror", lambda error: self.complaints.append(f"page error: {error}"))
        page.on("console", self._console)
        page.on("dialog", self._dialog)
        page.on("request", self._request)
        page.on("response", self._response)

    def _console(self, message: ConsoleMessage) -> None:
        if message.text == "here":
            self._leaving.discard(message.page)
        elif message.text == "leaving":
            self._leaving.add(message.page)
        cut = message.page in self._leaving and _CUT_BY_LEAVING.search(message.text)
        if message.type in {"error", "warning"} and not cut:
            where = message.location.get("url", "")
            self.complaints.append(f"console {message.type}: {message.text} at {where}")

    def _dialog(self, dialog: Dialog) -> None:
        if not self._answers:
            self.complaints.append(f"dialog: {dialog.message}")
        if self._answers and self._answers.pop(0):
            dialog.accept()
        else:
            dialog.dismiss()

    def _request(self, request: Request) -> None:
        self.requests.append(f"{request.method} {request.url.removeprefix(self.server.url)}")
        if not request.url.startswith((self.server.url + "/", "data:")):
            self.complaints.append(f"request to another origin: {request.url}")

    def _response(self, response: Response) -> None:
        if response.status >= 400:
            self.complaints.append(f"status {response.status}: {response.url}")


class PausedRequests:
    """Requests of a page that wait until a test decides about them."""

    def __init__(self, page: Page, url: str | re.Pattern[str]) -> None:
        self._page, self._held = page, list[Route]()
        page.route(url, self._keep)

    def _keep(self, route: Route) -> None:
        self._held.append(route)

    def next(self) -> Route:
        """Return the oldest request that hasn't been taken, after waiting for one if necessary."""
        while not self._held:
            self._page.wait_for_timeout(10)
        return self._held.pop(0)


_REACH = """(number) => {
    if (document.getElementById(`e-${number}`)) return true;
    const gaps = [...document.querySelectorAll("#rows > [data-gap]")];
    const gap = gaps.find(({ dataset: { first, last } }) => first <= number && number <= last);
    const box = gap?.closest(".scroller");
    if (!gap) return false;
    const { first, last } = gap.dataset, { top, height } = gap.getBoundingClientRect();
    const place = top + height * (number - first + .5) / (last - first + 1);
    box.scrollTop += place - box.getBoundingClientRect().top - box.clientHeight / 2;
    return false;
}"""
_SCROLL = """async ([items, way]) => {
    const list = document.querySelector(items), box = list.closest('.scroller');
    const passed = [], jumps = [];
    let most = 0, idle = 0;
    while (idle < 25) {
        const { top } = box.getBoundingClientRect(), middle = top + box.clientHeight / 2;
        const here = [...list.querySelectorAll(":scope > [data-event]")]
            .map((item) => [item, item.getBoundingClientRect()])
            .filter(([, { bottom, top: at }]) => bottom > top && at < top + box.clientHeight);
        passed.push(...here.map(([item]) => Number(item.dataset.event)));
        const [item, place] = here.find(([, { bottom }]) => bottom > middle) ?? [];
        const before = box.scrollTop;
        box.dispatchEvent(new WheelEvent("wheel", { bubbles: true }));
        box.scrollTop += way * 250;
        const moved = box.scrollTop - before;
        const gaps = () => [...list.querySelectorAll(":scope > [data-gap]")].some((gap) => {
            const place = gap.getBoundingClientRect();
            return place.bottom > top && place.top < top + box.clientHeight;
        });
        do await new Promise((done) => setTimeout(done, 20)); while (gaps());
        const there = item?.isConnected && moved && item.getBoundingClientRect().top;
        // A list that becomes shorter below a reader at its end takes them to its new end.
        const isEnd = box.scrollTop + box.clientHeight > box.scrollHeight - 1;
        const back = isEnd ? Math.max(before + moved - box.scrollTop, 0) : 0;
        if (there) jumps.push(Math.abs(there - back - (place.top - moved)));
        most = Math.max(most, document.querySelectorAll("*").length);
        idle = moved ? 0 : idle + 1;
    }
    return { passed: [...new Set(passed)], jump: Math.max(...jumps), most };
}"""


def scroll_through(page: Page, items: str, way: int = -1) -> dict[str, Any]:
    """Scroll a list (`#rows` or `#messages`) to its beginning, or to its end if `way` is 1.

    `passed`: the events that were seen; `jump`: the most pixels that an item moved by itself;
    `most`: the most elements that the page had.
    """
    seen: dict[str, Any] = page.evaluate(_SCROLL, [items, way])
    return seen


class SessionPage:
    """The page of one session."""

    def __init__(self, page: Page) -> None:
        page.wait_for_url("**/sessions/*")
        self.page = page
        self.composer = page.locator("#composer-text")
        self.events = page.locator("#rows > .row[data-event]")
        self.messages = page.locator("#messages > .msg")
        self.live = page.locator("#live-chat .msg.live")
        self.status = page.locator("#run .run")
        self.panel = page.locator("#panel")
        self._before: str | None = None
        """The run whose status was shown when this page sent its last message."""

    @property
    def path(self) -> str:
        """The address of the session, without a selection."""
        return "/" + self.page.url.split("/", 3)[3].partition("?")[0]

    def send(self, text: str) -> None:
        """Type a message and press Enter, as soon as the page allows it."""
        expect(self.page.locator("#send")).to_be_enabled()
        self._before = self.status.get_attribute("data-run")
        self.composer.fill(text)
        self.composer.press("Enter")

    def say(self, text: str, status: str = "done|waiting") -> None:
        """Send a message and wait for the end of its run."""
        last = self.events.last.get_attribute("data-event") if self.events.count() else ""
        self.send(text)
        expect(self.events.last).not_to_have_attribute("data-event", last or "")
        self.ends(status)

    def ends(self, *status: str) -> None:
        """Wait for the end of the run: of this page's last message, if it has sent one.

        The run must end with one of these statuses, by default done.
        """
        other = re.compile(f"^(?!{self._before}$)")
        expect(self.status).to_have_attribute("data-run", other)
        ways = "|".join(status or ("done",))
        expect(self.status).to_have_class(re.compile(f"^run ({ways})$"))

    def row(self, number: int) -> Locator:
        return self.page.locator(f"#e-{number}")

    def select(self, number: int) -> None:
        """Scroll to a row, click it, and wait until it is selected."""
        self.page.wait_for_function(_REACH, arg=number)
        self.row(number).click()
        expect(self.row(number)).to_have_attribute("aria-selected", "true")

    def tab(self, key: str) -> None:
        """Switch to a tab of the inspector."""
        tab = self.page.locator(f"#tab-{key}")
        tab.click()
        expect(tab).to_have_attribute("aria-selected", "true")

    def cell(self, cell: str) -> list[str]:
        """Return the text of one column, row by row."""
        return [text.strip() for text in self.events.locator(f".{cell}").all_inner_texts()]

    def told_at(self, field: Locator, problem: str) -> None:
        """Check that a problem is reported at its field, which has the focus, and nowhere else."""
        expect(field).to_have_attribute("aria-invalid", "true")
        expect(field).to_have_accessible_description(re.compile(problem))
        expect(field).to_be_focused()
        expect(self.page.locator("#notice > [role=alert]")).to_have_count(0)

    def held_back(self, url: str | re.Pattern[str]) -> PausedRequests:
        """Hold back requests to this URL from now on, until `page.unroute_all`."""
        return PausedRequests(self.page, url)

    def outline(self, selector: str) -> list[str]:
        """Return an element's content, without what readers and scripts do to it."""
        return self.page.locator(selector).evaluate(_OUTLINE)

    def equals(self, other: "SessionPage", *selectors: str) -> None:
        """Wait until two pages of a session have the same content (Law 5).

        Each has its own stream, and on a busy machine one may receive the last event later.
        """
        for selector in selectors:
            deadline = time.monotonic() + PATIENCE
            while (one := self.outline(selector)) != (two := other.outline(selector)):
                if time.monotonic() > deadline:
                    assert one == two, selector
                self.page.wait_for_timeout(100)

    def fits(self) -> bool:
        """Return whether the page has no horizontal scroll bar."""
        return self.page.evaluate(
            "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        )
