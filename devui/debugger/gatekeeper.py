"""Answers the requests of a run that may be held, when they may go on (docs/decisions/0006)."""

import json
from collections.abc import Awaitable, Callable

from devui.debugger.arrivals import Arrival, arrived
from devui.debugger.bus import Bus
from devui.debugger.live import LiveRun
from devui.debugger.news import News, PositionChanged
from devui.debugger.position import position_of
from devui.debugger.stepper import Moved
from devui.debugger.workers import Worker
from devui.store.journal import Journal
from devui.wire.messages import Append, ArmGates, Gate, GateLeft, Reply, WorkerGate

Commit = Callable[[Append], Awaitable[Reply]]


class Gatekeeper:
    """Stands between the requests of one run and their answers; called by the run's task alone."""

    def __init__(
        self,
        live: LiveRun,
        *,
        journal: Journal,
        bus: Bus[News],
        commit: Commit,
        stop: Callable[[], None],
    ) -> None:
        self._live = live
        self._journal = journal
        self._bus = bus
        self._commit = commit
        self._stop = stop
        self._armed: frozenset[WorkerGate] = frozenset()

    def begin(self) -> list[WorkerGate]:
        """The gates that a run begins with."""
        self._armed = self._live.stepper.armed
        return sorted(self._armed)

    async def take(self, worker: Worker, message: Append | Gate) -> None:
        """Hold it or answer it."""
        live = self._live
        arrival = None
        if not (live.stepper.idle or live.stopping):
            arrival = arrived(message, worker.loaded.result().agents)
        if arrival is None:
            await worker.send(await self._answer(message))
        else:
            if arrival.delta:
                arrival = arrival.before(await self._journal.state.merged(live.session.key))
            if not await self._held(arrival):
                await self._let_go(worker, arrival)

    async def move(self, worker: Worker, moved: Moved) -> None:
        """Carry out what a command decided."""
        if self._live.stepper.armed != self._armed:
            self._armed = self._live.stepper.armed
            await worker.send(ArmGates(run=self._live.row.id, gates=sorted(self._armed)))
        if moved.released:
            await self._keep()
        for hold in moved.released:
            await self._let_go(worker, hold.arrival)

    async def left(self, message: GateLeft) -> None:
        """Something that is held was cancelled."""
        if self._live.stepper.leave(message.gate):
            await self._keep()
            self._publish()

    async def end(self, *, keep: bool) -> None:
        """The run is over; `keep` what was held, which nothing can let go any more."""
        stepper = self._live.stepper
        if stepper.used and not keep:
            await self._journal.runs.forget_position(self._live.row.id)
        stepper.end()

    async def _let_go(self, worker: Worker, arrival: Arrival) -> None:
        if arrival.reply is not None:
            await worker.send(arrival.reply)
            return
        reply = await self._answer(arrival.message)
        if isinstance(arrival.message, Append) and reply.result is not None:
            number = json.loads(reply.result)["number"]
            if await self._held(arrival.committed(reply, number)):
                return
        await worker.send(reply)

    async def _answer(self, message: Append | Gate) -> Reply:
        if isinstance(message, Append):
            return await self._commit(message)
        return Reply(id=message.id)

    async def _held(self, arrival: Arrival) -> bool:
        stepper = self._live.stepper
        if self._live.stopping:
            return False
        hold = stepper.arrive(arrival)
        if hold is None:
            return False
        if hold.reason == "stop":
            self._stop()
            return True
        await self._keep()
        self._publish()
        return True

    async def _keep(self) -> None:
        """What is held survives the server's end, so that it can be told what was lost."""
        told, runs = position_of(self._live), self._journal.runs
        if told["holds"]:
            await runs.keep_position(self._live.row.id, json.dumps(told["holds"]))
        else:
            await runs.forget_position(self._live.row.id)

    def _publish(self) -> None:
        live = self._live
        self._bus.publish(live.session.key, PositionChanged(live.row.id, live.stepper.position))
