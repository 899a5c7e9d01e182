"""The forms that edit what is held, and the values entered in them.

A form changes one part of what is held and leaves the rest as it is; beside the form, all of it can
be edited as JSON.
"""

import copy
import json
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, NamedTuple

from devui.debugger.runs.live import LiveRun
from devui.debugger.stepping.arrivals import GateKind
from devui.debugger.stepping.commands import ALLOWED
from devui.debugger.stepping.stepper import Edit, Hold
from devui.web.errors import BadRequest
from devui.web.links import commands_url
from devui.web.panels.hold.parts import CommandButton, HeldEdit, HeldFields, HeldMock
from devui.web.panels.questions.parts import QuestionField
from devui.web.panels.questions.schema_forms import Fields, SchemaForm, WrongFields, filled_again
from devui.web.security.intake import parse_typed, parse_typed_or_text
from devui.web.text.deceptive_characters import visible
from devui.web.text.difference import as_text, difference
from devui.web.text.gates import HOLDING
from devui.wire.events import fields_in
from devui.wire.gates import Action, original

_BUTTONS: Final[Mapping[str, CommandButton]] = {
    "skip": CommandButton("skip", "Skip the call", "", "Don't make the call"),
    "reject": CommandButton(
        "reject", "Reject the call", "", "Don't make the call, and tell the model why"
    ),
    "drop": CommandButton(
        "drop", "Drop the event", "", "Discard the event; it won't appear in the history"
    ),
}
TAKES_VALUE: Final = frozenset({"edit", "mock"})
_LONGEST: Final = 10_000
"""The longest last result, in characters, with which a field is prefilled."""
_CHANGES: Final[Mapping[str, Literal["edit", "mock", "refusal"]]] = {
    "edit": "edit",
    "mock": "mock",
    "skip": "refusal",
    "reject": "refusal",
    "drop": "refusal",
}
_UNDO: Final = CommandButton("undo", "Undo", "", "Restore the original")
_DID: Final = {
    "edit": "edited this",
    "mock": "mocked this call",
    "skip": "skipped this call",
    "reject": "rejected this call",
    "drop": "dropped this event",
}


def held_edit(live: LiveRun, hold: Hold) -> HeldEdit | None:
    """Return the forms for one hold; None if nothing can be changed there."""
    actions = ALLOWED.get(hold.arrival.gate, frozenset())
    if not actions:
        return None
    edit, refusal = None if takes_recorded(hold) else hold.edit, _refused_action(hold)
    return HeldEdit(
        action=commands_url(live.row.id),
        key=uuid.uuid4().hex,
        position=live.stepper.position,
        slot=json_slot(hold),
        field=json_field(hold),
        mock=HeldMock(mock_subject(hold), mock_slot(hold), mock_field(hold))
        if "mock" in actions
        else None,
        refusals=tuple(
            button
            for name, button in _BUTTONS.items()
            if name in actions and (name == "reject" or not edit or edit.action != name)
        ),
        undo=_UNDO if edit else None,
        note="" if refusal in TAKES_VALUE or takes_recorded(hold) else _note(hold),
        reason=visible(str(edit.value or "")) if edit and edit.action == "reject" else "",
        fields=held_fields(live, hold) if "edit" in actions else None,
        change=_CHANGES.get(refusal or "", ""),
        is_refused=refusal == "edit",
        diff=_difference(hold, edit) if edit else (),
        is_in_sentence=edit is not None and _is_in_sentence(hold, edit),
    )


def takes_recorded(hold: Hold) -> bool:
    """Return whether the edit replaces the call with the result that the guard offered; if so, the
    guard's note says it."""
    edit, offer = hold.edit, hold.ruling.offer if hold.ruling else None
    return bool(edit and offer and edit.action == "mock" and edit.value == offer.result)


def mock_subject(hold: Hold) -> Literal["result", "response"]:
    """Return what the held call would produce: a tool's result or a model's response."""
    return "result" if hold.arrival.tool else "response"


def _is_in_sentence(hold: Hold, edit: Edit) -> bool:
    """Return whether the card shows the whole edit without a diff: a call's arguments or result, or
    an event's state changes."""
    if edit.action != "edit":
        return False
    first = original(hold.arrival.gate, hold.arrival.payload)
    return bool(hold.arrival.tool) or _without_state(first) == _without_state(edit.value)


