"""The registry of runs: a run belongs to the server, never to a request (Law 4).

To follow a run, read the journal and subscribe to the bus.
"""

import asyncio
import contextlib
import json
import logging
import uuid
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import replace
from types import TracebackType
from typing import Any, Final, Literal, Self

from devui.debugger.apps.apps import UnknownApp
from devui.debugger.background.tasks import Tasks
from devui.debugger.breakpoints.book import BreakpointBook
from devui.debugger.events.bus import Bus
from devui.debugger.events.news import News, PositionChanged, RunChanged, RunStuck, SessionChanged
from devui.debugger.events.prices import Prices
from devui.debugger.questions.answers import check_answers
from devui.debugger.questions.open import open_questions
from devui.debugger.runs.activity import activity_after, activity_of
from devui.debugger.runs.call_endings import Endings
from devui.debugger.runs.driver import Driver
from devui.debugger.runs.limits import TooManyRuns
from devui.debugger.runs.live import LiveRun, StartTime, WorkerGone
from devui.debugger.runs.log_lines import log_raw_output, note
from devui.debugger.runs.meter import Meter
from devui.debugger.runs.options import last_settings
from devui.debugger.runs.orders import request_text
from devui.debugger.runs.request import RunRequest
from devui.debugger.runs.watchdog import Inspections
from devui.debugger.stepping.commands import (
    CallOrder,
    Command,
    CommandRefused,
    InvalidCommand,
    InvalidEdit,
    StalePosition,
)
from devui.debugger.stepping.order_answers import Order, OrderAnswers
from devui.debugger.stepping.position import position_after, position_of
from devui.debugger.stepping.stepper import CommandOutcome, Stepper
from devui.debugger.workers.requests import Requests
from devui.debugger.workers.trials import Trials
from devui.debugger.workers.workers import Worker, Workers
from devui.settings import Limits
from devui.store.errors import RunActive, StoreError
from devui.store.journal import Journal
from devui.store.rows import RunRow, SessionRow
from devui.wire.endings import CallEnded
from devui.wire.errors import AgentError
from devui.wire.inspection import Inspection
from devui.wire.messages import (
    Append,
    Debugger,
    Debugging,
    EditorAwaited,
    Failure,
    Gate,
    LoopBlocked,
    OfARun,
    Output,
    Reply,
    Request,
    ToServer,
)
from devui.wire.trials import TrialResult

logger = logging.getLogger("devui.runs")

_STOPS: Final = frozenset({"stop", "stop_after_event"})
"""Commands that end a run."""


class NoSuchRun(LookupError):
    """No run has this id."""


