"""Reads JSON from the arguments of commands."""

import json
import sys
from typing import Any

from devui.failures import BadRequestError


def json_object(what: str, text: str) -> dict[str, Any]:
    """Return the JSON object in `text`, or on standard input for `-`.

    Raises BadRequestError, with `what` as the name of the argument.
    """
    try:
        value = json.loads(sys.stdin.read() if text == "-" else text)
    except ValueError as error:
        raise BadRequestError(f"{what} is not valid JSON: {error}") from error
    if not isinstance(value, dict):
        raise BadRequestError(f'{what} must be a JSON object, such as {{"city": "Oslo"}}')
    return value
