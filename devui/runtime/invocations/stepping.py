"""An async generator driven from sync code, step by step (adk-runtime 3.6)."""

import asyncio
import contextvars
from collections.abc import AsyncGenerator, Generator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def stepped(items: AsyncGenerator[T, None]) -> Generator[T, None, None]:
    """The items one by one; the async side runs only while an item is waited for.

    It has an event loop and a thread of its own, so this also works where a loop runs already; and
    the caller's context variables, as a tool that runs another agent has its trace.
    Closing this generator closes `items`; what it raises is raised here.
    """
    context = contextvars.copy_context()

    async def step() -> T:
        return await anext(items)

    with ThreadPoolExecutor(1, thread_name_prefix="devui-run") as thread:
        runner = asyncio.Runner()
        try:
            while True:
                try:
                    item = thread.submit(runner.run, step(), context=context).result()
                except StopAsyncIteration:
                    return
                yield item
        finally:
            try:
                thread.submit(runner.run, _closed(items), context=context).result()
            finally:
                thread.submit(runner.close).result()


async def _closed(items: AsyncGenerator[T, None]) -> None:
    await items.aclose()
