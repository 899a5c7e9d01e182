"""A plugin of pytest for `devui test`: no connections to anywhere, and a report as JSON."""

import json
import os
from pathlib import Path
from typing import Final, Protocol

from devui.testing.offline import refuse_connections

_REPORT: Final = "DEVUI_TEST_REPORT"
"""The variable with the file that gets a line for each test."""


class Report(Protocol):
    """What pytest says of a phase of a test, or of the reading of a file."""

    nodeid: str
    outcome: str
    longreprtext: str


class Phase(Report, Protocol):
    """What pytest says of a phase of a test."""

    when: str
    duration: float


_reports: Final[dict[str, tuple[Phase, str]]] = {}
"""What the phases of tests that are not over have come to so far."""


def pytest_configure() -> None:
    """Refuse connections from here on, in this process."""
    refuse_connections()


def pytest_runtest_logreport(report: Phase) -> None:
    """Write the outcome of a test: that of its call, or of what kept it from being called."""
    if report.when == "call" or report.outcome != "passed":
        outcome = report.outcome
        if report.when != "call" and outcome == "failed":
            outcome = "error"
        _reports[report.nodeid] = (report, outcome)
    if report.when == "teardown" and report.nodeid in _reports:
        phase, outcome = _reports.pop(report.nodeid)
        _write(phase, outcome, phase.duration)


def pytest_collectreport(report: Report) -> None:
    """Write that a file can't be read."""
    if report.outcome == "failed":
        _write(report, "error", 0.0)


def _write(report: Report, outcome: str, seconds: float) -> None:
    if file := os.environ.get(_REPORT):
        message = report.longreprtext if outcome in {"failed", "error"} else ""
        line = {"test": report.nodeid, "outcome": outcome, "seconds": round(seconds, 3)}
        with Path(file).open("a", encoding="utf-8") as stream:
            stream.write(json.dumps({**line, "message": message}, ensure_ascii=False) + "\n")
