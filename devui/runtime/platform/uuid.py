"""The source of ids; replaceable within a context (adk-runtime 0)."""

import os
from collections.abc import Callable
from contextvars import ContextVar

_VARIANTS = "89ab"
"""The digits that may stand where a UUID tells its variant."""
_AT_ONCE = 64
"""For how many ids the system is asked for random digits: to ask takes longer than all the rest."""

_spare: list[str] = []
"""Random digits that no id has used."""
# A forked copy would make the ids that the original makes.
os.register_at_fork(after_in_child=_spare.clear)


def _random_uuid() -> str:
    """The text of a `uuid.uuid4()`, without the object: every event and every call has one."""
    digits = _random_digits()
    variant = _VARIANTS[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"


def _random_digits() -> str:
    """32 hexadecimal digits; from any thread."""
    try:
        return _spare.pop()
    except IndexError:
        digits = os.urandom(16 * _AT_ONCE).hex()
        _spare.extend(digits[start : start + 32] for start in range(32, 32 * _AT_ONCE, 32))
        return digits[:32]


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
