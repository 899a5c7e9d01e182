"""How a session stands, in a word."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from devui.web.parts.basics import Moment

Status = Literal["idle", "running", "held", "stopping", "done", "failed", "stopped", "interrupted"]


@dataclass(frozen=True, slots=True)
class RunStatus:
    """The state of the session's newest run. Goes into `#run`."""

    template: ClassVar[str] = "parts/run_status.html"
    status: Status
    word: str
    stop_href: str | None = None
    """Where a running run is stopped; None when there is nothing to stop."""
    started: Moment | None = None
    why_href: str = ""
    """Where it is said what holds a run up that is under way."""
    run: str = ""
    """The run; empty if there was none."""
    quiet: Moment | None = None
    """Since when nothing has come of it, if that is long."""
