"""The types of a JSON Schema in a few words: as Python writes them, and as what to fill in.

Both ways of writing a schema are read: JSON Schema as pydantic makes it, with references, and the
one of declarations of tools (`OBJECT`, `nullable`).
"""

import json
from collections.abc import Iterable, Mapping
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
_SHAPES: Final = {**_PYTHON, "number": "number"}  # a field takes 3 as well as 3.0
_MOST: Final = 8
"""Options or members that are named."""
_DEEPEST: Final = 3


def resolved(schema: Schema, root: Schema) -> tuple[Schema, bool]:
    """Without references and without null, and whether null was among what may be."""
    nullable = schema.get("nullable") is True
    if reference := _reference(schema):
        target = fields_in(fields_in(root.get("$defs")).get(reference))
        return {**target, **{k: v for k, v in schema.items() if k != "$ref"}}, nullable
    options = _options(schema)
    others = [each for each in options if each.get("type") != "null"]
    if len(others) == 1:
        inner, deeper = resolved(others[0], root)
        outer = {k: v for k, v in schema.items() if k not in {"anyOf", "oneOf"}}
        return {**inner, **outer}, nullable or deeper or len(others) < len(options)
    if isinstance(schema.get("type"), list):
        types = [each for each in schema["type"] if each != "null"]
        one = {"type": types[0]} if len(types) == 1 else {"type": None}
        return {**schema, **one}, nullable or "null" in schema["type"]
    return schema, nullable


def type_in(schema: Schema) -> str:
    """`string`, `array`, …; "" if it names none, or several."""
    return str(schema.get("type") or "").lower()


def signature(schema: Schema, returns: str) -> str:
    """`(city: str, nights: int = 1) -> dict`."""
    required = schema.get("required") or ()
    members = fields_in(schema.get("properties")).items()
    parameters = (
        f"{name}: {_annotation(fields_in(each), schema)}"
        + ("" if name in required else f" = {_default(fields_in(each))}")
        for name, each in members
    )
    return f"({', '.join(parameters)})" + (f" -> {returns}" if returns else "")


def _default(schema: Schema) -> str:
    """As Python writes it: the default itself isn't declared where it is null."""
    value = schema.get("default")
    if value is None or isinstance(value, bool):
        return str(value)
    return json.dumps(value, ensure_ascii=False)


def _annotation(schema: Schema, root: Schema, depth: int = 0) -> str:
    if depth > _DEEPEST:  # a type may contain itself
        return "…"
    plain, nullable = resolved(schema, root)
    return _or_none(_plain_annotation(schema, plain, root, depth + 1), nullable=nullable)


def _plain_annotation(schema: Schema, plain: Schema, root: Schema, depth: int) -> str:
    if isinstance(plain.get("enum"), list):
        return _first(map(json.dumps, plain["enum"]), " | ")
    options = [each for each in _options(schema) if each.get("type") != "null"]
    if len(options) > 1:
        return _first((_annotation(each, root, depth) for each in options), " | ")
    named = _reference(options[0] if options else schema)
    if named and plain.get("properties"):
        return named
    if type_in(plain) == "array" and plain.get("items"):
        return f"list[{_annotation(fields_in(plain['items']), root, depth)}]"
    if type_in(plain) == "object" and fields_in(plain.get("additionalProperties")):
        return f"dict[str, {_annotation(plain['additionalProperties'], root, depth)}]"
    return _PYTHON.get(type_in(plain), "Any")


def shape(schema: Schema, root: Schema, depth: int = 0) -> str:
    """`list of {origin, mode: train | plane, seats: int}`; "" for what may be anything."""
    plain, nullable = resolved(schema, root)
    words = _plain_shape(plain, root, depth)
    return _or_none(words, nullable=nullable and bool(words))


def _plain_shape(schema: Schema, root: Schema, depth: int) -> str:
    if isinstance(schema.get("enum"), list):
        return _first(map(str, schema["enum"]), " | ")
    if (options := _options(schema)) and depth < _DEEPEST:
        shapes = [shape(each, root, depth + 1) for each in options if each.get("type") != "null"]
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
    first = list(texts)
    return between.join(first[:_MOST]) + (f"{between}…" if len(first) > _MOST else "")


def _or_none(words: str, *, nullable: bool) -> str:
    return f"{words} | None" if nullable else words


def _reference(schema: Schema) -> str:
    return str(schema.get("$ref") or "").rpartition("/")[2]


def _options(schema: Schema) -> list[Schema]:
    options = schema.get("anyOf") or schema.get("oneOf")
    return [fields_in(each) for each in options] if isinstance(options, list) else []
