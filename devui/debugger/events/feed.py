"""Everything that happens in a session from some point on, without gaps or duplicates.

A reader subscribes first, then reads the journal up to the present, then gets the live news after
that. A reader that was too slow restarts where it left off. So a stream may break anywhere and
resume from the last `seq` it has seen (R58).
"""

import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Final

from devui.debugger.events.bus import Bus, Subscription
from devui.debugger.events.news import (
    EventCommitted,
    EventDropped,
    News,
    QueueChanged,
    RunChanged,
    SessionChanged,
    SessionRemade,
    SpansChanged,
)
from devui.store.journal import Journal

CATCH_UP = 4000
"""How many events a reader may be behind; beyond that it has to reload the page. No run commits
this many while a page renders what it received last."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Some news, and the seq up to which the reader has now seen the journal."""

    seq: int
    news: list[News]
    begins: bool = False
    """Whether the reader starts or restarts with this batch: it may have missed glimpses, which
    aren't in the journal."""


class TooFarBehind(Exception):
    """The reader missed more events than is sensible to replay, and should reload the page."""


def seq_of(news: News) -> int | None:
    """Return the journal's seq of a fact; None for glimpses, which aren't in the journal."""
    if isinstance(news, EventCommitted | EventDropped):
        return news.row.seq
    if isinstance(news, RunChanged):
        return None if news.run.pending else news.run.seq
    if isinstance(news, SessionChanged) and news.session is not None:
        return news.session.seq
    return None


async def follow(
    journal: Journal,
    bus: Bus[News],
    session: int,
    after: int,
    *topics: str,
    kinds: tuple[type, ...] = (object,),
    patience: float = 0.0,
) -> AsyncGenerator[Batch, None]:
    """Yield all news of a session after the seq `after`, until the server stops.

    `topics` are followed as well, from now on. Live news is limited to `kinds`, because each item
    wakes the reader. The start of a run arrives in one batch with its first event if that follows
    within `patience` seconds.

    Raises TooFarBehind if more than `CATCH_UP` events were missed, or if this journal hasn't
    reached `after` yet.
    """
    while True:
        with bus.subscribe(session, *topics, kinds=kinds) as reader:
            now = await journal.head()
            if after > now:  # an offset in another journal: the reader knows nothing of this one
                raise TooFarBehind
            yield Batch(now, await _missed_news(journal, session, after, now), begins=True)
            after = max(after, now)
            async for batch in _live(reader, after, patience):
                yield batch
                after = batch.seq
        if bus.closed:
            return


async def _live(
    reader: Subscription[News], since: int, patience: float
) -> AsyncGenerator[Batch, None]:
    """Yield news as it arrives, without items up to `since`: those were read from the journal."""
    latest = since
    while items := await reader.batch():
        until = time.monotonic() + patience
        while (
            _is_only_a_beginning(items)
            and not reader.closed
            and (seconds := until - time.monotonic()) > 0
        ):
            items += await reader.batch_within(seconds)
        fresh = [item for item in items if (seq_of(item) or since + 1) > since]
        latest = max([latest, *(seq_of(item) or 0 for item in fresh)])
        yield Batch(latest, fresh)


_WITH_A_BEGINNING: Final = (RunChanged, SessionChanged, SpansChanged, QueueChanged)


def _is_only_a_beginning(news: list[News]) -> bool:
    """Whether these items only report that a run with a message has begun."""
    runs = [item.run for item in news if isinstance(item, RunChanged)]
    has_begun = bool(runs) and all(run.status == "running" and run.message for run in runs)
    return has_begun and all(isinstance(item, _WITH_A_BEGINNING) for item in news)


async def _missed_news(journal: Journal, session: int, after: int, now: int) -> list[News]:
    row = await journal.sessions.get(session)
    if row is None:
        return [SessionChanged(None)]
    if after >= now:
        return []
    bodies = await journal.events.following(session, after, CATCH_UP + 1)
    if len(bodies) > CATCH_UP:
        raise TooFarBehind
    news: list[News] = [EventCommitted(row, event) for row, event in bodies]
    news += [EventDropped(edit) for edit in await journal.edits.dropped(session, after)]
    news += [RunChanged(run) for run in await journal.runs.since(session, after)]
    backlog = [item for item in news if (seq_of(item) or 0) <= now]
    if row.seq > after:
        # Its seq is also that of the last event, so it doesn't say when the title changed.
        backlog.append(SessionChanged(row))
    backlog.sort(key=lambda item: seq_of(item) or 0)
    if after and row.seq > after and await journal.received.has(session):
        backlog.insert(0, SessionRemade(session))
    return backlog
