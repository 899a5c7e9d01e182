"""Whether who asked is still there: what takes long is ended when they go."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.types import Receive

T = TypeVar("T")


async def left(receive: Receive) -> None:
    """Return when who asked has gone; whatever they send meanwhile is passed over."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def stop(*tasks: asyncio.Task[Any]) -> None:
    """Cancel the tasks and wait for their ends."""
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)


async def while_there(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Do the work of a request whose body has been read; it is cancelled when its client goes.

    Raises what the work does, and CancelledError for a client that has gone.
    """
    working = asyncio.create_task(work, name=f"work for {request.url.path}")
    leaving = asyncio.create_task(left(request.receive), name="client")
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await stop(working, leaving)
    return working.result()
