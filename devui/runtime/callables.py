"""What functions, partials and objects that can be called are named, and say (adk-runtime 8.2)."""

import functools
import inspect
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from typing import Any

_OF_PARTIALS = functools.partial.__doc__
_OF_CALLS = type(len).__call__.__doc__
"""What Python says of partials, and of `__call__` of whatever has no words of its own."""


def unpartialled(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function that a partial, or several of them, calls."""
    *_, called = _chain(function)
    return called


def name_of(function: Callable[..., Any]) -> str | None:
    """The name of a function or a class, or one that a partial or an object was given.

    A partial without a name has that of what it calls (adk-runtime 8.2). None for an object that
    has none.
    """
    for each in _chain(function):
        try:
            if each.__name__:
                return str(each.__name__)
        except AttributeError:  # partials and objects that can be called
            continue
    return None


def doc_of(function: Callable[..., Any]) -> str:
    """The docstring, without its indentation; of a partial, its own or that of what it calls.

    Of an object, its own or that of its class, or else that of its `__call__`.
    """
    for each in _chain(function):
        said = _said(each)
        if said and each.__doc__ != _OF_PARTIALS:
            return said
    called = unpartialled(function)
    if inspect.isroutine(called) or inspect.isclass(called):
        return ""  # type(called).__call__ is Python's own then, and says nothing
    of_call = inspect.getdoc(type(called).__call__)
    return of_call if of_call and of_call != _OF_CALLS else ""


def annotated(called: Callable[..., Any]) -> Callable[..., Any]:
    """The function whose annotations hold for what is called, which is no partial.

    Of an object that `functools.update_wrapper` has made like a function, it is that function.
    """
    if inspect.isroutine(called) or inspect.isclass(called):
        return called
    wrapped = inspect.unwrap(called)
    return type(called).__call__ if wrapped is called else annotated(wrapped)


def _said(called: Callable[..., Any]) -> str:
    if inspect.isclass(called):
        return inspect.cleandoc(called.__doc__ or "")
    said = inspect.getdoc(called) or ""
    kind = type(called)
    if is_dataclass(kind) and said == f"{kind.__name__}{inspect.signature(kind)}".removesuffix(
        " -> None"
    ):
        return ""  # which Python has made of its fields
    return said


def _chain(function: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    """It, what it calls if it is a partial, and so on."""
    yield function
    while isinstance(function, functools.partial):
        function = function.func
        yield function
