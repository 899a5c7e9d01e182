"""A model call repeated with edits: its form, and each answer beside the recorded one."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from devui.debugger.events.preview import shortened
from devui.store.rows import SpanRow
from devui.store.runs.trials import TrialRow
from devui.web.errors import BadRequest
from devui.web.links import again_url
from devui.web.panels.questions.schema_forms import Fields
from devui.web.panels.request.parts import Difference
from devui.web.panels.trials.parts import MessageField, ModelForm, ModelTrial
from devui.web.security.intake import parse_typed
from devui.web.text import formats
from devui.web.text.deceptive_characters import visible
from devui.web.text.formats import moment, plural
from devui.web.text.worddiff import word_diff
from devui.wire.events import Event, fields_in

_FIELDS: Final = 12
"""Maximum number of messages with a field: the last ones."""
_LONG: Final = 20_000
"""Maximum characters of a text in a field, and of an answer that is compared."""
_WHOLE: Final = 400_000
"""Maximum characters of a request that can be edited as JSON."""


def model_form(
    span: SpanRow,
    request: Mapping[str, Any],
    trials: Sequence[ModelTrial],
    *,
    note: str = "",
) -> ModelForm:
    """Return the form for a request in the API's form."""
    contents = request.get("contents") or []
    fields = [
        MessageField(f"message.{at}", visible(f"message {at + 1}, {message.get('role')}"), text)
        for at, message in enumerate(map(fields_in, contents))
        if (text := _one_text(message)) is not None
    ][-_FIELDS:]
    remaining = len(contents) - len(fields)
    whole = json.dumps(request, indent=2, ensure_ascii=False)
    return ModelForm(
        slot=f"again-{span.id}",
        action=again_url(span.session, span.id),
        system=_system(request) or "",
        messages=tuple(fields),
        rest_note=f"{plural(remaining, 'more message')} as JSON" if remaining else "",
        config=json.dumps(request.get("config") or {}, indent=2, ensure_ascii=False),
        value=whole if len(whole) <= _WHOLE else "",
        note=note,
        trials=tuple(trials),
    )


def _one_text(message: Mapping[str, Any]) -> str | None:
    """Return the message's text if it is a single text and nothing else."""
    parts = message.get("parts") or []
    if len(parts) != 1 or set(parts[0]) != {"text"}:
        return None
    text = str(parts[0]["text"])
    return text if len(text) <= _LONG else None


def _system(request: Mapping[str, Any]) -> str | None:
    """Return the system instruction; None if it isn't plain text."""
    system = request.get("system")
    if isinstance(system, dict):
        texts = [part.get("text") for part in system.get("parts") or []]
        return texts[0] if len(texts) == 1 and isinstance(texts[0], str) else None
    return system if isinstance(system, str) or system is None else None


def request_of(entries: Fields, original: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request from the form: whole as JSON, or the recorded one with edited fields.

    Raises BadRequest.
    """
    if "filled" not in entries:
        return _object(entries.get("value") or "", "the request")
    request = json.loads(json.dumps(original))
    if "system" in entries and entries["system"] != (_system(original) or ""):
        request["system"] = entries["system"] or None
    if "config" in entries:
        request["config"] = _object(entries["config"], "config")
    for at, message in enumerate(request.get("contents") or []):
        if f"message.{at}" in entries and _one_text(message) is not None:
            message["parts"] = [{"text": entries[f"message.{at}"]}]
    return dict(request)


def _object(text: str, what: str) -> dict[str, Any]:
    value = parse_typed(text)
    if not isinstance(value, dict):
        raise BadRequest(f"{what} must be a JSON object")
    return value


def model_trial(row: TrialRow, original: Mapping[str, Any], answers: Any) -> ModelTrial:
    """Return a trial's answer beside the recorded `answers`, `[seconds, response]` each."""
    before = _answer_text([Event.of(fields_in(each)) for _, each in answers or []])
    responses = json.loads(row.result or "[]", parse_constant=str)
    after = _answer_text([Event.of(fields_in(each)) for each in responses])
    error = fields_in(json.loads(row.error or "{}"))
    request = json.loads(row.sent)
    return ModelTrial(
        number=row.id,
        moment=moment(row.at),
        duration=formats.duration(row.seconds),
        by=visible(row.actor),
        request_diff=_diff(_lines(original), _lines(request), around=True),
        recorded=visible(before),
        answer=visible(after),
        pieces=_diff(before, after),
        same=before == after and not error,
        error=visible(f"{error.get('type')}: {error.get('message')}") if error else "",
    )


def _answer_text(responses: Sequence[Event]) -> str:
    """Return the whole answer as text, with calls and other parts as JSON."""
    whole = [each for each in responses if not each.is_partial] or list(responses)
    return "\n".join(line for each in whole for line in _words(each))


def _words(response: Event) -> Iterator[str]:
    for part in response.parts:
        if part.text:
            yield ("(thought) " if part.is_thought else "") + part.text
        elif part.call:
            args = json.dumps(part.call.args, ensure_ascii=False, sort_keys=True)
            yield f"{part.call.name}({args})"
        else:
            yield json.dumps(part.fields, ensure_ascii=False)
    if response.error_code:
        yield f"{response.error_code}: {response.error_message or ''}"


def _lines(request: Mapping[str, Any]) -> str:
    return json.dumps(request, indent=1, ensure_ascii=False, sort_keys=True)


def _diff(before: str, after: str, *, around: bool = False) -> tuple[tuple[Difference, str], ...]:
    """Return the differences word by word; with `around`, shorten what is the same."""
    if before == after:
        return () if around else (("same", visible(after)),)
    if len(before) + len(after) > 10 * _LONG:
        old, new = shortened(before, _LONG), shortened(after, _LONG)
        return (("removed", visible(old)), ("added", visible(new)))
    changes = word_diff(before, after)
    return tuple(
        (kind, visible(_edges(text) if around and kind == "same" else text))
        for kind, text in changes
    )


def _edges(text: str) -> str:
    return text if len(text) <= 120 else f"{text[:50]} … {text[-50:]}"
