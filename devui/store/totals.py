"""What a session had come to by each of its events: kinds, tokens, what models counted, time.

A history only ever grows at its end. So what was added up once is kept in memory, for the sessions
looked at last, and a look reads what has come since, wherever in the session it is about. What
models counted is summed by whatever limits prices have, which the journal does not know; of that
the sums at each 64th answer are kept, and the few answers behind one of them are read.
"""

import asyncio
import json
from array import array
from bisect import bisect_left, bisect_right
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from devui.store.rows import Durations, EventRow, Hold, InvocationSums, Sums, UsageSum
from devui.store.runs.work_time import seconds_of_work
from devui.store.sqlite.database import Database
from devui.store.summaries import Usage
from devui.store.values import believed

_K = TypeVar("_K")
_V = TypeVar("_V")

_CACHE_SIZE: Final = 32
"""Sessions whose sums are in memory."""
_BATCH: Final = 2000
"""Rows that are read at a time."""
_LATEST: Final = 2**63 - 1
_STEP: Final = 64
"""Answers from one sum that is kept to the next."""
_SHORTEST: Final = 1e-3
"""Seconds of a hold that are not due to rounding."""
_LONGEST: Final = 1e9
"""Seconds between two events, some thirty years: clocks that tell more are wrong."""

_EVENTS = """
    SELECT seq, kind, author,
        iif(json_valid(summary), json_extract(summary, '$.tokens'), NULL), held, size,
        invocation_id, run, timestamp, kind = 'error' OR instr(summary, '"failed":true') > 0
    FROM events
    WHERE session = ? AND number > ? ORDER BY number LIMIT ?
"""
_ANSWERS = """
    SELECT number, author, model, prompt, cached, output, thoughts FROM usage
    WHERE session = ? AND number > ? ORDER BY number LIMIT ?
"""
_ANSWERS_WITHIN = """
    SELECT spans.key, number, author, model, prompt, cached, output, thoughts
    FROM json_each(?2) AS spans CROSS JOIN usage ON session = ?1
        AND number >= json_extract(spans.value, '$[0]')
        AND number <= json_extract(spans.value, '$[1]')
"""
_ENDED = """
    SELECT seq, max(ended - started - held, 0), held FROM runs
    WHERE session = ? AND seq > ? AND ended IS NOT NULL ORDER BY seq LIMIT ?
"""
_RUN = "SELECT started, ended FROM runs WHERE id = ? AND session = ?"
_ENDED_RUN = """
    SELECT max(ended - started - held, 0), held FROM runs WHERE id = ? AND ended IS NOT NULL
"""
_HELD_RUNS = "SELECT id, ended, held FROM runs WHERE session = ? AND held > 0 AND ended > 0"
_COPIED = "SELECT number FROM forks WHERE session = ?"

_Place = tuple[str, str, int]
"""Author, model, and how many of the limits a prompt exceeds."""
_Counts = tuple[int, int, int, int, int]
"""Answers, and their tokens: prompt, cached, output, thoughts."""
_Sums = dict[_Place, _Counts]


