"""Forms made from a JSON Schema, and the values of their fields.

The members of nested objects are fields of the same form; lists, and members without a schema, are
JSON in a field.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias

from devui.web.errors import BadRequest
from devui.web.panels.questions.parts import FieldKind, QuestionField
from devui.web.security.intake import parse_typed
from devui.web.text.deceptive_characters import visible
from devui.web.text.schemas import resolved, shape, type_in
from devui.wire.events import fields_in

Fields: TypeAlias = Mapping[str, str]

_KINDS: Final[Mapping[str, FieldKind]] = {
    "string": "text",
    "integer": "whole",
    "number": "number",
    "boolean": "boolean",
}
_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}
_LONG: Final = 80
"""Characters above which a text gets several lines."""
_DEEPEST: Final = 4
_MEMBERS: Final = 30
"""Maximum members of an object that is edited by fields, for objects without a schema."""


class WrongFields(ValueError):
    """The values of fields don't fit the schema; `errors` has a sentence per field name."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        super().__init__("; ".join(errors.values()))
        self.errors = errors


class SchemaForm:
    """The form of an object's schema; its fields are named `at.name`, `at.name.inner`.

    Labels are titles, for people whom an agent asks. With `is_code`, they are names with their
    types, for readers of the code: a tool's parameters, a result.
    """

    def __init__(self, schema: Mapping[str, Any], at: str, *, is_code: bool = False) -> None:
        self._root = schema
        self._at = at
        self._is_code = is_code

    def fields(self, values: Mapping[str, Any] | None = None) -> tuple[QuestionField, ...]:
        """Return the fields to fill in, with these values only, or with the defaults if None."""
        return tuple(self._inputs(self._root, values, self._at, "", must=True, depth=0))

    def read(self, entries: Fields) -> dict[str, Any]:
        """Return the values of the fields. Raises WrongFields."""
        errors: dict[str, str] = {}
        value = self._object(self._root, entries, self._at, errors, depth=0)
        if errors:
            raise WrongFields(errors)
        return value

    def _inputs(
        self,
        schema: Mapping[str, Any],
        values: Mapping[str, Any] | None,
        at: str,
        above: str,
        *,
        must: bool,
        depth: int,
    ) -> Iterator[QuestionField]:
        for name, plain, required, nullable in self._members(schema):
            label = f"{above}{self._label(name, plain)}"
            has_value = values is not None and name in values
            left_out = plain.get("default")
            value = left_out if values is None else values.get(name)
            if _is_open(plain, value, depth):
                inner = value if isinstance(value, Mapping) else None if values is None else {}
                yield from self._inputs(
                    plain,
                    inner,
                    f"{at}.{name}",
                    f"{label}." if self._is_code else f"{label} · ",
                    must=must and required,
                    depth=depth + 1,
                )
                continue
            words = shape(plain, self._root) if self._is_code else None
            field = _field(
                f"{at}.{name}", plain, visible(label), value, is_null=nullable, words=words
            )
            if field.kind == "boolean" and values is not None and not (has_value or required):
                field = replace(field, kind="choice", options=("", "true", "false"))
            if values is not None and not (has_value or required or left_out is None):
                hint = f"{field.hint} (default: {json.dumps(left_out, ensure_ascii=False)})"
                field = replace(field, hint=visible(hint.strip()))
            has_to = must and required and not nullable and field.kind != "boolean"
            yield replace(field, required=has_to)

    def _label(self, name: str, schema: Mapping[str, Any]) -> str:
        return name if self._is_code else str(schema.get("title") or name)

    def _object(
        self,
        schema: Mapping[str, Any],
        entries: Fields,
        at: str,
        errors: dict[str, str],
        depth: int,
    ) -> dict[str, Any]:
        value: dict[str, Any] = {}
        for name, plain, required, nullable in self._members(schema):
            place = f"{at}.{name}"
            if type_in(plain) == "object" and plain.get("properties") and place not in entries:
                if required or any(
                    entries[each] for each in entries if each.startswith(f"{place}.")
                ):
                    value[name] = self._object(plain, entries, place, errors, depth + 1)
                continue
            try:
                member = _field_value(
                    plain, entries.get(place), required=required, nullable=nullable
                )
            except ValueError as error:
                errors[place] = f"{self._label(name, plain)}: {error}"
                continue
            if member is not _NOTHING:
                value[name] = member
        return value

    def _members(
        self, schema: Mapping[str, Any]
    ) -> Iterator[tuple[str, Mapping[str, Any], bool, bool]]:
        """Yield name, schema, whether the member is required, and whether it may be null."""
        required = schema.get("required") or ()
        for name, one in fields_in(schema.get("properties")).items():
            plain, nullable = resolved(fields_in(one), self._root)
            yield str(name), plain, name in required, nullable


def schema_of(value: Any, depth: int = 0) -> dict[str, Any] | None:
    """Return a schema for values like this object, so that it is edited by fields of its types.

    None if it isn't an object with members, is too large or too deep for fields, or has a member
    with a dot in its name, which separates the names in the fields' own.
    """
    if not isinstance(value, Mapping) or not 0 < len(value) <= _MEMBERS or depth >= _DEEPEST:
        return None
    properties: dict[str, Any] = {}
    for name, member in value.items():
        if "." in name:
            return None
        alone = {"type": _type_of(member), "nullable": member is None}
        properties[name] = schema_of(member, depth + 1) or alone
    return {"type": "object", "properties": properties, "required": list(properties)}


