"""Values of agent code as JSON text in wire form."""

import json
from collections.abc import Iterator
from typing import Any

from pydantic_core import to_json


def as_json(value: Any) -> str:
    """The value as JSON text; what JSON cannot hold is shown by its repr."""
    try:
        return to_json(
            unread(value),
            by_alias=True,
            exclude_none=True,
            bytes_mode="base64",
            inf_nan_mode="strings",
            serialize_unknown=True,
        ).decode()
    except ValueError:  # half a surrogate pair, a circle
        return json.dumps(repr(value))


def unread(value: Any) -> Any:
    """The value to be looked at: an iterator, or one in a dict, by its repr.

    Who reads an iterator uses it up, and the agent would find nothing in it.
    """
    if isinstance(value, Iterator):
        return repr(value)
    if isinstance(value, dict) and _with_iterators(value):
        return {key: unread(each) for key, each in dict.items(value)}
    return value


def read(result: Any) -> Any:
    """What an agent's code returned; lists in the place of iterators, to be read many times."""
    if isinstance(result, Iterator):
        return list(result)
    if isinstance(result, dict) and _with_iterators(result):
        return {key: read(each) for key, each in dict.items(result)}
    return result


def _with_iterators(value: dict[Any, Any]) -> bool:
    return any(isinstance(each, Iterator) for each in dict.values(value))
