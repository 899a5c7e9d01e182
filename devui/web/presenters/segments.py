"""A batch of news, cut where a run ends."""

from collections.abc import Iterator

from devui.debugger.news import EventCommitted, EventDropped, News, RunChanged
from devui.store.rows import EditRow, RunRow


def segments(
    news: list[News],
) -> Iterator[tuple[list[EventCommitted], list[EditRow], RunRow | None]]:
    """The events between the ends of runs, and what was dropped, with the end that follows.

    A change that ends nothing adds nothing, and parts no events: a header that is itself new in
    this batch cannot be changed by it.
    """
    events: list[EventCommitted] = []
    drops: list[EditRow] = []
    for item in news:
        if isinstance(item, EventCommitted):
            events.append(item)
        elif isinstance(item, EventDropped):
            drops.append(item.row)
        elif isinstance(item, RunChanged) and item.run.ended is not None:
            yield events, drops, item.run
            events, drops = [], []
    yield events, drops, None
