"""The steps around a model call, in lists where each has a name (adk-runtime 7.2)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.agents.llm_agent import LlmAgent
    from devui.runtime.events.event import Event
    from devui.runtime.models.llm_request import LlmRequest
    from devui.runtime.models.llm_response import LlmResponse

Prepare = Callable[["InvocationContext", "LlmRequest"], Awaitable[None]]
Run = Callable[["InvocationContext", "LlmRequest"], AsyncGenerator["Event", None]]
Process = Callable[["InvocationContext", "LlmResponse"], AsyncGenerator["Event", None]]


def agent_of(ctx: InvocationContext) -> LlmAgent:
    """The agent whose request is prepared; only agents with a model have flows."""
    # Not `cast`, which is a call: this is asked many times at each step.
    return ctx.agent  # type: ignore[return-value]  # a flow belongs to an LlmAgent


@dataclass(frozen=True, slots=True)
class RequestProcessor:
    """One step. Most only `prepare` the request; one that yields events is a `run`."""

    name: str
    prepare: Prepare | None = None
    """Changes the request."""
    run: Run | None = None
    """Changes the request and yields events, each committed before it goes on."""
    wanted: Callable[[InvocationContext], bool] | None = None
    """Whether there is anything to `run`, which most requests have not; None: always."""


@dataclass(frozen=True, slots=True)
class ResponseProcessor:
    """One step between a model's response and its event."""

    name: str
    wanted: Callable[[LlmAgent], bool]
    """Whether the agent has use for it; asked once per model call, since fragments are many."""
    run: Process
    """Changes the response and yields events that go before its own."""


class _Named(Protocol):
    @property
    def name(self) -> str: ...


P = TypeVar("P", bound=_Named)


class Processors(Generic[P]):
    """An ordered list of named steps.

    The order matters: instructions before contents, and so on. So a new step is
    put before or after one that it needs.
    """

    def __init__(self, processors: Iterable[P] = ()) -> None:
        self._processors = list(processors)

    def __iter__(self) -> Iterator[P]:
        return iter(self._processors)

    @property
    def names(self) -> list[str]:
        """The names of the steps in order."""
        return [processor.name for processor in self._processors]

    def get(self, name: str) -> P:
        """The step of that name; KeyError names those there are."""
        return self._processors[self._index(name)]

    def append(self, processor: P) -> None:
        """Add a step at the end."""
        self._processors.append(processor)

    def replace(self, name: str, processor: P) -> None:
        """Put a step in the place of another."""
        self._processors[self._index(name)] = processor

    def insert_before(self, name: str, processor: P) -> None:
        """Add a step before another."""
        self._processors.insert(self._index(name), processor)

    def insert_after(self, name: str, processor: P) -> None:
        """Add a step after another."""
        self._processors.insert(self._index(name) + 1, processor)

    def remove(self, name: str) -> None:
        """Leave a step out."""
        del self._processors[self._index(name)]

    def _index(self, name: str) -> int:
        names = self.names
        if name not in names:
            raise KeyError(f"There is no processor {name!r}; there are {names}.")
        return names.index(name)
