"""Compares positions and defaults of the runtime's parameters and fields with google-adk's."""

import inspect
import json
from collections.abc import Callable
from enum import Enum
from typing import Any

from tests.kit.adk_defaults import NONE, OTHER

REQUIRED = object()


def differs(line: str, find: Callable[[str], Any]) -> str | None:
    """Return the difference from a line of tests.kit.adk_defaults; `find` looks up a name."""
    name, place, default = line.split(" ", 2)
    owner, _, parameter = name.rstrip(")").rpartition("(" if "(" in name else ".")
    pair = _parameters(_find_owner(owner, find)).get(parameter)
    if pair is None:
        return None  # missing, or taken by **: reported elsewhere
    here, value = pair
    if place.isdigit() and here != int(place):
        return f"{name} is at {here}, there at {place}"
    if default == NONE or (default == OTHER and value is not REQUIRED):
        return None
    if value is REQUIRED or _as_json(value) != default:
        return f"{name} is {value!r} by default, there {default}"
    return None


def _find_owner(owner: str, find: Callable[[str], Any]) -> Any:
    """Return a class, a function, or a method of a class."""
    above, _, last = owner.rpartition(".")
    if above.rpartition(".")[2][:1].isupper():
        return inspect.getattr_static(find(above), last, None) and getattr(find(above), last)
    return find(owner)


def _parameters(owner: Any) -> dict[str, tuple[int | None, Any]]:
    """Return the position (None if keyword-only) and the default of each parameter."""
    if owner is None or isinstance(owner, property):
        return {}
    fields = {
        name: (None, _of_field(field)) for name, field in getattr(owner, "model_fields", {}).items()
    }
    function = owner.__init__ if inspect.isclass(owner) else owner
    try:
        parameters = [*inspect.signature(function).parameters.values()]
    except (TypeError, ValueError):
        return fields
    if parameters and parameters[0].name == "self":
        del parameters[0]
    positional = [each for each in parameters if each.kind is not each.KEYWORD_ONLY]
    return fields | {
        each.name: (
            positional.index(each) if each in positional else None,
            REQUIRED if each.default is each.empty else each.default,
        )
        for each in parameters
        if each.kind not in {each.VAR_KEYWORD, each.VAR_POSITIONAL}
    }


def _of_field(field: Any) -> Any:
    if "is_required" not in dir(field):  # of a dataclass
        return field.default
    if field.is_required():
        return REQUIRED
    return field.get_default(call_default_factory=True)


def _as_json(value: Any) -> str | None:
    value = value.value if isinstance(value, Enum) else value
    try:
        return json.dumps(value)
    except TypeError:
        return None
