"""Where the run under way stands, as the session page shows it: buttons, held things, resuming."""

import json
import uuid
from collections.abc import Mapping
from typing import Any, Final

from devui.debugger.arrivals import GateKind
from devui.debugger.breakpointbook import BreakpointBook
from devui.debugger.breakpoints import Known
from devui.debugger.commands import CommandName
from devui.debugger.live import LiveRun
from devui.debugger.stepper import Hold
from devui.debugger.summary import Kind
from devui.store.rows import Change, RunRow, Scope
from devui.web import parts
from devui.web.breaking import described
from devui.web.changing import held_edit
from devui.web.figures import plural
from devui.web.jsontext import json_text
from devui.web.kinds import WORDS, shape
from devui.web.links import commands_url, runs_url, session_url
from devui.web.moments import moment
from devui.web.services import Services
from devui.web.statepanel import PREFIXES, changed_values
from devui.web.visible import visible

SENTENCES: Final[Mapping[GateKind, str]] = {
    "before_commit": "Paused before the commit",
    "after_commit": "Paused after the commit, before the agent goes on",
    "enter_agent": "Paused before the agent begins",
    "leave_agent": "Paused as the agent ends",
    "before_model": "Paused before the model is asked",
    "after_model": "Paused with the model's answer",
    "before_tool": "Paused before the tool is called",
    "after_tool": "Paused with the tool's result",
}
_HOLDING: Final[Mapping[GateKind, str]] = {
    "before_commit": "event",
    "after_commit": "event",
    "enter_agent": "agent",
    "leave_agent": "agent",
    "before_model": "request",
    "after_model": "response",
    "before_tool": "arguments",
    "after_tool": "result",
}
_KINDS: Final[Mapping[GateKind, Kind]] = {
    "before_model": "thought",
    "after_model": "text",
    "before_tool": "call",
    "after_tool": "result",
    "enter_agent": "transfer",
    "leave_agent": "transfer",
}
_STAGES: Final[Mapping[GateKind, parts.Stage]] = {
    "before_commit": "produced",
    "after_commit": "committed",
}
_PLANS: Final[Mapping[CommandName, str]] = {
    "pause": "to the next event",
    "step_event": "to the next event",
    "step_half": "to the next half step",
    "step_into": "to the next gate",
    "step_out": "out of this call",
    "run_to": "to the next like this",
    "stop_after_event": "to the end of this event, then stops",
}

_PAUSE = parts.CommandButton("pause", "Pause", "p", "Hold the next event before its commit (p)")
_STEPS = (
    parts.CommandButton("continue", "Continue", "c", "Let the run go on (c or F8)", primary=True),
    parts.CommandButton("step_event", "Step", "n", "Go on to after the next commit (n or F10)"),
    parts.CommandButton("step_half", "Half", "m", "Go on by one of yield, commit, resume (m)"),
    parts.CommandButton("step_into", "Into", "i", "Stop at the next model, tool or agent (i)"),
    parts.CommandButton("step_out", "Out", "o", "Go on until this call or agent returns (o)"),
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
        buttons=_STEPS if stepper.holds else (_PAUSE,),
        plan=_PLANS.get(stepper.plan.name, "") if stepper.plan else "",
        last=f"{last.name.replace('_', ' ')} by {visible(last.actor)}" if last else "",
    )


def held(live: LiveRun | None, book: BreakpointBook) -> parts.Held:
    """What waits at gates, the oldest first, with the breakpoints that hold it."""
    if live is None or not live.stepper.holds:
        return parts.Held()
    holds = live.stepper.holds
    stopped = {(hold.arrival.agent, hold.arrival.branch) for hold in holds}
    others = sum(place not in stopped for place in live.streaming)
    return parts.Held(
        items=tuple(_item(live, hold, book) for hold in holds),
        others=f"{plural(others, 'other answer')} may still be streaming" if others else "",
    )


def pending(live: LiveRun | None) -> tuple[parts.StateValue, ...]:
    """State that is written and not committed: what the held events will change."""
    if live is None:
        return ()
    waiting = [hold for hold in live.stepper.holds if hold.arrival.gate == "before_commit"]
    return tuple(value for hold in waiting for value in _changes(hold, live.session.key))


async def resume(found: Services, run: RunRow | None, live: LiveRun | None) -> parts.Resume:
    """The offer to resume the session's newest run, if it was cut off."""
    if live is not None or run is None or run.invocation_id is None:
        return parts.Resume()
    if run.status not in {"stopped", "interrupted"}:
        return parts.Resume()
    position = await found.runs.position(run.id)
    return parts.Resume(
        text=f"This invocation was {run.status}. What is committed stays; it can go on from there.",
        action=runs_url(run.session),
        invocation=run.invocation_id,
        lost=tuple(_lost(hold) for hold in position.get("lost") or ()),
    )


def _lost(hold: Mapping[str, Any]) -> str:
    what = visible(str(hold.get("text") or hold.get("tool") or hold.get("agent") or ""))
    return f"{SENTENCES.get(hold['gate'], hold['gate'])}: {what}"


def _item(live: LiveRun, hold: Hold, book: BreakpointBook) -> parts.HeldItem:
    arrival, summary, session = hold.arrival, hold.arrival.summary, live.session
    kind = summary.kind if summary else _KINDS[arrival.gate]
    return parts.HeldItem(
        id=hold.id,
        kind=kind,
        shape=shape(kind, final=summary.final if summary else False),
        word=WORDS[kind],
        author=visible(arrival.agent),
        text=visible(summary.text if summary else _about(hold)),
        sentence=_sentence(hold),
        stage=_STAGES.get(arrival.gate, "working"),
        since=moment(hold.since),
        branch=visible(arrival.branch or ""),
        changes=_changes(hold, session.key) if arrival.gate == "before_commit" else (),
        held=json_text(arrival.held),
        holding=_HOLDING[arrival.gate],
        edit=held_edit(live, hold),
        breakpoint=_breakpoint(hold, book.get(session.app, hold.breakpoint or 0)),
        breakpoint_href=session_url(session.key, tab="breaks"),
    )


def _breakpoint(hold: Hold, known: Known | None) -> str:
    if hold.breakpoint is None:
        return ""
    what = described(known.breakpoint.draft) if known else "deleted since"
    return f"Breakpoint {hold.breakpoint}: {what}"


def _sentence(hold: Hold) -> str:
    text, number = SENTENCES[hold.arrival.gate], hold.arrival.number
    return text.replace("the commit", f"the commit of #{number}") if number else text


def _about(hold: Hold) -> str:
    arrival = hold.arrival
    if arrival.tool:
        args = arrival.held.get("args") or {}
        said = ", ".join(f"{name}={_json(value)}" for name, value in args.items())
        return f"{arrival.tool}({said})"
    return str(arrival.held.get("model") or arrival.held.get("name") or "")


def _changes(hold: Hold, session: int) -> tuple[parts.StateValue, ...]:
    changes = [
        Change(
            *_scoped(str(change["key"])),
            old=_json(change["old"]) if "old" in change else None,
            new=_json(change["new"]),
        )
        for change in hold.arrival.changes
    ]
    return changed_values(changes, session=session, number=None)


def _scoped(key: str) -> tuple[Scope, str]:
    """The scope of a key as agents write it, and the key without its prefix."""
    scopes: tuple[Scope, ...] = ("user", "app")
    for scope in scopes:
        if key.startswith(PREFIXES[scope]):
            return scope, key.removeprefix(PREFIXES[scope])
    return "session", key


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
