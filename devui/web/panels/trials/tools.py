"""Tools of an app, and the form that runs one on its own."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha1
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from devui.debugger.events.preview import arguments
from devui.debugger.guard.effects import UNKNOWN, ToolEffect
from devui.store.rows import Change, Value
from devui.store.runs.trials import TrialRow
from devui.store.state import prefixed, scoped
from devui.web.basic_parts import Fact
from devui.web.errors import Unprocessable
from devui.web.htmx import HtmxRequest, renew
from devui.web.links import tool_effect_url, tool_url
from devui.web.panels.questions.parts import QuestionField, QuestionFields
from devui.web.panels.questions.schema_forms import Fields, SchemaForm, WrongFields, filled_again
from devui.web.panels.state.panel import uncommitted_value
from devui.web.panels.state.parts import StateValue
from devui.web.panels.trials.parts import ToolForm, ToolItem, ToolTrial
from devui.web.render import Renderer
from devui.web.text import formats
from devui.web.text.deceptive_characters import visible
from devui.web.text.formats import moment
from devui.web.text.jsontree import json_text, json_tree
from devui.web.text.schemas import signature
from devui.wire.events import fields_in
from devui.wire.trials import Confirmation


def refill(
    request: Request,
    render: Renderer,
    slot: str,
    fields: Iterable[QuestionField],
    *,
    entries: Fields,
    wrong: WrongFields,
) -> Response:
    """Return the fields of `slot` as filled in, with errors; the first wrong one gets the focus.

    Raises Unprocessable if the page has no script to show them.
    """
    if not HtmxRequest.read(request.headers):
        raise Unprocessable(str(wrong)) from wrong
    again = tuple(filled_again(field, entries, wrong.errors) for field in fields)
    html = renew(f"#{slot}-fields", render.part(QuestionFields(slot, again)))
    return HTMLResponse(html, status_code=Unprocessable.status)


def refresh(render: Renderer, slot: str, fields: Iterable[QuestionField]) -> Response:
    """Return the fields of `slot` without errors: the form may be sent again."""
    return HTMLResponse(renew(f"#{slot}-fields", render.part(QuestionFields(slot, tuple(fields)))))


AT: Final = "args"
"""The prefix of the names of the form's fields."""
_LINE: Final = 160
_WARNINGS: Final = {
    "effects": "This tool has side effects, and running it here triggers them.",
    "unknown": "devui doesn't know whether this tool has side effects.",
    "idempotent": "Its server says it's safe to call twice, but that isn't guaranteed.",
}
_CODE: Final = {
    "read_only": "read-only (from code)",
    "idempotent": "idempotent (from code)",
    "effects": "has side effects (from code)",
    "unknown": "side effects unknown",
}
_CONFIRMATIONS: Final[Mapping[Confirmation, str]] = {
    "always": "asks for confirmation",
    "sometimes": "may ask for confirmation",
}


def silent_toolset(toolset: Mapping[str, Any]) -> Fact:
    """Return a toolset that couldn't list its tools, and why."""
    label = f"{toolset['toolset']} of {toolset['agent']} couldn't list its tools"
    return Fact(visible(label), visible(toolset["error"]))


@dataclass(frozen=True, slots=True)
class ToolDraft:
    """A tool to run: where, with what arguments, and their errors."""

    action: str
    declared: Mapping[str, Any]
    """The tool's declaration: `agent`, `name`, `schema`, `effect`."""
    effect: ToolEffect
    event: int | None
    has_session: bool
    args: Mapping[str, Any]
    entries: Fields | None = None
    errors: Mapping[str, str] | None = None
    note: str = ""

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """The schema of the tool's parameters, if it declares any."""
        schema = fields_in(self.declared.get("schema"))
        return schema if schema.get("properties") else None


def tool_form(draft: ToolDraft, trials: Sequence[ToolTrial] = ()) -> ToolForm:
    """Return the form with these arguments, or as it was filled in."""
    name = str(draft.declared["name"])
    digest = sha1(draft.action.encode(), usedforsecurity=False).hexdigest()[:12]
    return ToolForm(
        slot=f"try-{digest}",
        action=draft.action,
        tool=visible(name),
        place=_place(draft.event, has_session=draft.has_session),
        fields=_fields(draft),
        value=json.dumps(dict(draft.args), indent=2, ensure_ascii=False),
        warning="" if draft.effect.is_safe else _WARNINGS.get(draft.effect.effect, ""),
        can_mark=draft.has_session and draft.effect == UNKNOWN,
        note=draft.note,
        trials=tuple(trials),
    )


