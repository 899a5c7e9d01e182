"""A page in headless Chromium, with its bytes, its requests and the times it kept."""

import contextlib
import itertools
import json
import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

from benchmarks.report import Figures

FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking"),
    # The front end of google-adk has its fonts from there; how long that takes says nothing.
    "--host-resolver-rules=MAP fonts.gstatic.com ~NOTFOUND, MAP fonts.googleapis.com ~NOTFOUND",
]
VIEWPORT = {"width": 1440, "height": 900}
PATIENCE = 180
"""Seconds after which what isn't shown counts as never shown."""

SEEN = """
window.seen = (element) => {
  const box = element?.getBoundingClientRect();
  return box?.height && box.bottom > 0 && box.top < innerHeight ? element : null;
};
"""
"""A function for expressions that a page is watched for: the element, if it is on the screen."""
WATCH = """
window.shown = new Promise((done) => {
  const look = () => {
    if (%(look)s) requestAnimationFrame(() => setTimeout(() => done(performance.now())));
    else if (performance.now() > %(patience)d) done(null);
    else requestAnimationFrame(look);
  };
  look();
});
"""
"""Keeps when an expression was first true: it is evaluated in each frame, from the start on."""
AWAIT = """() => {
  const now = () => %(look)s, before = now();
  window.moment = new Promise((done) => addEventListener(%(kind)s, ({ timeStamp }) => {
    const look = () => {
      const element = now(), time = performance.now() - timeStamp;
      if (element && element !== before) setTimeout(() => done(performance.now() - timeStamp));
      else if (time > %(patience)d) done(null);
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  }, { capture: true, once: true }));
}
"""
"""Keeps how long after an event an expression is another element than before, and drawn."""
COUNT_FRAMES = """() => {
  window.frameTimes = [];
  requestAnimationFrame(function note(time) {
    window.frameTimes?.push(time);
    if (window.frameTimes) requestAnimationFrame(note);
  });
}"""
FRAMES = "() => { const times = window.frameTimes; window.frameTimes = null; return times; }"
PAINTED = """() => new Promise(done => new PerformanceObserver(list => done(
  list.getEntriesByName('first-contentful-paint')[0].startTime
)).observe({type: 'paint', buffered: true}))"""


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """The Chromium that the tests use, too."""
    names = (os.environ.get("DEVUI_CHROMIUM"), "chromium", "chromium-browser", "google-chrome")
    path = next((program for name in names if name and (program := shutil.which(name))), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@contextlib.contextmanager
def opened(browser: Browser, url: str, *, until: str) -> Iterator[tuple[Page, float | None]]:
    """A page that was opened with an empty cache, and the milliseconds it took.

    They end when `until`, an expression of JavaScript, is true and drawn, and are None if that
    takes more than `PATIENCE`.
    """
    with _blank(browser, until) as page:
        page.goto(url, wait_until="load")
        milliseconds = page.evaluate("window.shown")
        yield page, milliseconds


def load(browser: Browser, url: str, *, until: str) -> Figures:
    """Open a page with a cold cache; `until` selects what must come into sight."""
    with _blank(browser, f"seen(document.querySelector({json.dumps(until)}))") as page:
        session = page.context.new_cdp_session(page)
        totals = _count(session)
        page.goto(url, wait_until="load")
        milliseconds = page.evaluate("window.shown")
        painted = page.evaluate(PAINTED)
        page.wait_for_timeout(300)  # late requests, such as the page's stream
        return {
            "requests": float(totals["requests"]),
            "kb": totals["bytes"] / 1000,
            "first_paint_ms": float(painted),
            "shown_ms": float(milliseconds),
            "elements": float(page.evaluate("document.querySelectorAll('*').length")),
            "heap_mb": _heap_mb(session),
        }


def moment(page: Page, kind: str, act: Callable[[], object], *, until: str) -> float | None:
    """The milliseconds from an event, which `act` brings about, to the frame that shows its effect.

    `kind` is the type of the event; its effect, that `until` is another element than before. None
    if that takes more than `PATIENCE`.
    """
    page.evaluate(AWAIT % {"look": until, "kind": json.dumps(kind), "patience": 1000 * PATIENCE})
    act()
    milliseconds: float | None = page.evaluate("window.moment")
    return milliseconds


def frames(page: Page, act: Callable[[], object]) -> list[float]:
    """The milliseconds between the frames of a page while `act` goes on."""
    page.evaluate(COUNT_FRAMES)
    act()
    times: list[float] = page.evaluate(FRAMES)
    return [after - before for before, after in itertools.pairwise(times)]


@contextlib.contextmanager
def _blank(browser: Browser, until: str) -> Iterator[Page]:
    """A new page of a new profile, which will keep when an expression was first true."""
    context = browser.new_context(viewport=VIEWPORT)
    page = context.new_page()
    page.set_default_timeout(1000 * PATIENCE)
    page.add_init_script(SEEN + WATCH % {"look": until, "patience": 1000 * PATIENCE})
    yield page
    page.goto("about:blank")
    page.close()
    context.close()


def _count(session: CDPSession) -> dict[str, float]:
    totals = {"requests": 0.0, "bytes": 0.0}

    def requested(_: Any) -> None:
        totals["requests"] += 1

    def finished(event: dict[str, Any]) -> None:
        totals["bytes"] += event["encodedDataLength"]

    session.on("Network.requestWillBeSent", requested)
    session.on("Network.loadingFinished", finished)
    session.send("Network.enable")
    session.send("Performance.enable")
    return totals


def _heap_mb(session: CDPSession) -> float:
    session.send("HeapProfiler.collectGarbage")
    metrics = session.send("Performance.getMetrics")["metrics"]
    return float(next(m["value"] for m in metrics if m["name"] == "JSHeapUsedSize")) / 1e6
