"""Form fields for the content of an event, which a fork replaces with what they contain."""

import copy
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from devui.web.panels.questions.parts import QuestionField
from devui.web.panels.questions.schema_forms import SchemaForm, WrongFields, schema_of
from devui.web.panels.recovery.parts import EventFields
from devui.web.text.deceptive_characters import visible
from devui.wire.events import Event, Fields, fields_in

_SAYS: Final[Mapping[str, tuple[str, str]]] = {
    "functionCall": ("args", "Arguments of {}"),
    "functionResponse": ("response", "Result of {}"),
}
"""By kind of part: the member with its values, and the label of its fields."""


def fields_of(event: Event) -> tuple[EventFields, ...]:
    """Return the fields for an event's arguments, results and texts that fields can hold."""
    return tuple(_sections(event))


def with_fields(event: Event, entries: Mapping[str, str]) -> dict[str, Any]:
    """Return the event in wire form with the values of the fields. Raises WrongFields."""
    fields = copy.deepcopy(dict(event.fields))
    errors: dict[str, str] = {}
    for place, kind, values in _editable(event):
        part = fields["content"]["parts"][place]
        if kind == "text":
            part["text"] = entries.get(_name(place), part["text"])
            continue
        try:
            answers = SchemaForm(schema_of(values) or {}, _name(place), is_code=True).read(entries)
        except WrongFields as wrong:
            errors |= {
                name: f"{name.partition('.')[2]}: {text}" for name, text in wrong.errors.items()
            }
            continue
        part[kind][_SAYS[kind][0]] = answers
    if errors:
        raise WrongFields(errors)
    return fields


def _sections(event: Event) -> Iterator[EventFields]:
    for place, kind, values in _editable(event):
        if kind == "text":
            text = QuestionField(name=_name(place), label="Text", kind="long", value=values["text"])
            yield EventFields("", (text,))
            continue
        form = SchemaForm(schema_of(values) or {}, _name(place), is_code=True).fields(values)
        # A required field of a choice that isn't selected must not block the form.
        fields = tuple(replace(field, required=False) for field in form)
        tool = event.parts[place].fields[kind].get("name", "")
        yield EventFields(visible(_SAYS[kind][1].format(tool)), fields)


def _editable(event: Event) -> Iterator[tuple[int, str, Fields]]:
    """Yield the place, kind and values of each part that fields can hold."""
    for place, part in enumerate(event.parts):
        for kind, (member, _) in _SAYS.items():
            values = fields_in(fields_in(part.fields.get(kind)).get(member))
            if schema_of(values) is not None:
                yield place, kind, values
        if part.text and not part.is_thought:
            yield place, "text", {"text": part.text}


def _name(place: int) -> str:
    return f"part{place}"
