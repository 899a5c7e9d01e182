"""Sessions out of the journal as bundles, and bundles into it."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial
from typing import IO, Final

from devui.debugger.apps.apps import AppFolder
from devui.debugger.background.jobs import UNWATCHED, Progress
from devui.debugger.bundles.landing import AS_IT_IS, Landed, Lander, new_import
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
"""Places that are told of each thing that would be taken out."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be taken out of an export."""

    keep_secrets: bool = False
    """Secrets stay in; the reader asked for it in so many words."""
    keys: frozenset[str] = frozenset()
    """State keys that are taken out, with their prefixes."""
    extra: bool = True
    """What was set aside when the session was imported comes along."""


@dataclass(slots=True)
class Finding:
    """Something that would be taken out."""

    kind: str
    hint: str
    """The text with its middle left out; "" for values of state keys."""
    count: int = 0
    places: list[str] | None = None
    """The first few."""


@dataclass(frozen=True, slots=True)
class Preview:
    """What an export would leave out, before it is made."""

    findings: tuple[Finding, ...]
    keys: tuple[str, ...]
    """All state keys that the session ever saw."""


class Exchange:
    """Writes bundles and reads them."""

    def __init__(self, journal: Journal, settings: Settings) -> None:
        self._journal = journal
        self._settings = settings

    async def size(self, session: int) -> int:
        """About how many lines the session's bundle has."""
        async with self._journal.snapshot() as snapshot:
            return await size_of(snapshot, session)

    async def lines(
        self, session: int, wish: Wish, progress: Progress = UNWATCHED
    ) -> AsyncIterator[str]:
        """The lines of a bundle, as they come; they are counted.

        Raises SessionNotFound, JournalDamaged, JobStopped.
        """
        async with self._journal.snapshot() as snapshot:
            cleaning = Cleaning(await self._for(snapshot, session, wish), wish.keys)
            async for line in lines(snapshot, session, cleaning, extra=wish.extra):
                progress.advance()
                yield line

    async def preview(self, session: int, wish: Wish) -> Preview:
        """What would be taken out. Raises SessionNotFound, JournalDamaged."""
        findings: dict[tuple[str, str], Finding] = {}

        def report(place: str, kind: str, text: str) -> None:
            hint = masked(text)
            finding = findings.setdefault((kind, text), Finding(kind, hint, places=[]))
            finding.count += 1
            if finding.places is not None and place not in finding.places[-1:]:
                finding.places = [*finding.places, place][:_PLACES]

        async with self._journal.snapshot() as snapshot:
            cleaning = Cleaning(await self._for(snapshot, session, wish), wish.keys, report)
            async for _ in lines(snapshot, session, cleaning):
                pass
            keys = await keys_of(snapshot, session)
        by_count = sorted(findings.values(), key=lambda each: (-each.count, each.kind))
        return Preview(tuple(by_count), tuple(keys))

    async def redactor_of(self, session: int, wish: Wish) -> Redactor:
        """What takes out of a session what is wished. Raises JournalDamaged."""
        async with self._journal.snapshot() as snapshot:
            return await self._for(snapshot, session, wish)

    async def _for(self, snapshot: Snapshot, session: int, wish: Wish) -> Redactor:
        values = await values_of(snapshot, session, wish.keys) if wish.keys else []
        texts = secrets_in(values, "the value of a chosen state key")
        if wish.keep_secrets:
            return Redactor(texts, shapes=False) if texts else NOTHING
        folder, app = AppFolder.at(self._settings.agents), await app_of(snapshot, session)
        secrets = await asyncio.to_thread(secrets_about, folder, app)
        secrets += credentials_in(await answers_to(snapshot, session, CREDENTIAL))
        encodings = [Secret(part, each.kind) for each in secrets for part in in_base64(each.text)]
        return Redactor([*texts, *secrets, *encodings])

    async def take(
        self,
        file: IO[bytes],
        wish: Landed = AS_IT_IS,
        progress: Progress = UNWATCHED,
        *,
        own: bool = False,
    ) -> SessionRow:
        """Make a session of a bundle, all of it or nothing; nothing in it is run.

        Its bytes are counted twice: as they are checked, and as they are put into the journal.
        `own` is for a file that this process has just written: it isn't checked.
        Raises BadBundle, SessionExists, JobStopped, and BadValue for what the journal does not
        keep.
        """
        bundle = await asyncio.to_thread(
            partial(outline, file) if own else partial(check, file, progress)
        )
        new = new_import(bundle, wish)
        return await self._journal.imports.add(
            new, lambda landing: Lander(landing).land(records(file, progress, own=own))
        )


def masked(text: str) -> str:
    """A secret so that its owner knows which one it is, and nobody else."""
    return f"{text[:3]}…({len(text)} characters)" if text else ""
