"""One run, from its start to its end.

A run has one task. It takes the messages of the run's worker in order, writes them to the journal,
and only then answers the worker and publishes them (Law 3, R35).
"""

import asyncio
import contextlib
import json
import logging
from collections.abc import Callable
from dataclasses import replace

from devui.debugger.apps.apps import UnknownApp
from devui.debugger.breakpoints.book import BreakpointBook
from devui.debugger.events.bus import Bus
from devui.debugger.events.news import (
    News,
    OutputArrived,
    PartialArrived,
    PositionChanged,
    RunChanged,
    RunStuck,
    SpansChanged,
    StateTouched,
)
from devui.debugger.runs.attempts import attempts_so_far
from devui.debugger.runs.commit import Commits, new_event
from devui.debugger.runs.end import RunEnd
from devui.debugger.runs.limits import RunLimiter
from devui.debugger.runs.live import CHUNK_BATCH, Inbound, LiveRun, StartTime, WorkerGone
from devui.debugger.runs.orders import json_text, replayed
from devui.debugger.runs.request import RunRequest
from devui.debugger.runs.write_buffer import WriteBuffer
from devui.debugger.stepping.gatekeeper import Gatekeeper
from devui.debugger.stepping.stepper import CommandOutcome
from devui.debugger.workers.requests import acknowledgement, error_of, failure_of
from devui.debugger.workers.workers import AppBroken, Worker, Workers
from devui.settings import Limits
from devui.store.errors import StoreError
from devui.store.journal import Journal
from devui.store.rows import RunStatus
from devui.wire.errors import AgentError
from devui.wire.framing import codecs
from devui.wire.messages import (
    Append,
    Failure,
    Gate,
    GateCancelled,
    Output,
    Partial,
    Reply,
    RunEnded,
    StartRun,
    StopRun,
)
from devui.wire.spans import SpanBegan, SpanEnded
from devui.wire.uncommitted import StateTouch, WatchState

logger = logging.getLogger("devui.runs")

SECONDS_TO_STOP = 5.0
"""How long a cancelled run may take before its process is terminated (R52)."""
SECONDS_TO_TERMINATE = 2.0
_FLUSH_SECONDS = 0.25
_LATEST_SECONDS = 0.5
_ATTEMPTS = 2
"""How many workers are tried, if they end before the run has begun."""


