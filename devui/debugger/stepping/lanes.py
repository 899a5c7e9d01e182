"""What goes on by itself in a run: one of several branches, or one of several calls."""

from dataclasses import dataclass

from devui.debugger.stepping.arrivals import Arrival


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """A branch with those below it, or a call with its return; of neither, nothing."""

    branch: str | None = None
    call: str | None = None

    def has(self, arrival: Arrival) -> bool:
        """Whether what came is of it."""
        if self.branch is not None:
            return f"{arrival.branch}.".startswith(f"{self.branch}.")
        return self.call is not None and arrival.call == self.call
