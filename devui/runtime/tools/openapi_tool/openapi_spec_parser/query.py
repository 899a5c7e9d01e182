"""How a query holds the values of a parameter: OpenAPI, "Style Values" (adk-runtime 8.9)."""

import json
from typing import Any

from pydantic_core import to_jsonable_python

from devui.runtime.tools.openapi_tool.openapi_spec_parser.operations import JSON_STYLE, Parameter

_DELIMITERS = {"form": ",", "spaceDelimited": " ", "pipeDelimited": "|"}


def query_pairs(parameter: Parameter, value: Any) -> list[tuple[str, str]]:
    """Names and texts, as the style of the parameter wants a list or an object to be written."""
    plain, name = to_jsonable_python(value), parameter.name
    if parameter.style == JSON_STYLE or not isinstance(plain, dict | list):
        return [(name, text(plain))]
    if isinstance(plain, list):
        if parameter.explode:
            return [(name, text(one)) for one in plain]
        return _joined(parameter, plain)
    told = {key: one for key, one in plain.items() if one is not None}
    if parameter.style == "deepObject":
        return _deep(name, told)
    if parameter.explode:
        return [(key, text(one)) for key, each in told.items() for one in many(each)]
    return _joined(parameter, [one for pair in told.items() for one in pair])


def text(value: Any) -> str:
    """A value where one text has to hold it: itself, or JSON."""
    if isinstance(value, str):
        return value
    return json.dumps(to_jsonable_python(value), ensure_ascii=False)


def many(value: Any) -> list[Any]:
    """What stands under one name: each item of a list by itself."""
    return value if isinstance(value, list) else [value]


def _joined(parameter: Parameter, items: list[Any]) -> list[tuple[str, str]]:
    """One text of all; nothing for nothing, since an empty text would be one empty item."""
    delimiter = _DELIMITERS.get(parameter.style, ",")
    told = [text(one) for one in items if one is not None]
    return [(parameter.name, delimiter.join(told))] if told else []


def _deep(name: str, value: Any) -> list[tuple[str, str]]:
    """`name[key]=...`; of objects in it `name[key][inner]=...`, as most services read it."""
    if not isinstance(value, dict):
        return [(name, text(one)) for one in many(value)]
    return [
        pair
        for key, each in value.items()
        if each is not None
        for pair in _deep(f"{name}[{key}]", each)
    ]
