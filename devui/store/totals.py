"""Running totals of a session as of each of its events: kinds, tokens, usage and time.

A history only grows at its end. So the totals of recently used sessions are cached, and each use
reads only the events added since. Usage is summed by the price limits that the caller passes, since
the journal doesn't know any prices: its sums are cached for every 64th answer, and the few answers
in between are read from the journal.
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
from devui.store.summaries import HAS_FAILED, Usage
from devui.store.values import believed
from devui.wire.events import USER

_K = TypeVar("_K")
_V = TypeVar("_V")

_CACHE_SIZE: Final = 32
"""The maximum number of sessions whose totals are cached."""
_BATCH: Final = 2000
"""Rows read at a time."""
_LATEST: Final = 2**63 - 1
_STEP: Final = 64
"""The number of answers from one cached sum to the next."""
_SHORTEST: Final = 1e-3
"""The shortest hold, in seconds; anything shorter is due to rounding."""
_LONGEST: Final = 1e9
"""The longest time between two events, in seconds (about 30 years); more means a wrong clock."""

_EVENTS = f"""
    SELECT seq, kind, author,
        iif(json_valid(summary), json_extract(summary, '$.tokens'), NULL), held, size,
        invocation_id, run, timestamp, {HAS_FAILED},
        (SELECT started FROM runs WHERE runs.id = events.run)
    FROM events
    WHERE session = ? AND number > ? ORDER BY number LIMIT ?
"""  # noqa: S608  (of a constant)
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
    SELECT seq, max(ended - started - held, 0), held, id FROM runs
    WHERE session = ? AND seq > ? AND ended IS NOT NULL ORDER BY seq LIMIT ?
"""
_RUN = "SELECT started, ended FROM runs WHERE id = ? AND session = ?"
_ENDED_RUN = """
    SELECT max(ended - started - held, 0), held FROM runs WHERE id = ? AND ended IS NOT NULL
"""
_HELD_RUNS = "SELECT id, ended, held FROM runs WHERE session = ? AND held > 0 AND ended > 0"
_COPIED = "SELECT number FROM forks WHERE session = ?"

_Place = tuple[str, str, int]
"""Author, model, and the number of limits that a prompt exceeds."""
_Counts = tuple[int, int, int, int, int]
"""The number of answers, then their tokens: prompt, cached, output, thoughts."""
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
    began: float | None


class _Bounds(NamedTuple):
    """The numbers of the first and last event of a run."""

    first: int
    last: int
    run: str
    wait: float
    """Seconds from the run's start to its first event, if that is a user's, and so not working
    time; otherwise 0."""


class _Answer(NamedTuple):
    number: int
    author: str
    model: str
    prompt: int
    cached: int
    output: int
    thoughts: int


