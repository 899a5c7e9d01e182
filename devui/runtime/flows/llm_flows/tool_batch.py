"""Runs the tool calls of one answer at the same time (adk-runtime 8.3; resume seed)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from devui.runtime.calling import plain_function_of
from devui.runtime.cancellation import cancelled_elsewhere, stop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from google.genai import types

    from devui.runtime.agents.abort_switch import Passage
    from devui.runtime.flows.llm_flows.tool_calls import ToolCall

_Task = asyncio.Task["types.Part | None"]
Finished = list[tuple["types.Part | None", "ToolCall"]]


class _Batch:
    """The calls under way, and whether the caller is going to go on because of them."""

    def __init__(self, tasks: Sequence[_Task]) -> None:
        self.tasks = tasks
        self.ends = False
        """Whether they are being brought to their end, for one has failed."""

    def is_carrying(self) -> bool:
        """Whether all have ended, or one has failed that nobody has seen yet."""
        if all(task.done() for task in self.tasks):
            return True
        return not self.ends and any(map(_has_failed, self.tasks))


async def run_batch(
    calls: Sequence[ToolCall], passages: list[Passage]
) -> tuple[Finished, BaseException | None]:
    """What the calls returned, in their order, and what the first of those that failed raised.

    When one fails, the others come to where they would have been if plain functions took no
    time: what waits for something else is cancelled, and what runs in a thread, where nobody
    could stop it, ends and keeps its result. So it does not depend on threads which calls a
    resumed invocation runs again. That holds whatever it is that fails them, `sys.exit()` in a
    tool included: the caller keeps what is finished before it raises the error.
    """
    tasks = [asyncio.create_task(call.run()) for call in calls]
    batch = _Batch(tasks)
    passages.append(batch)
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        batch.ends = True
        await _wind_up(tasks)
    except BaseException:  # the run itself is cancelled
        await stop(tasks)
        raise
    finally:
        passages.remove(batch)
    finished: Finished = []
    error: BaseException | None = None
    for task, call in zip(tasks, calls, strict=True):
        if task.cancelled():
            if not task.cancelling():  # and not by anybody here
                error = error or cancelled_elsewhere(f"A callback of tool {call.name!r}")
            continue
        failure = task.exception()
        if failure is None:
            finished.append((task.result(), call))
        elif error is None:
            error = failure
    return finished, error


def _has_failed(task: _Task) -> bool:
    return task.done() and not task.cancelled() and task.exception() is not None


async def _wind_up(tasks: Sequence[_Task]) -> None:
    while pending := [task for task in tasks if not task.done()]:
        threads = [future for task in pending if (future := plain_function_of(task))]
        for task in pending:
            if plain_function_of(task) is None and not task.cancelling():
                task.cancel()
        await asyncio.wait([*threads, *pending], return_when=asyncio.FIRST_COMPLETED)
