"""The source of ids; replaceable within a context (adk-runtime 0)."""

import uuid
from collections.abc import Callable
from contextvars import ContextVar


def _random_uuid() -> str:
    return str(uuid.uuid4())


_provider: ContextVar[Callable[[], str]] = ContextVar("id_provider", default=_random_uuid)


def set_id_provider(provider: Callable[[], str]) -> None:
    """Let `provider` make the ids in the current context."""
    _provider.set(provider)


def reset_id_provider() -> None:
    """Return to random UUIDs."""
    _provider.set(_random_uuid)


def new_uuid() -> str:
    """A new id: a random UUID (version 4) unless a provider was set."""
    return _provider.get()()
