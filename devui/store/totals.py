"""What a session had come to by each of its events: kinds, tokens, what models counted, time.

A history only ever grows at its end. So what was added up once is kept in memory, for the sessions
looked at last, and a look reads what has come since, wherever in the session it is about. What
models counted is summed by whatever limits prices have, which the journal does not know; of that
the sums at each 64th answer are kept, and the few answers behind one of them are read.
"""

import asyncio
from array import array
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from devui.store.database import Database
from devui.store.rows import EventRow, UsageSum
from devui.store.summaries import Usage
from devui.store.values import believed

_K = TypeVar("_K")
_V = TypeVar("_V")

_KEPT: Final = 32
"""Sessions whose sums are in memory."""
_BATCH: Final = 2000
"""Rows that are read at a time."""
_LATEST: Final = 2**63 - 1
_STEP: Final = 64
"""Answers from one sum that is kept to the next."""

_EVENTS = """
    SELECT seq, kind, author,
        iif(json_valid(summary), json_extract(summary, '$.tokens'), NULL), held, size
    FROM events
    WHERE session = ? AND number > ? ORDER BY number LIMIT ?
"""
_ANSWERS = """
    SELECT number, author, model, prompt, cached, output, thoughts FROM usage
    WHERE session = ? AND number > ? AND number <= ? ORDER BY number LIMIT ?
"""
_ENDED = """
    SELECT seq, max(ended - started - held, 0), held FROM runs
    WHERE session = ? AND seq > ? AND ended IS NOT NULL ORDER BY seq LIMIT ?
"""
_RUN = "SELECT started, ended FROM runs WHERE id = ? AND session = ?"

_Place = tuple[str, str, int]
"""Author, model, and how many of the limits a prompt exceeds."""
_Counts = tuple[int, int, int, int, int]
"""Answers, and their tokens: prompt, cached, output, thoughts."""
_Sums = dict[_Place, _Counts]


class _Answer(NamedTuple):
    number: int
    author: str
    model: str
    prompt: int
    cached: int
    output: int
    thoughts: int