def _without_state(event: Any) -> Any:
    actions = dict(fields_in(fields_in(event).get("actions")))
    for name in ("stateDelta", "state_delta"):
        actions.pop(name, None)
    return {**fields_in(event), "actions": actions}


def _refused_action(hold: Hold) -> Action | None:
    """Return the action that the worker couldn't carry out, unless another edit has replaced it."""
    return hold.refused_edit.action if hold.edit is None and hold.refused_edit else None


def _difference(hold: Hold, edit: Edit) -> tuple[str, ...]:
    """Return the lines that an edit changes, or all lines of a mock."""
    if edit.action not in TAKES_VALUE:
        return ()
    return difference(_original(hold) if edit.action == "edit" else "", as_text(edit.value))


def _original(hold: Hold) -> str:
    return as_text(original(hold.arrival.gate, hold.arrival.payload))


def json_slot(hold: Hold) -> str:
    """Return the prefix of the id of a hold's JSON field."""
    return f"json-{hold.id}"


def json_field(hold: Hold) -> QuestionField:
    """Return one field with all of what is held, as JSON."""
    label = f"Replacement for the {HOLDING[hold.arrival.gate]}, as JSON"
    return _with_attempt(hold, "edit", QuestionField("value", label, "json", _original(hold)))


def mock_slot(hold: Hold) -> str:
    """Return the prefix of the id of a hold's mock field."""
    return f"mock-{hold.id}"


def mock_field(hold: Hold) -> QuestionField:
    """Return the field for a mock, prefilled with what the same call last returned."""
    last = _last_result(hold)
    origin = "; starts with the last result of this tool for these arguments" if last else ""
    hint = f"JSON or text{origin}"
    field = QuestionField("value", mock_subject(hold).capitalize(), "json", last, hint=hint)
    return _with_attempt(hold, "mock", field)


def _last_result(hold: Hold) -> str:
    """Return the last result as JSON, without the wrapper around a value that isn't an object; ""
    if there is none or it is too long to edit."""
    if hold.last_result is None:
        return ""
    result = hold.last_result
    value = result["result"] if result.keys() == {"result"} else result
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return text if len(text) <= _LONGEST else ""


def _with_attempt(hold: Hold, action: Action, field: QuestionField) -> QuestionField:
    """Return the field, with the edit's value and error if the edit has this action."""
    attempt = hold.edit or hold.refused_edit
    if attempt is None or attempt.action != action:
        return field
    error = _problem(hold) if hold.edit is None else ""
    return replace(field, value=as_text(attempt.value), error=error)


def value_of(command: str, text: str) -> Any:
    """Return the value that the field has for this command.

    A mock may be plain text; most commands have no value.

    Raises:
        WrongFields: The text is empty, or has to be JSON and isn't.
    """
    if command == "reject":
        return text
    if command not in TAKES_VALUE:
        return None
    if not text.strip():
        raise WrongFields({"value": "enter a value first; for an empty text, enter two quotes"})
    try:
        return parse_typed_or_text(text) if command == "mock" else parse_typed(text)
    except BadRequest as error:
        raise WrongFields({"value": str(error)}) from error


def _note(hold: Hold) -> str:
    edit = hold.edit
    if edit is not None:
        why = f" ({edit.value})" if edit.action == "reject" and edit.value else ""
        sentence = f"{edit.actor} {_DID[edit.action]}{why}"
        return visible(f"{sentence}. This takes effect when the run continues.")
    return _problem(hold)


def _problem(hold: Hold) -> str:
    """Return why the worker couldn't apply the edit; "" if it didn't fail."""
    return visible(f"The change failed: {hold.arrival.problem}") if hold.arrival.problem else ""


AT: Final = "of"
"""The prefix of the fields' names."""
NEW_KEY: Final = "new.key"
NEW_VALUE: Final = "new.value"
_MOST: Final = 40
"""The maximum number of fields of a form; anything with more is edited as JSON."""

_SETTINGS: Final[Mapping[str, Mapping[str, Any]]] = {
    "systemInstruction": {"type": "string", "title": "system instruction"},
    "temperature": {"type": "number", "minimum": 0},
    "topP": {"type": "number", "minimum": 0, "maximum": 1, "title": "top p"},
    "topK": {"type": "number", "minimum": 0, "title": "top k"},
    "maxOutputTokens": {"type": "integer", "minimum": 1, "title": "max output tokens"},
}
"""The settings of a model request that people change most."""


