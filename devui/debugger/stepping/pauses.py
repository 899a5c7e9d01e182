"""When a run was held."""

import time
from bisect import bisect_right
from dataclasses import dataclass, field


@dataclass(slots=True)
class Pauses:
    """The pauses of one run: from where something is held to where nothing is."""

    before: float = 0.0
    """Seconds, without the pause that goes on now."""
    _since: float | None = None
    _begun: list[float] = field(default_factory=list)
    """When each pause began, in seconds since the epoch, as events tell theirs."""
    _sums: list[float] = field(default_factory=list)
    """The seconds of those before each."""

    def begin(self) -> None:
        """Something is held from now on."""
        self._since = time.monotonic()
        self._begun.append(time.time())
        self._sums.append(self.before)

    def end(self) -> None:
        """Nothing is held any more."""
        self.before, self._since = self.seconds, None

    @property
    def seconds(self) -> float:
        """How long the run was held, in all."""
        return self.before + (time.monotonic() - self._since if self._since is not None else 0.0)

    def until(self, moment: float) -> float:
        """How long it was held up to a moment, in seconds since the epoch."""
        count = bisect_right(self._begun, moment)
        if count == 0:
            return 0.0
        most = self._sums[count] if count < len(self._sums) else self.seconds
        return min(self._sums[count - 1] + moment - self._begun[count - 1], most)
