"""The source of ids; replaceable within a context (adk-runtime 0)."""

import os
from collections.abc import Callable
from contextvars import ContextVar

_VARIANTS = "89ab"
"""The digits that may stand where a UUID tells its variant."""


def _random_uuid() -> str:
    """The text of a `uuid.uuid4()`, without the object: every event and every call has one."""
    digits = os.urandom(16).hex()
    variant = _VARIANTS[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"


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
