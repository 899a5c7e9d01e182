"""Pages in headless Chromium: their bytes, requests and times."""

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
    # google-adk's front end loads its fonts from there, which shouldn't affect the figures.
    "--host-resolver-rules=MAP fonts.gstatic.com ~NOTFOUND, MAP fonts.googleapis.com ~NOTFOUND",
]
VIEWPORT = {"width": 1440, "height": 900}
PATIENCE = 180
"""Seconds after which an element that hasn't been shown counts as never shown."""

SEEN = """
window.seen = (element) => {
  const box = element?.getBoundingClientRect();
  return box?.height && box.bottom > 0 && box.top < innerHeight ? element : null;
};
"""
"""Defines `seen` for watched expressions: returns the element if it is on the screen, else null."""
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
"""Records when an expression is first true, by evaluating it in each frame from the start."""
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
"""Records how long after an event an expression yields another element, and it is drawn."""
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
    """Start the Chromium that the tests use."""
    names = (os.environ.get("DEVUI_CHROMIUM"), "chromium", "chromium-browser", "google-chrome")
    path = next((program for name in names if name and (program := shutil.which(name))), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@contextlib.contextmanager
def opened(browser: Browser, url: str, *, until: str) -> Iterator[tuple[Page, float | None]]:
    """Open a page with an empty cache; yield it, and the milliseconds it took.

    They end when `until`, a JavaScript expression, is true and drawn. They are None if that takes
    longer than `PATIENCE`.
    """
    with _blank(browser, until) as page:
        page.goto(url, wait_until="load")
        milliseconds = page.evaluate("window.shown")
        yield page, milliseconds


def load(browser: Browser, url: str, *, until: str) -> Figures:
    """Open a page with an empty cache, and wait until what `until` selects is on the screen."""
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
    """Return the milliseconds from an event to the frame that shows its effect.

    `act` causes the event, and `kind` is its type. Its effect is that the expression `until` yields
    another element than before. None if that takes longer than `PATIENCE`.
    """
    page.evaluate(AWAIT % {"look": until, "kind": json.dumps(kind), "patience": 1000 * PATIENCE})
    act()
    milliseconds: float | None = page.evaluate("window.moment")
    return milliseconds


def frames(page: Page, act: Callable[[], object]) -> list[float]:
    """Return the milliseconds between the frames of a page while `act` runs."""
    page.evaluate(COUNT_FRAMES)
    act()
    times: list[float] = page.evaluate(FRAMES)
    return [after - before for before, after in itertools.pairwise(times)]


@contextlib.contextmanager
def _blank(browser: Browser, until: str) -> Iterator[Page]:
    """Open a page of a new profile that records when `until` is first true."""
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