class _Event(NamedTuple):
    seq: int
    kind: str
    author: str
    tokens: int | None
    paused: float
    size: int
    invocation_id: str
    run: str | None
    timestamp: float
    has_failed: bool


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
        self.seconds = array("d", [0.0])
        """The same of the time at work for them."""
        self.pauses = array("d", [0.0])
        self.token_events = array("q")
        """The numbers of the events that counted tokens."""
        self.failures = array("q")
        """The numbers of the errors, and of results with a tool's error."""
        self.messages = array("q")
        """The numbers of the user's events."""
        self.starts = array("q")
        """The numbers of the events that are of another invocation than the one before."""
        self.runs: dict[str, int] = {}
        """By run, in their order, the number of its first event."""
        self.holds: defaultdict[str, list[Hold]] = defaultdict(list)
        """By run, when it was held before one of its events."""
        self.bytes = 0
        self._last: _Event | None = None
        self.ends = array("q")
        self.work = array("d", [0.0])
        self.paused = array("d", [0.0])

    def grow(self, rows: Iterable[_Event]) -> None:
        before, kinds, authors = self._last, [], []
        for number, row in enumerate(rows, len(self.seqs) + 1):
            self.seqs.append(row.seq)
            self.bytes += row.size
            self.tokens.append(self.tokens[-1] + believed(row.tokens or 0))
            seconds = seconds_of_work(row, before) or 0.0
            self.seconds.append(self.seconds[-1] + max(-_LONGEST, min(seconds, _LONGEST)))
            self.pauses.append(self.pauses[-1] + row.paused)
            if row.tokens is not None:
                self.token_events.append(number)
            if row.has_failed:
                self.failures.append(number)
            if row.kind == "user":
                self.messages.append(number)
            if before is None or before.invocation_id != row.invocation_id:
                self.starts.append(number)
            if row.run:
                self.runs.setdefault(row.run, number)
                if row.paused > 0:
                    since = before.timestamp if before else row.timestamp - row.paused
                    self.holds[row.run].append(Hold(since, row.paused))
            kinds.append(row.kind)
            # One text for each author, and not one for each event.
            authors.append(self._names.setdefault(row.author, row.author))
            before = row
        self._last = before
        self.kinds += tuple(kinds)
        self.authors += tuple(authors)

    def invocation(self, number: int) -> tuple[int, int]:
        """The first and the last event of the invocation that an event is of."""
        if number > len(self.seqs):  # the session has been deleted
            return number, number
        place = bisect_right(self.starts, number)
        last = self.starts[place] - 1 if place < len(self.starts) else len(self.seqs)
        return self.starts[place - 1], last

    def sums(self, first: int, last: int, usage: list[UsageSum], *, since: int) -> Sums:
        """Of the events `first` to `last`; the time at work counts from the event `since` on."""
        count = len(self.seqs)
        first, last, since = min(first, count + 1), min(last, count), min(since, count)
        tokens = self.tokens[last] - self.tokens[first - 1]
        return Sums(
            events=last - first + 1,
            seconds=self.seconds[last] - self.seconds[since],
            held=self.pauses[last] - self.pauses[since],
            tokens=tokens if _within(self.token_events, first, last) else None,
            failures=_within(self.failures, first, last),
            usage=tuple(usage),
        )

    def end(self, rows: Iterable[tuple[Any, ...]]) -> None:
        for seq, work, pause in rows:
            self.ends.append(seq)
            self.work.append(self.work[-1] + work)
            self.paused.append(self.paused[-1] + pause)


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

    def within(self, first: int, last: int) -> tuple[_Sums, list[tuple[int, int]]]:
        """What is known of the answers of the events `first` to `last`, and between which numbers
        the few others are."""
        begin, end = bisect_left(self.numbers, first), bisect_right(self.numbers, last)
        if not begin and end == len(self.numbers):
            return dict(self.latest), []
        low, high = -(-begin // _STEP), end // _STEP
        if low >= high:
            return {}, self._spans([(begin, end)])
        sums = _difference(self.sums[high], self.sums[low])
        return sums, self._spans([(begin, low * _STEP), (high * _STEP, end)])

    def _spans(self, places: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        return [(self.numbers[a], self.numbers[b - 1]) for a, b in places if a < b]


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
        course = await self._events(session_key)
        number = min(max(until, 0), len(course.seqs))
        return course.tokens[number] if _within(course.token_events, 1, number) else None

    async def ranges(
        self, session_key: int, ranges: Sequence[tuple[int, int]], *, limits: Sequence[int] = ()
    ) -> list[Sums]:
        """Return what events came to, of each range from its first to its last number.

        `limits` as for `usage`.
        """
        course = await self._events(session_key)
        usages = await self._usages(session_key, ranges, limits)
        return [
            course.sums(first, last, usage, since=first - 1)
            for (first, last), usage in zip(ranges, usages, strict=True)
        ]

    async def invocations(
        self, session_key: int, numbers: Sequence[int], *, limits: Sequence[int] = (), until: int
    ) -> list[InvocationSums]:
        """Return what the invocation of each of these events came to by the event `until`.

        `limits` as for `usage`.
        """
        course = await self._events(session_key)
        spans = []
        for number in numbers:
            first, last = course.invocation(number)
            spans.append((first, max(number, min(last, until))))
        usages = await self._usages(session_key, spans, limits)
        return [
            InvocationSums(course.sums(*span, usage, since=span[0]), _first(course.messages, *span))
            for span, usage in zip(spans, usages, strict=True)
        ]

    async def starts(self, session_key: int, numbers: Iterable[int]) -> dict[int, int]:
        """Return, for each of these events, the first one of its invocation that it follows without
        another's between."""
        course = await self._events(session_key)
        return {number: course.invocation(number)[0] for number in numbers}

    async def runs(self, session_key: int) -> Mapping[str, int]:
        """Return the number of the first event of each run that has any, in their order."""
        return (await self._events(session_key)).runs

    async def holds(self, session_key: int) -> dict[str, list[Hold]]:
        """Return when each of the session's runs was held, ascending.

        What the journal has is how long a run was held between two events, and in all. What stops a
        run stops it where an event was produced, so each hold is taken to begin at the first of the
        two; one after the last event is taken to last until the run's end.
        """
        holds = {run: [*each] for run, each in (await self._events(session_key)).holds.items()}
        for run, end, seconds in await self._database.find(_HELD_RUNS, session_key):
            rest = seconds - sum(each.seconds for each in holds.get(run, ()))
            if rest > _SHORTEST:
                holds.setdefault(run, []).append(Hold(end - rest, rest))
        return holds

    async def usage(
        self, session_key: int, *, limits: Sequence[int] = (), until: int | None = None
    ) -> list[UsageSum]:
        """Return what models counted, up to the event of this number.

        Summed for each author, each model, and how many of the `limits` its prompts exceed.
        """
        last = _LATEST if until is None else until
        [sums] = await self._usages(session_key, [(1, last)], limits)
        return sums

    async def seconds(self, session_key: int) -> Durations:
        """Return how long the session's ended runs were at work, and how long they were held.

        In a fork, the events that it copied count, too.
        """
        course = await self._runs(session_key)
        own = Durations(course.work[-1] if course.ends else None, course.paused[-1])
        return own + (await self._copied(session_key))[1]

    async def seconds_at(self, event: EventRow) -> Durations:
        """The same as of an event, the part of its run up to it included."""
        copied, before = await self._copied(event.session, until=event.number)
        if event.number <= copied:
            return before
        course = await self._runs(event.session)
        await self._events(event.session)
        count = bisect_left(course.ends, event.seq)
        work, pause = course.work[count], course.paused[count]
        rows = await self._database.find(_RUN, event.run, event.session) if event.run else []
        if not rows:
            return Durations(work if count else None, pause) + before
        [(start, end)] = rows
        # Runs of a session follow each other: behind the end of the one before, all is this one's.
        first = bisect_right(course.seqs, course.ends[count - 1]) if count else copied
        own_pause = course.pauses[event.number] - course.pauses[first]
        here = event.timestamp if end is None else min(event.timestamp, end)
        return Durations(work + max(here - start - own_pause, 0), pause + own_pause) + before

    async def seconds_of_run(self, run: str) -> Durations:
        """The same of one run; nothing of one that has not ended, or is deleted."""
        rows = await self._database.find(_ENDED_RUN, run)
        return Durations(*rows[0]) if rows else Durations()

    async def _copied(self, session: int, *, until: int = _LATEST) -> tuple[int, Durations]:
        """How many events of a session are its parent's, and the time for them up to the event
        `until`: from one to the next, since their runs are the parent's."""
        rows = await self._database.find(_COPIED, session)
        if not rows:
            return 0, Durations()
        course = await self._events(session)
        count = min(rows[0][0], len(course.seqs))
        last = min(count, until)
        return count, Durations(course.seconds[last] or None, course.pauses[last])

    async def _events(self, session: int) -> _Course:
        course = _cached(self._courses, session, _Course)
        read = self._database.find if course.seqs else self._database.fetch
        async with course.lock:
            while rows := await read(_EVENTS, session, len(course.seqs), _BATCH):
                course.grow(map(_Event._make, rows))
        return course

    async def _runs(self, session: int) -> _Course:
        course = _cached(self._courses, session, _Course)
        async with course.lock:
            last = course.ends[-1] if course.ends else 0
            while rows := await self._database.find(_ENDED, session, last, _BATCH):
                course.end(rows)
                last = course.ends[-1]
        return course

    async def _usages(
        self, session: int, ranges: Iterable[tuple[int, int]], limits: Sequence[int]
    ) -> list[list[UsageSum]]:
        answers = _cached(self._answers, (session, tuple(limits)), lambda: _Answers(limits))
        async with answers.lock:
            last = answers.numbers[-1] if answers.numbers else 0
            while rows := await self._database.find(_ANSWERS, session, last, _BATCH):
                answers.grow(map(_Answer._make, rows))
                last = answers.numbers[-1]
        sums, spans, places = [], [], []
        for place, (first, last) in enumerate(ranges):
            summed, others = answers.within(first, last)
            sums.append(summed)
            spans += others
            places += [place] * len(others)
        if spans:
            rows = await self._database.fetch(_ANSWERS_WITHIN, session, json.dumps(spans))
            for span, *values in rows:
                _add(sums[places[span]], _Answer(*values), answers.limits)
        return [_usage_sums(each) for each in sums]


def _within(numbers: Sequence[int], first: int, last: int) -> int:
    """How many of the ascending numbers are from `first` to `last`."""
    return bisect_right(numbers, last) - bisect_left(numbers, first)


def _first(numbers: Sequence[int], first: int, last: int) -> int | None:
    """The first of the ascending numbers from `first` to `last`."""
    place = bisect_left(numbers, first)
    return numbers[place] if place < len(numbers) and numbers[place] <= last else None


def _difference(sums: _Sums, before: _Sums) -> _Sums:
    """What has come to sums since there were fewer answers."""
    zero = (0, 0, 0, 0, 0)
    pairs = ((place, counts, before.get(place, zero)) for place, counts in sums.items())
    return {place: _minus(now, then) for place, now, then in pairs if now[0] > then[0]}


def _minus(now: _Counts, then: _Counts) -> _Counts:
    return (
        now[0] - then[0],
        now[1] - then[1],
        now[2] - then[2],
        now[3] - then[3],
        now[4] - then[4],
    )


def _cached(cache: OrderedDict[_K, _V], name: _K, make: Callable[[], _V]) -> _V:
    """What is known by this name, made if it is not; what was looked at longest ago is let go."""
    if name not in cache:
        cache[name] = make()
        if len(cache) > _CACHE_SIZE:
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