class Runs:
    """All runs of the server; an async context manager that ends them."""

    def __init__(
        self,
        journal: Journal,
        workers: Workers,
        bus: Bus[News],
        book: BreakpointBook,
        prices: Prices,
        limits: Limits,
    ) -> None:
        self._journal = journal
        self._workers = workers
        self._bus = bus
        self._book = book
        self._prices = prices
        self._limits = limits
        self._requests = Requests(journal, bus)
        self._inspections = Inspections(bus)
        self._answers = OrderAnswers()
        self._endings = Endings(journal, bus, self._inspections, self._answers)
        self.trials = Trials(journal, workers)
        """Single calls outside any run."""
        self._drivers: dict[str, Driver] = {}
        self._running: dict[str, asyncio.Task[None]] = {}
        self._of_session: dict[int, LiveRun] = {}
        self._next_requests: dict[int, RunRequest] = {}
        """By session: the request that follows its current run before any other may start."""
        self.words_of: Callable[[str], str] = str
        """Returns the words of a message without its Markdown markup."""
        self._viewers: Counter[int] = Counter()
        """The number of viewers of a session, by its key."""
        self._tasks = Tasks()
        self._at_end: Callable[[SessionRow], Coroutine[Any, Any, None]] | None = None
        book.on_change(self._arm)
        workers.connect(self._deliver, self._log_raw_output, self._worker_gone)

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.interrupt()
        for task in tuple(self._running.values()):
            task.cancel()
        await self._tasks.__aexit__(kind, error, trace)

    async def interrupt(self) -> None:
        """End every run in progress as interrupted, because the server stops."""
        stopped = AgentError(type="ServerStopped", message="devui was stopped", traceback="")
        for driver in tuple(self._drivers.values()):
            await driver.interrupt(stopped)

    def on_end(self, then: Callable[[SessionRow], Coroutine[Any, Any, None]]) -> None:
        """Call `then` with the session of each run that ends and that no other run follows."""
        self._at_end = then

    # --- queries and commands --------------------------------------------------------------

    def live(self, session: int) -> LiveRun | None:
        """Return the run in progress on a session, if any."""
        live = self._of_session.get(session)
        return None if live is None or live.ended.is_set() else live

    def held_sessions(self) -> frozenset[int]:
        """Return the keys of the sessions whose runs are held."""
        return frozenset(
            key
            for key, live in self._of_session.items()
            if live.stepper.holds and not live.ended.is_set()
        )

    def under_way(self, run: str) -> LiveRun | None:
        """Return the run with this id if it is in progress."""
        driver = self._drivers.get(run)
        return None if driver is None or driver.live.ended.is_set() else driver.live

    async def start(
        self, session: SessionRow, request: RunRequest, *, follows: str | None = None
    ) -> RunRow:
        """Start a run and return at once. The run that it follows, if any, is done then.

        Raises UnknownApp, RunActive if the session already has a run, TooManyRuns,
        ForeignQuestion, CallNotFound and AlreadyAnswered for the answers in the message
        (`check_answers`), and StaleSession if the user has said something since `last_seen`.
        """
        self._workers.folder.require(session.app)
        going = sum(not driver.live.row.pending for driver in self._drivers.values())
        if follows is None and going >= self._limits.runs:
            raise TooManyRuns(self._limits.runs)
        if self._next_requests.get(session.key, request) is not request:
            raise RunActive(f"session {session.key} is being rewound: wait until that is done")
        current = self.live(session.key)
        if follows is None and current is not None and current.stepper.holds:
            raise RunActive(
                f"session {session.key} has the run {current.row.id}, which is held; continue it or"
                " stop it before sending a message"
            )
        last_seen = await check_answers(self._journal, session.key, request.pending_message)
        request = replace(
            request, last_seen=last_seen if request.last_seen is None else request.last_seen
        )
        if request.settings is None and request.is_continuation:
            settings = await last_settings(self._journal, session.key, request.invocation)
            request = replace(request, settings=settings)
        title = self._title(session, request)
        row = await self._write_row(session, request, follows=follows, title=title)
        if follows is not None:
            self._drivers.pop(follows, None)
        live = LiveRun(
            row=row,
            session=session,
            meter=Meter(self._prices),
            is_replay=request.replay is not None,
        )
        live.watched, live.guard = request.watch, request.guard
        live.ignores_breakpoints = request.ignores_breakpoints
        _plan_first_stop(live.stepper, request)
        driver = Driver(
            live,
            journal=self._journal,
            workers=self._workers,
            bus=self._bus,
            book=self._book,
            limits=self._limits,
            stop=lambda: self._begin_stop(driver),
            is_viewed=lambda: self._viewers[session.key] > 0,
        )
        self._drivers[row.id] = driver
        self._of_session[session.key] = live
        if request.then is not None:
            self._next_requests[session.key] = request.then
        self._bus.publish(session.key, RunChanged(row))
        self._running[row.id] = self._tasks.start(self._drive(driver, request), f"run {row.id}")
        self._tasks.start(self._inspections.watch(live), f"watching run {row.id}")
        if request.start_note:
            note(live, self._bus, "debugger", request.start_note)
        if title and (now := await self._journal.sessions.get(session.key)) is not None:
            self._bus.publish(session.key, SessionChanged(now))
        return row

    async def over(self, session: int, *, within: float) -> None:
        """Wait up to `within` seconds for the session's run to end, unless it is held."""
        live = self._of_session.get(session)
        task = self._running.get(live.row.id) if live and not live.stepper.holds else None
        if task is not None:
            await asyncio.wait({task}, timeout=within)

    @contextlib.contextmanager
    def viewing(self, session: int) -> Iterator[None]:
        """Make the session's runs report their uncommitted state while someone views it."""
        self._viewers[session] += 1
        live = self.live(session)
        if live is not None:
            with contextlib.suppress(asyncio.QueueFull):  # any waiting message does the same
                live.inbox.put_nowait(CommandOutcome())
        try:
            yield
        finally:
            self._viewers[session] -= 1
            if not self._viewers[session]:
                del self._viewers[session]

    async def stop(self, run: str, actor: str) -> RunRow:
        """Cancel a run, by force if it doesn't obey; a run that has ended stays as it is.

        `actor` is who stops it. Raises NoSuchRun.
        """
        driver = self._drivers.get(run)
        if driver is None:
            row = await self._journal.runs.get(run)
            if row is None:
                raise NoSuchRun(f"there is no run {run!r}")
            return row
        if not driver.live.stopping:
            driver.live.stopped_by = actor
            note(driver.live, self._bus, "debugger", f"Stop by {actor}")
        self._begin_stop(driver)
        return driver.live.row

    def _begin_stop(self, driver: Driver) -> None:
        live = driver.live
        if not live.stopping and not live.ended.is_set():
            live.stopping = True
            self._tasks.start(driver.stop(), f"stopping run {live.row.id}")

    def _arm(self, app: str) -> None:
        """Arm the gates of the app's current breakpoints in its runs."""
        for driver in self._drivers.values():
            if driver.live.session.app == app:
                self._tasks.start(
                    driver.live.put(CommandOutcome()), f"arming run {driver.live.row.id}"
                )

    async def position(self, run: str) -> dict[str, Any]:
        """Return where a run stands, as in `position_of`. Raises NoSuchRun."""
        driver = self._drivers.get(run)
        if driver is not None and driver.live.row.ended is None:
            if driver.live.stepper.holds:
                await self._inspections.inspect(driver.live)
            return position_of(driver.live)
        row = await self._journal.runs.get(run)
        if row is None:
            raise NoSuchRun(f"there is no run {run!r}")
        holds = await self._journal.runs.position(run)
        return position_after(row, json.loads(holds) if holds else [])

    async def activity(self, run: str) -> dict[str, Any]:
        """Return what a run waits for, as in `activity_of`. Raises NoSuchRun."""
        driver = self._drivers.get(run)
        if driver is not None and driver.live.row.ended is None:
            live = driver.live
            inspection = await self._inspections.inspect(live)
            return activity_of(live, inspection, status=str(position_of(live)["status"]))
        row = await self._journal.runs.get(run)
        if row is None:
            raise NoSuchRun(f"there is no run {run!r}")
        questions = await open_questions(self._journal, row)
        return activity_after(row.id, row.session, row.status, questions)

    async def command(self, run: str, command: Command) -> dict[str, Any]:
        """Carry out a command and return the new position; a repeated command does nothing.

        Raises NoSuchRun, and CommandRefused with the current position.
        """
        if (earlier := await self._earlier_answer(run, command)) is not None:
            return earlier
        live = await self._going(run)
        try:
            if command.name in {"edit", "mock"}:
                await self._check_value(live, command)
                if (earlier := await self._earlier_answer(run, command)) is not None:
                    return earlier
            move = live.stepper.command(command)
        except CommandRefused as error:
            raise error.at(position_of(live)) from None
        if command.name in _STOPS:
            live.stopped_by = command.actor
        note(live, self._bus, "debugger", str(command))
        if move.stop:
            self._begin_stop(self._drivers[run])
        live.inspection, live.last_progress = None, StartTime()
        answer = position_of(live)
        self._answers.remember(run, command, answer)
        self._bus.publish(live.session.key, PositionChanged(run, live.stepper.position))
        await live.put(move)
        return answer

    async def _check_value(self, live: LiveRun, command: Command) -> None:
        """Raise InvalidEdit if the new value can't replace what is held.

        Also raises StalePosition and InvalidCommand.
        """
        hold = live.stepper.hold_to_change(command)
        if hold is None or live.worker is None:
            return
        action: Literal["edit", "mock"] = "edit" if command.name == "edit" else "mock"
        arrival = hold.arrival
        problem = await self.trials.check_edit(
            live.worker, arrival.gate, action, value=command.value, payload=arrival.payload
        )
        if problem:
            raise InvalidEdit(f"the change doesn't fit: {problem}")

    async def end_call(self, run: str, order: CallOrder) -> dict[str, Any]:
        """End or answer a call in progress and return the position. Raises what `command` does."""
        if (earlier := await self._earlier_answer(run, order)) is not None:
            return earlier
        return await self._endings.carry_out(await self._going(run), order)

    async def _going(self, run: str) -> LiveRun:
        """Return the run, if it is in progress. Raises what `command` does."""
        live = self.under_way(run)
        if live is None:
            raise StalePosition("the run is over").at(await self.position(run))
        return live

    async def _earlier_answer(self, run: str, order: Order) -> dict[str, Any] | None:
        """Return the answer to an order already carried out, if any. Raises what `command` does."""
        try:
            return self._answers.answer_to(run, order)
        except InvalidCommand as error:
            raise error.at(await self.position(run)) from None

    async def _write_row(
        self, session: SessionRow, request: RunRequest, *, follows: str | None, title: str | None
    ) -> RunRow:
        """Write the run's row before it begins. The run that it follows, if any, is done then.

        The session takes the `title` if it has none. Raises RunActive if the session already has a
        run, and StaleSession if the user has said something since the request's `last_seen`.
        """
        row = await self._journal.runs.start(
            uuid.uuid4().hex,
            session.key,
            invocation_id=request.invocation,
            message=json.dumps(request.pending_message) if request.pending_message else None,
            last_seen=request.last_seen,
            request=request_text(request),
            follows=follows,
            queued=request.queued,
            actor=request.actor,
            title=title,
        )
        if follows is not None and (before := await self._journal.runs.get(follows)) is not None:
            self._bus.publish(session.key, RunChanged(before))
        if (replay := request.replay) is not None:
            await self._journal.replays.begin(row.id, replay.source, live=replay.live_tools)
        return row

    def _title(self, session: SessionRow, request: RunRequest) -> str | None:
        """Return a title made of the first message, if the session is new and has no name."""
        if session.title is not None or session.events:
            return None
        return request.title(self.words_of) or None

    async def _drive(self, driver: Driver, request: RunRequest) -> None:
        live = driver.live
        try:
            await self._work(driver, request)
            if live.hands_on and request.then is not None:  # in progress until the next has begun
                await self._follow(driver, request.then)
            await driver.finish()
        finally:
            self._drivers.pop(live.row.id, None)
            self._running.pop(live.row.id, None)
            if self._of_session.get(live.session.key) is live:
                del self._of_session[live.session.key]
            if request.then is not None:
                del self._next_requests[live.session.key]
        if self._at_end is not None and live.session.key not in self._of_session:
            self._tasks.start(self._at_end(live.session), f"after run {live.row.id}")

    async def _work(self, driver: Driver, request: RunRequest) -> None:
        try:
            await driver.run(request)
        finally:
            if driver.live.worker is not None:
                is_stuck = driver.live.is_stuck
                self._workers.release(driver.live.worker, driver.live.row.id, stuck=is_stuck)

    async def _follow(self, driver: Driver, request: RunRequest) -> None:
        try:
            await self.start(driver.live.session, request, follows=driver.live.row.id)
        except (StoreError, UnknownApp) as error:
            logger.exception("nothing follows run %s", driver.live.row.id)
            await driver.fail(error)

    # --- messages of workers ---------------------------------------------------------------

    async def _deliver(self, worker: Worker, message: ToServer) -> None:
        if isinstance(message, Output) and message.run is None and len(worker.runs) == 1:
            message = replace(message, run=next(iter(worker.runs)))
        if isinstance(message, OfARun):
            await self._of_a_run(worker, message)
        elif isinstance(message, LoopBlocked):
            worker.blocked = bool(message.stack)
            self._stuck(worker, message if message.stack else None)
        elif isinstance(message, Debugging):
            worker.debugger = message.debugger
            self._on_debugger(worker, message.debugger)
        elif isinstance(message, EditorAwaited):
            self._on_editor_port(worker.app, message.port)
        elif isinstance(message, Inspection):
            self._inspections.take(message)
        elif isinstance(message, CallEnded):
            self._endings.take(message)
        elif isinstance(message, TrialResult):
            self.trials.take(message)
        elif isinstance(message, Request):
            await self._requests.serve(worker, message)

    async def _of_a_run(self, worker: Worker, message: OfARun) -> None:
        driver = self._drivers.get(message.run or "")
        if isinstance(message, Append) and (driver is None or not _own(driver, message)):
            await worker.send(await self._elsewhere(worker, message, driver))
        elif isinstance(message, Gate) and driver is None:  # no run to hold
            await worker.send(Reply(id=message.id))
        elif driver is not None:
            await driver.live.put(message)

    async def _elsewhere(self, worker: Worker, message: Append, driver: Driver | None) -> Reply:
        """Answer an append to another session than the run's, or from no run in progress."""
        if message.run is not None and driver is None:
            text = "the run has ended, so code it left running can't change anything"
            return Reply(id=message.id, failure=Failure(code="run_not_active", message=text))
        return await self._requests.answer(worker.app, message)

    def _stuck(self, worker: Worker, blocked: LoopBlocked | None) -> None:
        for run in worker.runs:
            if run in self._drivers:
                live = self._drivers[run].live
                live.blocked = blocked
                self._bus.publish(live.session.key, RunStuck(run))

    def _on_debugger(self, worker: Worker, debugger: Debugger | None) -> None:
        for run in worker.runs & self._drivers.keys():
            live = self._drivers[run].live
            live.debugging.note(debugger)
            self._debugging_changed(live)

    def _on_editor_port(self, app: str, port: int | None) -> None:
        """Tell the runs of an app whether they have to wait for an editor to attach to it."""
        for driver in self._drivers.values():
            live = driver.live
            if live.session.app == app and live.worker is None and live.row.ended is None:
                live.debugging.editor_port = port
                self._debugging_changed(live)

    def _debugging_changed(self, live: LiveRun) -> None:
        run, key = live.row.id, live.session.key
        self._bus.publish(key, RunStuck(run))
        self._bus.publish(key, PositionChanged(run, live.stepper.position))

    def _log_raw_output(self, worker: Worker, text: str) -> None:
        """Log output that bypassed Python's streams; with several runs, its source is unknown."""
        driver = self._drivers.get(next(iter(worker.runs))) if len(worker.runs) == 1 else None
        if driver is not None:
            log_raw_output(driver.live, text)

    async def _worker_gone(self, worker: Worker, status: int) -> None:
        self.trials.worker_ended(worker)
        for run in tuple(worker.runs):
            if run in self._drivers:
                end = WorkerGone(status, worker.process.last_words)
                await self._drivers[run].live.put(end)


def _own(driver: Driver, message: Append) -> bool:
    session = driver.live.session
    return (message.user, message.session) == (session.user, session.id)


def _plan_first_stop(stepper: Stepper, request: RunRequest) -> None:
    if request.pause:
        stepper.pause(request.actor)
    elif request.run_to is not None:
        stepper.run_to(request.run_to, request.actor)
