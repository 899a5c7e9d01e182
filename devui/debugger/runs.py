"""The registry of runs: a run belongs to the server, never to a request (Law 4).

Each run has one task here. It takes the messages of the run's worker in order, writes them to the
journal, and only then answers the worker and publishes them (Law 3, R35). Whoever wants to see a
run reads the journal and subscribes to the bus.
"""

import asyncio
import contextlib
import json
import logging
import time
import uuid
from dataclasses import asdict, dataclass, replace
from types import TracebackType
from typing import Any, Self

from devui.debugger.apps import UnknownApp
from devui.debugger.bus import Bus
from devui.debugger.commit import new_event
from devui.debugger.live import CHUNK_BATCH, LiveRun, WorkerGone
from devui.debugger.news import (
    EventCommitted,
    News,
    OutputArrived,
    PartialArrived,
    RunChanged,
    RunStuck,
)
from devui.debugger.requests import Requests, failure_of
from devui.debugger.workers import AppBroken, Worker, Workers
from devui.store.errors import StoreError
from devui.store.journal import Journal
from devui.store.rows import EventRow, RunRow, RunStatus, SessionRow
from devui.wire.framing import FrameTooLarge
from devui.wire.messages import (
    AgentError,
    Append,
    Blocked,
    Output,
    Partial,
    Reply,
    RunEnded,
    StartRun,
    StopRun,
    ToServer,
)

logger = logging.getLogger("devui.runs")

SECONDS_TO_STOP = 5.0
"""How long a cancelled run may take before its process is ended (R52)."""
SECONDS_TO_TERMINATE = 2.0
HEARD = 1_000_000
"""Characters of output past Python's streams that are kept of a run (R50)."""
_HEARD_LINES = 500
_HEARD_LINE = 4000
_FLUSH_SECONDS = 0.25


class NoSuchRun(LookupError):
    """There is no run of this id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """What a run is to do: answer a message, or resume an invocation."""

    message: dict[str, Any] | None = None
    """The user's Content in wire form."""
    invocation: str | None = None
    state_delta: dict[str, Any] | None = None
    streaming: bool = True


