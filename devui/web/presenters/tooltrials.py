"""A tool by itself: its form, and what came of its trials."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha1
from typing import Any, Final

from devui.debugger.guard.effects import ToolEffect
from devui.debugger.preview import arguments
from devui.store.rows import Change, Value
from devui.store.state import prefixed, scoped
from devui.store.trials import TrialRow
from devui.web.links import tool_effect_url, tool_url
from devui.web.parts import every as parts
from devui.web.parts.basics import Fact
from devui.web.presenters.content import mapping
from devui.web.presenters.schemaforms import Fields, SchemaForm
from devui.web.presenters.statepanel import uncommitted_value
from devui.web.text import formats
from devui.web.text.formats import moment
from devui.web.text.jsontext import json_text
from devui.web.text.jsontree import json_tree
from devui.web.text.visible import visible

AT: Final = "args"
"""What the names of the form's fields begin with."""
_LINE: Final = 160
_WARNINGS: Final = {
    "effects": "This tool has effects: run by itself it acts on the world all the same.",
    "unknown": "Nobody has said what this tool does to the world: it may have effects.",
    "idempotent": "Its server claims that it may be called twice, which is no promise.",
}
_CODE: Final = {
    "read_only": "read-only, says its code",
    "idempotent": "idempotent, says its code",
    "effects": "has effects, says its code",
    "unknown": "unknown, so it counts as having effects",
}


def silent_toolset(told: Mapping[str, Any]) -> Fact:
    """A toolset whose tools are not known, and why."""
    label = f"{told['toolset']} of {told['agent']} does not list its tools"
    return Fact(visible(label), visible(told["error"]))


@dataclass(frozen=True, slots=True)
class ToolAsked:
    """A tool to be run: where, with what, and what is wrong with it."""

    action: str
    declared: Mapping[str, Any]
    """`agent`, `name`, `schema`, `effect`."""
    effect: ToolEffect
    event: int | None
    has_session: bool
    args: Mapping[str, Any]
    given: Fields | None = None
    errors: Mapping[str, str] | None = None
    note: str = ""

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """What the tool declares of its arguments, if there is any."""
        schema = mapping(self.declared.get("schema"))
        return schema if schema.get("properties") else None


def tool_form(asked: ToolAsked, trials: Sequence[parts.ToolTrial] = ()) -> parts.ToolForm:
    """The form with these arguments, or as it was filled in."""
    name = str(asked.declared["name"])
    digest = sha1(asked.action.encode(), usedforsecurity=False).hexdigest()[:12]
    return parts.ToolForm(
        slot=f"try-{digest}",
        action=asked.action,
        tool=visible(name),
        place=_place(asked.event, has_session=asked.has_session),
        fields=_fields(asked),
        value=json.dumps(dict(asked.args), indent=2, ensure_ascii=False),
        warning="" if asked.effect.is_safe else _WARNINGS.get(asked.effect.effect, ""),
        note=asked.note,
        trials=tuple(trials),
    )


def _place(event: int | None, *, has_session: bool) -> str:
    if not has_session:
        return "over an empty state"
    return "over the state as it is now" if event is None else f"over the state as of #{event}"


def _fields(asked: ToolAsked) -> tuple[parts.AskField, ...]:
    if asked.schema is None:
        return ()
    made = SchemaForm(asked.schema, AT).fields(asked.args)
    if asked.given is None:
        return made
    given, errors = asked.given, asked.errors or {}
    return tuple(
        replace(field, value=given.get(field.name, ""), error=errors.get(field.name, ""))
        for field in made
    )


def tool_trial(row: TrialRow, state: Iterable[Value]) -> parts.ToolTrial:
    """What came of one; `state` is the one that the tool found."""
    told = mapping(_parsed(row.result))
    actions = dict(mapping(told.get("actions")))
    delta = mapping(actions.pop("stateDelta", None))
    before = {prefixed(each.scope, each.key): each.value for each in state}
    error = mapping(_parsed(row.error))
    return parts.ToolTrial(
        number=row.id,
        moment=moment(row.at),
        args=visible(arguments(mapping(json.loads(row.sent)), _LINE)),
        place=_place(row.event, has_session=row.session is not None),
        took=formats.duration(row.seconds),
        by=visible(row.actor),
        result=json_text(told.get("result")) if row.error is None else None,
        error=_error(error),
        changes=tuple(_changed(row.id, key, before.get(key), new) for key, new in delta.items()),
        actions=json_tree(actions) if actions else None,
    )


def _changed(number: int, key: str, old: str | None, new: Any) -> parts.StateValue:
    scope, bare = scoped(key)
    change = Change(scope, bare, old, json.dumps(new))
    return uncommitted_value(change, number=number, note="")


def _error(error: Mapping[str, Any]) -> str:
    if not error:
        return ""
    place = f" ({error['file']}:{error['line']})" if error.get("file") else ""
    return visible(f"{error.get('type')}: {error.get('message')}{place}")


def _parsed(text: str | None) -> Any:
    return None if text is None else json.loads(text, parse_constant=str)


def tool_item(
    app: str, name: str, declared: Sequence[Mapping[str, Any]], effect: ToolEffect
) -> parts.ToolItem:
    """A tool in the app's list."""
    marks = {each["effect"] for each in declared}
    code = next(iter(marks)) if len(marks) == 1 else None
    return parts.ToolItem(
        name=visible(name),
        agents=visible(", ".join(each["agent"] for each in declared) or "no agent now"),
        description=visible(str(declared[0]["description"]) if declared else ""),
        effect=effect.effect if effect.source == "person" else "",
        from_code="may be called twice, claims its server"
        if code == "hint"
        else _CODE[code or "unknown"],
        effect_action=tool_effect_url(app, name),
        try_href=tool_url(app, name) if declared else "",
    )
