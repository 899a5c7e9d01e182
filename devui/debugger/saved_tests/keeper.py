"""Makes tests from sessions: first the checks to choose from, then the files."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from devui.debugger.background.jobs import UNWATCHED, Progress
from devui.debugger.replays.recordings import NotRecorded, recording_of
from devui.debugger.runs.registry import NoSuchRun
from devui.debugger.saved_tests.checks import Check, checks_of, select
from devui.debugger.saved_tests.cleaning import cleaned, file_text
from devui.debugger.saved_tests.testfile import (
    RunTest,
    file_name,
    function_names,
    recording_file,
    test_file,
)
from devui.debugger.secrets.redaction import Redactor
from devui.store.journal import Journal
from devui.store.rows import RunRow, SessionRow
from devui.wire.recordings import Recording


@dataclass(frozen=True, slots=True)
class KeepOptions:
    """What to make a test from."""

    run: str | None = None
    """A single run; None for all runs of the session that can be replayed."""
    checks: frozenset[str] | None = None
    """Ids or kinds of checks; None for those selected by default."""
    by_run: Mapping[str, frozenset[str]] | None = None
    """The runs that become tests, with the checks of each; replaces `run` and `checks`."""
    name: str | None = None
    """The name of the file, without its extension."""
    agent: str | None = None
    """The path from the file's folder to the app's; None for a file in `agents/tests`."""

    def of(self, run: str) -> frozenset[str] | None:
        """Return the checks of a run; None for those selected by default."""
        return self.checks if self.by_run is None else self.by_run[run]


@dataclass(frozen=True, slots=True)
class Offer:
    """A run that can become a test."""

    run: str
    name: str
    """The name of its test function."""
    recording: Recording
    checks: list[Check]


@dataclass(frozen=True, slots=True)
class TestFiles:
    """A test and its recordings: the text of each file, and its path relative to one folder."""

    name: str
    test: tuple[str, str]
    recordings: list[tuple[str, str]]
    redacted: dict[str, int]
    """The number of redacted secrets by kind."""


class Keeper:
    """Reads the journal and returns the files of a test; the caller writes them."""

    def __init__(
        self, journal: Journal, redactor: Redactor, progress: Progress = UNWATCHED
    ) -> None:
        """Redact everything with `redactor`; `progress` counts runs."""
        self._progress = progress
        self._journal = journal
        self._redactor = redactor
        self._redacted: Counter[str] = Counter()

    async def offers(self, session: SessionRow, run: str | None) -> list[Offer]:
        """Return the runs that can become tests, oldest first, or the given one.

        Raises NoSuchRun, JobStopped, and NotRecorded if there is nothing to make a test from.
        """
        rows = [row for row in await self._rows(session) if run in {None, row.id}]
        if not rows:
            raise NoSuchRun(
                f"session {session.key} has no run {run!r}" if run else "the session has no run yet"
            )
        self._progress.begin(3 * len(rows))  # each is read, cleaned and written
        recordings: list[tuple[str, Recording]] = []
        errors: list[NotRecorded] = []
        for row in rows:
            try:
                recording = await recording_of(self._journal, session, row, whole=True)
                self._progress.advance()
                clean = await asyncio.to_thread(cleaned, recording, self._redactor, self._count)
                self._progress.advance()
                recordings.append((row.id, clean))
            except NotRecorded as error:
                errors.append(error)
        if not recordings:
            raise errors[-1]
        names = function_names(recording for _, recording in recordings)
        return [
            Offer(row, name, recording, checks_of(recording))
            for (row, recording), name in zip(recordings, names, strict=True)
        ]

    async def files(
        self, session: SessionRow, offers: Sequence[Offer], choice: KeepOptions
    ) -> TestFiles:
        """Return the test and its recordings. Raises JobStopped, and NoSuchRun without any run."""
        return await asyncio.to_thread(self._files, session, offers, choice)

    def _files(
        self, session: SessionRow, offers: Sequence[Offer], choice: KeepOptions
    ) -> TestFiles:
        if choice.by_run is not None:
            offers = [offer for offer in offers if offer.run in choice.by_run]
        if not offers:
            raise NoSuchRun("no run is selected: select at least one to make a test")
        name = choice.name or file_name(session.app, session.key)
        agent = choice.agent or f"../{session.app}"
        tests = [RunTest(o.name, o.recording, select(o.checks, choice.of(o.run))) for o in offers]
        text = test_file(tests, name=name, agent=agent, session=session.key)
        recordings = []
        for place, each in enumerate(offers, start=1):
            recordings.append((recording_file(name, place), file_text(each.recording)))
            self._progress.advance()
        return TestFiles(name, (f"{name}.py", text), recordings, dict(self._redacted))

    async def _rows(self, session: SessionRow) -> list[RunRow]:
        return list(reversed(await self._journal.runs.list(session.key)))

    def _count(self, kind: str, _: str) -> None:
        self._redacted[kind] += 1
