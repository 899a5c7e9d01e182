"""A page in headless Chromium, with its bytes, its requests and the times it kept."""

import contextlib
import json
import os
import shutil
from collections.abc import Iterator
from typing import Any

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

from benchmarks.report import Figures

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
VIEWPORT = {"width": 1440, "height": 900}

WATCH = """
window.shown = new Promise(done => {
  const look = () => {
    const box = document.querySelector(%s)?.getBoundingClientRect();
    if (box?.height && box.bottom > 0 && box.top < innerHeight)
      requestAnimationFrame(() => setTimeout(() => done(performance.now()), 0));
    else requestAnimationFrame(look);
  };
  look();
});
"""
"""Keeps when an element was first on the screen: looked for in each frame, from the start on."""
PAINTED = """() => new Promise(done => new PerformanceObserver(list => done(
  list.getEntriesByName('first-contentful-paint')[0].startTime
)).observe({type: 'paint', buffered: true}))"""


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """The Chromium that the tests use, too."""
    names = (os.environ.get("DEVUI_CHROMIUM"), "chromium", "chromium-browser", "google-chrome")
    path = next((found for name in names if name and (found := shutil.which(name))), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


def load(browser: Browser, url: str, *, until: str) -> Figures:
    """Open a page with a cold cache; `until` selects what must come into sight."""
    context = browser.new_context(viewport=VIEWPORT)
    page = context.new_page()
    page.add_init_script(WATCH % json.dumps(until))
    session = context.new_cdp_session(page)
    counted = _count(session)
    page.goto(url, wait_until="load")
    shown = page.evaluate("window.shown")
    painted = page.evaluate(PAINTED)
    page.wait_for_timeout(300)  # late requests, such as the page's stream
    figures = {
        "requests": float(counted["requests"]),
        "kb": counted["bytes"] / 1000,
        "first_paint_ms": float(painted),
        "shown_ms": float(shown),
        "elements": float(page.evaluate("document.querySelectorAll('*').length")),
        "heap_mb": _heap_mb(session),
    }
    _close(page)
    context.close()
    return figures


def _count(session: CDPSession) -> dict[str, float]:
    counted = {"requests": 0.0, "bytes": 0.0}

    def requested(_: Any) -> None:
        counted["requests"] += 1

    def finished(event: dict[str, Any]) -> None:
        counted["bytes"] += event["encodedDataLength"]

    session.on("Network.requestWillBeSent", requested)
    session.on("Network.loadingFinished", finished)
    session.send("Network.enable")
    session.send("Performance.enable")
    return counted


def _heap_mb(session: CDPSession) -> float:
    session.send("HeapProfiler.collectGarbage")
    metrics = session.send("Performance.getMetrics")["metrics"]
    return float(next(m["value"] for m in metrics if m["name"] == "JSHeapUsedSize")) / 1e6


def _close(page: Page) -> None:
    page.goto("about:blank")
    page.close()
