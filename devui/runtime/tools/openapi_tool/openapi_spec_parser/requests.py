"""Builds an HTTP request from the arguments that a model wrote (adk-runtime 8.9)."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import quote

from pydantic_core import to_jsonable_python

from devui.runtime.tools.openapi_tool.openapi_spec_parser.operations import (
    JSON_STYLE,
    Operation,
    Parameter,
)

# Writes the values of parameters in a query: OpenAPI, "Style Values" (adk-runtime 8.9).


_DELIMITERS = {"form": ",", "spaceDelimited": " ", "pipeDelimited": "|"}


def query_pairs(parameter: Parameter, value: Any) -> list[tuple[str, str]]:
    """Return the names and texts for a value, in the parameter's style for lists and objects."""
    plain, name = to_jsonable_python(value), parameter.name
    if parameter.style == JSON_STYLE or not isinstance(plain, dict | list):
        return [(name, text(plain))]
    if isinstance(plain, list):
        if parameter.explode:
            return [(name, text(one)) for one in plain]
        return _join(parameter, plain)
    fields = {key: one for key, one in plain.items() if one is not None}
    if parameter.style == "deepObject":
        return _deep(name, fields)
    if parameter.explode:
        return [(key, text(one)) for key, each in fields.items() for one in many(each)]
    return _join(parameter, [one for pair in fields.items() for one in pair])


def text(value: Any) -> str:
    """Return a value as a single text: a string as it is, anything else as JSON."""
    if isinstance(value, str):
        return value
    return json.dumps(to_jsonable_python(value), ensure_ascii=False)


def many(value: Any) -> list[Any]:
    """Return the items of a list, or a list of the single value."""
    return value if isinstance(value, list) else [value]


def _join(parameter: Parameter, items: list[Any]) -> list[tuple[str, str]]:
    """Join the items to one text. No items give no pair: empty text would be an empty item."""
    delimiter = _DELIMITERS.get(parameter.style, ",")
    texts = [text(one) for one in items if one is not None]
    return [(parameter.name, delimiter.join(texts))] if texts else []


def _deep(name: str, value: Any) -> list[tuple[str, str]]:
    """Return `name[key]=...`, or `name[key][inner]=...` for nested objects, as is common."""
    if not isinstance(value, dict):
        return [(name, text(one)) for one in many(value)]
    return [
        pair
        for key, each in value.items()
        if each is not None
        for pair in _deep(f"{name}[{key}]", each)
    ]


# Writes values in paths and headers: OpenAPI, "Style Values", and RFC 6570 (adk-runtime 8.9).


_SLASH = re.compile(r"[/\\]")
_SIGNS = {"label": ".", "matrix": ";"}
"""The sign before a value, and between its items if they aren't joined by commas."""
_encode = partial(quote, safe="")


def segment(parameter: Parameter, value: Any) -> str:
    """Return the text for a parameter in the path.

    Raises ValueError, with words for the model, if that would be empty or lead to another path.
    """
    plain = to_jsonable_python(value)
    value_text = simple(parameter, plain)
    if not value_text:
        raise ValueError(f"{parameter.argument!r} cannot be empty: it stands in the path.")
    # A service may read an encoded slash as a slash, and then go up a folder.
    plain_text = _styled(parameter, plain, str)
    if not {".", ".."}.isdisjoint([*_SLASH.split(value_text), *_SLASH.split(plain_text)]):
        raise ValueError(
            f"{parameter.argument!r} stands in the path, so what is between its slashes or"
            " backslashes cannot be a single or a double dot."
        )
    return _styled(parameter, plain, _encode)


def simple(parameter: Parameter, value: Any) -> str:
    """Return a value as a single text: its items, or its names and values, separated by commas.

    This is the style `simple`, the default for paths and headers.
    """
    plain = to_jsonable_python(value)
    if parameter.style == JSON_STYLE:
        return text(plain)
    # A cookie can't contain another one, which is what separate fields would be.
    if isinstance(plain, dict) and parameter.explode and parameter.where != "cookie":
        return ",".join(f"{key}={_comma_list(one)}" for key, one in _pairs(plain))
    return _comma_list(plain)


def _styled(parameter: Parameter, plain: Any, encode: Callable[[str], str]) -> str:
    """Return the value in the style of its parameter; signs of the style aren't encoded."""
    sign = _SIGNS.get(parameter.style, "")
    prefix = f"{encode(parameter.name)}=" if parameter.style == "matrix" else ""
    if parameter.explode and isinstance(plain, dict):
        pairs = [f"{encode(key)}={encode(_comma_list(one))}" for key, one in _pairs(plain)]
        return sign + (sign or ",").join(pairs)
    if not sign:
        return encode(simple(parameter, plain))
    items = [encode(one) for one in _items(plain)]
    between = f"{sign}{prefix}" if parameter.explode else ","
    return sign + prefix + between.join(items)


def _comma_list(plain: Any) -> str:
    return ",".join(_items(plain))


