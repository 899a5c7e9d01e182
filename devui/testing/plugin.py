"""The pytest plugin of `devui test`: refuses connections, and writes a report as JSON."""

import json
import os
from pathlib import Path
from typing import Final, Protocol

from devui.testing.offline import refuse_connections

_REPORT: Final = "DEVUI_TEST_REPORT"
"""The environment variable that names the report file, which gets one line per test."""


class Report(Protocol):
    """A pytest report on a phase of a test, or on the collection of a file."""

    nodeid: str
    outcome: str
    longreprtext: str


class Phase(Report, Protocol):
    """A pytest report on a phase of a test."""

    when: str
    duration: float


_reports: Final[dict[str, tuple[Phase, str]]] = {}
"""For each test in progress, the phase that decides its outcome so far, and that outcome."""


def pytest_configure() -> None:
    """Refuse connections from now on in this process."""
    refuse_connections()


def pytest_runtest_logreport(report: Phase) -> None:
    """Write the outcome of a test: that of its call, or of the phase that failed or skipped it."""
    if report.when == "call" or report.outcome != "passed":
        outcome = report.outcome
        if report.when != "call" and outcome == "failed":
            outcome = "error"
        _reports[report.nodeid] = (report, outcome)
    if report.when == "teardown" and report.nodeid in _reports:
        phase, outcome = _reports.pop(report.nodeid)
        _write(phase, outcome, phase.duration)


def pytest_collectreport(report: Report) -> None:
    """Write an error for a file that can't be collected."""
    if report.outcome == "failed":
        _write(report, "error", 0.0)


def _write(report: Report, outcome: str, seconds: float) -> None:
    if file := os.environ.get(_REPORT):
        message = report.longreprtext if outcome in {"failed", "error"} else ""
        line = {"test": report.nodeid, "outcome": outcome, "seconds": round(seconds, 3)}
        with Path(file).open("a", encoding="utf-8") as stream:
            stream.write(json.dumps({**line, "message": message}, ensure_ascii=False) + "\n")
