"""Runs the tool calls of one answer at the same time (adk-runtime 8.3; resume seed)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from devui.runtime.calling import plain_function_of
from devui.runtime.cancellation import stop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from google.genai import types

    from devui.runtime.flows.llm_flows.tool_calls import ToolCall

_Task = asyncio.Task["types.Part | None"]
Finished = list[tuple["types.Part | None", "ToolCall"]]


async def run_batch(calls: Sequence[ToolCall]) -> tuple[Finished, BaseException | None]:
    """What the calls returned, in their order, and what the first of those that failed raised.

    When one fails, the others come to where they would have been if plain functions took no
    time: what waits for something else is cancelled, and what runs in a thread, where nobody
    could stop it, ends and keeps its result. So it does not depend on threads which calls a
    resumed invocation runs again. That holds whatever it is that fails them, `sys.exit()` in a
    tool included: the caller keeps what is finished before it raises the error.
    """
    tasks = [asyncio.create_task(call.run()) for call in calls]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        await _wind_up(tasks)
    except BaseException:  # the run itself is cancelled
        await stop(tasks)
        raise
    finished: Finished = []
    error: BaseException | None = None
    for task, call in zip(tasks, calls, strict=True):
        if task.cancelled():
            continue
        failure = task.exception()
        if failure is None:
            finished.append((task.result(), call))
        elif error is None:
            error = failure
    return finished, error


async def _wind_up(tasks: Sequence[_Task]) -> None:
    while pending := [task for task in tasks if not task.done()]:
        threads = [future for task in pending if (future := plain_function_of(task))]
        for task in pending:
            if plain_function_of(task) is None and not task.cancelling():
                task.cancel()
        await asyncio.wait([*threads, *pending], return_when=asyncio.FIRST_COMPLETED)
