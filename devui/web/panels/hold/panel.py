"""The position of the run in progress, as the session page shows it: buttons and held items."""

import json
import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, Literal

from devui.debugger.breakpoints.book import BreakpointBook
from devui.debugger.breakpoints.breakpoint import StoredBreakpoint
from devui.debugger.events.preview import preview
from devui.debugger.events.summary import summarize
from devui.debugger.runs.activity import branches_of
from devui.debugger.runs.live import LiveRun
from devui.debugger.stepping.arrivals import GateKind
from devui.debugger.stepping.stepper import Hold, Stepper
from devui.store.rows import Change
from devui.store.state import scoped
from devui.store.summaries import Kind
from devui.web.links import commands_url, session_url
from devui.web.panels.breakpoints.descriptions import full_description, mark_shape
from devui.web.panels.hold.forms import held_edit, takes_recorded
from devui.web.panels.hold.parts import (
    CommandButton,
    Debugger,
    GuardNote,
    HeldItem,
    HeldRows,
    Stage,
)
from devui.web.panels.inspector.parts import PendingGroup
from devui.web.panels.runs.panel import beside
from devui.web.panels.state.panel import changed_values
from devui.web.panels.state.parts import StateValue
from devui.web.panels.timeline.kinds import WORDS, shape
from devui.web.panels.timeline.rows import row_text
from devui.web.text.actors import by
from devui.web.text.deceptive_characters import visible
from devui.web.text.formats import moment, plural
from devui.web.text.gates import HOLDING, sentence
from devui.web.text.jsontree import json_text
from devui.wire.events import Event, fields_in
from devui.wire.gates import ORDERS, PLANS, original

_KINDS: Final[Mapping[GateKind, Kind]] = {
    "before_model": "thought",
    "after_model": "text",
    "before_tool": "call",
    "after_tool": "result",
    "enter_agent": "transfer",
    "leave_agent": "transfer",
}
_WORDS: Final[Mapping[GateKind, str]] = {
    "enter_agent": "begins",
    "leave_agent": "ends",
    "before_model": "request",
    "after_model": "response",
}
_STAGES: Final[Mapping[GateKind, Stage]] = {
    "before_commit": "produced",
    "after_commit": "committed",
}
_DEEDS: Final[Mapping[str, str]] = {
    "continue": "Continued",
    "pause": "Paused",
    "step_event": "Stepped",
    "step_half": "Half-stepped",
    "step_into": "Stepped in",
    "step_out": "Stepped out",
    "run_to": "Run to the next similar event",
    "stop_after_event": "End after event requested",
    "stop": "Stopped",
    "edit": "Edited",
    "mock": "Mocked",
    "skip": "Skipped",
    "reject": "Rejected",
    "drop": "Dropped",
    "undo": "Edit undone",
    "end": "Call ended",
    "answer": "Answered",
}
"""What a command did, for each of `ORDERS`."""
_EFFECTS: Final[Mapping[str, str]] = {
    "effects": "This tool has side effects",
    "unknown": "This tool may have side effects",
    "idempotent": "The tool's server says repeated calls are safe, but devui can't verify that",
}
_OUTCOMES: Final[Mapping[str, str]] = {
    "recorded": "The recorded result will be used.",
    "run": "The tool will run again.",
    "": "",
}
_RESULT: Final = 160
_NOTHING: Final = object()
"""Stands for a missing value, since None is a value."""


def _button(name: str, key: str, title: str, *, primary: bool = False) -> CommandButton:
    return CommandButton(name, ORDERS[name], key, title, primary=primary)


_PAUSE = _button("pause", "p", "Pause before the next event is committed (p)")
_STEPS = (
    _button("continue", "c", "Continue the run (c or F8)", primary=True),
    _button("step_event", "n", "Step over the next commit (n or F10)"),
    _button("step_half", "m", "Step to the next yield, commit, or resume (m)"),
    _button("step_into", "i", "Step into the next model, tool, or agent (i)"),
    _button("step_out", "o", "Run until this call or agent returns (o)"),
)
_ON = _button("continue", "c", "Continue the run without stopping there (c or F8)")
_FINISH = _button(
    "stop_after_event",
    "",
    "Commit the current or next event, then end the run",
)


