"""Events of several runs in one stream, each committed before its run goes on (adk-runtime 5.5)."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field

from devui.runtime.agents.abort_switch import Passage
from devui.runtime.events.event import Event


@dataclass(slots=True)
class _Produced:
    """An event on its way, and the sign that its producer may go on."""

    event: Event
    consumed: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(slots=True)
class _Ended:
    error: BaseException | None


class _Queue(asyncio.Queue["_Produced | _Ended"]):
    """What the runs have produced."""

    def is_carrying(self) -> bool:
        """Whether there is something that nobody has taken yet."""
        return not self.empty()


async def merged(
    runs: list[AsyncGenerator[Event, None]], passages: list[Passage]
) -> AsyncGenerator[Event, None]:
    """The events of all runs as they come; a producer goes on when the consumer comes back.

    `passages` are those of the invocation, of which this is one meanwhile.

    The tasks are held here and not by a TaskGroup: that would, when one fails, cancel the
    consumer, in whose task this generator is run.

    Raises:
        BaseException: what the first run to fail raised; the others are cancelled.
    """
    queue = _Queue()
    passages.append(queue)
    tasks = [asyncio.create_task(produce(run, queue)) for run in runs]
    try:
        running = len(tasks)
        while running:
            item = await queue.get()
            if isinstance(item, _Produced):
                yield item.event
                item.consumed.set()
            elif item.error is not None:
                raise item.error
            else:
                running -= 1
    finally:
        passages.remove(queue)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def produce(
    run: AsyncGenerator[Event, None], queue: "asyncio.Queue[_Produced | _Ended]"
) -> None:
    """Put the events of one run into the queue, each after the one before it was consumed.

    Whatever ends the run is put there too, for the consumer to raise: it would wait for ever for a
    task that was cancelled by its own agent, and a SystemExit would leave the event loop from here.
    A consumer that has cancelled the task itself no longer reads the queue, which never is full.
    """
    error: BaseException | None = None
    try:
        async with aclosing(run):
            async for event in run:
                produced = _Produced(event)
                await queue.put(produced)
                await produced.consumed.wait()
    except BaseException as raised:  # noqa: BLE001  raised again by the consumer
        error = raised
    queue.put_nowait(_Ended(error))