def _items(plain: Any) -> list[str]:
    if isinstance(plain, dict):
        plain = [one for pair in _pairs(plain) for one in pair]
    if isinstance(plain, list):
        return [_comma_list(one) for one in plain if one is not None]
    return [text(plain)]


def _pairs(plain: dict[str, Any]) -> list[tuple[str, Any]]:
    return [(key, one) for key, one in plain.items() if one is not None]


_FORM = "application/x-www-form-urlencoded"
_MULTIPART = "multipart/form-data"


@dataclass(slots=True)
class Request:
    """A request to send."""

    method: str
    url: str
    query: list[tuple[str, str]] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    cookies: dict[str, str] = field(default_factory=dict)
    content: dict[str, Any] = field(default_factory=dict)
    """The body, as arguments of the HTTP client: json, data, files or content."""


def build(operation: Operation, args: dict[str, Any]) -> Request:
    """Return the request for these arguments; unknown ones are ignored.

    Raises ValueError, with words for the model, if arguments are missing, or would change the path
    or add a cookie.
    """
    if not operation.base_url.startswith(("http://", "https://")):
        raise ValueError(
            f"The description names no server with a full address (it says"
            f" {operation.base_url!r}), so {operation.name} cannot be called."
        )
    values = _values(operation, args)
    path = operation.path
    request = Request(operation.method, "")
    body: dict[str, Any] = {}
    schemas: dict[str, Any] = {}
    for parameter, value in values:
        match parameter.where:
            case "path":
                path = path.replace(f"{{{parameter.name}}}", segment(parameter, value))
            case "query":
                request.query += query_pairs(parameter, value)
            case "header":
                request.headers[parameter.name] = simple(parameter, value)
            case "cookie":
                request.cookies[parameter.name] = _cookie(parameter, value)
            case _:
                body[parameter.name], schemas[parameter.name] = value, parameter.schema
    request.url = operation.base_url + path
    if operation.media_type and (body or _has_empty_form(operation)):
        request.content = _content(operation.media_type, body.get("", body), schemas)
        if operation.media_type != _MULTIPART:  # the client chooses its boundary
            request.headers["Content-Type"] = operation.media_type
    return request


def _has_empty_form(operation: Operation) -> bool:
    """Whether a body without any of its fields still has content, such as `{}`."""
    media_type = operation.media_type or ""
    has_fields = any(one.where == "body" and one.name for one in operation.parameters)
    return has_fields and (_is_json(media_type) or media_type in (_FORM, _MULTIPART))


def _values(operation: Operation, args: dict[str, Any]) -> list[tuple[Parameter, Any]]:
    values = []
    missing = []
    for parameter in operation.parameters:
        if parameter.argument in args:
            values.append((parameter, _whole(args[parameter.argument], parameter.schema)))
        elif parameter.required and "default" in parameter.schema:
            values.append((parameter, parameter.schema["default"]))
        elif parameter.required:
            missing.append(parameter.argument)
    if missing:
        raise ValueError(
            f"{operation.name} was not called: it needs {', '.join(missing)}. Call it again with"
            " all mandatory arguments."
        )
    nullable_places = {"body"}  # where null is a value
    return [
        (one, value) for one, value in values if value is not None or one.where in nullable_places
    ]


def _whole(value: Any, schema: Any) -> Any:
    """Return the value with floats such as 3.0 converted to int where the schema has integers."""
    if not isinstance(schema, dict):  # True allows anything
        return value
    if isinstance(value, float) and value.is_integer() and "integer" in many(schema.get("type")):
        return int(value)
    if isinstance(value, list):
        return [_whole(item, schema.get("items")) for item in value]
    if isinstance(value, dict):
        fields = schema.get("properties") or {}
        return {key: _whole(item, fields.get(key)) for key, item in value.items()}
    return value


def _cookie(parameter: Parameter, value: Any) -> str:
    text = simple(parameter, value)
    if ";" in text:  # another cookie would start after it
        raise ValueError(f"{parameter.argument!r} is a cookie, so it cannot have a semicolon.")
    return text


def _content(media_type: str, body: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    plain = to_jsonable_python(body, serialize_unknown=True)
    if _is_json(media_type):
        return {"json": plain}
    if isinstance(plain, dict) and media_type == _FORM:
        return {"data": {key: [*map(text, many(value))] for key, value in plain.items()}}
    if isinstance(plain, dict) and media_type == _MULTIPART:
        return {
            "files": [
                (key, _part(key, text(one), schemas.get(key) or {}))
                for key, value in plain.items()
                for one in many(value)
            ]
        }
    return {"content": text(plain)}


def _is_json(media_type: str) -> bool:
    return media_type == "application/json" or media_type.endswith("+json")


def _part(name: str, text: str, schema: dict[str, Any]) -> tuple[str | None, ...]:
    """Return a part of a form: a file if the schema of the field, or of its items, says so."""
    schema = schema.get("items") or schema
    kind = schema.get("contentMediaType")
    if kind is None and schema.get("format") == "binary":
        kind = "application/octet-stream"
    return (None, text) if kind is None else (name, text, str(kind))
