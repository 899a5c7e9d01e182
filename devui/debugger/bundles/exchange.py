"""Exports sessions from the journal as bundles, and imports bundles."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import partial
from typing import IO, Final

from devui.debugger.apps.apps import AppFolder
from devui.debugger.background.jobs import UNWATCHED, Progress
from devui.debugger.bundles.importing import AS_EXPORTED, BundleImporter, ImportOptions, new_import
from devui.debugger.bundles.reading import check, outline, records
from devui.debugger.bundles.writing import Cleaning, lines
from devui.debugger.questions.questions import CREDENTIAL
from devui.debugger.secrets.redaction import NOTHING, Redactor, Secret, in_base64
from devui.debugger.secrets.values import credentials_in, secrets_about, secrets_in
from devui.settings import Settings
from devui.store.exports import answers_to, app_of, keys_of, size_of, values_of
from devui.store.journal import Journal
from devui.store.rows import SessionRow
from devui.store.sqlite.database import Snapshot

_PLACES: Final = 5
"""How many places are listed for each finding."""


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """What to redact in an export, and what to leave out."""

    keep_secrets: bool = False
    """Whether secrets stay in, because the reader explicitly asked for that."""
    keys: frozenset[str] = frozenset()
    """State keys whose values are redacted, with their prefixes."""
    extra: bool = True
    """Whether to include what was set aside when the session was imported."""


@dataclass(slots=True)
class Finding:
    """A text that would be redacted."""

    kind: str
    hint: str
    """The beginning and length of the text; "" for values of state keys."""
    count: int = 0
    places: list[str] | None = None
    """The first few places where it occurs."""


@dataclass(frozen=True, slots=True)
class Preview:
    """What an export would redact."""

    findings: tuple[Finding, ...]
    keys: tuple[str, ...]
    """All state keys that the session ever had."""


class Exchange:
    """Writes and reads bundles."""

    def __init__(self, journal: Journal, settings: Settings) -> None:
        self._journal = journal
        self._settings = settings

    async def size(self, session: int) -> int:
        """Estimate the number of lines in the session's bundle."""
        async with self._journal.snapshot() as snapshot:
            return await size_of(snapshot, session)

    async def lines(
        self, session: int, options: ExportOptions, progress: Progress = UNWATCHED
    ) -> AsyncIterator[str]:
        """Yield the lines of a bundle, and count them as progress.

        Raises SessionNotFound, JournalDamaged, JobStopped.
        """
        async with self._journal.snapshot() as snapshot:
            cleaning = Cleaning(await self._for(snapshot, session, options), options.keys)
            async for line in lines(snapshot, session, cleaning, extra=options.extra):
                progress.advance()
                yield line

    async def preview(self, session: int, options: ExportOptions) -> Preview:
        """Return what an export would redact. Raises SessionNotFound, JournalDamaged."""
        findings: dict[tuple[str, str], Finding] = {}

        def report(place: str, kind: str, text: str) -> None:
            hint = masked(text)
            finding = findings.setdefault((kind, text), Finding(kind, hint, places=[]))
            finding.count += 1
            if finding.places is not None and place not in finding.places[-1:]:
                finding.places = [*finding.places, place][:_PLACES]

        async with self._journal.snapshot() as snapshot:
            cleaning = Cleaning(await self._for(snapshot, session, options), options.keys, report)
            async for _ in lines(snapshot, session, cleaning):
                pass
            keys = await keys_of(snapshot, session)
        by_count = sorted(findings.values(), key=lambda each: (-each.count, each.kind))
        return Preview(tuple(by_count), tuple(keys))

    async def redactor_of(self, session: int, options: ExportOptions) -> Redactor:
        """Return the redactor for an export of a session. Raises JournalDamaged."""
        async with self._journal.snapshot() as snapshot:
            return await self._for(snapshot, session, options)

    async def _for(self, snapshot: Snapshot, session: int, options: ExportOptions) -> Redactor:
        values = await values_of(snapshot, session, options.keys) if options.keys else []
        texts = secrets_in(values, "the value of a chosen state key")
        if options.keep_secrets:
            return Redactor(texts, shapes=False) if texts else NOTHING
        folder, app = AppFolder.at(self._settings.agents), await app_of(snapshot, session)
        secrets = await asyncio.to_thread(secrets_about, folder, app)
        secrets += credentials_in(await answers_to(snapshot, session, CREDENTIAL))
        encodings = [Secret(part, each.kind) for each in secrets for part in in_base64(each.text)]
        return Redactor([*texts, *secrets, *encodings])

    async def take(
        self,
        file: IO[bytes],
        options: ImportOptions = AS_EXPORTED,
        progress: Progress = UNWATCHED,
        *,
        words_of: Callable[[str], str],
        own: bool = False,
    ) -> SessionRow:
        """Import a bundle as a session, completely or not at all; nothing in it is run.

        Its bytes are counted twice: when they are checked, and when they are stored. `words_of` is
        as in `opening_title`. Set `own` for a file that this process just wrote: it isn't checked.

        Raises BadBundle, SessionExists, JobStopped, and BadValue if the journal can't store it.
        """
        bundle = await asyncio.to_thread(
            partial(outline, file) if own else partial(check, file, progress)
        )
        new = new_import(bundle, options)
        return await self._journal.imports.add(
            new,
            lambda builder: BundleImporter(builder, words_of).store(
                records(file, progress, own=own)
            ),
        )


def masked(text: str) -> str:
    """Abbreviate a secret so that only its owner can recognize it."""
    return f"{text[:3]}…({len(text)} characters)" if text else ""