class _Course:
    """The sums of one session, by its events and its ended runs."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.kinds: tuple[str, ...] = ()
        self.authors: tuple[str, ...] = ()
        self._names: dict[str, str] = {}
        self.seqs = array("q")
        self.tokens = array("q", [0])
        """By number of events, the tokens of so many of them."""
        self.counted: int | None = None
        """The number of the first event that counted any."""
        self.bytes = 0
        self.pauses = array("d", [0.0])
        self.ends = array("q")
        self.worked = array("d", [0.0])
        self.paused = array("d", [0.0])

    def grow(self, rows: Sequence[tuple[Any, ...]]) -> None:
        for seq, _, _, tokens, held, size in rows:
            self.seqs.append(seq)
            self.bytes += size
            self.tokens.append(self.tokens[-1] + believed(tokens or 0))
            self.pauses.append(self.pauses[-1] + held)
            if tokens is not None and self.counted is None:
                self.counted = len(self.seqs)
        self.kinds += tuple(kind for _, kind, *_ in rows)
        # One text for each author, and not one for each event.
        self.authors += tuple(self._names.setdefault(row[2], row[2]) for row in rows)

    def end(self, rows: Iterable[tuple[Any, ...]]) -> None:
        for seq, worked, held in rows:
            self.ends.append(seq)
            self.worked.append(self.worked[-1] + worked)
            self.paused.append(self.paused[-1] + held)


class _Answers:
    """What the answers of one session counted, by the limits that their prompts exceed."""

    def __init__(self, limits: Sequence[int]) -> None:
        self.lock = asyncio.Lock()
        self.limits = tuple(sorted(limits))
        self.numbers = array("q")
        """Of the events with one."""
        self.sums: list[_Sums] = [{}]
        """Those of the first 0, 64, 128 … answers."""
        self.latest: _Sums = {}

    def grow(self, rows: Iterable[_Answer]) -> None:
        for row in rows:
            self.numbers.append(row.number)
            _add(self.latest, row, self.limits)
            if len(self.numbers) % _STEP == 0:
                self.sums.append(dict(self.latest))


class Totals:
    """Sums as of now, and as of any event."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._courses: OrderedDict[int, _Course] = OrderedDict()
        self._answers: OrderedDict[tuple[int, tuple[int, ...]], _Answers] = OrderedDict()

    async def kinds(self, session_key: int) -> tuple[str, ...]:
        """Return the kind of every event of the session, in order."""
        return (await self._events(session_key)).kinds

    async def authors(self, session_key: int) -> tuple[str, ...]:
        """Return the author of every event of the session, in order."""
        return (await self._events(session_key)).authors

    async def size(self, session_key: int) -> int:
        """Return how many bytes the events of the session have."""
        return (await self._events(session_key)).bytes

    async def tokens(self, session_key: int, until: int) -> int | None:
        """Return the tokens of the events up to this number; None if none counted any."""
        known = await self._events(session_key)
        number = min(max(until, 0), len(known.seqs))
        return None if (known.counted or number + 1) > number else known.tokens[number]

    async def usage(
        self, session_key: int, *, limits: Sequence[int] = (), until: int | None = None
    ) -> list[UsageSum]:
        """Return what models counted, up to the event of this number.

        Summed for each author, each model, and how many of the `limits` its prompts exceed.
        """
        name = session_key, tuple(limits)
        known = _cached(self._answers, name, lambda: _Answers(limits))
        numbers = known.numbers
        async with known.lock:
            last = numbers[-1] if numbers else 0
            while rows := await self._rows(session_key, last, _LATEST, _BATCH):
                known.grow(rows)
                last = numbers[-1]
        count = len(numbers) if until is None else bisect_right(numbers, until)
        if count == len(numbers):
            return _usage_sums(known.latest)
        done = count // _STEP * _STEP
        sums = dict(known.sums[count // _STEP])
        if count > done:
            before = numbers[done - 1] if done else 0
            for row in await self._rows(session_key, before, numbers[count - 1], _STEP):
                _add(sums, row, known.limits)
        return _usage_sums(sums)

    async def seconds(self, session_key: int) -> tuple[float | None, float]:
        """Return how long the session's ended runs were at work, and how long they were held.

        None without any.
        """
        known = await self._runs(session_key)
        return (known.worked[-1] if known.ends else None), known.paused[-1]

    async def seconds_at(self, event: EventRow) -> tuple[float | None, float]:
        """The same as of an event, the part of its run up to it included."""
        known = await self._runs(event.session)
        await self._events(event.session)
        count = bisect_left(known.ends, event.seq)
        worked, held = known.worked[count], known.paused[count]
        rows = await self._database.fetch(_RUN, event.run, event.session) if event.run else []
        if not rows:
            return (worked if count else None), held
        [(started, ended)] = rows
        # Runs of a session follow each other: behind the end of the one before, all is this one's.
        first = bisect_right(known.seqs, known.ends[count - 1]) if count else 0
        paused = known.pauses[event.number] - known.pauses[first]
        here = event.timestamp if ended is None else min(event.timestamp, ended)
        return worked + max(here - started - paused, 0), held + paused

    async def _events(self, session: int) -> _Course:
        known = _cached(self._courses, session, _Course)
        async with known.lock:
            while rows := await self._database.fetch(_EVENTS, session, len(known.seqs), _BATCH):
                known.grow(rows)
        return known

    async def _runs(self, session: int) -> _Course:
        known = _cached(self._courses, session, _Course)
        async with known.lock:
            last = known.ends[-1] if known.ends else 0
            while rows := await self._database.fetch(_ENDED, session, last, _BATCH):
                known.end(rows)
                last = known.ends[-1]
        return known

    async def _rows(self, session: int, after: int, until: int, most: int) -> list[_Answer]:
        rows = await self._database.fetch(_ANSWERS, session, after, until, most)
        return [_Answer(*row) for row in rows]


def _cached(cache: OrderedDict[_K, _V], name: _K, make: Callable[[], _V]) -> _V:
    """What is known by this name, made if it is not; what was looked at longest ago is let go."""
    if name not in cache:
        cache[name] = make()
        if len(cache) > _KEPT:
            cache.popitem(last=False)
    cache.move_to_end(name)
    return cache[name]


def _add(sums: _Sums, row: _Answer, limits: Sequence[int]) -> None:
    place = (row.author, row.model, bisect_left(limits, row.prompt))
    answers, prompt, cached, output, thoughts = sums.get(place, (0, 0, 0, 0, 0))
    sums[place] = (
        answers + 1,
        prompt + row.prompt,
        cached + row.cached,
        output + row.output,
        thoughts + row.thoughts,
    )


def _usage_sums(sums: _Sums) -> list[UsageSum]:
    return [
        UsageSum(author, over, answers, Usage(model, *tokens))
        for (author, model, over), (answers, *tokens) in sorted(sums.items())
    ]
