"""Arguments that are texts, or yes and no, checked (devui's own)."""

from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import BaseModel

from devui.runtime.mistakes import given


def yes_or_no(name: str, value: object) -> bool:
    """What the value says, as in an `if`; not of a text or a function, as "no" would mean yes.

    Raises:
        TypeError: it is one of those.
    """
    if isinstance(value, str) or callable(value):
        raise TypeError(f"`{name}` is {given(value)}; give True or False.")
    return bool(value)


def texts(name: str, value: object) -> Sequence[str]:
    """The texts, or the only one in a list.

    Raises:
        TypeError: something among them is no text.
    """
    several: Sequence[Any] = [value]
    if isinstance(value, Iterable) and not isinstance(value, str | BaseModel):
        several = [*value]
    for each in several:
        if not isinstance(each, str):
            raise TypeError(f"`{name}` holds {given(each)}; give a text, or a list of texts.")
    return several
