"""How much of a page the browser has given its style anew: a count, the same on every machine."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Page


@contextmanager
def restyled(page: Page) -> Iterator[list[int]]:
    """The elements that were styled at each pass over the page meanwhile; filled in at the end."""
    session, passes, entries = page.context.new_cdp_session(page), [], []
    session.on("Tracing.dataCollected", lambda message: entries.extend(message["value"]))
    session.on("Tracing.tracingComplete", lambda _: entries.append(None))
    session.send("Tracing.start", {"categories": "devtools.timeline"})
    yield passes
    session.send("Tracing.end")
    while entries[-1:] != [None]:
        page.evaluate("0")  # what the browser tells is heard while it is asked something
    session.detach()
    styled = (each for each in entries if each and each["name"] == "UpdateLayoutTree")
    passes += [each["args"].get("elementCount", 0) for each in styled]