@dataclass(frozen=True, slots=True)
class HeldForm:
    """A form for one part of what is held."""

    subject: Any
    """What the form edits: the held value, or the edit that replaces it."""
    schema: Mapping[str, Any]
    values: Mapping[str, Any]
    apply: Callable[[dict[str, Any]], Any]
    """Returns the replacement for what is held, given the new value of the part."""
    grows: bool = False
    """Whether keys that aren't in the schema can be added."""
    long: frozenset[str] = frozenset()
    """The names of texts whose fields have several lines even if the text is short."""
    is_code: bool = False
    """Whether the labels are identifiers."""

    def fields(self) -> tuple[QuestionField, ...]:
        """Return the fields, prefilled with the current values."""
        fields = self._form.fields(self.values)
        return (*map(self._lengthen, fields), *self._new())

    def read(self, entries: Fields) -> Any:
        """Return the replacement for what is held; if no field was changed, the subject itself.

        Raises WrongFields.
        """
        if all(filled_again(field, entries, {}) == field for field in self.fields()):
            return self.subject
        value = self._form.read(entries)
        properties = fields_in(self.schema.get("properties"))
        values = {
            n: value.get(n, each)
            for n, each in self.values.items()
            if n in value or n not in properties
        }
        return self.apply({**values, **value, **(self._new_entries(entries) if self.grows else {})})

    @property
    def _form(self) -> SchemaForm:
        return SchemaForm(self.schema, AT, is_code=self.is_code)

    def _lengthen(self, field: QuestionField) -> QuestionField:
        has_lines = field.kind == "text" and field.name in self.long
        return replace(field, kind="long") if has_lines else field

    def _new(self) -> Iterator[QuestionField]:
        if self.grows:
            yield QuestionField(NEW_KEY, "new key", "text")
            yield QuestionField(NEW_VALUE, "value, as JSON", "json")

    def _new_entries(self, entries: Fields) -> dict[str, Any]:
        key, text = entries.get(NEW_KEY, "").strip(), entries.get(NEW_VALUE, "").strip()
        if not key and not text:
            return {}
        if not key:
            raise WrongFields({NEW_KEY: "enter a key"})
        try:
            return {key: parse_typed(text)}
        except BadRequest as error:
            raise WrongFields({NEW_VALUE: str(error)}) from error


def held_slot(hold: Hold) -> str:
    """Return the prefix of the ids of a hold's fields."""
    return f"held-{hold.id}"


def held_fields(live: LiveRun, hold: Hold) -> HeldFields | None:
    """Return the form as it is shown; None if what is held has no fields."""
    form = held_form(hold)
    if form is None:
        return None
    return HeldFields(
        action=commands_url(live.row.id),
        key=uuid.uuid4().hex,
        position=live.stepper.position,
        hold=hold.id,
        slot=held_slot(hold),
        title=_title(hold, form),
        fields=form.fields(),
    )


def _title(hold: Hold, form: HeldForm) -> str:
    if hold.arrival.gate == "before_commit" and _content(form.subject):
        is_changed = form.values.keys() - _content(form.subject).keys()
        return f"The event{_DROPS if is_changed else ''}"
    return _TITLES[hold.arrival.gate].format(hold.arrival.tool or "")


def held_form(hold: Hold) -> HeldForm | None:
    """Return the form for what is held; None if it has no fields, or too many."""
    build = _FORMS.get(hold.arrival.gate)
    if build is None:
        return None
    first = build(hold, original(hold.arrival.gate, hold.arrival.payload))
    attempt = hold.edit or hold.refused_edit
    form = (build(hold, attempt.value) if attempt and attempt.action == "edit" else None) or first
    size = len(fields_in(form.schema.get("properties"))) if form else 0
    if form is None or not (size or form.grows) or size > _MOST:
        return None
    long = (each.name for each in (first or form).fields() if each.kind == "long")
    return replace(form, long=frozenset(long))


def _arguments(hold: Hold, subject: Any) -> HeldForm | None:
    schema = fields_in(hold.arrival.schema)
    if not isinstance(subject, Mapping):
        return None
    if not schema.get("properties"):
        schema = _by_value(subject)
    return HeldForm(subject, schema, subject, lambda value: value, is_code=True)


def _result(_: Hold, subject: Any) -> HeldForm | None:
    if not isinstance(subject, Mapping):
        return None
    return HeldForm(subject, _by_value(subject), subject, lambda value: value, is_code=True)


