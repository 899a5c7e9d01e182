"""The page that makes a test from a session."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from devui.web.basic_parts import Theme
from devui.web.panels.jobs.panel import JobList


@dataclass(frozen=True, slots=True)
class CheckChoice:
    """A check that a test can make."""

    value: str
    """The value of the form's field: run and check."""
    label: str
    is_chosen: bool
    always: bool = False
    """Whether it is checked in any case."""


@dataclass(frozen=True, slots=True)
class RunChoice:
    """A run that can become a test."""

    run: str
    name: str
    """The name of the test function."""
    first_href: str
    first: str
    """`#5`: its first event."""
    is_chosen: bool
    checks: tuple[CheckChoice, ...]


@dataclass(frozen=True, slots=True)
class TestOutcome:
    """The result of running the test."""

    result: Literal["passed", "failed", "stopped", "not run"]
    output: str


@dataclass(frozen=True, slots=True)
class TestPreview:
    """The test that would be written, or was. Goes into `#test-preview`."""

    template: ClassVar[str] = "tests/test_preview.html"
    file: str
    """The path of the test file."""
    code: str
    recordings: str
    """`2 recordings`."""
    redacted: tuple[str, ...] = ()
    """The redacted secrets, by kind."""
    error: str = ""
    """Why the test can't be written."""
    is_misplaced: bool = False
    """Whether the path is invalid, whatever else is chosen."""
    there: bool = False
    """Whether the file already exists."""
    overwrite: bool = False
    paths: tuple[str, ...] = ()
    """The written files."""
    command: str = ""
    """The command that runs the test."""
    outcome: TestOutcome | None = None
    """None if it wasn't run from this page."""


@dataclass(frozen=True, slots=True)
class MakeTestPage:
    """`/sessions/{key}/test`: the checks of a session's test, and where to write it."""

    template: ClassVar[str] = "pages/test.html"
    theme: Theme
    name: str
    session_href: str
    action: str
    base: str
    """The folder that the path is relative to."""
    runs: tuple[RunChoice, ...]
    keep: bool
    """Whether secrets are kept."""
    preview: TestPreview
    jobs: JobList
