"""`node` and `Node`: ways to define custom nodes (adk-runtime 12.5)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Literal, Self, overload

from pydantic import Field, model_validator

from devui.runtime.auth.auth_tool import AuthConfig
from devui.runtime.mistakes import near
from devui.runtime.workflow.base_node import BaseNode, yields_of
from devui.runtime.workflow.errors import WorkflowConfigurationError
from devui.runtime.workflow.graph import as_node
from devui.runtime.workflow.parallel_worker import ParallelWorker, each_of
from devui.runtime.workflow.retry_config import RetryConfig

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context

_SETTINGS = {
    *("name", "rerun_on_resume", "retry_config", "timeout", "auth_config"),
    *("require_confirmation", "parameter_binding"),
}
_OF_WORKERS = {"parallel_worker", "max_parallel_workers"}


@overload
def node(
    *,
    name: str | None = None,
    rerun_on_resume: bool | None = None,
    retry_config: RetryConfig | None = None,
    timeout: float | None = None,
    parallel_worker: bool = False,
    max_parallel_workers: int | None = None,
    auth_config: AuthConfig | None = None,
    require_confirmation: bool | Callable[..., Any] | None = None,
    parameter_binding: Literal["state", "node_input"] | None = None,
) -> Callable[[Any], BaseNode]: ...
@overload
def node(
    node_like: Any,
    *,
    name: str | None = None,
    rerun_on_resume: bool | None = None,
    retry_config: RetryConfig | None = None,
    timeout: float | None = None,
    parallel_worker: bool = False,
    max_parallel_workers: int | None = None,
    auth_config: AuthConfig | None = None,
    require_confirmation: bool | Callable[..., Any] | None = None,
    parameter_binding: Literal["state", "node_input"] | None = None,
) -> BaseNode: ...
def node(
    node_like: Any = None,
    *,
    parallel_worker: bool = False,
    max_parallel_workers: int | None = None,
    **settings: Any,
) -> Any:
    """Make a node from a function, agent or tool, or a copy of a node with other fields.

    Can be used as a decorator, with or without arguments (`@node`, `@node(name="x")`), or as a
    function.

    Args:
        node_like: The function, agent, tool or node.
        name: Its name; by default that of the function, agent or tool.
        rerun_on_resume: Whether to run it again once its question has been answered.
        retry_config: When to retry after a failure.
        timeout: The time limit of one attempt, in seconds.
        parallel_worker: Whether to run it in parallel for each item of its input, a list.
        max_parallel_workers: How many run at once; None for all.
        auth_config: A credential to ask the user for first (functions only).
        require_confirmation: Whether the user must agree first (functions only).
        parameter_binding: Where a function's parameters get their values from.

    Raises:
        WorkflowConfigurationError: the settings contradict each other, or it can't be a node.
        TypeError: there is no such setting.
    """
    for name in settings.keys() - _SETTINGS:
        raise TypeError(f"node() has no `{name}`{near(name, _SETTINGS | _OF_WORKERS)}")
    _check_workers(parallel_worker, max_parallel_workers)
    if node_like is None:
        return lambda wrapped: node(
            wrapped,
            parallel_worker=parallel_worker,
            max_parallel_workers=max_parallel_workers,
            **settings,
        )
    inner = as_node(node_like, **settings)
    if not parallel_worker:
        return inner
    return ParallelWorker(worker=inner, max_parallel_workers=max_parallel_workers)


class Node(BaseNode):
    """The base class for custom node classes, which define `run_node_impl`."""

    parallel_worker: bool = Field(default=False, frozen=True)
    """Whether to run it in parallel for each item of its input, a list."""
    max_parallel_workers: int | None = Field(default=None, frozen=True)
    """How many items run at once; None for all."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        _check_workers(self.parallel_worker, self.max_parallel_workers)
        if self.parallel_worker:
            self.rerun_on_resume = True
        return self

    async def run_node_impl(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
        """Do the work of the node; subclasses override this. Yields what `_run_impl` may yield."""
        raise NotImplementedError(f"{type(self).__name__} does not define run_node_impl.")
        yield  # makes this an async generator

    async def _run_impl(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
        if self.parallel_worker:
            worker = self.model_copy(update={"parallel_worker": False})
            yield await each_of(ctx, worker, node_input, self.max_parallel_workers)
            return
        async with aclosing(yields_of(self.run_node_impl, self.name, ctx, node_input)) as items:
            async for item in items:
                yield item


def _check_workers(parallel: bool, limit: int | None) -> None:
    if limit is None:
        return
    if not parallel:
        raise WorkflowConfigurationError(
            "max_parallel_workers is for parallel workers only; add parallel_worker=True."
        )
    if limit < 1:
        raise WorkflowConfigurationError(f"max_parallel_workers must be 1 or more, not {limit}.")