def _event(_: Hold, subject: Any) -> HeldForm | None:
    """Return a form with the content of the event and its changes of the state."""
    if not isinstance(subject, Mapping):
        return None
    delta = fields_in(fields_in(subject.get("actions")).get("stateDelta"))
    content = {name: each for name, each in _content(subject).items() if name not in delta}

    def event_with(value: dict[str, Any]) -> Any:
        event = _with_content(subject, content, value)
        changes = {key: each for key, each in value.items() if key not in content}
        event["actions"] = {**fields_in(event.get("actions")), "stateDelta": changes}
        return event

    schema: dict[str, Any] = {
        "properties": {name: each.schema for name, each in content.items()}
        | {key: {} for key in delta}
    }
    values = {name: each.value for name, each in content.items()} | dict(delta)
    return HeldForm(subject, schema, values, event_with, grows=True)


def _request(_: Hold, subject: Any) -> HeldForm | None:
    config = fields_in(fields_in(subject).get("config"))
    names = [
        name
        for name, schema in _SETTINGS.items()
        if name not in config or isinstance(config[name], _PLAIN[str(schema["type"])])
    ]

    def request_with(value: dict[str, Any]) -> Any:
        request = copy.deepcopy(dict(subject))
        request["config"] = value
        return request

    schema = {"properties": {name: _SETTINGS[name] for name in names}}
    return HeldForm(subject, schema, config, request_with) if isinstance(subject, Mapping) else None


def _response(_: Hold, subject: Any) -> HeldForm | None:
    """Return a form with the content of the response."""
    content = _content(subject)
    return HeldForm(
        subject,
        {"properties": {name: each.schema for name, each in content.items()}},
        {name: each.value for name, each in content.items()},
        lambda value: _with_content(subject, content, value),
    )


class _PartValue(NamedTuple):
    """What can be edited in a part: its text, its call's arguments, or its tool's result."""

    place: int
    path: tuple[str, ...]
    value: Any
    schema: Mapping[str, Any]


def _content(subject: Any) -> dict[str, _PartValue]:
    """Return the editable values of a response's or an event's parts, by the names of their
    fields."""
    parts = fields_in(fields_in(subject).get("content")).get("parts")
    return {
        f"part{place}": value
        for place, part in enumerate(parts if isinstance(parts, list) else [])
        if (value := _part_value(place, fields_in(part)))
    }


def _part_value(place: int, part: Fields) -> _PartValue | None:
    if call := fields_in(part.get("functionCall")):
        title = f"arguments of {call.get('name', '')}"
        path = ("functionCall", "args")
        return _PartValue(place, path, call.get("args") or {}, {"title": title})
    if response := fields_in(part.get("functionResponse")):
        title = f"result of {response.get('name', '')}"
        path = ("functionResponse", "response")
        return _PartValue(place, path, response.get("response"), {"title": title})
    if not isinstance(part.get("text"), str):
        return None
    title = "thought" if part.get("thought") else "text"
    return _PartValue(place, ("text",), part["text"], {"type": "string", "title": title})


def _with_content(
    subject: Any, content: Mapping[str, _PartValue], value: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a copy with the values of the form; an emptied field is an empty text or object."""
    changed: dict[str, Any] = copy.deepcopy(dict(subject))
    for name, each in content.items():
        part = changed["content"]["parts"][each.place]
        *above, last = each.path
        for key in above:
            part = part[key]
        part[last] = value.get(name, "" if last == "text" else {})
    return changed


_PLAIN: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
}

_DROPS: Final = ". Leave the field of a state change empty to drop that change."
_TITLES: Final[Mapping[GateKind, str]] = {
    "before_tool": "Arguments of {}",
    "after_tool": "Result of {}",
    "before_commit": f"State changes (JSON){_DROPS}",
    "before_model": "Request settings",
    "after_model": "Model answer",
}
_FORMS: Final[Mapping[str, Callable[[Hold, Any], HeldForm | None]]] = {
    "before_tool": _arguments,
    "after_tool": _result,
    "before_commit": _event,
    "before_model": _request,
    "after_model": _response,
}


def _by_value(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema for a value without one: each member keeps the type it has."""
    return {
        "properties": {key: _kind(each) for key, each in value.items()},
        "required": list(value),
    }


def _kind(value: Any) -> dict[str, Any]:
    if value is None:
        return {"nullable": True}
    kinds = ((bool, "boolean"), (str, "string"), (int | float, "number"))
    return next(({"type": kind} for of, kind in kinds if isinstance(value, of)), {})