class Runs:
    """All runs of the server; an async context manager that ends them."""

    def __init__(self, journal: Journal, workers: Workers, bus: Bus[News]) -> None:
        self._journal = journal
        self._workers = workers
        self._bus = bus
        self._requests = Requests(journal)
        self._live: dict[str, LiveRun] = {}
        self._of_session: dict[int, LiveRun] = {}
        self._tasks = asyncio.TaskGroup()
        workers.connect(self._deliver, self._overhear, self._worker_gone)

    async def __aenter__(self) -> Self:
        for run in await self._journal.runs.interrupt_active():
            logger.warning("run %s was interrupted by the end of the last server", run.id)
        await self._tasks.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for live in tuple(self._live.values()):
            await self._end(live, "interrupted", _error("ServerStopped", "devui was stopped"))
            await live.inbox.put(WorkerGone(0, ""))
        await self._tasks.__aexit__(kind, error, trace)

    # --- what others ask -------------------------------------------------------------------

    def live(self, session: int) -> LiveRun | None:
        """The run that is under way on a session."""
        return self._of_session.get(session)

    async def start(self, session: SessionRow, request: RunRequest) -> RunRow:
        """Begin a run and return at once.

        Raises UnknownApp, and RunActive when the session has a run already.
        """
        self._workers.folder.require(session.app)
        row = await self._journal.runs.start(
            uuid.uuid4().hex, session.key, invocation_id=request.invocation
        )
        live = LiveRun(row=row, session=session)
        self._live[row.id] = self._of_session[session.key] = live
        self._bus.publish(session.key, RunChanged(row))
        self._tasks.create_task(self._drive(live, request), name=f"run {row.id}")
        return row

    async def stop(self, run: str) -> RunRow:
        """Cancel a run, by force if it does not obey; one that has ended stays as it is.

        Raises NoSuchRun.
        """
        live = self._live.get(run)
        if live is None:
            row = await self._journal.runs.get(run)
            if row is None:
                raise NoSuchRun(f"there is no run {run!r}")
            return row
        if not live.stopping:
            live.stopping = True
            await self._change(live, "stopping")
            self._tasks.create_task(self._insist(live), name=f"stop run {run}")
        return live.row

    # --- a run -----------------------------------------------------------------------------

    async def _drive(self, live: LiveRun, request: RunRequest) -> None:
        try:
            if await self._begin(live, request):
                await self._follow(live)
        except StoreError as error:
            # The journal did not take it: the run cannot go on, what is committed stays (R42).
            logger.exception("the journal refused a write of run %s", live.row.id)
            await self._abandon(live, error)
        finally:
            self._forget(live)

    async def _begin(self, live: LiveRun, request: RunRequest) -> bool:
        try:
            worker = live.worker = await self._workers.worker(live.session.app)
        except AppBroken as broken:
            await self._end(live, "failed", broken.error)
            return False
        except UnknownApp as gone:
            await self._end(live, "failed", _error("UnknownApp", str(gone)))
            return False
        if live.stopping:
            await self._end(live, "stopped", None)
            return False
        worker.runs.add(live.row.id)
        session = live.session
        head = await self._journal.sessions.get(session.key)
        shared = await self._journal.state.shared(session.app, session.user)
        await worker.send(
            StartRun(
                run=live.row.id,
                user=session.user,
                session=session.id,
                session_key=session.key,
                head=head.seq if head else 0,
                shared=json.dumps(shared),
                message=_text(request.message),
                invocation=request.invocation,
                state_delta=_text(request.state_delta),
                streaming=request.streaming,
            )
        )
        return True

    async def _follow(self, live: LiveRun) -> None:
        """Take the run's messages until it is over."""
        while not live.ended.is_set():
            message = await self._next(live)
            if isinstance(message, Append):
                await self._commit(live, message)
            elif isinstance(message, Partial):
                live.add_partial(message.event)
                self._bus.publish(live.session.key, PartialArrived(live.row.id, message.event))
            elif isinstance(message, Output):
                number, line = live.add_output(message)
                self._bus.publish(live.session.key, OutputArrived(live.row.id, number, [line]))
            elif isinstance(message, RunEnded):
                await self._finish(live, message)
            elif isinstance(message, WorkerGone):
                await self._lost(live, message)
            if live.waiting >= CHUNK_BATCH:
                await self._flush(live)

    async def _next(self, live: LiveRun) -> ToServer | WorkerGone:
        while live.waiting:
            try:
                return await asyncio.wait_for(live.inbox.get(), _FLUSH_SECONDS)
            except TimeoutError:
                await self._flush(live)
        return await live.inbox.get()

    async def _flush(self, live: LiveRun) -> None:
        chunks, live.chunks = live.chunks, []
        output, live.output = live.output, []
        if chunks:
            await self._journal.events.add_chunks(live.session.key, live.row.id, chunks)
        if output:
            await self._journal.runs.add_output(live.row.id, output)

    async def _commit(self, live: LiveRun, message: Append) -> None:
        """Journal, then acknowledge and publish; a refusal goes back to the agent's code."""
        worker = live.worker
        assert worker is not None  # noqa: S101  # messages come from a worker
        try:
            session = await self._session_of(live, message)
            event = new_event(message)
            await self._flush(live)
            own = session.key == live.session.key
            done = await self._journal.events.append(
                session.key, event, run=live.row.id if own else None
            )
        except (StoreError, ValueError) as error:
            await worker.send(Reply(id=message.id, failure=failure_of(error)))
            return
        row = EventRow(
            seq=done.seq,
            number=done.number,
            session=session.key,
            run=live.row.id if own else None,
            id=event.id,
            invocation_id=event.invocation_id,
            author=event.author,
            branch=event.branch,
            timestamp=event.timestamp,
            kind=event.kind,
            final=event.final,
            summary=event.summary,
            chunks=live.chunk_counts.pop(event.id, 0),
            size=len(event.data.encode()),
        )
        if message.temp:
            live.temp.update(json.loads(message.temp))
        live.committed(event.author, event.branch)
        if live.row.invocation_id is None and own:
            live.row = replace(live.row, invocation_id=event.invocation_id)
        if not done.duplicate:
            self._bus.publish(session.key, EventCommitted(row, event.data))
        told = json.dumps({"seq": done.seq, "number": done.number})
        await worker.send(Reply(id=message.id, result=told))

    async def _session_of(self, live: LiveRun, message: Append) -> SessionRow:
        if (message.user, message.session) == (live.session.user, live.session.id):
            return live.session
        return await self._requests.session(live.session.app, message.user, message.session)

    # --- ends ------------------------------------------------------------------------------

    async def _finish(self, live: LiveRun, ended: RunEnded) -> None:
        await self._end(live, ended.outcome, ended.error)
        if live.worker is not None:
            self._workers.release(live.worker, live.row.id, stuck=ended.stuck_threads > 0)

    async def _lost(self, live: LiveRun, gone: WorkerGone) -> None:
        if live.stopping:
            await self._end(live, "stopped", None)
            return
        how = f"with signal {-gone.status}" if gone.status < 0 else f"with status {gone.status}"
        error = AgentError(
            type="WorkerDied",
            message=f"the agent's process ended {how} in the middle of the run; "
            "events committed before are kept",
            traceback=gone.last_words,
        )
        await self._end(live, "failed", error)

    async def _end(self, live: LiveRun, status: RunStatus, error: AgentError | None) -> None:
        if live.ended.is_set():
            return
        await self._flush(live)
        live.streaming.clear()
        live.ended.set()
        await self._change(live, status, error)

    async def _abandon(self, live: LiveRun, error: StoreError) -> None:
        if live.worker is not None:
            await live.worker.send(StopRun(run=live.row.id))
        live.ended.set()
        with contextlib.suppress(StoreError):
            await self._change(live, "failed", _error(type(error).__name__, str(error)))

    def _forget(self, live: LiveRun) -> None:
        self._live.pop(live.row.id, None)
        if self._of_session.get(live.session.key) is live:
            del self._of_session[live.session.key]

    async def _change(
        self, live: LiveRun, status: RunStatus, error: AgentError | None = None
    ) -> None:
        text = json.dumps(asdict(error)) if error else None
        live.row = await self._journal.runs.change(
            live.row.id, status, error=text, invocation_id=live.row.invocation_id
        )
        self._bus.publish(live.session.key, RunChanged(live.row))

    async def _insist(self, live: LiveRun) -> None:
        """Cancel, then SIGTERM, then SIGKILL, each after its time (R52)."""
        if live.worker is None:
            return
        await live.worker.send(StopRun(run=live.row.id))
        for seconds, act in (
            (SECONDS_TO_STOP, live.worker.process.terminate),
            (SECONDS_TO_TERMINATE, live.worker.process.kill),
        ):
            try:
                await asyncio.wait_for(live.ended.wait(), seconds)
            except TimeoutError:
                logger.warning("run %s does not stop: ending its process", live.row.id)
                act()
            else:
                return

    # --- what workers say ------------------------------------------------------------------

    async def _deliver(self, worker: Worker, message: ToServer) -> None:
        if isinstance(message, Append | Partial | RunEnded | Output):
            live = self._live.get(message.run or "")
            if live is not None:
                await live.inbox.put(message)
            elif isinstance(message, Append):
                await self._answer(worker, message)
        elif isinstance(message, Blocked):
            self._stuck(worker, message.stack)
        else:
            await self._answer(worker, message)

    async def _answer(self, worker: Worker, message: ToServer) -> None:
        reply = await self._requests.answer(worker.app, message)
        if reply is None:
            return
        try:
            await worker.send(reply)
        except FrameTooLarge as error:
            await worker.send(Reply(id=reply.id, failure=failure_of(error)))

    def _stuck(self, worker: Worker, stack: str) -> None:
        for run in worker.runs:
            live = self._live.get(run)
            if live is not None:
                live.stack = stack
                self._bus.publish(live.session.key, RunStuck(run, stack))

    def _overhear(self, worker: Worker, text: str) -> None:
        """Output past Python's streams; it can be told whose it is when there is one run."""
        live = self._live.get(next(iter(worker.runs))) if len(worker.runs) == 1 else None
        if live is None or live.heard > HEARD:
            return
        live.heard += len(text)
        lines = text.splitlines()[:_HEARD_LINES]
        lines += ["… more output is not kept"] if live.heard > HEARD else []
        for line in lines:
            said = Output(run=live.row.id, stream="stdout", text=line[:_HEARD_LINE], at=time.time())
            with contextlib.suppress(asyncio.QueueFull):
                live.inbox.put_nowait(said)

    async def _worker_gone(self, worker: Worker, status: int) -> None:
        for run in tuple(worker.runs):
            live = self._live.get(run)
            if live is not None:
                await live.inbox.put(WorkerGone(status, worker.process.last_words))


def _text(value: dict[str, Any] | None) -> str | None:
    return None if value is None else json.dumps(value)


def _error(kind: str, message: str) -> AgentError:
    return AgentError(type=kind, message=message, traceback="")
