"""Counts how much of a page the browser restyles: the same number on every machine."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Page


@contextmanager
def restyled(page: Page) -> Iterator[list[int]]:
    """Yield the number of elements styled in each pass meanwhile; the list is filled at the end."""
    session, passes, entries = page.context.new_cdp_session(page), [], []
    session.on("Tracing.dataCollected", lambda message: entries.extend(message["value"]))
    session.on("Tracing.tracingComplete", lambda _: entries.append(None))
    session.send("Tracing.start", {"categories": "devtools.timeline"})
    yield passes
    session.send("Tracing.end")
    while entries[-1:] != [None]:
        page.evaluate("0")  # messages from the browser arrive during a call
    session.detach()
    styled = (each for each in entries if each and each["name"] == "UpdateLayoutTree")
    passes += [each["args"].get("elementCount", 0) for each in styled]
