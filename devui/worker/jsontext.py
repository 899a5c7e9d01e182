"""Values of agent code as JSON text in wire form."""

import json
from typing import Any

from pydantic_core import to_json

from devui.runtime.iterators import with_reprs


def as_json(value: Any) -> str:
    """The value as JSON text; what JSON cannot hold is shown by its repr."""
    try:
        return to_json(
            with_reprs(value),
            by_alias=True,
            exclude_none=True,
            bytes_mode="base64",
            inf_nan_mode="strings",
            serialize_unknown=True,
        ).decode()
    except ValueError:  # half a surrogate pair, a circle
        return json.dumps(repr(value))
