"""Writes a session as one HTML file, with the parts and styles of the pages.

What is shown went through a bundle first: written without its secrets, read into a journal of its
own that is gone afterwards. So one module decides what leaves the server, and the page shows
exactly what an import of the bundle would.
"""

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from devui.debugger.bundles.exchange import Exchange, Wish
from devui.debugger.summary import Summary
from devui.debugger.uncommitted import followed
from devui.store.journal import Journal
from devui.store.rows import EditRow, EventRow, SessionRow
from devui.web.exported.selfcontained import Inlined, link_free
from devui.web.pages.keeping import ExportedPage
from devui.web.parts.inspector import StatePanel
from devui.web.parts.marks import TakenBackMark
from devui.web.presenters.chat import written
from devui.web.presenters.detail import event_detail
from devui.web.presenters.lists import session_name
from devui.web.presenters.margins import Margins
from devui.web.presenters.noting import note_form
from devui.web.presenters.past import unasked
from devui.web.presenters.rewound import taken_mark
from devui.web.presenters.statepanel import state_panel
from devui.web.presenters.uncommitted import event_notes
from devui.web.presenters.window import Window, window_before
from devui.web.services import Services
from devui.web.text.figures import plural
from devui.web.text.markdown import prepare
from devui.web.text.visible import visible

STYLES: Final = (
    *("colors", "base", "parts", "session", "chat", "timeline", "inspector", "json", "debugger"),
    *("recovery", "notes", "narrow", "exported"),
)
SCRIPT: Final = "js/exported.js"
_BATCH: Final = 200
_STATES: Final = 300
"""Events up to which each has the state as of it; beyond, the file would be many times as large."""
_END: Final = 2**63 - 1


async def html(found: Services, session: int, wish: Wish) -> AsyncIterator[str]:
    """The pieces of the file, in order. Raises SessionNotFound, JournalDamaged."""
    with (
        tempfile.TemporaryDirectory(prefix="devui-export-") as folder,
        tempfile.TemporaryFile(dir=folder) as file,
    ):
        known = replace(wish, extra=False)
        async for line in Exchange(found.journal, found.settings).lines(session, known):
            file.write(line.encode())
        async with await Journal.open(Path(folder) / "data") as journal:
            row = await Exchange(journal, found.settings).take(file)
            origin = json.loads(await journal.imports.get(row.key) or "{}")
            async for piece in _Writer(found, journal, row, origin["id"]).pieces():
                yield piece


class _Writer:
    """One file."""

    def __init__(self, found: Services, journal: Journal, session: SessionRow, name: str) -> None:
        self._found = found
        self._journal = journal
        self._session = session
        self._name = name
        self._inlined = Inlined(found.render.assets, STYLES, SCRIPT)

    async def pieces(self) -> AsyncIterator[str]:
        """Chat, then rows, then each event in full: each in windows, none of them held for long."""
        part, margins = self._found.render.part, Margins(self._found.prices)
        frame = self._inlined.into(await self._free(str(part(await self._frame()))))
        before_chat, _, rest = frame.partition("<!--messages-->")
        before_rows, _, rest = rest.partition("<!--rows-->")
        before_events, _, after = rest.partition("<!--events-->")
        yield before_chat
        async for window in self._windows():
            messages = unasked(window.messages())
            await prepare(written(messages))
            for message in messages:
                yield await self._free(str(part(message)))
        yield before_rows
        async for window in self._windows():
            for item in window.items(margins):
                yield await self._free(str(part(item)))
        yield before_events
        edits = {edit.id: edit for edit in await self._journal.edits.list(self._session.key)}
        async for window in self._windows():
            for row, summary in window.events:
                taken = taken_mark(window.taken, row.number, self._session.key, "detail")
                yield await self._event(row, summary, edits, taken)
        yield after

    async def _frame(self) -> ExportedPage:
        session = self._session
        note = await self._journal.notes.get(session.key, 0)
        return ExportedPage(
            name=session_name(session),
            app=visible(session.app),
            user=visible(session.user),
            id=visible(self._name),
            events=plural(session.events, "event"),
            note=note_form(session.key, 0, note) if note else None,
            state=await self._state(None, None),
        )

    async def _windows(self) -> AsyncIterator[Window]:
        after, journal, key = 0, self._journal, self._session.key
        while rows := await journal.events.page(key, after=after, limit=_BATCH):
            last = len(rows) < _BATCH
            until = _END if last else rows[-1].seq + 1
            yield await window_before(journal, key, until, size=len(rows))
            if last:
                return
            after = rows[-1].seq

    async def _event(
        self,
        row: EventRow,
        summary: Summary,
        edits: dict[int, EditRow],
        taken: TakenBackMark | None,
    ) -> str:
        journal, key = self._journal, self._session.key
        body = await journal.events.body(key, row.number)
        event = json.loads(body[1]) if body else {}
        marks = (event.get("customMetadata") or {}).get("devui_edited") or []
        chosen = [edits[mark["edit"]] for mark in marks if mark.get("edit") in edits]
        touches = await journal.uncommitted.of_run(row.run) if row.run else []
        detail = event_detail(
            event,
            row,
            await journal.state.changes(key, row.number),
            summary=summary,
            prices=self._found.prices,
            chunks=[json.loads(chunk) for chunk in await journal.events.chunks(key, row.id)],
            edits=chosen,
            notes=event_notes(followed(touches, over=True), row, summary),
            note=await journal.notes.get(key, row.number),
        )
        state = ""
        if self._session.events <= _STATES:
            state = str(self._found.render.part(await self._state(row.seq, row.number)))
            state = (
                f'<details class="state-fold"><summary>State as of it</summary>{state}</details>'
            )
        shown = await asyncio.to_thread(self._found.render.part, replace(detail, taken=taken))
        return (
            f'<section class="detail panel" id="d-{row.number}" tabindex="-1">'
            f"{await self._free(str(shown), row.number)}{await self._free(state, row.number)}"
            "</section>\n"
        )

    async def _state(self, seq: int | None, number: int | None) -> StatePanel:
        values = await self._journal.state.at(self._session.key, seq)
        changes = await self._journal.state.changes(self._session.key, number) if number else ()
        return state_panel(values, changes, {}, session=self._session.key, number=number)

    async def _free(self, text: str, number: int | None = None) -> str:
        return await link_free(text, self._journal, self._session, apart=number)
