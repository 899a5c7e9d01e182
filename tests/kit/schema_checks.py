"""Checks real answers against docs/guide/openapi.json, down to the last member."""

import json
import re
from typing import Any

import httpx2

from tests.kit.api_files import DOCUMENT as FILE

DOCUMENT = json.loads(FILE.read_text(encoding="utf-8"))
SCHEMAS = DOCUMENT["components"]["schemas"]
TYPES = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
    "array": list,
    "object": dict,
}
_ROUTES = [
    (re.compile(re.sub(r"\{\w+\}", "[^/]+", path)), path, methods)
    for path, methods in DOCUMENT["paths"].items()
]


def check(value: Any, schema: dict[str, Any]) -> None:
    """Check that a value has its schema's types, all required members, and no unknown ones."""
    if "$ref" in schema:
        schema = SCHEMAS[schema["$ref"].rpartition("/")[2]]
    if "discriminator" in schema:
        check(value, {"$ref": schema["discriminator"]["mapping"][value["type"]]})
    if "anyOf" in schema:
        assert any(fits(value, each) for each in schema["anyOf"]), (value, schema)
    if "type" in schema:
        assert isinstance(value, TYPES[schema["type"]]), (value, schema)
        assert schema["type"] == "boolean" or not isinstance(value, bool), (value, schema)
    if "properties" in schema:
        names = schema["properties"].keys()
        assert set(schema.get("required", ())) <= value.keys() <= names, (value, schema)
        for name, each in value.items():
            check(each, schema["properties"][name])
    if "items" in schema:
        for each in value:
            check(each, schema["items"])
    assert value in schema.get("enum", [value]), schema
    assert value == schema.get("const", value), schema


def fits(value: Any, schema: dict[str, Any]) -> bool:
    try:
        check(value, schema)
    except AssertionError:
        return False
    return True


def check_answer(method: str, address: str, answer: httpx2.Response) -> tuple[str, str] | None:
    """Check a successful answer against its route's schema; return the route's method and path.

    For any other answer, return None.
    """
    if not answer.is_success:
        return None
    path, operation = next(
        (path, methods[method.lower()])
        for pattern, path, methods in _ROUTES
        if pattern.fullmatch(address.partition("?")[0]) and method.lower() in methods
    )
    content = operation["responses"][str(answer.status_code)].get("content", {})
    for media, each in content.items():
        for value in _values(answer, media):
            check(value, each["schema"])
    return method, path


def _values(answer: httpx2.Response, media: str) -> list[Any]:
    if media == "text/event-stream":
        return [json.loads(line[6:]) for line in answer.text.splitlines() if line[:1] == "d"]
    return [answer.json() if media == "application/json" else answer.text]
