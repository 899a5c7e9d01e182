"""Where the run under way stands, as the session page shows it: buttons, held things, resuming."""

import json
import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from devui.debugger.breakpoints.book import BreakpointBook
from devui.debugger.breakpoints.breakpoints import Known
from devui.debugger.live import LiveRun
from devui.debugger.preview import preview
from devui.debugger.standing import branches_of
from devui.debugger.stepping.arrivals import GateKind
from devui.debugger.stepping.stepper import Hold, Stepper
from devui.debugger.summary import Kind, summarise
from devui.store.rows import Change
from devui.store.state import scoped
from devui.web.links import commands_url, session_url
from devui.web.parts import every as parts
from devui.web.presenters.breaking import stop_shape, told
from devui.web.presenters.changing import held_edit
from devui.web.presenters.content import mapping
from devui.web.presenters.kinds import WORDS, shape
from devui.web.presenters.standing import beside
from devui.web.presenters.statepanel import changed_values
from devui.web.text.figures import plural
from devui.web.text.formats import moment
from devui.web.text.gates import HOLDING, sentence
from devui.web.text.jsontext import json_text
from devui.web.text.visible import visible
from devui.wire.gates import ORDERS, PLANS

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
_STAGES: Final[Mapping[GateKind, parts.Stage]] = {
    "before_commit": "produced",
    "after_commit": "committed",
}
_EFFECTS: Final[Mapping[str, str]] = {
    "effects": "This tool has effects",
    "unknown": "Nobody has said what this tool does to the world",
    "idempotent": "This tool is perhaps idempotent, says its server",
}
_RUNS: Final = "Continue runs it."
_RESULT: Final = 160


def _button(name: str, key: str, title: str, *, primary: bool = False) -> parts.CommandButton:
    return parts.CommandButton(name, ORDERS[name], key, title, primary=primary)


_PAUSE = _button("pause", "p", "Hold the next event before its commit (p)")
_STEPS = (
    _button("continue", "c", "Let the run go on (c or F8)", primary=True),
    _button("step_event", "n", "Go on to after the next commit (n or F10)"),
    _button("step_half", "m", "Go on by one of yield, commit, resume (m)"),
    _button("step_into", "i", "Stop at the next model, tool or agent (i)"),
    _button("step_out", "o", "Go on until this call or agent returns (o)"),
)
_ON = _button("continue", "c", "Let the run go on without stopping there (c or F8)")
_STOP = _button(
    "stop_after_event",
    "s",
    "Stop once this event, or else the next, is committed (s); at once: Shift+S",
)


def debugger(live: LiveRun | None) -> parts.Debugger:
    """The orders that can be given now."""
    if live is None or live.stopping:
        return parts.Debugger()
    stepper = live.stepper
    last = stepper.last.command if stepper.last else None
    return parts.Debugger(
        action=commands_url(live.row.id),
        key=uuid.uuid4().hex,
        position=stepper.position,
        buttons=_buttons(stepper),
        plan=PLANS[stepper.plan.name] if stepper.plan else "",
        last=ORDERS[last.name] if last else "",
        actor=visible(last.actor) if last else "",
    )


def _buttons(stepper: Stepper) -> tuple[parts.CommandButton, ...]:
    if stepper.holds:
        return (*_STEPS, _STOP)
    if stepper.plan is None:
        return (_PAUSE, _STOP)
    changes = {"pause": _PAUSE, "stop_after_event": _STOP}
    return (_ON, *(button for name, button in changes.items() if name != stepper.plan.name))


def held(live: LiveRun | None, book: BreakpointBook) -> parts.Held:
    """What waits at gates, the oldest first, with the breakpoints that hold it; else the event
    that was let go and is on its way into the journal."""
    if live is None:
        return parts.Held()
    if not live.stepper.holds:
        going = live.stepper.committing
        return parts.Held(items=(_committing(live, going, book),) if going else ())
    others = [branch for branch in branches_of(live) if branch["status"] != "held"]
    items = tuple(_item(live, hold, book) for hold in live.stepper.holds)
    return parts.Held(items=items, beside=beside(others))


def is_committing(live: LiveRun | None) -> bool:
    """Whether that is all there is to show of it."""
    return live is not None and not live.stepper.holds and live.stepper.committing is not None


def pending(live: LiveRun | None) -> tuple[parts.PendingGroup, ...]:
    """State that is written and not committed: what the held events will change."""
    if live is None:
        return ()
    session = live.session.key
    return tuple(
        parts.PendingGroup(author, f"pending from {author}: {plural(len(values), 'key')}", values)
        for hold in live.stepper.holds
        if hold.arrival.gate == "before_commit"
        if (values := _pending_values(hold, session))
        if (author := visible(hold.arrival.agent))
    )


