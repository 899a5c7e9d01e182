"""What happens in a session from some point on, without gap or double.

A reader is subscribed first, then what is already in the journal is read up to one moment, then the
live news after that moment follow. One that was too slow begins again where it had come to. So a
stream may be cut anywhere and go on from the last `seq` it has seen (R58).
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
"""How many events a reader may be behind; one further behind has to read the page anew. It is more
than a run commits while a page shows what it was sent last."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Some news, and the point in the journal up to which the reader has now seen everything."""

    seq: int
    news: list[News]
    begins: bool = False
    """The reader begins with it, for the first time or anew: what is in no journal, and what was
    told of it, may have been missed."""


class TooFarBehind(Exception):
    """More was missed than is sensible to replay: the reader should read the page anew."""


def seq_of(news: News) -> int | None:
    """The journal's seq of a fact; None for glimpses, which are not in the journal."""
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
    """All news of a session past the journal's `after`, until the server stops.

    `topics` are followed along with it, from now on. Of live news only those of the `kinds` come:
    each one wakes its reader. The beginning of a run comes in one batch with its first event, if
    that follows within `patience` seconds.

    Raises TooFarBehind when more than `CATCH_UP` events were missed, or when `after` is a point
    that this journal has not come to.
    """
    while True:
        with bus.subscribe(session, *topics, kinds=kinds) as reader:
            now = await journal.head()
            if after > now:  # a cursor of another journal: nothing here is known to the reader
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
    """News as they come; those up to `since` were read from the journal already."""
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
    """Whether these only say that a run with a message has begun."""
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
        # Its seq is also that of the last event, and tells not since when it has its title.
        backlog.append(SessionChanged(row))
    backlog.sort(key=lambda item: seq_of(item) or 0)
    if after and row.seq > after and await journal.received.has(session):
        backlog.insert(0, SessionRemade(session))
    return backlog
