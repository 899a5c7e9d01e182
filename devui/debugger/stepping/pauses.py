"""How long a run was held: when something was held, and no branch is known to have worked."""

import time
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(slots=True)
class Pauses:
    """The pauses of one run, each from the first hold to the last release.

    A branch may work while another is held, which is known only once it produces something. The
    time it worked is then removed from the pauses.
    """

    _offset: float = field(default_factory=lambda: time.time() - time.monotonic())
    """Add this to the monotonic clock to get seconds since the epoch, as events have them."""
    _since: float | None = None
    """When the current pause began; None while nothing is held."""
    _pause_starts: list[float] = field(default_factory=list)
    _pause_ends: list[float] = field(default_factory=list)
    _sums: list[float] = field(default_factory=lambda: [0.0])
    """The total seconds of the first 0, 1, 2 … pauses."""
    _starts: dict[str | None, float] = field(default_factory=dict)
    """By branch: when it last produced something, or anything above or below it was released."""

    _since_event: dict[str, float] = field(default_factory=dict)
    """By branch: when its last event came or its last agent began."""

    def begin(self) -> None:
        """Begin a pause: something is held from now on."""
        self._since = self._now

    def end(self) -> None:
        """End the pause: nothing is held anymore."""
        if self._since is not None:
            self._add(self._since, self._now)
        self._since = None

    def record_event(self, branch: str | None, moment: float) -> float | None:
        """Record that the branch produced an event.

        Return for how many seconds it has worked on that; None for the root and if unknown.
        """
        self.record_work(branch, moment)
        if branch is None:
            return None
        last = self._since_event.get(branch)
        self._since_event[branch] = moment
        if last is None or moment < last:
            return None
        return max(moment - last - (self.until(moment) - self.until(last)), 0.0)

    def record_work(self, branch: str | None, moment: float) -> None:
        """Record that the branch produced something, so it has worked since it was last active."""
        at = min(moment, self._now)
        since = next((self._starts[each] for each in _upward(branch) if each in self._starts), 0.0)
        self._take_out(since, at)
        self._starts[branch] = max(since, at)

    def began(self, branch: str | None, at: float) -> None:
        """Record that an agent began in the branch.

        The branch may have had an earlier turn. It then waited for a release above it, and has
        worked only since that.
        """
        at = min(at, self._now)
        since = max((self._starts.get(each, 0.0) for each in _upward(branch)), default=0.0)
        self._take_out(since, at)
        self._starts[branch] = max(since, at)
        if branch is not None:
            self._since_event[branch] = at

    def let_go(self, branch: str | None) -> None:
        """Record a release in the branch, which all branches above and below it waited for, too."""
        below = [each for each in self._starts if branch in _upward(each)]
        self._starts.update(dict.fromkeys([*below, *_upward(branch)], self._now))

    @property
    def before(self) -> float:
        """The total seconds of all pauses except the current one."""
        return self._sums[-1]

    @property
    def seconds(self) -> float:
        """The total seconds the run has been held."""
        return self.until(self._now)

    def until(self, moment: float) -> float:
        """Return how many seconds the run had been held by `moment`, in seconds since the epoch."""
        count = bisect_left(self._pause_ends, moment)
        last = (
            max(moment - self._pause_starts[count], 0.0) if count < len(self._pause_starts) else 0.0
        )
        open_ = max(moment - self._since, 0.0) if self._since is not None else 0.0
        return self._sums[count] + last + open_

    @property
    def _now(self) -> float:
        return self._offset + time.monotonic()

    def _take_out(self, since: float, until: float) -> None:
        """Remove this interval from the pauses."""
        if since >= until:
            return
        overlaps: list[tuple[float, float]] = []
        while self._pause_ends and self._pause_ends[-1] > since:
            overlaps.append((self._pause_starts.pop(), self._pause_ends.pop()))
            self._sums.pop()
        for start, end in reversed(overlaps):
            self._add(start, min(since, end))
            self._add(max(start, until), end)
        if self._since is not None and self._since < until:
            self._add(self._since, since)
            self._since = until

    def _add(self, start: float, end: float) -> None:
        if start < end:
            self._pause_starts.append(start)
            self._pause_ends.append(end)
            self._sums.append(self._sums[-1] + end - start)


def _upward(branch: str | None) -> Iterator[str | None]:
    """Yield the branch, the branches above it, and None for the root."""
    while branch:
        yield branch
        branch = branch.rpartition(".")[0]
    yield None
