"""The form that changes what is held, and what the form says."""

import uuid
from collections.abc import Mapping
from typing import Any, Final

from devui.debugger.live import LiveRun
from devui.debugger.stepping.commands import ALLOWED
from devui.debugger.stepping.stepper import Edit, Hold
from devui.web.errors import BadRequest
from devui.web.links import commands_url
from devui.web.parts.asking import AskField
from devui.web.parts.debugger import CommandButton, HeldEdit
from devui.web.presenters.difference import as_text, difference
from devui.web.presenters.heldforms import held_fields
from devui.web.presenters.schemaforms import WrongFields
from devui.web.security.intake import parse_json
from devui.web.text.gates import HOLDING
from devui.web.text.visible import visible
from devui.wire.gates import original

_BUTTONS: Final[Mapping[str, CommandButton]] = {
    "edit": CommandButton("edit", "Use this instead", "", "What is in the field takes its place"),
    "mock": CommandButton("mock", "Answer with this", "", "No call is made; this is its answer"),
    "skip": CommandButton("skip", "Skip the call", "", "The call is not made"),
    "reject": CommandButton(
        "reject", "Reject the call", "", "It is not made; the model is told why"
    ),
    "drop": CommandButton("drop", "Drop the event", "", "It becomes part of no history"),
}
TAKES_VALUE: Final = frozenset({"edit", "mock"})
_UNDO: Final = CommandButton("undo", "Undo", "", "Leave it as it was")
_WILL: Final = {
    "edit": "will be edited",
    "mock": "will be answered without a call",
    "skip": "will be skipped",
    "reject": "will be rejected",
    "drop": "will be dropped",
}


def held_edit(live: LiveRun, hold: Hold) -> HeldEdit | None:
    """The form for one hold; None where nothing can be changed."""
    allowed = ALLOWED.get(hold.arrival.gate, frozenset())
    if not allowed:
        return None
    edit, before = hold.edit, as_text(original(hold.arrival.gate, hold.arrival.held))
    tried = edit or hold.refused
    wanted = as_text(tried.value) if tried and tried.action in TAKES_VALUE else before
    is_refused = edit is None and tried is not None and tried.action in TAKES_VALUE
    buttons = [button for name, button in _BUTTONS.items() if name in allowed]
    return HeldEdit(
        action=commands_url(live.row.id),
        key=uuid.uuid4().hex,
        position=live.stepper.position,
        slot=json_slot(hold),
        field=json_field(hold, wanted, _problem(hold) if is_refused else ""),
        choices=tuple(each for each in buttons if each.name in TAKES_VALUE),
        refusals=tuple(each for each in buttons if each.name not in TAKES_VALUE),
        undo=_UNDO if edit else None,
        note="" if is_refused else _note(hold),
        reason=visible(str(edit.value or "")) if edit and edit.action == "reject" else "",
        fields=held_fields(live, hold) if "edit" in allowed else None,
        is_refused=is_refused,
        diff=_difference(edit, before, wanted) if edit else (),
    )


def _difference(edit: Edit, before: str, wanted: str) -> tuple[str, ...]:
    """The lines that an edit changes, or all of the answer that stands in for a call."""
    if edit.action not in TAKES_VALUE:
        return ()
    return difference(before if edit.action == "edit" else "", wanted)


def json_slot(hold: Hold) -> str:
    """What the id of a hold's JSON field begins with."""
    return f"json-{hold.id}"


def json_field(hold: Hold, value: str, error: str = "") -> AskField:
    """All of what is held in one field."""
    tried = hold.edit or hold.refused
    answers = tried is not None and tried.action == "mock"
    what = HOLDING[hold.arrival.gate]
    label = "The answer in place of the call" if answers else f"In place of the {what}"
    return AskField("value", f"{label}, as JSON", "json", value, error=error)


def value_of(command: str, text: str) -> Any:
    """What the field says for this command; a mock may be plain text, and most take nothing.

    Raises:
        WrongFields: it has to be JSON and is not.
    """
    if command == "reject":
        return text
    if command not in TAKES_VALUE:
        return None
    try:
        return parse_json(text.encode())
    except BadRequest as error:
        if command == "mock":
            return text
        raise WrongFields({"value": str(error)}) from error


def _note(hold: Hold) -> str:
    edit = hold.edit
    if edit is not None:
        why = f": {edit.value}" if edit.action == "reject" else ""
        return visible(f"It {_WILL[edit.action]} when the run goes on{why} ({edit.actor}).")
    return _problem(hold)


def _problem(hold: Hold) -> str:
    """Why the worker could not do it; "" if nothing was tried."""
    return visible(f"It could not be done: {hold.arrival.problem}") if hold.arrival.problem else ""