def _pending_values(hold: Hold, session: int) -> tuple[parts.StateValue, ...]:
    """What the code wrote, with what a person wants committed in its place."""
    values = zip(_changes(hold, session), hold.arrival.changes, strict=True)
    return tuple(replace(value, note=_instead(hold, change)) for value, change in values)


def _instead(hold: Hold, change: Mapping[str, Any]) -> str:
    if hold.edit is None:
        return ""
    actions = mapping(mapping(hold.edit.value).get("actions"))
    delta = mapping(actions.get("stateDelta", actions.get("state_delta")))
    if hold.edit.action == "drop" or change["key"] not in delta:
        return "changed by hand: this will not be committed"
    if (instead := delta[change["key"]]) == change["new"]:
        return ""
    return visible(f"{_json(instead)} will be committed instead")


def _item(live: LiveRun, hold: Hold, book: BreakpointBook) -> parts.HeldItem:
    arrival, summary, session = hold.arrival, hold.arrival.summary, live.session
    kind = summary.kind if summary else _KINDS[arrival.gate]
    by = book.get(session.app, hold.breakpoint or 0)
    return parts.HeldItem(
        id=hold.id,
        kind=kind,
        shape=shape(kind, final=summary.final if summary else False),
        word=WORDS[kind] if summary else _WORDS.get(arrival.gate, WORDS[kind]),
        author=visible(arrival.agent),
        text=visible(summary.text if summary else _about(hold)),
        sentence=sentence(hold.arrival.gate, hold.arrival.number),
        stage=_STAGES.get(arrival.gate, "working"),
        since=moment(hold.since),
        branch=visible(arrival.branch or ""),
        changes=_announced(hold, session.key),
        held=json_text(arrival.held),
        holding=HOLDING[arrival.gate],
        edit=held_edit(live, hold),
        breakpoint=_breakpoint(hold, by),
        breakpoint_shape=stop_shape(by.breakpoint.draft) if by else "break",
        alone=_alone(live),
        breakpoint_href=session_url(session.key, tab="breaks"),
        guard=_guarded(hold, session.key),
    )


def _committing(live: LiveRun, hold: Hold, book: BreakpointBook) -> parts.HeldItem:
    """Nothing can be done to it any more."""
    item = _item(live, hold, book)
    return replace(item, stage="committing", sentence="Being committed", edit=None, breakpoint="")


def _announced(hold: Hold, session: int) -> tuple[parts.StateValue, ...]:
    """What its commit will do to the state; of what is edited the diff tells it."""
    is_as_it_was = hold.arrival.gate == "before_commit" and hold.edit is None
    return _changes(hold, session) if is_as_it_was else ()


def _guarded(hold: Hold, session: int) -> parts.GuardNote | None:
    """What the guard says of a call that is perhaps made a second time."""
    ruling = hold.ruling
    if ruling is None:
        return None
    offer, said = ruling.offer, _EFFECTS.get(ruling.effect.effect, "")
    if offer is None:
        todo = f"and it has run before, less often. {_RUNS}"
        return parts.GuardNote(f"{said}, {todo}", "", "", "", "")
    elsewhere = "" if offer.session == session else " of the parent"
    if not ruling.exact:
        todo = f"and it has run before with other arguments. {_RUNS}"
    elif hold.edit is None:
        todo = f"and it has run before with these arguments. {_RUNS}"
    else:
        todo = "and it has run before. Continue takes the recorded result."
    return parts.GuardNote(
        text=f"{said}, {todo}",
        result=visible(preview(dict(offer.result), _RESULT)),
        label=f"#{offer.number}{elsewhere}",
        href=session_url(offer.session, event=offer.number),
        command="undo" if hold.edit else "mock",
        value="" if hold.edit else _json(dict(offer.result)),
    )


def _alone(live: LiveRun) -> parts.Debugger | None:
    """The orders for one of several holds."""
    if len(live.stepper.holds) < 2:
        return None
    return replace(debugger(live), buttons=_STEPS, plan="", last="")


def _breakpoint(hold: Hold, known: Known | None) -> str:
    if hold.breakpoint is None:
        return ""
    if known is None:
        return f"Breakpoint {hold.breakpoint}: deleted since"
    return f"Breakpoint {hold.breakpoint}: {told(known.breakpoint.draft)}"


def _about(hold: Hold) -> str:
    arrival = hold.arrival
    if arrival.gate == "after_tool":
        return f"{arrival.tool} → {preview(arrival.held.get('result'), _RESULT)}"
    if arrival.tool:
        args = arrival.held.get("args") or {}
        said = ", ".join(f"{name}={_json(value)}" for name, value in args.items())
        return f"{arrival.tool}({said})"
    if arrival.gate == "after_model":
        return summarise({**arrival.held, "author": arrival.agent}, final=False).text
    return str(arrival.held.get("model") or arrival.held.get("type") or "")


def _changes(hold: Hold, session: int) -> tuple[parts.StateValue, ...]:
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