class Driver:
    """Takes one run through its life; `live` is its state as others see it."""

    def __init__(
        self,
        live: LiveRun,
        *,
        journal: Journal,
        workers: Workers,
        bus: Bus[News],
        book: BreakpointBook,
        limits: Limits,
        stop: Callable[[], None],
        is_viewed: Callable[[], bool],
    ) -> None:
        """`stop` begins to stop this run; `is_viewed` returns whether anyone views its session."""
        self.live = live
        self._hurry = asyncio.Event()
        self._ending = RunEnd(live, journal, bus)
        self._journal = journal.patient(self._hurry)
        self._workers = workers
        self._bus = bus
        self._commits = Commits(self._journal, bus)
        self._gates = Gatekeeper(
            live, journal=self._journal, bus=bus, book=book, commit=self._commit, stop=stop
        )
        self._limiter = RunLimiter(live, limits, bus=bus, stop=stop)
        self._buffer = WriteBuffer(live, self._journal)
        self._is_viewed = is_viewed
        self._paused = 0.0
        self._due: float | None = None
        self._has_next = False
        self._worker_end = WorkerGone(0, "")

    async def run(self, request: RunRequest) -> None:
        """Execute the run, from the start of its worker to its end."""
        self._has_next = request.then is not None
        try:
            await self._respond(request)
            for _ in range(_ATTEMPTS):
                worker = await self._worker(request)
                if worker is None or await self._attempt(worker, request):
                    break
            else:
                await self.end("failed", self._worker_end.error)
        # The worker may send nonsense, or the journal may be damaged. In any case this run can't
        # continue, but its committed events stay, and the server and its other runs continue.
        except Exception as error:
            logger.exception("run %s can't continue", self.live.row.id)
            await self._abandon(error)

    async def stop(self) -> None:
        """Cancel, then SIGTERM, then SIGKILL, each after its time (R52)."""
        live = self.live
        live.stopping = True
        self._hurry.set()
        if live.worker is None:  # its app is still being loaded, which can take long
            await self.end("stopped")
            return
        with contextlib.suppress(StoreError):  # the run is stopped regardless
            await self._mark_stopping()
        await live.worker.send(StopRun(run=live.row.id))
        for seconds, act in (
            (SECONDS_TO_STOP, live.worker.process.terminate),
            (SECONDS_TO_TERMINATE, live.worker.process.kill),
        ):
            try:
                async with asyncio.timeout(seconds):
                    await live.ended.wait()
            except TimeoutError:
                logger.warning("run %s does not stop: ending its process", live.row.id)
                act()
            else:
                return

    async def interrupt(self, error: AgentError) -> None:
        """End the run because the server stops, without waiting for the disk."""
        self._hurry.set()
        await self.end("interrupted", error)

    async def end(self, status: RunStatus, error: AgentError | None = None) -> None:
        """End the run, whatever the disk does; then write what waits, and the end.

        Only the first end counts. If the journal doesn't accept it at once, `finish` retries.
        """
        if self.live.ended.is_set():
            return
        self.live.ended.set()
        self.live.watchdog_wake.set()
        if self._limiter.error is not None and status in {"stopped", "failed"}:
            status, error = "failed", self._limiter.error
        unfinished = self.live.unfinished()
        self.live.streaming.clear()
        hands_on = status == "done" and self._has_next
        if not hands_on:
            self._ending.tell(status, error, unfinished)
        self._gates.end()
        if not hands_on:
            await self._buffer.write_before(self._ending.write())
            return
        self.live.hands_on = True  # the next run ends it, so that its message always has a run
        try:
            await self._buffer.write()
        except StoreError:
            logger.exception("run %s: part of it was not recorded", self.live.row.id)

    async def fail(self, error: Exception) -> None:
        """End a run whose next run can't start."""
        self._ending.tell("failed", error_of(error))
        await self._ending.write()
        await self.finish()

    async def finish(self) -> None:
        """Wait until the end is in the journal, retrying if necessary."""
        await self._ending.finish()

    async def _mark_stopping(self) -> None:
        row = await self._journal.runs.change(
            self.live.row.id,
            "stopping",
            invocation_id=self.live.row.invocation_id,
            paused=self.live.stepper.held_seconds,
            started=self.live.row.started,
        )
        if not self.live.ended.is_set():
            self.live.row = row
        self._bus.publish(self.live.session.key, RunChanged(row))

    # --- the start -------------------------------------------------------------------------

    async def _respond(self, request: RunRequest) -> None:
        """Commit what was decided about calls of unknown outcome; the others are made again."""
        key, run = self.live.session.key, self.live.row
        if request.opening is not None:
            for event in await request.opening(self._journal, key, run.id):
                await self._commits.commit(key, event, run=run)
        if request.invocation is not None:
            self.live.attempts = await attempts_so_far(self._journal, key, request.invocation)

    async def _worker(self, request: RunRequest) -> Worker | None:
        """Return a loaded worker; None if the run is over before it began."""
        app = self.live.session.app
        engine = request.replay.engine if request.replay else None
        self.live.debugging.editor_port = self._workers.editor_port(app)
        try:
            worker = await (
                self._workers.aside(app, engine) if engine else self._workers.worker(app)
            )
        except AppBroken as error:
            await self.end("failed", error.error)
            return None
        except UnknownApp as error:
            await self.end("failed", error_of(error))
            return None
        self.live.debugging.editor_port = None
        return None if self.live.ended.is_set() else worker

    async def _attempt(self, worker: Worker, request: RunRequest) -> bool:
        """Run on this worker; return False if it ended before the run began and another may try."""
        live = self.live
        worker.take(live.row.id)
        if worker.debugger is not None:  # the run's time is paused, like that of earlier runs
            live.debugging.note(worker.debugger)
            self._bus.publish(live.session.key, RunStuck(live.row.id))
            self._bus.publish(live.session.key, PositionChanged(live.row.id, live.stepper.position))
        try:
            await self._begin(worker, request)
        except BaseException:
            self._workers.release(worker, live.row.id, stuck=False)  # not busy with this run
            raise
        live.worker = worker  # from here on, stopping the run goes through the worker
        if live.ended.is_set():
            await worker.send(StopRun(run=live.row.id))
            live.is_stuck = not await self._obeys()
            return True
        while isinstance(first := await live.inbox.get(), CommandOutcome):
            await self._take(worker, first)
        if isinstance(first, WorkerGone) and not live.stopping:
            self._worker_end, live.worker = (
                first,
                None,
            )  # stopping the run now needn't wait for a process
            return False
        clock = asyncio.create_task(self._limiter.run_out(), name=f"clock of run {live.row.id}")
        try:
            await self._take(worker, first)
            await self._follow(worker)
        finally:
            clock.cancel()
        return True

    async def _obeys(self) -> bool:
        """Wait for the worker to end the run, which is already over; return whether it is free."""
        try:
            async with asyncio.timeout(SECONDS_TO_STOP):
                while not isinstance(message := await self.live.inbox.get(), RunEnded | WorkerGone):
                    pass
        except TimeoutError:
            return False
        return isinstance(message, RunEnded) and not message.stuck_threads

    async def _begin(self, worker: Worker, request: RunRequest) -> None:
        session = self.live.session
        self.live.start = StartTime()  # loading the app doesn't count
        self.live.row = replace(self.live.row, started=self.live.start.at)
        head = await self._journal.sessions.get(session.key)
        shared_state = await self._journal.state.shared(session.key)
        await worker.send(
            StartRun(
                run=self.live.row.id,
                user=session.user,
                session=session.id,
                session_key=session.key,
                head=head.seq if head else 0,
                shared=json.dumps(shared_state, ensure_ascii=False),
                message=json_text(request.message),
                invocation=request.invocation,
                state_delta=json_text(request.state_delta),
                rewind=request.rewind,
                streaming=request.streaming,
                custom_metadata=json_text(request.custom_metadata),
                service_tier=request.service_tier,
                save_files=request.save_files,
                settings=request.settings,
                gates=self._gates.begin(),
                watch=self._is_watched(),
                **replayed(request.replay),
            )
        )
        if engine := worker.info.result().engine:
            self.live.engine = json.dumps({"name": engine.name, "version": engine.version})

    # --- the messages ----------------------------------------------------------------------

    async def _follow(self, worker: Worker) -> None:
        while not self.live.ended.is_set():
            await self._take(worker, await self._next())
            if self.live.waiting >= CHUNK_BATCH:
                await self._write()

    async def _write(self) -> None:
        """Write what waits, and publish that the journal has new spans, if it does: without an
        event after them, nothing else would say so to those who read spans from the journal."""
        has_spans = bool(self.live.recording)
        await self._buffer.write()
        if has_spans:
            self._publish_spans()

    def _publish_spans(self) -> None:
        self._bus.publish(self.live.session.key, SpansChanged(self.live.row.id))

    def _is_watched(self) -> bool:
        """Whether the run reports its uncommitted state; once it does, it does so to its end."""
        live = self.live
        live.watched = live.watched or self._is_viewed() or self._gates.is_debugged
        return live.watched

    async def _take(self, worker: Worker, message: Inbound) -> None:
        live = self.live
        if isinstance(message, Append | Gate | Partial):
            live.last_progress = StartTime()
        if not live.watched and self._is_watched():
            await worker.send(WatchState(run=live.row.id))
        if isinstance(message, Append | Gate):
            await self._gates.take(worker, message)
        elif isinstance(message, CommandOutcome):
            await self._gates.move(worker, message)
        elif isinstance(message, GateCancelled):
            await self._gates.leave(message)
        elif isinstance(message, SpanBegan | SpanEnded):
            self._record(message)
        elif isinstance(message, RunEnded):
            live.is_stuck = message.stuck_threads > 0
            if message.replay is not None:
                verdict = codecs().VERDICT.dump(message.replay).decode()
                await self._journal.replays.end(live.row.id, verdict)
            await self.end(message.outcome, message.error)
        elif isinstance(message, WorkerGone):
            await self._on_worker_gone(message)
        else:
            self._glimpse(message)

    def _glimpse(self, message: Inbound) -> None:
        """Publish a message at once; the journal gets it when there is time."""
        live = self.live
        if isinstance(message, Partial):
            live.add_partial(message.event)
            self._bus.publish(live.session.key, PartialArrived(live.row.id, message.event))
        elif isinstance(message, Output):
            number, line = live.add_output(message)
            self._bus.publish(live.session.key, OutputArrived(live.row.id, number, [line]))
        elif isinstance(message, StateTouch):
            live.touches.take(message)
            self._bus.publish(live.session.key, StateTouched(live.row.id))

    async def _next(self) -> Inbound:
        """Return the next message, writing what waits if none comes for `_FLUSH_SECONDS`.

        Without such a gap it is written after `_LATEST_SECONDS`: an answer may stream for minutes.
        """
        clock = asyncio.get_running_loop().time
        while self.live.waiting:
            self._due = self._due or clock() + _LATEST_SECONDS
            try:
                async with asyncio.timeout_at(min(clock() + _FLUSH_SECONDS, self._due)):
                    return await self.live.inbox.get()
            except TimeoutError:
                await self._write()
                self._due = None
        self._due = None
        return await self.live.inbox.get()

    async def _commit(self, message: Append) -> Reply:
        """Journal and publish an event; return the acknowledgement or refusal for the worker."""
        live, pauses = self.live, self.live.stepper.pauses
        if self._limiter.error is not None:
            failure = Failure(code="run_limited", message=self._limiter.error.message)
            return Reply(id=message.id, failure=failure)
        try:
            event = new_event(
                message,
                lineage=live.lineage,
                attempts=live.attempts,
                changes=live.changes,
                pauses=pauses,
            )
            event = live.touches.carry(event, message.touches)
            held_seconds = pauses.until(event.timestamp)
            event = replace(event, paused=held_seconds - self._paused)
            chunks = live.chunk_counts.pop(event.id, 0)
            commit = self._commits.commit(live.session.key, event, run=live.row, chunks=chunks)
            result = await self._buffer.write_before(commit)
        except (StoreError, ValueError) as error:
            return Reply(id=message.id, failure=failure_of(error))
        self._paused = held_seconds
        live.committed(event.author, event.branch, message.temp)
        live.touches.committed(event, result.number)
        live.meter.add(event)
        self._limiter.check()
        invocation = live.row.invocation_id or event.invocation_id
        live.row = replace(live.row, invocation_id=invocation)
        return Reply(id=message.id, result=acknowledgement(result))

    def _record(self, message: SpanBegan | SpanEnded) -> None:
        live = self.live
        if isinstance(message, SpanBegan):
            live.recording.begin(message)
            live.lineage.begin(message)
            live.stepper.began(message)
        else:
            live.recording.end(message)
            live.lineage.end(message)
        self._publish_spans()

    # --- ends ------------------------------------------------------------------------------

    async def _on_worker_gone(self, end: WorkerGone) -> None:
        if self.live.stopping:
            await self.end("stopped")
        else:
            await self.end("failed", end.error)

    async def _abandon(self, error: Exception) -> None:
        self.live.is_stuck = True
        self._hurry.set()
        if self.live.stopping:
            await self.end("stopped")
        else:
            await self.end("failed", error_of(error))
        if self.live.worker is not None:
            await self.live.worker.send(StopRun(run=self.live.row.id))