def debugger(live: LiveRun | None) -> Debugger:
    """Return the commands that the run accepts now."""
    if live is None or live.stopping:
        return Debugger()
    stepper = live.stepper
    last = stepper.last.command if stepper.last else None
    return Debugger(
        action=commands_url(live.row.id),
        key=uuid.uuid4().hex,
        position=stepper.position,
        buttons=_buttons(stepper),
        plan=PLANS[stepper.plan.name] if stepper.plan else "",
        deed=_DEEDS[last.name] if last else "",
        actor=visible(last.actor) if last else "",
    )


def _buttons(stepper: Stepper) -> tuple[CommandButton, ...]:
    if len(stepper.holds) == 1:  # its card has the primary button
        return (*(replace(button, primary=False) for button in _STEPS), _FINISH)
    if stepper.holds:
        return (*_STEPS, _FINISH)
    if stepper.plan is None:
        return (_PAUSE, _FINISH)
    changes = {"pause": _PAUSE, "stop_after_event": _FINISH}
    return (_ON, *(button for name, button in changes.items() if name != stepper.plan.name))


def held_rows(live: LiveRun | None, book: BreakpointBook) -> HeldRows:
    """Return what is held at gates, the oldest first; if nothing is, the event being committed."""
    if live is None:
        return HeldRows()
    if not live.stepper.holds:
        going = live.stepper.committing
        return HeldRows(items=(_committing(live, going, book),) if going else ())
    others = [branch for branch in branches_of(live) if branch["status"] != "held"]
    items = tuple(_item(live, hold, book) for hold in live.stepper.holds)
    return HeldRows(items=items, beside=beside(others))


def is_committing(live: LiveRun | None) -> bool:
    """Return whether the run's only item to show is the event being committed."""
    return live is not None and not live.stepper.holds and live.stepper.committing is not None


def pending(live: LiveRun | None) -> tuple[PendingGroup, ...]:
    """Return the uncommitted state: what the held events will change."""
    if live is None:
        return ()
    session = live.session.key
    return tuple(
        PendingGroup(author, f"pending from {author}: {plural(len(values), 'key')}", values)
        for hold in live.stepper.holds
        if hold.arrival.gate == "before_commit"
        if (values := _pending_values(hold, session))
        if (author := visible(hold.arrival.agent))
    )


def _pending_values(hold: Hold, session: int) -> tuple[StateValue, ...]:
    """Return what the code wrote, each value with a note if a person's edit will be committed
    instead."""
    values = zip(_changes(hold, session), hold.arrival.changes, strict=True)
    return tuple(replace(value, note=_instead(hold, change)) for value, change in values)


def _instead(hold: Hold, change: Mapping[str, Any]) -> str:
    if hold.edit is None:
        return ""
    delta = hold.edit.delta
    if change["key"] not in delta:
        return "edited: this will not be committed"
    if (instead := delta[change["key"]]) == change["new"]:
        return ""
    return visible(f"{_json(instead)} will be committed instead")


def _item(live: LiveRun, hold: Hold, book: BreakpointBook) -> HeldItem:
    arrival, summary, session = hold.arrival, hold.arrival.summary, live.session
    kind = summary.kind if summary else _KINDS[arrival.gate]
    by = book.get(session.app, hold.breakpoint or 0)
    return HeldItem(
        id=hold.id,
        kind=kind,
        shape=shape(
            kind,
            final=bool(summary and summary.final),
            has_failed=bool(summary and summary.has_failed),
        ),
        word=WORDS[kind] if summary else _WORDS.get(arrival.gate, WORDS[kind]),
        author=visible(arrival.agent),
        text=row_text(summary) if summary else visible(_about(hold)),
        instead=visible(_edit_text(hold)),
        is_withheld=hold.edit is not None and hold.edit.action in {"drop", "skip", "reject"},
        sentence=sentence(hold.arrival.gate, hold.arrival.number),
        stage=_STAGES.get(arrival.gate, "working"),
        since=moment(hold.since),
        branch=visible(arrival.branch or ""),
        changes=_announcement(hold, session.key),
        value=json_text(arrival.payload),
        holding=HOLDING[arrival.gate],
        edit=held_edit(live, hold),
        breakpoint=_breakpoint(hold, by),
        breakpoint_shape=mark_shape(by.breakpoint.draft) if by else "break",
        orders=_orders(live),
        is_one_of_several=len(live.stepper.holds) > 1,
        breakpoint_href=session_url(session.key, tab="breaks"),
        guard=_guard_note(hold, session.key),
    )


