"""How user code is called: async on the loop, sync in threads (runtime seed)."""

import asyncio
import contextvars
import functools
import re
import sqlite3
import subprocess
import sys
import threading
import time

import pytest

from devui.runtime.calling import MAX_THREADS, THREAD_NAME_PREFIX, active_threads, call
from tests.kit.patience import PATIENCE

IN_A_COPY = """
import asyncio, os
from devui.runtime.calling import call

assert asyncio.run(call(int, "1")) == 1
copy = os.fork()
assert asyncio.run(call(int, "2")) == 2
if copy:
    assert os.waitpid(copy, 0)[1] == 0, "the copy's call failed"
    assert asyncio.run(call(int, "3")) == 3
"""

variable = contextvars.ContextVar("variable", default="unset")


class AsyncCallable:
    async def __call__(self) -> str:
        return threading.current_thread().name


def here() -> str:
    return threading.current_thread().name


async def here_async() -> str:
    return threading.current_thread().name


async def test_sync_functions_run_in_named_threads():
    assert (await call(here)).startswith(THREAD_NAME_PREFIX)
    assert (await call(functools.partial(here))).startswith(THREAD_NAME_PREFIX)


@pytest.mark.parametrize(
    "function", [here_async, functools.partial(here_async), AsyncCallable(), lambda: here_async()]
)
async def test_async_functions_run_on_the_loop(function):
    assert await call(function) == threading.current_thread().name


async def test_threads_see_the_callers_context():
    variable.set("mine")
    assert await call(variable.get) == "mine"


async def test_context_variables_set_by_a_function_are_set_for_its_caller():
    await call(variable.set, "bound")
    assert variable.get() == "bound"


async def test_context_variables_set_by_a_failing_function_are_set_for_its_caller():
    def fail() -> None:
        variable.set("bound")
        raise KeyError("k")

    with pytest.raises(KeyError):
        await call(fail)
    assert variable.get() == "bound"


@pytest.mark.parametrize("wish", [asyncio.get_running_loop, asyncio.get_event_loop])
async def test_a_function_that_needs_the_loop_is_advised_to_be_async(wish):
    def schedule() -> None:
        wish()

    with pytest.raises(RuntimeError) as error:
        await call(schedule)
    [note] = error.value.__notes__
    assert re.search(r"schedule \(.*test_calling\.py:\d+\) .*`async def`", note)


async def test_a_function_with_another_threads_connection_is_advised_to_be_async():
    connection = sqlite3.connect(":memory:")
    with pytest.raises(sqlite3.ProgrammingError) as error:
        await call(lambda: connection.execute("SELECT 1"))
    assert "`async def`" in error.value.__notes__[0]
    connection.close()


async def test_exceptions_pass_through():
    def fail() -> None:
        raise KeyError("k")

    with pytest.raises(KeyError):
        await call(fail)


async def test_stop_iteration_does_not_hang_the_caller():
    with pytest.raises(RuntimeError, match="StopIteration"):
        await asyncio.wait_for(call(next, iter(())), PATIENCE)


async def test_a_call_whose_caller_is_cancelled_still_counts_as_active():
    started, release, ended = asyncio.Event(), threading.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def block() -> None:
        loop.call_soon_threadsafe(started.set)
        release.wait(PATIENCE)
        loop.call_soon_threadsafe(ended.set)

    task = asyncio.create_task(call(block))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert active_threads() == 1
    release.set()
    await ended.wait()
    await call(lambda: None)
    while active_threads():  # noqa: ASYNC110  the count has no event to wait for
        await asyncio.sleep(0)


async def test_more_calls_than_threads_wait_for_a_free_one():
    release = threading.Event()
    blocked = [asyncio.create_task(call(release.wait, PATIENCE)) for _ in range(MAX_THREADS)]
    while active_threads() < MAX_THREADS:  # noqa: ASYNC110  the count has no event to wait for
        await asyncio.sleep(0)
    late = asyncio.create_task(call(threading.active_count))
    await asyncio.sleep(0)
    assert not late.done()
    assert active_threads() == MAX_THREADS
    release.set()
    assert await late
    assert all(await asyncio.gather(*blocked))


async def test_functions_that_occupy_all_threads_can_call_others():
    """Plain tools that run an agent do this; the threads mustn't wait for each other."""
    together = threading.Barrier(MAX_THREADS)

    def calls_another() -> int:
        together.wait(PATIENCE)
        return asyncio.run(call(call_in_turn))

    def call_in_turn() -> int:
        return asyncio.run(call(int, "1"))

    working = asyncio.gather(*[call(calls_another) for _ in range(MAX_THREADS)])
    assert await asyncio.wait_for(working, PATIENCE) == [1] * MAX_THREADS
    assert not active_threads()
    assert await call(here)


async def test_the_most_recently_used_thread_is_reused_first():
    together = threading.Barrier(4)
    await asyncio.gather(*[call(together.wait, PATIENCE) for _ in range(4)])
    assert len({await call(threading.get_ident) for _ in range(20)}) == 1


async def test_many_concurrent_callers_do_not_block_the_loop():
    calls = [asyncio.create_task(call(time.sleep, 0.0002)) for _ in range(50)]
    await asyncio.sleep(0)
    assert not all(each.done() for each in calls), "one round of the loop waited for all of them"
    await asyncio.gather(*calls)


def test_a_forked_process_has_its_own_threads():
    process = subprocess.run(
        [sys.executable, "-c", IN_A_COPY],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert process.returncode == 0, process.stderr
