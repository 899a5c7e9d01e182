"""Executes a recorded run again in a fork of its session, which itself stays as it is."""

import asyncio
import json
from dataclasses import dataclass, replace
from typing import Any, Final

from devui.debugger.background.jobs import UNWATCHED, Progress
from devui.debugger.guard.guard import Policy
from devui.debugger.guard.run_guard import guard_of_fork
from devui.debugger.recovery.fork_maker import ForkMaker, ForkRequest
from devui.debugger.replays.recordings import NotRecorded, recording_of
from devui.debugger.runs.options import settings_json, settings_of_run
from devui.debugger.runs.orders import ReplayOrder
from devui.debugger.runs.registry import NoSuchRun, Runs
from devui.debugger.runs.request import RunRequest
from devui.store.journal import Journal
from devui.store.rows import RunRow, SessionRow
from devui.wire.engines import ReplayEngine
from devui.wire.framing import MAX_FRAME, codecs
from devui.wire.recordings import Recording
from devui.wire.settings import RunSettings

_ENGINES: Final[dict[ReplayEngine, str]] = {
    "google-adk": "google-adk",
    "devui": "devui.runtime",
    "other": "the other engine",
}
_HEADROOM = 1_000_000
"""Bytes reserved for the rest of the message that takes the recording to the worker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayRequest:
    """What to execute again, and how."""

    run: str | None = None
    """The recorded run; None for the session's newest that isn't a rewind."""
    live_tools: bool = False
    guard: Policy = "ask"
    """With live tools: what to do with those that have run before."""
    pause: bool = False
    breakpoints: bool = True
    """Whether the app's breakpoints hold it."""
    engine: ReplayEngine | None = None
    """The engine to use, continuing after differences; None for the app's own."""
    note: str | None = None
    actor: str = "api"


class Replays:
    """Starts replays and reports their results."""

    def __init__(self, journal: Journal, runs: Runs, forking: ForkMaker) -> None:
        self._journal = journal
        self._runs = runs
        self._forking = forking

    async def start(
        self, session: SessionRow, request: ReplayRequest, progress: Progress = UNWATCHED
    ) -> RunRow:
        """Fork the session before the run, execute the run again there, and return the new run.

        `progress` counts the preparation. Raises NoSuchRun, NotRecorded, JobStopped, and what
        `Runs.start` raises.
        """
        source = await self._source(session, request.run)
        recording = await recording_of(self._journal, session, source, progress=progress)
        text = await asyncio.to_thread(recording_text, recording)
        progress.advance()
        if len(text.encode()) > MAX_FRAME - _HEADROOM:
            raise NotRecorded(f"the recording is too large to replay: {len(text):,} characters")
        on = f" on {_ENGINES[request.engine]}" if request.engine else ""
        note = request.note or f"replay of the run of #{recording.first}{on}"
        fork = ForkRequest(number=recording.first - 1, replay=True, note=note, actor=request.actor)
        new_session = await self._forking.fork(session, fork)
        await self._journal.forks.close(new_session.key)
        again = _again(recording, text, source, request)
        if request.live_tools:
            guard = await guard_of_fork(self._journal, new_session, policy=request.guard)
            again = replace(again, guard=guard)
        return await self._runs.start(new_session, again)

    async def recording(self, session: SessionRow, run: str | None) -> Recording:
        """Return all that is needed to execute the run without this server.

        Raises NoSuchRun and NotRecorded.
        """
        source = await self._source(session, run)
        return await recording_of(self._journal, session, source, whole=True)

    async def as_json(self, run: str) -> dict[str, Any] | None:
        """Return what a run replays, and its verdict, as JSON; None if the run isn't a replay."""
        row = await self._journal.replays.get(run)
        if row is None:
            return None
        source = await self._journal.runs.get(row.source)
        again = await self._journal.runs.get(run)
        return {
            "run": run,
            "session": again.session if again else None,
            "source": row.source,
            "sourceSession": source.session if source else None,
            "liveTools": bool(row.live_tools),
            "verdict": _verdict_json(row.verdict) if row.verdict else None,
        }

    async def extent(self, session_key: int | None, run: str) -> tuple[int, int]:
        """Return the numbers of the first and the last event of a run; (0, 0) if it is gone."""
        extents = await self._journal.replays.extents(session_key or 0)
        return extents.get(run, (0, 0))

    async def runs(self, session: SessionRow) -> list[dict[str, Any]]:
        """Return the session's runs as JSON, oldest first."""
        extents = await self._journal.replays.extents(session.key)
        rows = await self._journal.runs.list(session.key)
        runs = [
            {
                "run": row.id,
                "status": row.status,
                "invocationId": row.invocation_id,
                "first": extents.get(row.id, (None, None))[0],
                "last": extents.get(row.id, (None, None))[1],
                "rewind": await self._is_rewind(row),
                "started": row.started,
                "ended": row.ended,
                "error": json.loads(row.error) if row.error else None,
                "settings": settings_json(await settings_of_run(self._journal, row.id)),
                "replay": await self.as_json(row.id),
            }
            for row in rows
        ]
        return sorted(runs, key=lambda each: each["started"])

    async def _source(self, session: SessionRow, run: str | None) -> RunRow:
        for row in await self._journal.runs.list(session.key):
            if run == row.id or (run is None and not await self._is_rewind(row)):
                return row
        raise NoSuchRun(
            f"session {session.key} has no run {run!r}" if run else "the session has no run yet"
        )

    async def _is_rewind(self, row: RunRow) -> bool:
        request = await self._journal.replays.request_of(row.id)
        return bool(request and json.loads(request).get("rewind"))


def recording_text(recording: Recording) -> str:
    """Return the recording as JSON text."""
    text: str = codecs().RECORDING.dump(recording).decode()
    return text


def _again(recording: Recording, text: str, source: RunRow, request: ReplayRequest) -> RunRequest:
    return RunRequest(
        message=recording.message,
        invocation=recording.invocation,
        state_delta=recording.state_delta,
        streaming=recording.streaming,
        custom_metadata=recording.custom_metadata,
        service_tier=recording.service_tier,
        save_files=recording.save_files,
        settings=recording.settings or RunSettings(),
        pause=request.pause,
        ignores_breakpoints=not request.breakpoints,
        actor=request.actor,
        replay=ReplayOrder(
            source=source.id,
            recording=text,
            live_tools=request.live_tools,
            engine=request.engine,
        ),
    )


def _verdict_json(text: str) -> dict[str, Any]:
    """Return a stored verdict as JSON; earlier journals have `strayed` for `results_differ`."""
    verdict = json.loads(text)
    differ = verdict.pop("results_differ", False) or verdict.pop("strayed", False)
    return {**verdict, "resultsDiffer": differ}
