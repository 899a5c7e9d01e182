"""Has workers call a single tool or model outside any run, and stores the result in the session."""

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
    AddToMemory,
    CheckEdit,
    CheckModel,
    DescribeApp,
    DescribeBuild,
    DescribeTools,
    Recall,
    StopTrial,
    Trial,
    TrialResult,
    TryModel,
    TryTool,
)

PATIENCE: Final = 300.0
"""How long a trial may take before it is cancelled, in seconds."""
_SOON: Final = 2.0
"""How long a command waits for a check, in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialContext:
    """The context in which a tool is tried."""

    app: str
    session: SessionRow | None = None
    """The session whose state is copied. None means empty state, and the trial isn't stored."""
    event: int | None = None
    """The event as of which the state is taken; None for the current state."""
    user: str = "user"
    """The user if there is no session."""


class TrialFailed(Exception):
    """A trial gave no usable answer: its worker ended, it took too long, or it raised an error."""


class Trials:
    """The active trials."""

    def __init__(self, journal: Journal, workers: Workers) -> None:
        self._journal = journal
        self._workers = workers
        self._numbers = itertools.count(1)
        self._waiting: dict[int, tuple[Worker, asyncio.Future[TrialResult]]] = {}

    async def tools(self, app: str) -> dict[str, list[dict[str, Any]]]:
        """Return the declarations of each agent's tools, with those of its toolsets, and which
        toolsets didn't answer; see `DescribeTools`.

        Raises UnknownApp, AppBroken, and TrialFailed with what the app's code raised.
        """
        outcome = await self._try(app, lambda number: DescribeTools(trial=number))
        if outcome.result is None:
            raise TrialFailed(_message(outcome))
        tools: dict[str, list[dict[str, Any]]] = json.loads(outcome.result)
        return tools

    async def app(self, app: str) -> dict[str, Any] | None:
        """Return a description of the app, see `DescribeApp`; raises what `tools` does."""
        outcome = await self._try(app, lambda number: DescribeApp(trial=number))
        if outcome.error is not None:
            raise TrialFailed(_message(outcome))
        agents: dict[str, Any] | None = json.loads(outcome.result or "null")
        return agents

    async def build(self, app: str) -> dict[str, Any]:
        """Return how the app is built, see `DescribeBuild`; raises what `tools` does."""
        outcome = await self._try(app, lambda number: DescribeBuild(trial=number))
        if outcome.result is None:
            raise TrialFailed(_message(outcome))
        build: dict[str, Any] = json.loads(outcome.result)
        return build

    async def check_model(self, app: str, model: str) -> str:
        """Return why the app's runs can't use a model, "" if they can; raises what `tools` does."""
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
        """Return why a value can't replace the payload of a run that the worker holds at a gate.

        "" if it can, or if the worker doesn't answer soon: then the problem shows when the run
        continues.
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
            lambda number: AddToMemory(trial=number, user=session.user, session=session.id),
        )
        if outcome.error is not None:
            raise TrialFailed(_message(outcome))

    async def recall(self, app: str, user: str, query: str, limit: int) -> dict[str, Any]:
        """Search a user's memories in the app, see `Recall`; raises what `tools` does."""
        outcome = await self._try(
            app, lambda number: Recall(trial=number, user=user, query=query, limit=limit)
        )
        if outcome.result is None:
            raise TrialFailed(_message(outcome))
        memories: dict[str, Any] = json.loads(outcome.result)
        return memories

    async def tool(
        self,
        context: TrialContext,
        *,
        agent: str,
        tool: str,
        args: Mapping[str, Any],
        actor: str,
    ) -> TrialRow:
        """Call a tool with the state as of an event, or the current state.

        Raises UnknownApp, AppBroken and TrialFailed; what the tool raises is in the row's `error`.
        """
        session = context.session
        state, text = await self._state(context), json.dumps(args)
        outcome = await self._try(
            context.app,
            lambda number: TryTool(
                trial=number,
                agent=agent,
                tool=tool,
                args=text,
                user=session.user if session else context.user,
                session=session.id if session else "trial",
                state=json.dumps(state),
            ),
        )
        return await self._keep(
            outcome,
            TrialRow(
                id=0,
                app=context.app,
                session=session.key if session else None,
                span=None,
                event=context.event,
                agent=agent,
                name=tool,
                sent=text,
                actor=actor,
            ),
        )

    async def _state(self, context: TrialContext) -> dict[str, Any]:
        """Return the state of all scopes, merged, with prefixed keys."""
        if context.session is None:
            return {}
        journal, key = self._journal, context.session.key
        seq = None if context.event is None else await journal.state.moment(key, context.event)
        values = await journal.state.at(key, seq)
        return {prefixed(each.scope, each.key): json.loads(each.value) for each in values}

    async def model(
        self, session: SessionRow, span: SpanRow, request: Mapping[str, Any], actor: str
    ) -> TrialRow:
        """Send this request to the model of a recorded call's agent.

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

    def take(self, outcome: TrialResult) -> None:
        """Record an answer; one that arrives too late is ignored."""
        _, future = self._waiting.get(outcome.trial, (None, None))
        if future is not None and not future.done():
            future.set_result(outcome)

    def worker_ended(self, worker: Worker) -> None:
        """Fail the trials of a worker that has ended."""
        for each, future in self._waiting.values():
            if each is worker and not future.done():
                future.set_exception(TrialFailed("the app's process ended during the call"))

    async def _try(self, app: str, make: Callable[[int], Trial]) -> TrialResult:
        return await self._try_with(await self._workers.worker(app), make, patience=PATIENCE)

    async def _try_with(
        self, worker: Worker, make: Callable[[int], Trial], *, patience: float
    ) -> TrialResult:
        number = next(self._numbers)
        future: asyncio.Future[TrialResult] = asyncio.get_running_loop().create_future()
        self._waiting[number] = (worker, future)
        name = f"trial-{number}"
        worker.take(name)  # so that it isn't ended meanwhile
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

    async def _keep(self, outcome: TrialResult, row: TrialRow) -> TrialRow:
        full_row = replace(row, result=outcome.result, error=outcome.error, seconds=outcome.seconds)
        if row.session is None:
            return replace(full_row, at=time.time())
        try:
            return await self._journal.trials.add(full_row)
        except BadValue as error:
            raise TrialFailed(f"the result can't be saved: {error}") from error


def _message(outcome: TrialResult) -> str:
    error = json.loads(outcome.error or "{}")
    return f"{error.get('type')}: {error.get('message')}"
