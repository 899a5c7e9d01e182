"""The source of ids; replaceable within a context (adk-runtime 0)."""

import os
from collections.abc import Callable
from contextvars import ContextVar

_AT_ONCE = 128
"""How many ids are made at a time: asking the system for random digits is most of the cost."""
_LENGTH = 36
_DIGITS = [place for place in range(_LENGTH) if place not in {8, 13, 18, 23}]
"""The positions of digits in an id; the others are hyphens."""

_AS_VERSION = bytes(0x40 | octet & 0x0F for octet in range(256))
_AS_VARIANT = bytes(0x80 | octet & 0x3F for octet in range(256))
"""Map a random octet to one that states a UUID's version, and to one that states its variant."""

_spare: list[str] = []
"""Ids that have not been handed out."""
# A forked child would hand out the same ids as its parent.
os.register_at_fork(after_in_child=_spare.clear)


def _random_uuid() -> str:
    """Return the text of a `uuid.uuid4()`; may be called from any thread."""
    try:
        return _spare.pop()
    except IndexError:
        _spare.extend(_random_uuids(_AT_ONCE))
        return _random_uuid()


def _random_uuids(count: int) -> list[str]:
    """Return ids, made without UUID objects, which are slow, and all at once, digit by digit."""
    octets = bytearray(os.urandom(16 * count))
    octets[6::16] = octets[6::16].translate(_AS_VERSION)
    octets[8::16] = octets[8::16].translate(_AS_VARIANT)
    digits = octets.hex().encode()
    buffer = bytearray(b"-" * (_LENGTH * count))
    for index, place in enumerate(_DIGITS):
        buffer[place::_LENGTH] = digits[index :: len(_DIGITS)]
    text = buffer.decode()
    return [text[start : start + _LENGTH] for start in range(0, len(text), _LENGTH)]


_provider: ContextVar[Callable[[], str]] = ContextVar("id_provider", default=_random_uuid)


def set_id_provider(provider: Callable[[], str]) -> None:
    """Use `provider` to make ids in the current context."""
    _provider.set(provider)


def reset_id_provider() -> None:
    """Return to random UUIDs."""
    _provider.set(_random_uuid)


def new_uuid() -> str:
    """Return a new id: a random UUID (version 4) unless a provider was set."""
    return _provider.get()()
