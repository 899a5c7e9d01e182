"""Arguments that are texts, or yes and no, checked (devui's own)."""

from collections.abc import Sequence
from typing import Any

from devui.runtime.mistakes import given


def yes_or_no(name: str, value: bool) -> bool:
    """The value, if it says one of them: the text "no" would mean yes.

    Raises:
        TypeError: it is something else.
    """
    if not isinstance(value, bool):
        raise TypeError(f"`{name}` is {given(value)}; give True or False.")
    return value


def texts(name: str, value: object) -> Sequence[str]:
    """The texts, or the only one in a list.

    Raises:
        TypeError: something among them is no text.
    """
    several: Sequence[Any] = value if isinstance(value, list | tuple) else [value]
    for each in several:
        if not isinstance(each, str):
            raise TypeError(f"`{name}` holds {given(each)}; give a text, or a list of texts.")
    return several
