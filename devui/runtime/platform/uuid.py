"""The source of ids; replaceable within a context (adk-runtime 0)."""

import os
from collections.abc import Callable
from contextvars import ContextVar

_AT_ONCE = 128
"""How many ids are made at a time: most of what one takes is to ask the system for its digits."""
_LENGTH = 36
_DIGITS = [place for place in range(_LENGTH) if place not in {8, 13, 18, 23}]
"""The places of an id that are digits; at the others are hyphens."""

_AS_VERSION = bytes(0x40 | octet & 0x0F for octet in range(256))
_AS_VARIANT = bytes(0x80 | octet & 0x3F for octet in range(256))
"""What becomes of a random octet where a UUID tells its version, and where its variant."""

_spare: list[str] = []
"""Ids that nobody has got yet."""
# A forked copy would hand out those that the original does.
os.register_at_fork(after_in_child=_spare.clear)


def _random_uuid() -> str:
    """The text of a `uuid.uuid4()`; from any thread."""
    try:
        return _spare.pop()
    except IndexError:
        _spare.extend(_random_uuids(_AT_ONCE))
        return _random_uuid()


def _random_uuids(count: int) -> list[str]:
    """Without the objects, which take the longest; of all at once, one place after the other."""
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
    """Let `provider` make the ids in the current context."""
    _provider.set(provider)


def reset_id_provider() -> None:
    """Return to random UUIDs."""
    _provider.set(_random_uuid)


def new_uuid() -> str:
    """A new id: a random UUID (version 4) unless a provider was set."""
    return _provider.get()()
