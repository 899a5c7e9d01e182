"""Which name was probably meant where a wrong one stands (devui's own)."""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from types import FrameType, ModuleType
from typing import Any

from pydantic import BaseModel

_FEW = 12
"""So many names are told, if none of them is close."""
_KEYWORD = re.compile(r"([\w.<>]+)\(\) got an unexpected keyword argument '(\w+)'")
_ATTRIBUTE = re.compile(r"""["'](\w+)["'] object has no (?:field|attribute) ["'](\w+)["']""")
"""What pydantic says of attributes that a model does not have."""


def near(name: str, known: Iterable[str]) -> str:
    """`; did you mean ...?` if one of the known names is close, else a full stop.

    A name is close that is spelt nearly so, or the only one that has all words of the wrong one.
    """
    names = [*known]
    [best] = get_close_matches(name, names, n=1, cutoff=0.75) or [""]
    if not best:
        words = set(name.split("_"))
        longer = [each for each in names if words < set(each.split("_"))]
        best = longer[0] if len(longer) == 1 else ""
    return f"; did you mean `{best}`?" if best else "."


def near_field(model: str, path: Sequence[str], name: str) -> str:
    """What `near` says of a field that a model does not have; or else which fields there are.

    Args:
        model: The name of the model's class.
        path: The names of the fields that lead from there to a model inside of it.
        name: The field, as Python code writes it.
    """
    for owner in _models(model):
        fields = _fields(owner, path)
        if fields:
            return _near_or_all(name, fields, "It has")
    return "."


def near_attribute(error: AttributeError | ValueError, text: str) -> str:
    """Which attribute was meant that an object does not have, in a sentence; empty if unknown."""
    if isinstance(error, AttributeError) and error.name and " has no attribute " in text:
        return _near_own(error.obj, error.name)
    found = _ATTRIBUTE.fullmatch(text)
    if found is None:
        return ""
    fields = {field for model in _models(found[1]) for field in model.model_fields}
    return _told(found[1], found[2], fields)


def near_parameter(error: TypeError, text: str) -> str:
    """Which parameter was meant that a function does not take, in a sentence; empty if unknown."""
    found = _KEYWORD.match(text)
    if found is None or error.__traceback__ is None:
        return ""
    frame = [*_frames(error)][-1]
    function = _called(frame, found[1].split("."))
    if function is None:
        return ""
    try:
        takes = inspect.signature(function).parameters
    except (TypeError, ValueError):  # built-ins without a signature
        return ""
    names = [name for name in takes if name != "self"]
    told = _near_or_all(found[2], names, "It takes")
    return "" if told == "." else f"It has no parameter `{found[2]}`{told}"


def _near_own(owner: Any, name: str) -> str:
    if owner is None:
        return ""  # what None does not have is no misspelt name
    called = owner.__name__ if isinstance(owner, type | ModuleType) else type(owner).__name__
    return _told(called, name, {each for each in dir(owner) if not each.startswith("_")})


def _told(owner: str, name: str, known: set[str]) -> str:
    close = near(name, sorted(known))
    return "" if close == "." else f"{owner} has no `{name}`{close}"


def _near_or_all(name: str, known: Sequence[str], verb: str) -> str:
    close = near(name, known)
    if close == "." and 0 < len(known) <= _FEW:
        return f". {verb} {', '.join(f'`{each}`' for each in known)}."
    return close


def _models(name: str) -> Iterator[type[BaseModel]]:
    """The models of that name, as an error of pydantic tells the class by its name alone."""
    left, seen = [BaseModel], {BaseModel}
    while left:
        model = left.pop()
        if model.__name__ == name:
            yield model
        new = [each for each in model.__subclasses__() if each not in seen]
        seen.update(new)
        left.extend(new)


def _fields(model: type[BaseModel], path: Sequence[str]) -> list[str]:
    for name in path:
        field = model.model_fields.get(name)
        if field is None or not inspect.isclass(field.annotation):
            return []
        if not issubclass(field.annotation, BaseModel):
            return []
        model = field.annotation
    return [*model.model_fields]


def _frames(error: BaseException) -> Iterator[FrameType]:
    trace = error.__traceback__
    while trace is not None:
        yield trace.tb_frame
        trace = trace.tb_next


def _called(frame: FrameType, path: list[str]) -> Callable[..., Any] | None:
    """The function of that qualified name that was called there; None if it is not found."""
    known = {**frame.f_globals, **frame.f_locals}
    *owners, name = path
    if not owners or owners[-1] == "<locals>":
        found = known.get(name)
        return found if callable(found) else None
    owner = known.get(owners[-1])
    if not isinstance(owner, type):
        kinds = (type(value) for value in frame.f_locals.values())
        owner = next((kind for kind in kinds if kind.__name__ == owners[-1]), None)
    if owner is None or name == "__init__":
        return owner
    for kind in owner.__mro__:
        if name in vars(kind):
            function = vars(kind)[name]
            return function if callable(function) else None
    return None
