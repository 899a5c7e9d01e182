"""Messages written during a run, each sent when the one before it is done.

They are in the journal, so neither a reload nor a restart loses one. A run that fails, is stopped
or asks a person leaves the queue as it is: its author expected another end, and may want to say
something else now.
"""

import contextlib
import json
from typing import Any, Literal

from devui.debugger.apps.apps import UnknownApp
from devui.debugger.events.bus import Bus
from devui.debugger.events.news import News, QueueChanged
from devui.debugger.questions.open import answer_lost, open_questions
from devui.debugger.runs.limits import TooManyRuns
from devui.debugger.runs.options import settings_in, settings_json
from devui.debugger.runs.registry import Runs
from devui.debugger.runs.request import RunRequest
from devui.store.errors import StoreError
from devui.store.journal import Journal
from devui.store.rows import RunRow, SessionRow
from devui.store.runs.queued_messages import QueuedRow

Waiting = Literal["running", "asking", "failed", "stopped", "interrupted", "ready"]
"""Why messages are still in the queue: a run is in progress, asks a person, or ended this way.
`ready`: nothing is in the way, as after a restart."""


class Queue:
    """The queues of all sessions."""

    def __init__(self, journal: Journal, bus: Bus[News], runs: Runs) -> None:
        self._journal = journal
        self._bus = bus
        self._runs = runs
        runs.on_end(self._after)

    async def add(self, session: SessionRow, request: RunRequest) -> None:
        """Append the request's message; it is sent at once if no run is in the way.

        Raises SessionNotFound, ReadOnly, BadValue.
        """
        options = {
            "streaming": request.streaming,
            "pause": request.pause,
            "saveFiles": request.save_files,
            "settings": settings_json(request.settings),
        }
        await self._journal.queued.add(
            session.key,
            json.dumps(request.message, ensure_ascii=False),
            json.dumps(options),
            actor=request.actor,
        )
        self._publish(session.key)
        await self._after(session)

    async def change(self, session: int, number: int, text: str) -> None:
        """Replace the text of a message and keep its files. Raises NotQueued."""
        row = await self._journal.queued.get(session, number)
        message = json.loads(row.message)
        others = [part for part in message.get("parts") or [] if "text" not in part]
        message["parts"] = [*([{"text": text}] if text else []), *others]
        await self._journal.queued.change(session, number, json.dumps(message, ensure_ascii=False))
        self._publish(session)

    async def remove(self, session: int, number: int) -> None:
        """Remove a message without sending it. Raises NotQueued."""
        await self._journal.queued.remove(session, number)
        self._publish(session)

    async def send(self, session: SessionRow, number: int) -> RunRow:
        """Send a message now, before those that have waited longer.

        Raises NotQueued, and what `Runs.start` raises.
        """
        return await self._send(session, await self._journal.queued.get(session.key, number))

    async def waiting(self, session: int) -> Waiting:
        """Return why the session's messages aren't sent now."""
        if self._runs.live(session) is not None:
            return "running"
        run = await self._journal.runs.newest(session)
        if run is None or run.closed:
            return "ready"
        if run.status == "done" or answer_lost(run):
            if await open_questions(self._journal, run):
                return "asking"
            newest = await self._journal.events.page(session, limit=1)
            return "failed" if newest and newest[0].summary.kind == "error" else "ready"
        return run.status if run.status in ("failed", "stopped", "interrupted") else "running"

    async def _after(self, session: SessionRow) -> None:
        """Send the oldest message if the newest run leaves nothing open."""
        rows = await self._journal.queued.list(session.key)
        if rows and await self.waiting(session.key) == "ready":
            # Someone else has started a run or sent it; or it stays, and the page says so.
            with contextlib.suppress(StoreError, UnknownApp, TooManyRuns):
                await self._send(session, rows[0])

    async def _send(self, session: SessionRow, row: QueuedRow) -> RunRow:
        options: dict[str, Any] = json.loads(row.options)
        request = RunRequest(
            message=json.loads(row.message),
            streaming=options["streaming"],
            pause=options["pause"],
            save_files=options.get("saveFiles", False),
            settings=settings_in(options.get("settings")),
            actor=row.actor,
            queued=row.id,
        )
        run = await self._runs.start(session, request)
        self._publish(session.key)
        return run

    def _publish(self, session: int) -> None:
        self._bus.publish(session, QueueChanged(session))