def _place(event: int | None, *, has_session: bool) -> str:
    if not has_session:
        return "with an empty state"
    return "with the current state" if event is None else f"with the state as of #{event}"


def arguments_form(schema: Mapping[str, Any]) -> SchemaForm:
    """Return the form for a tool's parameters."""
    return SchemaForm(schema, AT, is_code=True)


def _fields(draft: ToolDraft) -> tuple[QuestionField, ...]:
    if draft.schema is None:
        return ()
    fields = arguments_form(draft.schema).fields(draft.args)
    if draft.entries is None:
        return fields
    entries, errors = draft.entries, draft.errors or {}
    return tuple(
        replace(field, value=entries.get(field.name, ""), error=errors.get(field.name, ""))
        for field in fields
    )


def tool_trial(row: TrialRow, state: Iterable[Value]) -> ToolTrial:
    """Return a trial's result; `state` is the one that the tool ran with."""
    outcome = fields_in(_parse(row.result))
    actions = dict(fields_in(outcome.get("actions")))
    delta = fields_in(actions.pop("stateDelta", None))
    before = {prefixed(each.scope, each.key): each.value for each in state}
    error = fields_in(_parse(row.error))
    return ToolTrial(
        number=row.id,
        moment=moment(row.at),
        args=visible(arguments(fields_in(json.loads(row.sent)), _LINE)),
        place=_place(row.event, has_session=row.session is not None),
        duration=formats.duration(row.seconds),
        by=visible(row.actor),
        result=json_text(outcome.get("result")) if row.error is None else None,
        error=_error(error),
        changes=tuple(_changed(row.id, key, before.get(key), new) for key, new in delta.items()),
        actions=json_tree(actions) if actions else None,
    )


def _changed(number: int, key: str, old: str | None, new: Any) -> StateValue:
    scope, bare = scoped(key)
    change = Change(scope, bare, old, json.dumps(new))
    return uncommitted_value(change, number=number, note="")


def _error(error: Mapping[str, Any]) -> str:
    if not error:
        return ""
    place = f" ({error['file']}:{error['line']})" if error.get("file") else ""
    return visible(f"{error.get('type')}: {error.get('message')}{place}")


def _parse(text: str | None) -> Any:
    return None if text is None else json.loads(text, parse_constant=str)


def tool_item(
    app: str, name: str, declarations: Sequence[Mapping[str, Any]], effect: ToolEffect
) -> ToolItem:
    marks = {each["effect"] for each in declarations}
    code = next(iter(marks)) if len(marks) == 1 else None
    first = declarations[0] if declarations else {}
    summary, _, details = str(first.get("description") or "").strip().partition("\n")
    return ToolItem(
        name=visible(name),
        signature=visible(_signature(first)),
        agents=visible(
            ", ".join(each["agent"] for each in declarations) or "not used by any agent"
        ),
        flags=_flags(first),
        summary=visible(summary),
        details=visible(details.strip()),
        effect=effect.effect if effect.source == "person" else "",
        from_code="safe to call twice (from its server)"
        if code == "hint"
        else _CODE[code or "unknown"],
        effect_action=tool_effect_url(app, name),
        try_href=tool_url(app, name) if declarations else "",
    )


def _signature(declared: Mapping[str, Any]) -> str:
    """Return `(city: str) -> dict`; "" for a tool that declares no parameters and no result."""
    schema, returns = declared.get("schema"), str(declared.get("returns") or "")
    return signature(fields_in(schema), returns) if schema is not None or returns else ""


def _flags(declared: Mapping[str, Any]) -> tuple[str, ...]:
    long_running = ["long-running"] if declared.get("is_long_running") else []
    word = _CONFIRMATIONS.get(declared.get("confirmation", "never"))
    return (*long_running, *([word] if word else []))
