"""When a run was held: while something of it was, and nothing of it is known to have worked."""

import time
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(slots=True)
class Pauses:
    """The pauses of one run: from where something is held to where nothing is.

    A branch may work while another is held. Nobody knows before something comes of it: then the
    time in which it worked turns out to have been no pause.
    """

    _offset: float = field(default_factory=lambda: time.time() - time.monotonic())
    """From a clock that only goes forward to the epoch's seconds, in which events tell theirs."""
    _since: float | None = None
    """When the pause that goes on began."""
    _pause_starts: list[float] = field(default_factory=list)
    _pause_ends: list[float] = field(default_factory=list)
    _sums: list[float] = field(default_factory=lambda: [0.0])
    """The seconds of the first 0, 1, 2 … pauses."""
    _starts: dict[str | None, float] = field(default_factory=dict)
    """By branch: when something last came of it or was let go, below it too."""

    def begin(self) -> None:
        """Something is held from now on."""
        self._since = self._now

    def end(self) -> None:
        """Nothing is held any more."""
        if self._since is not None:
            self._add(self._since, self._now)
        self._since = None

    def came(self, branch: str | None, moment: float) -> float:
        """Something was produced in the branch: it worked since it was last heard of. How long the
        run was held up to that moment."""
        at = min(moment, self._now)
        since = next((self._starts[each] for each in _upward(branch) if each in self._starts), 0.0)
        self._take_out(since, at)
        self._starts[branch] = max(since, at)
        return self.until(moment)

    def began(self, branch: str | None, at: float) -> None:
        """An agent began in the branch, which may have had its turn before, and had waited since
        then for what was let go around it."""
        at = min(at, self._now)
        since = max((self._starts.get(each, 0.0) for each in _upward(branch)), default=0.0)
        self._take_out(since, at)
        self._starts[branch] = max(since, at)

    def let_go(self, branch: str | None) -> None:
        """Something of the branch goes on, for which all above and below it had waited, too."""
        below = [each for each in self._starts if branch in _upward(each)]
        self._starts.update(dict.fromkeys([*below, *_upward(branch)], self._now))

    @property
    def before(self) -> float:
        """Seconds, without the pause that goes on now."""
        return self._sums[-1]

    @property
    def seconds(self) -> float:
        """How long the run was held, in all."""
        return self.until(self._now)

    def until(self, moment: float) -> float:
        """How long it was held up to a moment, in seconds since the epoch."""
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
        """Take this time out of the pauses."""
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
    """The branch, those above it, and that of the root."""
    while branch:
        yield branch
        branch = branch.rpartition(".")[0]
    yield None
