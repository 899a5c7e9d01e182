"""How paths and headers hold values: OpenAPI, "Style Values", and RFC 6570 (adk-runtime 8.9)."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import quote

from pydantic_core import to_jsonable_python

from devui.runtime.tools.openapi_tool.openapi_spec_parser.operations import JSON_STYLE, Parameter
from devui.runtime.tools.openapi_tool.openapi_spec_parser.query import text

_SLASH = re.compile(r"[/\\]")
_SIGNS = {"label": ".", "matrix": ";"}
"""What stands before a value, and between its pieces if they are not joined."""
_encoded = partial(quote, safe="")


def segment(parameter: Parameter, value: Any) -> str:
    """What stands for a parameter in the path.

    Raises ValueError, with words for the model, if there would be nothing, or if it would lead to
    another path.
    """
    plain = to_jsonable_python(value)
    said = simple(parameter, plain)
    if not said:
        raise ValueError(f"{parameter.argument!r} cannot be empty: it stands in the path.")
    # A service may read an encoded slash as a slash, and then go up.
    written = _styled(parameter, plain, str)
    if not {".", ".."}.isdisjoint([*_SLASH.split(said), *_SLASH.split(written)]):
        raise ValueError(
            f"{parameter.argument!r} stands in the path, so what is between its slashes or"
            " backslashes cannot be a single or a double dot."
        )
    return _styled(parameter, plain, _encoded)


def simple(parameter: Parameter, value: Any) -> str:
    """A value where one text has to hold it: items, or names and values, with commas between.

    This is the style `simple`, which is what paths and headers have by default.
    """
    plain = to_jsonable_python(value)
    if parameter.style == JSON_STYLE:
        return text(plain)
    # One cookie holds no other, which is what fields by themselves would be there.
    if isinstance(plain, dict) and parameter.explode and parameter.where != "cookie":
        return ",".join(f"{key}={_listed(one)}" for key, one in _told(plain))
    return _listed(plain)


def _styled(parameter: Parameter, plain: Any, encoded: Callable[[str], str]) -> str:
    """The value in the style of its parameter; signs of the style are not encoded."""
    sign = _SIGNS.get(parameter.style, "")
    named = f"{encoded(parameter.name)}=" if parameter.style == "matrix" else ""
    if parameter.explode and isinstance(plain, dict):
        pairs = [f"{encoded(key)}={encoded(_listed(one))}" for key, one in _told(plain)]
        return sign + (sign or ",").join(pairs)
    if not sign:
        return encoded(simple(parameter, plain))
    items = [encoded(one) for one in _items(plain)]
    between = f"{sign}{named}" if parameter.explode else ","
    return sign + named + between.join(items)


def _listed(plain: Any) -> str:
    return ",".join(_items(plain))


def _items(plain: Any) -> list[str]:
    if isinstance(plain, dict):
        plain = [one for pair in _told(plain) for one in pair]
    if isinstance(plain, list):
        return [_listed(one) for one in plain if one is not None]
    return [text(plain)]


def _told(plain: dict[str, Any]) -> list[tuple[str, Any]]:
    return [(key, one) for key, one in plain.items() if one is not None]
