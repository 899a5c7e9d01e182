"""How mistakes in agents' code are told: what was given, and where (devui's own)."""

import inspect
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any


def given(value: object) -> str:
    """A value and its type, short enough for a message."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if inspect.isroutine(value):
        return f"the function {place(value)}"
    shown = repr(value)
    kind = type(value).__name__
    return f"{shown if len(shown) <= 80 else shown[:77] + '...'} ({kind})"


def place(function: Any) -> str:
    """The name of a function, method or class, and `file:line` of its definition if known."""
    try:
        name = str(function.__name__)
    except AttributeError:  # partials and objects that can be called
        name = type(function).__name__
    try:
        file = inspect.getsourcefile(inspect.unwrap(function))
        _, line = inspect.findsource(function)
    except (TypeError, OSError):  # built-ins, partials and what was made without a file
        return name
    return f"{name} ({file}:{line + 1})"


def raised_together(error: BaseException) -> Iterator[BaseException]:
    """The exceptions of a group, those of groups in it too; any other one by itself."""
    if not isinstance(error, BaseExceptionGroup):
        yield error
        return
    for member in error.exceptions:
        yield from raised_together(member)


def near(name: str, known: Iterable[str]) -> str:
    """`; did you mean ...?` if one of the known names is close, else nothing."""
    [best] = get_close_matches(name, known, n=1, cutoff=0.75) or [""]
    return f"; did you mean `{best}`?" if best else "."


def check_takes(function: Any, count: int, what: str, role: str) -> None:
    """Refuse a function that cannot be called with so many arguments.

    Args:
        function: What is to be called.
        count: With how many arguments.
        what: What they are, as in "a ReadonlyContext".
        role: What the function stands for.

    Raises:
        TypeError: it does not take them.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # built-ins without a signature
        return
    try:
        signature.bind(*range(count))
    except TypeError:
        raise TypeError(
            f"{place(function)}, {role}, takes {signature}, but is called with {what}. Give it"
            " that parameter."
        ) from None


def refuse_unknown(owner: str, values: Any, known: Mapping[str, Any]) -> None:
    """Refuse arguments that a class does not have, and say which one may be meant.

    Args:
        owner: The name of the class.
        values: The arguments by name; anything else is left to the class.
        known: Its fields by name; each may have an `alias`.

    Raises:
        ValueError: there is such an argument.
    """
    if not isinstance(values, dict):
        return
    names = {*known, *(field.alias for field in known.values() if field.alias)}
    for name in values:
        if name not in names:
            raise ValueError(f"{owner} has no `{name}`{near(str(name), sorted(names))}")
