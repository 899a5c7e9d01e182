"""Values of agents' code in JSON's types, whatever they are (devui's own)."""

from collections.abc import Mapping
from typing import Any

from pydantic_core import to_jsonable_python


def jsonable(value: Any, **how: Any) -> Any:
    """The value in JSON's types, with its repr for what has no form in JSON.

    Of what holds itself or is nested too deeply the repr is all that is left; the other entries
    of a dict stay as they are.

    Args:
        value: What is to be kept.
        how: Settings of pydantic's `to_jsonable_python`.
    """
    try:
        return to_jsonable_python(value, serialize_unknown=True, **how)
    except ValueError:
        if not isinstance(value, Mapping):
            return _shown(value, how)
    return {str(key): _shown(each, how) for key, each in value.items()}


def _shown(value: Any, how: dict[str, Any]) -> Any:
    try:
        return to_jsonable_python(value, serialize_unknown=True, **how)
    except ValueError:
        return _repr(value)


def _repr(value: object) -> str:
    try:
        return repr(value)
    except RecursionError:
        return f"<{type(value).__name__} that is nested too deeply>"
