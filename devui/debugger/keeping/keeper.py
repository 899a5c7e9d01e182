"""Makes tests of sessions: the checklist to choose from, then the files."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from devui.debugger.keeping.checks import Check, checks_of, chosen
from devui.debugger.keeping.cleaning import cleaned, file_text
from devui.debugger.keeping.testfile import (
    Kept,
    file_name,
    function_names,
    recording_file,
    test_file,
)
from devui.debugger.recordings import NotRecorded, recording_of
from devui.debugger.redaction import Redactor
from devui.debugger.runs import NoSuchRun
from devui.store.journal import Journal
from devui.store.rows import RunRow, SessionRow
from devui.wire.recordings import Recording


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a test is to be made of."""

    run: str | None = None
    """One run alone; None for all of the session that can be played."""
    checks: frozenset[str] | None = None
    """Ids or kinds of checks; None for those that are chosen beforehand."""
    by_run: Mapping[str, frozenset[str]] | None = None
    """The runs that become tests and the checks of each, instead of `run` and `checks`."""
    name: str | None = None
    """Of the file, without its ending."""
    agent: str | None = None
    """The path from the file's folder to the app's; None as for `agents/tests`."""

    def of(self, run: str) -> frozenset[str] | None:
        """The checks of a run; None for those that are chosen beforehand."""
        return self.checks if self.by_run is None else self.by_run[run]


@dataclass(frozen=True, slots=True)
class Offer:
    """A run that may become a test."""

    run: str
    name: str
    """The function that it becomes."""
    recording: Recording
    checks: list[Check]


@dataclass(frozen=True, slots=True)
class KeptFiles:
    """A test and its recordings, by their paths from one folder."""

    name: str
    test: tuple[str, str]
    recordings: list[tuple[str, str]]
    redacted: dict[str, int]
    """Kinds of secrets that were left out, and how often."""


class Keeper:
    """Reads the journal and writes nothing: whoever asks puts the files where they belong."""

    def __init__(self, journal: Journal, redactor: Redactor) -> None:
        """The redactor takes secrets out of all that is offered and made."""
        self._journal = journal
        self._redactor = redactor
        self._redacted: Counter[str] = Counter()

    async def offers(self, session: SessionRow, run: str | None) -> list[Offer]:
        """The runs that may become tests, the oldest first, or the one that is named.

        Raises NoSuchRun, and NotRecorded if there is nothing to make a test of.
        """
        rows = [row for row in await self._rows(session) if run in {None, row.id}]
        if not rows:
            raise NoSuchRun(
                f"session {session.key} has no run {run!r}" if run else "the session has no run yet"
            )
        made: list[tuple[str, Recording]] = []
        refused: list[NotRecorded] = []
        for row in rows:
            try:
                recording = await recording_of(self._journal, session, row, whole=True)
                clean = await asyncio.to_thread(cleaned, recording, self._redactor, self._count)
                made.append((row.id, clean))
            except NotRecorded as error:
                refused.append(error)
        if not made:
            raise refused[-1]
        names = function_names(recording for _, recording in made)
        return [
            Offer(row, name, recording, checks_of(recording))
            for (row, recording), name in zip(made, names, strict=True)
        ]

    async def files(self, session: SessionRow, wanted: Chosen) -> KeptFiles:
        """The test and its recordings. Raises what `offers` does."""
        offers = await self.offers(session, wanted.run)
        return await asyncio.to_thread(self.made, offers, session, wanted)

    def made(self, offers: Sequence[Offer], session: SessionRow, wanted: Chosen) -> KeptFiles:
        """The same of what was offered. Raises NoSuchRun if none of it is wanted."""
        if wanted.by_run is not None:
            offers = [offer for offer in offers if offer.run in wanted.by_run]
        if not offers:
            raise NoSuchRun("no run of the session is chosen: there is nothing to make a test of")
        name = wanted.name or file_name(session.app, session.key)
        agent = wanted.agent or f"../{session.app}"
        kept = [Kept(o.name, o.recording, chosen(o.checks, wanted.of(o.run))) for o in offers]
        told = test_file(kept, name=name, agent=agent, session=session.key)
        recordings = [
            (recording_file(name, place), file_text(each.recording))
            for place, each in enumerate(offers, start=1)
        ]
        return KeptFiles(name, (f"{name}.py", told), recordings, dict(self._redacted))

    async def _rows(self, session: SessionRow) -> list[RunRow]:
        return list(reversed(await self._journal.runs.list(session.key)))

    def _count(self, kind: str, _: str) -> None:
        self._redacted[kind] += 1
