"""One run, from its start to its end.

A run has one task. It takes the messages of the run's worker in order, writes them to the journal,
and only then answers the worker and publishes them (Law 3, R35).
"""

import asyncio
import contextlib
import json
import logging
from collections.abc import Callable
from dataclasses import asdict, replace

from devui.debugger.apps import UnknownApp
from devui.debugger.asked import json_text, replayed
from devui.debugger.breakpoints.book import BreakpointBook
from devui.debugger.bus import Bus
from devui.debugger.commit import Commits, new_event
from devui.debugger.limits import Leash
from devui.debugger.live import CHUNK_BATCH, Inbound, LiveRun, Since, WorkerGone
from devui.debugger.news import (
    News,
    OutputArrived,
    PartialArrived,
    RunChanged,
    SpansChanged,
    StateTouched,
)
from devui.debugger.requests import acknowledgement, error_of, failure_of
from devui.debugger.runrequest import RunRequest
from devui.debugger.stepping.gatekeeper import Gatekeeper
from devui.debugger.stepping.stepper import Moved
from devui.debugger.unwritten import Unwritten
from devui.debugger.workers import AppBroken, Worker, Workers
from devui.settings import Limits
from devui.store.errors import PASSING, StoreError
from devui.store.journal import Journal
from devui.store.rows import RunStatus
from devui.wire.framing import codecs
from devui.wire.messages import (
    AgentError,
    Append,
    Failure,
    Gate,
    GateLeft,
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
"""How long a cancelled run may take before its process is ended (R52)."""
SECONDS_TO_TERMINATE = 2.0
_FLUSH_SECONDS = 0.25
_LATEST_SECONDS = 0.5
_RETRY_SECONDS = 1.0
_ATTEMPTS = 2
"""How many workers may end before the run has begun on one."""


class Driver:
    """Takes one run through its life; `live` is what can be seen of it meanwhile."""

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
        viewed: Callable[[], bool],
    ) -> None:
        """`stop` begins stopping this run, as a person may; `viewed`: whether somebody looks."""
        self.live = live
        self._hurry = asyncio.Event()
        self._journal = journal.patient(self._hurry)
        self._workers = workers
        self._bus = bus
        self._commits = Commits(self._journal, bus)
        self._gates = Gatekeeper(
            live, journal=self._journal, bus=bus, book=book, commit=self._commit, stop=stop
        )
        self._leash = Leash(live, limits, bus=bus, stop=stop)
        self._unwritten = Unwritten(live, self._journal)
        self._viewed = viewed
        self._held = 0.0
        self._due: float | None = None
        self._followed = False
        self._gone = WorkerGone(0, "")
        self._stopping_early = asyncio.Lock()
        self._refused: StoreError | None = None
        """Why the journal did not take that the run was stopped before it began."""

    async def run(self, request: RunRequest) -> None:
        """From the start of the worker to the end of the run."""
        self._followed = request.then is not None
        try:
            await self._respond(request)
            for _ in range(_ATTEMPTS):
                worker = await self._worker()
                if worker is None or await self._attempt(worker, request):
                    break
            else:
                await self.end("failed", self._gone.error)
            async with self._stopping_early:
                if self._refused is not None:
                    await self._abandon(self._refused)
        # A worker may send nonsense, the journal may be damaged: whatever it is, this run cannot go
        # on, what is committed stays, and the server and its other runs go on.
        except Exception as error:
            logger.exception("run %s cannot go on", self.live.row.id)
            await self._abandon(error)

    async def stop(self) -> None:
        """Cancel, then SIGTERM, then SIGKILL, each after its time (R52)."""
        live = self.live
        live.stopping = True
        self._hurry.set()
        if live.worker is None:  # its app is still being loaded, which may take long
            async with self._stopping_early:
                try:
                    await self.end("stopped")
                except PASSING as error:
                    self._refused = error  # the run's task sees to it, as it does to its own ends
            return
        with contextlib.suppress(*PASSING):  # it is stopped all the same
            await self.change("stopping")
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
        """End it since the server goes, which waits for no disk. Raises StoreError."""
        self._hurry.set()
        await self.end("interrupted", error)

    async def end(self, status: RunStatus, error: AgentError | None = None) -> None:
        """Write what waits, then the end; the first end counts."""
        if self.live.ended.is_set():
            return
        self.live.ended.set()
        self.live.stirred.set()
        if self._leash.error is not None and status in {"stopped", "failed"}:
            status, error = "failed", self._leash.error
        unfinished = self.live.unfinished()
        self.live.streaming.clear()
        await self._unwritten.write()
        self._gates.end()
        if status == "done" and self._followed:
            self.live.hands_on = True  # what follows ends it, so that its message is never nobody's
            return
        await self.change(status, error, unfinished=unfinished)

    async def change(
        self, status: RunStatus, error: AgentError | None = None, unfinished: str | None = None
    ) -> None:
        """Journal a status, and publish it."""
        text = json.dumps(asdict(error)) if error else None
        self.live.row = await self._journal.runs.change(
            self.live.row.id,
            status,
            error=text,
            invocation_id=self.live.row.invocation_id,
            unfinished=unfinished,
            held=self.live.stepper.held_seconds,
            started=self.live.row.started,
        )
        self._bus.publish(self.live.session.key, RunChanged(self.live.row))

    # --- the start -------------------------------------------------------------------------

    async def _respond(self, request: RunRequest) -> None:
        """Commit what was decided about calls of unknown outcome."""
        if request.opening is None:
            return
        key, run = self.live.session.key, self.live.row.id
        for event in await request.opening(self._journal, key, run):
            await self._commits.commit(key, event, run=run)

    async def _worker(self) -> Worker | None:
        """A loaded worker; None when the run is over before it began."""
        try:
            worker = await self._workers.worker(self.live.session.app)
        except AppBroken as broken:
            await self.end("failed", broken.error)
            return None
        except UnknownApp as gone:
            await self.end("failed", error_of(gone))
            return None
        return None if self.live.ended.is_set() else worker

    async def _attempt(self, worker: Worker, request: RunRequest) -> bool:
        """Run on this worker; False if it ended before the run had begun, so that another may."""
        live = self.live
        worker.take(live.row.id)
        try:
            await self._begin(worker, request)
        except BaseException:
            self._workers.release(worker, live.row.id, stuck=False)  # it does not wait for this run
            raise
        live.worker = worker  # from here on, stopping the run goes through the worker
        if live.ended.is_set():
            await worker.send(StopRun(run=live.row.id))
            live.stuck = not await self._obeys()
            return True
        while isinstance(first := await live.inbox.get(), Moved):
            await self._take(worker, first)
        if isinstance(first, WorkerGone) and not live.stopping:
            self._gone, live.worker = first, None  # who stops it now need not wait for a process
            return False
        clock = asyncio.create_task(self._leash.run_out(), name=f"clock of run {live.row.id}")
        try:
            await self._take(worker, first)
            await self._follow(worker)
        finally:
            clock.cancel()
        return True

    async def _obeys(self) -> bool:
        """Whether the worker ends the run, which is over for everybody else: then it is free."""
        try:
            async with asyncio.timeout(SECONDS_TO_STOP):
                while not isinstance(message := await self.live.inbox.get(), RunEnded | WorkerGone):
                    pass
        except TimeoutError:
            return False
        return isinstance(message, RunEnded) and not message.stuck_threads

    async def _begin(self, worker: Worker, request: RunRequest) -> None:
        session = self.live.session
        self.live.begun = Since()  # loading the app is no work
        self.live.row = replace(self.live.row, started=self.live.begun.at)
        head = await self._journal.sessions.get(session.key)
        shared = await self._journal.state.shared(session.key)
        await worker.send(
            StartRun(
                run=self.live.row.id,
                user=session.user,
                session=session.id,
                session_key=session.key,
                head=head.seq if head else 0,
                shared=json.dumps(shared, ensure_ascii=False),
                message=json_text(request.message),
                invocation=request.invocation,
                state_delta=json_text(request.state_delta),
                rewind=request.rewind,
                streaming=request.streaming,
                gates=self._gates.begin(),
                watch=self._watched(),
                **replayed(request.replay),
            )
        )

    # --- the messages ----------------------------------------------------------------------

    async def _follow(self, worker: Worker) -> None:
        while not self.live.ended.is_set():
            await self._take(worker, await self._next())
            if self.live.waiting >= CHUNK_BATCH:
                await self._unwritten.write()

    def _watched(self) -> bool:
        """Whether the run tells of its uncommitted state: once it does, to its end."""
        live = self.live
        live.watched = live.watched or self._viewed() or self._gates.debugged
        return live.watched

    async def _take(self, worker: Worker, message: Inbound) -> None:
        live = self.live
        if isinstance(message, Append | Gate | Partial):
            live.progressed = Since()
        if not live.watched and self._watched():
            await worker.send(WatchState(run=live.row.id))
        if isinstance(message, Append | Gate):
            await self._gates.take(worker, message)
        elif isinstance(message, Moved):
            await self._gates.move(worker, message)
        elif isinstance(message, GateLeft):
            await self._gates.left(message)
        elif isinstance(message, SpanBegan | SpanEnded):
            self._record(message)
        elif isinstance(message, RunEnded):
            live.stuck = message.stuck_threads > 0
            if message.replay is not None:
                verdict = codecs().VERDICT.dump(message.replay).decode()
                await self._journal.replays.end(live.row.id, verdict)
            await self.end(message.outcome, message.error)
        elif isinstance(message, WorkerGone):
            await self._lost(message)
        else:
            self._glimpse(message)

    def _glimpse(self, message: Inbound) -> None:
        """Something to be shown at once, and written when there is time."""
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
        """The next message; what waits is written in a pause, and goes on waiting for no longer
        than `_LATEST_SECONDS` where there is none: an answer may stream for minutes."""
        clock = asyncio.get_running_loop().time
        while self.live.waiting:
            self._due = self._due or clock() + _LATEST_SECONDS
            try:
                async with asyncio.timeout_at(min(clock() + _FLUSH_SECONDS, self._due)):
                    return await self.live.inbox.get()
            except TimeoutError:
                await self._unwritten.write()
                self._due = None
        self._due = None
        return await self.live.inbox.get()

    async def _commit(self, message: Append) -> Reply:
        """Journal and publish an event; the acknowledgement, or the refusal, is for the worker."""
        live = self.live
        if self._leash.error is not None:
            failure = Failure(code="run_limited", message=self._leash.error.message)
            return Reply(id=message.id, failure=failure)
        try:
            event = live.touches.carry(new_event(message), message.touched)
            held = live.stepper.pauses.came(event.branch, event.timestamp)
            event = replace(event, held=held - self._held)
            chunks = live.chunk_counts.pop(event.id, 0)
            commit = self._commits.commit(live.session.key, event, run=live.row.id, chunks=chunks)
            done = await self._unwritten.write_before(commit)
        except (StoreError, ValueError) as error:
            return Reply(id=message.id, failure=failure_of(error))
        self._held = held
        live.committed(event.author, event.branch, message.temp)
        live.touches.committed(event, done.number)
        live.meter.add(event)
        self._leash.check()
        known = live.row.invocation_id or event.invocation_id
        live.row = replace(live.row, invocation_id=known)
        return Reply(id=message.id, result=acknowledgement(done))

    def _record(self, message: SpanBegan | SpanEnded) -> None:
        live = self.live
        if isinstance(message, SpanBegan):
            live.recording.begin(message)
            live.stepper.began(message)
        else:
            live.recording.end(message)
        self._bus.publish(live.session.key, SpansChanged(live.row.id))

    # --- ends ------------------------------------------------------------------------------

    async def _lost(self, gone: WorkerGone) -> None:
        if self.live.stopping:
            await self.end("stopped")
        else:
            await self.end("failed", gone.error)

    async def _abandon(self, error: Exception) -> None:
        self.live.ended.set()
        self.live.stuck = True
        if self.live.worker is not None:
            await self.live.worker.send(StopRun(run=self.live.row.id))
        with contextlib.suppress(StoreError):  # the session is gone, or the server goes
            while not await self._ended(error):  # noqa: ASYNC110 - no disk says when it has room
                await asyncio.sleep(_RETRY_SECONDS)

    async def _ended(self, error: Exception) -> bool:
        """Whether the journal took that the run is over; it may have no room for it (R42)."""
        try:
            if self.live.stopping:
                await self.change("stopped")
            else:
                await self.change("failed", error_of(error))
        except PASSING:
            return False
        return True