def _committing(live: LiveRun, hold: Hold, book: BreakpointBook) -> HeldItem:
    """Return the item for an event being committed, which can no longer be edited or dropped."""
    item = _item(live, hold, book)
    sentence = "Being committed"
    return replace(
        item, stage="committing", sentence=sentence, edit=None, orders=None, breakpoint=""
    )


def _announcement(hold: Hold, session: int) -> tuple[StateValue, ...]:
    """Return what the commit of a held event will change in the state, a person's edits
    included."""
    if hold.arrival.gate != "before_commit" or (hold.edit and hold.edit.action != "edit"):
        return ()
    if hold.edit is None:
        return _changes(hold, session)
    before = {str(change["key"]): change.get("old", _NOTHING) for change in hold.arrival.changes}
    changes = [
        Change(
            *scoped(key),
            old=None if (old := before.get(key, _NOTHING)) is _NOTHING else _json(old),
            new=_json(new),
        )
        for key, new in hold.edit.delta.items()
    ]
    return changed_values(changes, session=session, number=None)


def _guard_note(hold: Hold, session: int) -> GuardNote | None:
    """Return what the guard says about a call that may be made a second time."""
    ruling = hold.ruling
    if ruling is None:
        return None
    offer, effect = ruling.offer, _EFFECTS.get(ruling.effect.effect, "")
    if offer is None:
        return GuardNote(
            f"{effect}, and no recorded result is left for this call. Continue runs it."
        )
    elsewhere = "" if offer.session == session else " in the parent session"
    choice: Literal["recorded", "run", ""] = "" if hold.edit else "run"
    if takes_recorded(hold):
        choice = "recorded"
    return GuardNote(
        text=f"{effect}. It already ran with {'these' if ruling.same_args else 'other'} arguments:",
        result=visible(preview(dict(offer.result), _RESULT)),
        label=f"#{offer.number}{elsewhere}",
        href=session_url(offer.session, event=offer.number),
        value=_json(dict(offer.result)),
        choice=choice,
        outcome=_OUTCOMES[choice],
    )


def _orders(live: LiveRun) -> Debugger:
    """Return the commands for a hold's card; for the only hold, the bar has the others."""
    buttons = _STEPS if len(live.stepper.holds) > 1 else _STEPS[:2]
    return replace(debugger(live), buttons=buttons, plan="", deed="")


def _breakpoint(hold: Hold, point: StoredBreakpoint | None) -> str:
    if hold.breakpoint is None:
        return ""
    if point is None:
        return f"Breakpoint {hold.breakpoint}: deleted"
    name = f"Breakpoint {hold.breakpoint} {by(point.row.actor)}".rstrip()
    return f"{name}: {full_description(point.breakpoint.draft)}"


def _edit_text(hold: Hold) -> str:
    """Return what is held as a person edited it; "" if that reads the same."""
    edit, arrival = hold.edit, hold.arrival
    if edit is None or edit.action != "edit" or arrival.gate == "before_model":
        return ""
    if arrival.tool:
        return _of_tool(hold, edit.value)
    before, after = (
        summarize(Event.of({**fields_in(each), "author": arrival.agent}), final=False)
        for each in (arrival.payload, edit.value)
    )
    return "" if before.text == after.text else row_text(after)


def _of_tool(hold: Hold, value: Any) -> str:
    if hold.arrival.gate == "after_tool":
        return f"{hold.arrival.tool} → {preview(value, _RESULT)}"
    args = ", ".join(f"{name}={_json(each)}" for name, each in fields_in(value).items())
    return f"{hold.arrival.tool}({args})"


def _about(hold: Hold) -> str:
    arrival = hold.arrival
    if arrival.tool:
        return _of_tool(hold, original(arrival.gate, arrival.payload))
    if arrival.gate == "after_model":
        return summarize(Event.of({**arrival.payload, "author": arrival.agent}), final=False).text
    return str(arrival.payload.get("model") or arrival.payload.get("type") or "")


def _changes(hold: Hold, session: int) -> tuple[StateValue, ...]:
    changes = [
        Change(
            *scoped(str(change["key"])),
            old=_json(change["old"]) if "old" in change else None,
            new=_json(change["new"]),
        )
        for change in hold.arrival.changes
    ]
    return changed_values(changes, session=session, number=None)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
