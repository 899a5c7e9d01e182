"""From the arguments a model wrote to an HTTP request (adk-runtime 8.9)."""

from dataclasses import dataclass, field
from typing import Any

from pydantic_core import to_jsonable_python

from devui.runtime.tools.openapi_tool.openapi_spec_parser.operations import Operation, Parameter
from devui.runtime.tools.openapi_tool.openapi_spec_parser.paths import segment, simple
from devui.runtime.tools.openapi_tool.openapi_spec_parser.query import many, query_pairs, text

_FORM = "application/x-www-form-urlencoded"
_MULTIPART = "multipart/form-data"


@dataclass(slots=True)
class Request:
    """What is sent."""

    method: str
    url: str
    query: list[tuple[str, str]] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    cookies: dict[str, str] = field(default_factory=dict)
    content: dict[str, Any] = field(default_factory=dict)
    """The body, as arguments of the HTTP client: json, data, files or content."""


def build(operation: Operation, args: dict[str, Any]) -> Request:
    """The request for these arguments; unknown ones are left out.

    Raises ValueError, with words for the model, for arguments that are missing, or that would
    change the path or add a cookie.
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
        if operation.media_type != _MULTIPART:  # whose boundary the client chooses
            request.headers["Content-Type"] = operation.media_type
    return request


def _has_empty_form(operation: Operation) -> bool:
    """Whether a body without any of its fields is something, such as `{}`, and not nothing."""
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
    kept = {"body"}  # where null is a value
    return [(one, value) for one, value in values if value is not None or one.where in kept]


def _whole(value: Any, schema: Any) -> Any:
    """The value with an int for each 3.0 where the schema says so, which models may write for 3."""
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
    if ";" in text:  # behind which another cookie would begin
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
    """A part of a form: a file if the schema of the field, or of its items, says so."""
    schema = schema.get("items") or schema
    kind = schema.get("contentMediaType")
    if kind is None and schema.get("format") == "binary":
        kind = "application/octet-stream"
    return (None, text) if kind is None else (name, text, str(kind))
