"""What is held, as a form: arguments by their schema, results and state by key, a model's settings.

The form changes one part of what is held; the rest of it stays as it is, and all of it can be
changed as JSON beside the form.
"""

import copy
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from devui.debugger.live import LiveRun
from devui.debugger.stepping.arrivals import GateKind
from devui.debugger.stepping.stepper import Hold
from devui.web.errors import BadRequest
from devui.web.links import commands_url
from devui.web.parts.asking import AskField
from devui.web.parts.debugger import HeldFields
from devui.web.presenters.content import mapping
from devui.web.presenters.schemaforms import Fields, SchemaForm, WrongFields, filled_again
from devui.web.security.intake import parse_json
from devui.wire.gates import original

AT: Final = "of"
"""What the fields' names begin with."""
NEW_KEY: Final = "new.key"
NEW_VALUE: Final = "new.value"
_MOST: Final = 40
"""Fields that a form has at most; what has more is changed as JSON."""

_SETTINGS: Final[Mapping[str, Mapping[str, Any]]] = {
    "systemInstruction": {"type": "string", "title": "system instruction"},
    "temperature": {"type": "number", "minimum": 0},
    "topP": {"type": "number", "minimum": 0, "maximum": 1, "title": "top p"},
    "topK": {"type": "number", "minimum": 0, "title": "top k"},
    "maxOutputTokens": {"type": "integer", "minimum": 1, "title": "max output tokens"},
}
"""Of a request to a model: what people change most."""


@dataclass(frozen=True, slots=True)
class HeldForm:
    """A part of what is held."""

    held: Any
    """What the form is about: that which is held, or wanted in its place."""
    schema: Mapping[str, Any]
    values: Mapping[str, Any]
    put: Callable[[dict[str, Any]], Any]
    """What takes the place of what is held when the part is this."""
    grows: bool = False
    """Whether there may be more keys than the schema names."""
    long: frozenset[str] = frozenset()
    """Names of the texts that get several lines, however short they are."""

    def fields(self) -> tuple[AskField, ...]:
        """What to fill in, with what is there."""
        fields = SchemaForm(self.schema, AT).fields(self.values)
        return (*map(self._lengthened, fields), *self._new())

    def read(self, given: Fields) -> Any:
        """What takes the place of what is held; where nothing is filled in anew, what is there.

        Raises WrongFields.
        """
        if all(filled_again(field, given, {}) == field for field in self.fields()):
            return self.held
        value = SchemaForm(self.schema, AT).read(given)
        known = mapping(self.schema.get("properties"))
        kept = {
            n: value.get(n, each) for n, each in self.values.items() if n in value or n not in known
        }
        return self.put({**kept, **value, **(self._added(given) if self.grows else {})})

    def _lengthened(self, field: AskField) -> AskField:
        has_lines = field.kind == "text" and field.name in self.long
        return replace(field, kind="long") if has_lines else field

    def _new(self) -> Iterator[AskField]:
        if self.grows:
            yield AskField(NEW_KEY, "another key", "text")
            yield AskField(NEW_VALUE, "its value, as JSON", "json")

    def _added(self, given: Fields) -> dict[str, Any]:
        key, text = given.get(NEW_KEY, "").strip(), given.get(NEW_VALUE, "").strip()
        if not key and not text:
            return {}
        if not key:
            raise WrongFields({NEW_KEY: "name the key"})
        try:
            return {key: parse_json(text.encode())}
        except BadRequest as error:
            raise WrongFields({NEW_VALUE: str(error)}) from error


def held_slot(hold: Hold) -> str:
    """What the ids of a hold's fields begin with."""
    return f"held-{hold.id}"


def held_fields(live: LiveRun, hold: Hold) -> HeldFields | None:
    """The form as it is shown."""
    form = held_form(hold)
    if form is None:
        return None
    return HeldFields(
        action=commands_url(live.row.id),
        key=uuid.uuid4().hex,
        position=live.stepper.position,
        hold=hold.id,
        slot=held_slot(hold),
        title=_TITLES[hold.arrival.gate].format(hold.arrival.tool or ""),
        fields=form.fields(),
    )