def _type_of(value: Any) -> str | None:
    match value:
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case Mapping():
            return "object"
        case _:
            return None


def filled_again(field: QuestionField, entries: Fields, errors: Mapping[str, str]) -> QuestionField:
    """Return the field with the value that was filled in, and the error in it."""
    value = entries.get(field.name, field.value)
    if field.kind == "boolean":
        value = "true" if field.name in entries else "false"
    return replace(field, value=value, error=errors.get(field.name, ""))


def _is_open(schema: Mapping[str, Any], value: Any, depth: int) -> bool:
    """Return whether an object's members are fields of their own, not one field with JSON."""
    is_shown = type_in(schema) == "object" and bool(schema.get("properties")) and depth < _DEEPEST
    return is_shown and (value is None or isinstance(value, Mapping))


def _field(
    name: str,
    schema: Mapping[str, Any],
    label: str,
    value: Any,
    *,
    is_null: bool,
    words: str | None,
) -> QuestionField:
    """Return the field; `words` is the type to show beside its label, if any."""
    options = schema.get("enum")
    kind: FieldKind = _KINDS.get(type_in(schema), "json")
    if isinstance(value, bool | list | Mapping) and kind != "boolean":
        kind = "json"
    text = (
        ""
        if value is None
        else value
        if isinstance(value, str)
        else json.dumps(value, ensure_ascii=False)
    )
    if kind == "json" and isinstance(value, str):
        text = json.dumps(value, ensure_ascii=False)
    if isinstance(options, list):
        kind = "choice"
    elif kind == "text" and (len(text) > _LONG or "\n" in text):
        kind = "long"
    is_noted = kind == "json" and type_in(schema) in _WRITTEN and words is None
    notes = [_WRITTEN[type_in(schema)]] if is_noted else []
    notes += ["empty: null"] if is_null else []
    about = [str(schema.get("description") or ""), f"({'; '.join(notes)})" if notes else ""]
    return QuestionField(
        name=name,
        label=label,
        kind=kind,
        value=text if kind != "json" else text[:_MOST],
        options=_options(options) if isinstance(options, list) else (),
        hint=visible(" ".join(filter(None, about))),
        type="" if words is None else visible(f"JSON {words}".strip() if kind == "json" else words),
    )


_MOST: Final = 50_000
_WRITTEN: Final[Mapping[str, str]] = {"array": "JSON list", "object": "JSON object"}
"""The format of values without a kind of field of their own, for forms that show no types."""


def _options(options: Sequence[Any]) -> tuple[str, ...]:
    return tuple(map(str, options))


_NOTHING: Final = object()


def _field_value(
    schema: Mapping[str, Any], text: str | None, *, required: bool, nullable: bool
) -> Any:
    """Return the value of one field, or `_NOTHING`. Raises ValueError with the reason."""
    kind = type_in(schema)
    if kind == "boolean" and text in {None, "on", "true", "false"}:
        return text in {"on", "true"}
    if not text:
        return _blank(kind, text, required=required, nullable=nullable)
    value = _parse(schema, kind, text)
    check(schema, value)
    return value


def _blank(kind: str, text: str | None, *, required: bool, nullable: bool) -> Any:
    if not required:
        return _NOTHING
    if nullable:
        return None
    if kind == "string" and text is not None:
        return ""
    raise ValueError("required")


def _parse(schema: Mapping[str, Any], kind: str, text: str) -> Any:
    options = schema.get("enum")
    if isinstance(options, list):
        matches = [one for one in options if str(one) == text]
        if not matches:
            raise ValueError(f"choose one of {', '.join(map(str, options))}")
        return matches[0]
    if kind == "string":
        return text
    try:
        return parse_typed(text)
    except BadRequest as error:
        raise ValueError(str(error)) from error


def check(schema: Mapping[str, Any], value: Any) -> None:
    """Raise ValueError if the value isn't of the schema's type, or is out of its bounds."""
    expected_type = _TYPES.get(type_in(schema))
    is_bool = isinstance(value, bool) and type_in(schema) != "boolean"
    if expected_type is not None and (is_bool or not isinstance(value, expected_type)):
        raise ValueError(_WORDS[type_in(schema)])
    size = value if isinstance(value, int | float) else None
    low, high = schema.get("minimum"), schema.get("maximum")
    if size is not None and isinstance(low, int | float) and size < low:
        raise ValueError(f"must be {low} or more")
    if size is not None and isinstance(high, int | float) and size > high:
        raise ValueError(f"must be {high} or less")
    if isinstance(value, list):
        for number, each in enumerate(value):
            try:
                check(fields_in(schema.get("items")), each)
            except ValueError as error:
                raise ValueError(f"[{number}] {error}") from error


_WORDS: Final[Mapping[str, str]] = {
    "string": "must be text",
    "integer": "must be a whole number",
    "number": "must be a number",
    "boolean": "must be true or false",
    "array": "must be a list",
    "object": "must be a JSON object",
}