class _Course:
    """The running totals of one session, by its events and its ended runs."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.kinds: tuple[str, ...] = ()
        self.authors: tuple[str, ...] = ()
        self._names: dict[str, str] = {}
        self.seqs = array("q")
        self.tokens = array("q", [0])
        """At index n, the tokens of the first n events."""
        self.seconds = array("d", [0.0])
        """At index n, the working time for the first n events."""
        self.pauses = array("d", [0.0])
        """At index n, how long runs were held before the first n events, in seconds."""
        self.token_events = array("q")
        """The numbers of the events with a token count."""
        self.failures = array("q")
        """The numbers of the errors, and of results with a tool's error."""
        self.messages = array("q")
        """The numbers of the user's events."""
        self.starts = array("q")
        """The numbers of the events that belong to another invocation than the previous event."""
        self.runs: dict[str, int] = {}
        """The number of each run's first event, in the order of the runs."""
        self.bounds: list[_Bounds] = []
        """The bounds of each run, in order."""
        self.holds: defaultdict[str, list[Hold]] = defaultdict(list)
        """The holds of each run before one of its events."""
        self.bytes = 0
        self._last: _Event | None = None
        self.ends = array("q")
        self.work = array("d", [0.0])
        self.paused = array("d", [0.0])
        self.durations: dict[str, Durations] = {}
        """How long each ended run worked and was held."""

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
                self._bound(row, number)
                if row.paused > 0:
                    since = before.timestamp if before else row.timestamp - row.paused
                    self.holds[row.run].append(Hold(since, row.paused))
            kinds.append(row.kind)
            # Share one string for each author, rather than keep one for each event.
            authors.append(self._names.setdefault(row.author, row.author))
            before = row
        self._last = before
        self.kinds += tuple(kinds)
        self.authors += tuple(authors)

    def _bound(self, row: _Event, number: int) -> None:
        """Extend the bounds of the event's run.

        While a run is active, nothing else adds events, so a run's events are contiguous.
        """
        run = row.run or ""
        if run not in self.runs:
            self.runs[run] = number
            is_user = row.author == USER and row.began is not None
            wait = max(row.timestamp - (row.began or 0.0) - row.paused, 0.0) if is_user else 0.0
            self.bounds.append(_Bounds(number, number, run, wait))
        elif self.bounds[-1].run == run:
            self.bounds[-1] = self.bounds[-1]._replace(last=number)

    def _begins_run(self, number: int) -> bool:
        place = bisect_left(self.bounds, (number,))
        return place < len(self.bounds) and self.bounds[place].first == number

    def _rest(self, first: int, last: int) -> Durations:
        """Return the time of the ended runs in a range that isn't spent on their events.

        That is the time from a run's start to its first event and, if its last event is in the
        range, from there to its end.
        """
        rest = Durations()
        begin, end = (bisect_left(self.bounds, (number,)) for number in (first, last + 1))
        for bounds in self.bounds[begin:end]:
            whole = self.durations.get(bounds.run)
            if whole is None:
                continue
            if bounds.last > last:
                rest += Durations(bounds.wait)
                continue
            before = bounds.first - 1
            seconds = self.seconds[bounds.last] - self.seconds[before]
            held = self.pauses[bounds.last] - self.pauses[before]
            rest += Durations((whole.seconds or 0.0) - seconds, whole.held - held)
        return rest

    def invocation(self, number: int) -> tuple[int, int]:
        """Return the first and last of the contiguous events of its invocation around an event."""
        if number > len(self.seqs):  # the session was deleted
            return number, number
        place = bisect_right(self.starts, number)
        last = self.starts[place] - 1 if place < len(self.starts) else len(self.seqs)
        return self.starts[place - 1], last

    def sums(self, first: int, last: int, usage: list[UsageSum], *, with_runs: bool) -> Sums:
        """Return the totals of the events `first` to `last`.

        `with_runs` adds the time before and after the events of their ended runs (see `_rest`); the
        time before the first event of the range then only counts if a run begins with it.
        """
        count = len(self.seqs)
        first, last = min(first, count + 1), min(last, count)
        rest = self._rest(first, last) if with_runs else Durations()
        since = first - 1 if not with_runs or self._begins_run(first) else min(first, count)
        tokens = self.tokens[last] - self.tokens[first - 1]
        return Sums(
            events=last - first + 1,
            seconds=self.seconds[last] - self.seconds[since] + (rest.seconds or 0.0),
            held=self.pauses[last] - self.pauses[since] + rest.held,
            tokens=tokens if _within(self.token_events, first, last) else None,
            failures=_within(self.failures, first, last),
            usage=tuple(usage),
        )

    def end(self, rows: Iterable[tuple[Any, ...]]) -> None:
        for seq, work, pause, run in rows:
            self.durations[run] = Durations(work, pause)
            self.ends.append(seq)
            self.work.append(self.work[-1] + work)
            self.paused.append(self.paused[-1] + pause)


