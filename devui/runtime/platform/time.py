"""The clock of the runtime; replaceable within a context (adk-runtime 0)."""

import time
from collections.abc import Callable
from contextvars import ContextVar

_provider: ContextVar[Callable[[], float]] = ContextVar("time_provider", default=time.time)


def set_time_provider(provider: Callable[[], float]) -> None:
    """Use `provider` as the clock (in unix seconds) in the current context."""
    _provider.set(provider)


def reset_time_provider() -> None:
    """Return to the system's clock."""
    _provider.set(time.time)


def get_time() -> float:
    """Now, in unix seconds."""
    return _provider.get()()