def held_form(hold: Hold) -> HeldForm | None:
    """The form for what is held; None where there is nothing that has fields."""
    made = _FORMS.get(hold.arrival.gate)
    if made is None:
        return None
    first = made(hold, original(hold.arrival.gate, hold.arrival.held))
    tried = hold.edit or hold.refused
    form = (made(hold, tried.value) if tried and tried.action == "edit" else None) or first
    size = len(mapping(form.schema.get("properties"))) if form else 0
    if form is None or not (size or form.grows) or size > _MOST:
        return None
    long = (each.name for each in (first or form).fields() if each.kind == "long")
    return replace(form, long=frozenset(long))


def _arguments(hold: Hold, held: Any) -> HeldForm | None:
    schema = mapping(hold.arrival.schema)
    if not isinstance(held, Mapping):
        return None
    if not schema.get("properties"):
        schema = _by_value(held)
    return HeldForm(held, schema, held, lambda value: value)


def _result(_: Hold, held: Any) -> HeldForm | None:
    if not isinstance(held, Mapping):
        return None
    return HeldForm(held, _by_value(held), held, lambda value: value)


def _state(_: Hold, held: Any) -> HeldForm | None:
    if not isinstance(held, Mapping):
        return None
    delta = mapping(mapping(held.get("actions")).get("stateDelta"))

    def put(value: dict[str, Any]) -> Any:
        event = copy.deepcopy(dict(held))
        event["actions"] = {**mapping(event.get("actions")), "stateDelta": value}
        return event

    schema: dict[str, Any] = {"properties": {key: {} for key in delta}}
    return HeldForm(held, schema, delta, put, grows=True)


def _request(_: Hold, held: Any) -> HeldForm | None:
    config = mapping(mapping(held).get("config"))
    names = [
        name
        for name, schema in _SETTINGS.items()
        if name not in config or isinstance(config[name], _PLAIN[str(schema["type"])])
    ]

    def put(value: dict[str, Any]) -> Any:
        request = copy.deepcopy(dict(held))
        request["config"] = value
        return request

    schema = {"properties": {name: _SETTINGS[name] for name in names}}
    return HeldForm(held, schema, config, put) if isinstance(held, Mapping) else None


def _response(_: Hold, held: Any) -> HeldForm | None:
    """Each text of the answer, and the arguments of each call in it."""
    parts = mapping(mapping(held).get("content")).get("parts")
    values, properties = {}, {}
    for place, part in enumerate(parts if isinstance(parts, list) else []):
        call = mapping(mapping(part).get("functionCall"))
        if call:
            values[str(place)] = call.get("args") or {}
            properties[str(place)] = {"title": f"arguments of {call.get('name', '')}"}
        elif isinstance(mapping(part).get("text"), str):
            title = "thought" if part.get("thought") else "text"
            values[str(place)] = part["text"]
            properties[str(place)] = {"type": "string", "title": title}

    def put(value: dict[str, Any]) -> Any:
        response = copy.deepcopy(held)
        for place in values:
            part = response["content"]["parts"][int(place)]
            if "functionCall" in part:
                part["functionCall"]["args"] = value.get(place, {})
            else:
                part["text"] = value.get(place, "")
        return response

    return HeldForm(held, {"properties": properties}, values, put)


_PLAIN: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
}

_TITLES: Final[Mapping[GateKind, str]] = {
    "before_tool": "Arguments of {}",
    "after_tool": "Result of {}",
    "before_commit": "What it writes to the state, as JSON; an empty field writes nothing",
    "before_model": "Settings of the request",
    "after_model": "What the model answered",
}
_FORMS: Final[Mapping[str, Callable[[Hold, Any], HeldForm | None]]] = {
    "before_tool": _arguments,
    "after_tool": _result,
    "before_commit": _state,
    "before_model": _request,
    "after_model": _response,
}


def _by_value(value: Mapping[str, Any]) -> dict[str, Any]:
    """A schema for what has none: each member is of the type that it has."""
    return {
        "properties": {key: _kind(each) for key, each in value.items()},
        "required": list(value),
    }


def _kind(value: Any) -> dict[str, Any]:
    if value is None:
        return {"nullable": True}
    kinds = ((bool, "boolean"), (str, "string"), (int | float, "number"))
    return next(({"type": kind} for of, kind in kinds if isinstance(value, of)), {})
