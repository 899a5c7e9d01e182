"""Asks workers to call a tool or a model by itself, and keeps what came of it with the session."""

import asyncio
import itertools
import json
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from devui.debugger.workers.workers import Worker, Workers
from devui.store.errors import BadValue
from devui.store.journal import Journal
from devui.store.rows import SessionRow, SpanRow
from devui.store.runs.trials import TrialRow
from devui.store.state import prefixed
from devui.wire.framing import FrameTooLarge
from devui.wire.trials import (
    CheckEdit,
    CheckModel,
    DescribeApp,
    DescribeBuild,
    DescribeTools,
    Recall,
    Remember,
    StopTrial,
    Trial,
    Tried,
    TryModel,
    TryTool,
)

PATIENCE: Final = 300.0
"""Seconds after which a trial is cancelled."""
_SOON: Final = 2.0
"""Seconds for a check that a command waits for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What a tool finds when it is tried."""

    app: str
    session: SessionRow | None = None
    """Whose state is copied; None: an empty one, and the trial is not kept."""
    event: int | None = None
    """As of which event; None: as it is now."""
    user: str = "user"
    """Without a session."""


class TrialFailed(Exception):
    """No answer came: the worker ended, or it took too long."""


class Trials:
    """The trials under way."""

    def __init__(self, journal: Journal, workers: Workers) -> None:
        self._journal = journal
        self._workers = workers
        self._numbers = itertools.count(1)
        self._waiting: dict[int, tuple[Worker, asyncio.Future[Tried]]] = {}

    async def tools(self, app: str) -> dict[str, list[dict[str, Any]]]:
        """What each agent's tools declare, toolsets asked, and which of these do not answer, as of
        `DescribeTools`; raises UnknownApp, AppBroken, and TrialFailed with what the app's code
        raised."""
        outcome = await self._try(app, lambda number: DescribeTools(trial=number))
        if outcome.result is None:
            raise TrialFailed(_message(outcome))
        tools: dict[str, list[dict[str, Any]]] = json.loads(outcome.result)
        return tools

    async def app(self, app: str) -> dict[str, Any] | None:
        """What the app's agents are told, as of `DescribeApp`; raises what `tools` does."""
        outcome = await self._try(app, lambda number: DescribeApp(trial=number))
        if outcome.error is not None:
            raise TrialFailed(_message(outcome))
        agents: dict[str, Any] | None = json.loads(outcome.result or "null")
        return agents

    async def build(self, app: str) -> dict[str, Any]:
        """How the app is put together, as of `DescribeBuild`; raises what `tools` does."""
        outcome = await self._try(app, lambda number: DescribeBuild(trial=number))
        if outcome.result is None:
            raise TrialFailed(_message(outcome))
        build: dict[str, Any] = json.loads(outcome.result)
        return build

    async def check_model(self, app: str, model: str) -> str:
        """Why the app's runs can't use a model; "" if they can. Raises what `tools` does."""
        outcome = await self._try(app, lambda number: CheckModel(trial=number, model=model))
        error = json.loads(outcome.error) if outcome.error is not None else {}
        return str(error.get("message") or error.get("type") or "")

    async def check_edit(
        self,
        worker: Worker,
        gate: str,
        action: Literal["edit", "mock"],
        *,
        value: Any,
        payload: Any,
    ) -> str:
        """Why a value can't take the place of what a run of the worker is held with at a gate.

        "" if it can, or if the worker doesn't answer soon: then it says so when the run continues.
        """
        new, old = json.dumps(value), json.dumps(payload)

        def make(number: int) -> Trial:
            return CheckEdit(trial=number, gate=gate, action=action, value=new, held=old)

        try:
            outcome = await self._try_with(worker, make, patience=_SOON)
        except (TrialFailed, FrameTooLarge):
            return ""
        return str(json.loads(outcome.result or '""'))

    async def remember(self, session: SessionRow) -> None:
        """Add a session to the memory of its app; raises what `tools` does."""
        outcome = await self._try(
            session.app,
            lambda number: Remember(trial=number, user=session.user, session=session.id),
        )
        if outcome.error is not None:
            raise TrialFailed(_message(outcome))

    async def recall(self, app: str, user: str, query: str, limit: int) -> dict[str, Any]:
        """What the app remembers of a user, as of `Recall`; raises what `tools` does."""
        outcome = await self._try(
            app, lambda number: Recall(trial=number, user=user, query=query, limit=limit)
        )
        if outcome.result is None:
            raise TrialFailed(_message(outcome))
        memories: dict[str, Any] = json.loads(outcome.result)
        return memories

    async def tool(
        self,
        ground: Ground,
        *,
        agent: str,
        tool: str,
        args: Mapping[str, Any],
        actor: str,
    ) -> TrialRow:
        """Call a tool over the state as of an event, or as it is now.

        Raises UnknownApp, AppBroken and TrialFailed; what the tool raises is in the row's `error`.
        """
        session = ground.session
        state, text = await self._state(ground), json.dumps(args)
        outcome = await self._try(
            ground.app,
            lambda number: TryTool(
                trial=number,
                agent=agent,
                tool=tool,
                args=text,
                user=session.user if session else ground.user,
                session=session.id if session else "trial",
                state=json.dumps(state),
            ),
        )
        return await self._keep(
            outcome,
            TrialRow(
                id=0,
                app=ground.app,
                session=session.key if session else None,
                span=None,
                event=ground.event,
                agent=agent,
                name=tool,
                sent=text,
                actor=actor,
            ),
        )

    async def _state(self, ground: Ground) -> dict[str, Any]:
        """The merged state, with prefixes."""
        if ground.session is None:
            return {}
        journal, key = self._journal, ground.session.key
        seq = None if ground.event is None else await journal.state.moment(key, ground.event)
        values = await journal.state.at(key, seq)
        return {prefixed(each.scope, each.key): json.loads(each.value) for each in values}

    async def model(
        self, session: SessionRow, span: SpanRow, request: Mapping[str, Any], actor: str
    ) -> TrialRow:
        """Ask the model of a recorded call's agent with this request.

        Raises UnknownApp, AppBroken and TrialFailed; what the model raises is in the row's `error`.
        """
        text = json.dumps(request)
        outcome = await self._try(
            session.app,
            lambda number: TryModel(trial=number, agent=span.agent, request=text),
        )
        return await self._keep(
            outcome,
            TrialRow(
                id=0,
                app=session.app,
                session=session.key,
                span=span.id,
                event=span.event,
                agent=span.agent,
                name=str(request.get("model") or span.name),
                sent=text,
                actor=actor,
            ),
        )

    def take(self, outcome: Tried) -> None:
        """An answer; one that comes too late is of no use."""
        _, future = self._waiting.get(outcome.trial, (None, None))
        if future is not None and not future.done():
            future.set_result(outcome)

    def worker_ended(self, worker: Worker) -> None:
        """The worker has ended, and its trials with it."""
        for each, future in self._waiting.values():
            if each is worker and not future.done():
                future.set_exception(TrialFailed("the app's process ended during the call"))

    async def _try(self, app: str, make: Callable[[int], Trial]) -> Tried:
        return await self._try_with(await self._workers.worker(app), make, patience=PATIENCE)

    async def _try_with(
        self, worker: Worker, make: Callable[[int], Trial], *, patience: float
    ) -> Tried:
        number = next(self._numbers)
        future: asyncio.Future[Tried] = asyncio.get_running_loop().create_future()
        self._waiting[number] = (worker, future)
        name = f"trial-{number}"
        worker.take(name)  # so that it is not ended meanwhile
        try:
            async with asyncio.timeout(patience):  # a worker that reads nothing blocks `send`, too
                await worker.send(make(number))
                return await future
        except TimeoutError:
            raise TrialFailed(f"no answer within {patience:.0f} s") from None
        finally:
            self._waiting.pop(number, None)
            if not future.done() or future.cancelled():
                with suppress(OSError):
                    await worker.send(StopTrial(trial=number))
            self._workers.release(worker, name, stuck=False)

    async def _keep(self, outcome: Tried, row: TrialRow) -> TrialRow:
        full_row = replace(row, result=outcome.result, error=outcome.error, seconds=outcome.seconds)
        if row.session is None:
            return replace(full_row, at=time.time())
        try:
            return await self._journal.trials.add(full_row)
        except BadValue as error:
            raise TrialFailed(f"the result can't be saved: {error}") from error


def _message(outcome: Tried) -> str:
    error = json.loads(outcome.error or "{}")
    return f"{error.get('type')}: {error.get('message')}"
