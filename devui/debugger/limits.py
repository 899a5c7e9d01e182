"""When a run has done too much, and the sentence that says so (R34)."""

from devui.debugger.breakpoints.facts import Meter
from devui.settings import Limits

_BYTES = 1_000_000
_SAID = {"calls": "calls of tools", "seconds": "seconds at work"}


class TooManyRuns(Exception):
    """As many runs go on as may at once."""


def exceeded(limits: Limits, used: Meter) -> str | None:
    """The name of the limit that a run has come to; None if it may go on."""
    counts = {
        "events": used.events,
        "calls": used.calls,
        "megabytes": used.bytes // _BYTES,
    }
    return next((name for name, is_at in counts.items() if is_at >= getattr(limits, name)), None)


def sentence(limits: Limits, name: str) -> str:
    """That a run was ended at this limit, and the way out."""
    most = int(getattr(limits, name))
    return (
        f"the run was ended at its limit of {most:,} {_SAID.get(name, name)}; what it did is kept. "
        f"Say more to go on, or start devui with a higher one: --limit {name}={10 * most}"
    )
