"""Nodes that run once for each item of a list, in parallel, and joins (adk-runtime 12.5)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any, ClassVar

from google.genai import types

from devui.runtime.events.event import Event
from devui.runtime.models.output_schema import json_schema
from devui.runtime.workflow.base_node import BaseNode
from devui.runtime.workflow.errors import NodeInterruptedError
from devui.runtime.workflow.values import json_or_text, text_of

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context


# `JoinNode`: joins parallel paths (adk-runtime 12.3).


class JoinNode(BaseNode):
    """Waits for all incoming nodes and returns their outputs as a dict by name."""

    waits_for_all: ClassVar[bool] = True

    def _validate_input_data(self, data: Any) -> Any:
        """Return the outputs, each validated against the schema."""
        if self.input_schema is None or not isinstance(data, dict):
            return super()._validate_input_data(data)
        validate = super()._validate_input_data
        return {name: validate(each) for name, each in data.items()}

    async def _run_impl(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
        yield Event(output=node_input)


class ParallelWorker(BaseNode):
    """Runs its worker for each item of the input, and returns the outputs in the same order."""

    worker: BaseNode
    max_parallel_workers: int | None = None
    """How many run at once; None for all."""

    def __init__(self, *, worker: BaseNode, max_parallel_workers: int | None = None) -> None:
        """Create the node with the worker's name."""
        fields = {"worker": worker, "max_parallel_workers": max_parallel_workers}
        super().__init__(name=worker.name, rerun_on_resume=True, **fields)

    def taken_as_tool(self) -> Any:
        """Return the schema of a list of what the worker takes."""
        schema = self.worker.taken_as_tool() if self.input_schema is None else None
        if schema is None:
            return super().taken_as_tool()
        return {"type": "array", "items": json_schema(schema)}

    def checked_as_tool(self, value: Any) -> Any:
        """Return the items, each checked by the worker."""
        value = super().checked_as_tool(value)
        return [self.worker.checked_as_tool(item) for item in _items(value)]

    async def _run_impl(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
        yield await each_of(ctx, self.worker, node_input, self.max_parallel_workers)


async def each_of(ctx: Context, worker: BaseNode, value: Any, limit: int | None) -> list[Any]:
    """Return the worker's output for each item; a value that isn't a list is a single item.

    If one fails, the others are cancelled. If one waits for an answer, no more are started, and
    those that are running finish first.
    """
    items = _items(value)
    outputs: list[Any] = [None] * len(items)
    at_work: dict[asyncio.Task[Any], int] = {}
    index, waits = 0, False
    try:
        while at_work or (index < len(items) and not waits):
            while index < len(items) and not waits and len(at_work) < (limit or len(items)):
                run = ctx.run_node(worker, items[index], use_sub_branch=True)
                at_work[asyncio.ensure_future(run)] = index
                index += 1
            done, _ = await asyncio.wait(at_work, return_when=asyncio.FIRST_COMPLETED)
            for task in sorted(done, key=at_work.__getitem__):
                waits = _take(task, outputs, at_work.pop(task)) or waits
    finally:
        for task in at_work:
            task.cancel()
        await asyncio.gather(*at_work, return_exceptions=True)
    if waits:
        raise NodeInterruptedError
    return outputs


def _take(task: asyncio.Task[Any], outputs: list[Any], index: int) -> bool:
    """Store the output of a worker and return whether it waits; raise what the worker raised."""
    error = task.exception()
    if isinstance(error, NodeInterruptedError):
        return True
    if error is not None:
        raise error
    outputs[index] = task.result()
    return False


def _items(value: Any) -> list[Any]:
    if isinstance(value, types.Content) and value.parts and all(p.text for p in value.parts):
        value = json_or_text(text_of(value))
    return value if isinstance(value, list) else [value]
