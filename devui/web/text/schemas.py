"""Describes the types of a JSON Schema: as Python annotations, and as values to fill in.

It reads both kinds of schemas: JSON Schema as pydantic generates it, with references, and that of
tool declarations (`OBJECT`, `nullable`).
"""

import json
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, Final, TypeAlias

from devui.wire.events import fields_in

Schema: TypeAlias = Mapping[str, Any]

_PYTHON: Final = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "array": "list",
    "object": "dict",
}
_SHAPES: Final = {**_PYTHON, "number": "number"}  # fields accept 3 as well as 3.0
_MOST: Final = 8
"""The maximum number of options or members to list."""
_DEEPEST: Final = 3


def resolved(schema: Schema, root: Schema) -> tuple[Schema, bool]:
    """Return the schema without references and null, and whether it allowed null."""
    definitions, visited, nullable = fields_in(root.get("$defs")), set[str](), False
    while True:
        nullable = nullable or schema.get("nullable") is True
        if (name := _reference(schema)) and name not in visited:  # a definition may refer to itself
            visited.add(name)
            inner, left_out = fields_in(definitions.get(name)), {"$ref"}
        else:
            options = _options(schema)
            others = [each for each in options if each.get("type") != "null"]
            nullable = nullable or len(others) < len(options)
            if len(others) != 1:
                break
            inner, left_out = others[0], {"anyOf", "oneOf"}
        schema = {**inner, **{k: v for k, v in schema.items() if k not in left_out}}
    if isinstance(schema.get("type"), list):
        types = [each for each in schema["type"] if each != "null"]
        nullable = nullable or "null" in schema["type"]
        schema = {**schema, "type": types[0] if len(types) == 1 else None}
    return schema, nullable


def type_in(schema: Schema) -> str:
    """Return `string`, `array`, …; "" if the schema has no type, or several."""
    return str(schema.get("type") or "").lower()


def signature(schema: Schema, returns: str) -> str:
    """Return `(city: str, nights: int = 1) -> dict`."""
    required = schema.get("required") or ()
    members = fields_in(schema.get("properties")).items()
    parameters = (
        f"{name}: {_annotation(fields_in(each), schema)}"
        + ("" if name in required else f" = {_literal(fields_in(each).get('default'))}")
        for name, each in members
    )
    return f"({', '.join(parameters)})" + (f" -> {returns}" if returns else "")


def _literal(value: Any) -> str:
    """Return a JSON value as a Python literal."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, Mapping):
        members = (f"{_literal(name)}: {_literal(each)}" for name, each in value.items())
        return f"{{{', '.join(members)}}}"
    return repr(value)


def _annotation(schema: Schema, root: Schema, depth: int = 0) -> str:
    if depth > _DEEPEST:  # a type may contain itself
        return "…"
    plain, nullable = resolved(schema, root)
    return _or_none(_plain_annotation(schema, plain, root, depth + 1), nullable=nullable)


def _plain_annotation(schema: Schema, plain: Schema, root: Schema, depth: int) -> str:
    if isinstance(plain.get("enum"), list):
        return _first(map(_literal, plain["enum"]), " | ")
    if options := [each for each in _options(plain) if each.get("type") != "null"]:
        return _first((_annotation(each, root, depth) for each in options), " | ")
    names = filter(None, map(_reference, (schema, *_options(schema))))
    if plain.get("properties") and (name := next(names, "")):
        return name
    if type_in(plain) == "array" and plain.get("items"):
        return f"list[{_annotation(fields_in(plain['items']), root, depth)}]"
    if type_in(plain) == "object" and fields_in(plain.get("additionalProperties")):
        return f"dict[str, {_annotation(plain['additionalProperties'], root, depth)}]"
    return _PYTHON.get(type_in(plain), "Any")


def shape(schema: Schema, root: Schema, depth: int = 0) -> str:
    """Return `list of {origin, mode: train | plane, seats: int}`; "" if any value is allowed."""
    plain, nullable = resolved(schema, root)
    words = _plain_shape(plain, root, depth)
    return _or_none(words, nullable=nullable and bool(words))


def _plain_shape(schema: Schema, root: Schema, depth: int) -> str:
    if isinstance(schema.get("enum"), list):
        return _first(map(str, schema["enum"]), " | ")
    options = [each for each in _options(schema) if each.get("type") != "null"]
    if options and depth < _DEEPEST:
        shapes = [shape(each, root, depth + 1) for each in options[: _MOST + 1]]
        return _first(shapes, " | ") if all(shapes) else ""
    kind = type_in(schema)
    if kind == "array" and depth < _DEEPEST:
        items = shape(fields_in(schema.get("items")), root, depth + 1)
        return f"list of {items}" if items else "list"
    if kind == "object" and schema.get("properties"):
        if depth >= _DEEPEST:
            return "{…}"
        members = (
            (str(name), shape(fields_in(each), root, depth + 1))
            for name, each in fields_in(schema["properties"]).items()
        )
        texts = (
            f"{name}: {words}" if words not in {"", "str"} else name for name, words in members
        )
        return f"{{{_first(texts, ', ')}}}"
    return _SHAPES.get(kind, "")


def _first(texts: Iterable[str], between: str) -> str:
    first = list(islice(texts, _MOST + 1))  # a type that contains itself has many
    return between.join(first[:_MOST]) + (f"{between}…" if len(first) > _MOST else "")


def _or_none(words: str, *, nullable: bool) -> str:
    return f"{words} | None" if nullable and not words.endswith("| None") else words


def _reference(schema: Schema) -> str:
    return str(schema.get("$ref") or "").rpartition("/")[2]


def _options(schema: Schema) -> list[Schema]:
    options = schema.get("anyOf") or schema.get("oneOf")
    return [fields_in(each) for each in options] if isinstance(options, list) else []
