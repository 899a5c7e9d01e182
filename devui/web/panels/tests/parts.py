"""The page that makes a test of a session."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from devui.web.basic_parts import Theme
from devui.web.panels.jobs.panel import JobList


@dataclass(frozen=True, slots=True)
class CheckChoice:
    """Something that may be checked."""

    value: str
    """Of the form's field: run and check."""
    label: str
    is_chosen: bool
    always: bool = False
    """It is checked whatever is chosen."""


@dataclass(frozen=True, slots=True)
class RunChoice:
    """A run that may become a test."""

    run: str
    name: str
    """The function that it becomes."""
    first_href: str
    first: str
    """`#5`: its first event."""
    is_chosen: bool
    checks: tuple[CheckChoice, ...]


@dataclass(frozen=True, slots=True)
class TestOutcome:
    """What running the test came to."""

    result: Literal["passed", "failed", "stopped", "not run"]
    output: str


@dataclass(frozen=True, slots=True)
class TestPreview:
    """What would be written, or has been. Goes into `#test-preview`."""

    template: ClassVar[str] = "tests/test_preview.html"
    file: str
    """The path of the test file."""
    code: str
    recordings: str
    """`2 recordings`."""
    redacted: tuple[str, ...] = ()
    """What is left out of them."""
    error: str = ""
    """Why nothing can be written."""
    misplaced: bool = False
    """It cannot be written there, whatever is chosen."""
    there: bool = False
    """The file is there already."""
    overwrite: bool = False
    paths: tuple[str, ...] = ()
    """The files, once they are written."""
    command: str = ""
    """What plays the test."""
    outcome: TestOutcome | None = None
    """None if it was not run from here."""


@dataclass(frozen=True, slots=True)
class MakeTestPage:
    """`/sessions/{key}/test`: what a test of the session checks, and where it is written."""

    template: ClassVar[str] = "pages/test.html"
    theme: Theme
    name: str
    session_href: str
    action: str
    base: str
    """The folder below which it is written."""
    runs: tuple[RunChoice, ...]
    keep: bool
    """Secrets stay in."""
    preview: TestPreview
    jobs: JobList