class _Answers:
    """The usage of one session, by the limits that prompts exceed."""

    def __init__(self, limits: Sequence[int]) -> None:
        self.lock = asyncio.Lock()
        self.limits = tuple(sorted(limits))
        self.numbers = array("q")
        """The numbers of the events with an answer."""
        self.sums: list[_Sums] = [{}]
        """The sums of the first 0, 64, 128 … answers."""
        self.latest: _Sums = {}

    def grow(self, rows: Iterable[_Answer]) -> None:
        for row in rows:
            self.numbers.append(row.number)
            _add(self.latest, row, self.limits)
            if len(self.numbers) % _STEP == 0:
                self.sums.append(dict(self.latest))

    def within(self, first: int, last: int) -> tuple[_Sums, list[tuple[int, int]]]:
        """Return the cached sums within the events `first` to `last`, and the ranges of numbers
        whose answers they leave out."""
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
    """A session's totals, as of now or of any event."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._courses: OrderedDict[int, _Course] = OrderedDict()
        self._answers: OrderedDict[tuple[int, tuple[int, ...]], _Answers] = OrderedDict()

    async def kinds(self, session_key: int) -> tuple[str, ...]:
        """Return the kind of every event of the session, in order."""
        return (await self._events(session_key)).kinds

    async def failures(self, session_key: int) -> Sequence[int]:
        """Return the numbers of the errors, and of results with a tool's error, in order.

        Includes events that a rewind took back.
        """
        return (await self._events(session_key)).failures

    async def authors(self, session_key: int) -> tuple[str, ...]:
        """Return the author of every event of the session, in order."""
        return (await self._events(session_key)).authors

    async def size(self, session_key: int) -> int:
        """Return the total size of the session's events, in bytes."""
        return (await self._events(session_key)).bytes

    async def tokens(self, session_key: int, until: int) -> int | None:
        """Return the tokens of the events up to number `until`; None if no event has a count."""
        course = await self._events(session_key)
        number = min(max(until, 0), len(course.seqs))
        return course.tokens[number] if _within(course.token_events, 1, number) else None

    async def ranges(
        self, session_key: int, ranges: Sequence[tuple[int, int]], *, limits: Sequence[int] = ()
    ) -> list[Sums]:
        """Return the totals of each range of events, given by its first and last number.

        `limits` are those of `usage`.
        """
        course = await self._events(session_key)
        usages = await self._usages(session_key, ranges, limits)
        return [
            course.sums(first, last, usage, with_runs=False)
            for (first, last), usage in zip(ranges, usages, strict=True)
        ]

    async def invocations(
        self, session_key: int, numbers: Sequence[int], *, limits: Sequence[int] = (), until: int
    ) -> list[InvocationSums]:
        """Return the totals of each of these events' invocations, up to the event `until`.

        `limits` are those of `usage`.
        """
        course = await self._runs(session_key)
        await self._events(session_key)
        spans = []
        for number in numbers:
            first, last = course.invocation(number)
            spans.append((first, max(number, min(last, until))))
        usages = await self._usages(session_key, spans, limits)
        return [
            InvocationSums(
                course.sums(*span, usage, with_runs=True), _first(course.messages, *span)
            )
            for span, usage in zip(spans, usages, strict=True)
        ]

    async def starts(self, session_key: int, numbers: Iterable[int]) -> dict[int, int]:
        """Return, by event, the number at which its invocation's contiguous events begin."""
        course = await self._events(session_key)
        return {number: course.invocation(number)[0] for number in numbers}

    async def runs(self, session_key: int) -> Mapping[str, int]:
        """Return the number of each run's first event, in the order of the runs."""
        return (await self._events(session_key)).runs

    async def holds(self, session_key: int) -> dict[str, list[Hold]]:
        """Return the holds of each of the session's runs, in ascending order.

        The journal only has how long a run was held between two events, and in total. Since runs
        stop where an event was produced, each hold is assumed to begin at the first of the two
        events; a hold after the last event is assumed to last until the run's end.
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
        """Return the usage up to the event `until`.

        It is summed by author, model, and the number of `limits`, in tokens, that prompts exceed.
        """
        last = _LATEST if until is None else until
        [sums] = await self._usages(session_key, [(1, last)], limits)
        return sums

    async def seconds(self, session_key: int) -> Durations:
        """Return how long the session's ended runs worked and were held.

        In a fork, includes the time of the events that it copied.
        """
        course = await self._runs(session_key)
        own = Durations(course.work[-1] if course.ends else None, course.paused[-1])
        return own + (await self._copied(session_key))[1]

    async def seconds_at(self, event: EventRow) -> Durations:
        """Return the durations as of an event, including its run up to the event."""
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
        # Runs of a session never overlap: all events after the previous run's end are this run's.
        first = bisect_right(course.seqs, course.ends[count - 1]) if count else copied
        own_pause = course.pauses[event.number] - course.pauses[first]
        here = event.timestamp if end is None else min(event.timestamp, end)
        return Durations(work + max(here - start - own_pause, 0), pause + own_pause) + before

    async def seconds_of_run(self, run: str) -> Durations:
        """Return the durations of one run; empty if it hasn't ended or was deleted."""
        rows = await self._database.find(_ENDED_RUN, run)
        return Durations(*rows[0]) if rows else Durations()

    async def _copied(self, session: int, *, until: int = _LATEST) -> tuple[int, Durations]:
        """Return how many events a session copied from its parent, and their durations up to the
        event `until`.

        The durations are measured between events, since their runs are the parent's.
        """
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
    """Return how many of the ascending numbers are from `first` to `last`."""
    return bisect_right(numbers, last) - bisect_left(numbers, first)


def _first(numbers: Sequence[int], first: int, last: int) -> int | None:
    """Return the first of the ascending numbers that is from `first` to `last`, if any."""
    place = bisect_left(numbers, first)
    return numbers[place] if place < len(numbers) and numbers[place] <= last else None


def _difference(sums: _Sums, before: _Sums) -> _Sums:
    """Return what the answers since `before` added to the sums."""
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
    """Return the cached value, made if missing, and evict the least recently used one."""
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
