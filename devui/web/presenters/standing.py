"""What holds a run up, in words: for the inspector's tab and for what is held."""

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, Final, Literal

from devui.debugger.compare.sides import place_of
from devui.debugger.live import LiveRun
from devui.debugger.stepping.stepper import Hold
from devui.store.rows import RunRow, SessionRow
from devui.web.links import (
    breakpoints_url,
    calls_url,
    choose_url,
    commands_url,
    session_url,
    standing_url,
    stop_url,
)
from devui.web.parts import every as parts
from devui.web.presenters.content import mapping
from devui.web.presenters.replays import replay_form
from devui.web.presenters.schemaforms import SchemaForm
from devui.web.presenters.status import WORDS
from devui.web.services import Services
from devui.web.text.deadlocks import deadlock
from devui.web.text.formats import duration, moment
from devui.web.text.gates import sentence
from devui.web.text.visible import visible

_STATUS: Final = {"held": "held", "running": "runs", "behind": "waits its turn to commit"}
_WAITS: Final[Mapping[str, str]] = {
    "running": "has the event loop",
    "gate": "is held by the debugger",
    "commit": "waits at the commit of its event",
    "server": "waits for an answer of devui's server",
    "thread": "waits for a plain function in a thread",
    "task": "waits for another task",
    "tasks": "waits for its tasks",
    "lock": "waits for a lock",
    "queue": "waits for a queue",
    "signal": "waits for a signal that other code has to give",
    "time": "sleeps",
    "other": "waits for something outside, such as the network",
}


async def run_panel(found: Services, session: SessionRow) -> parts.RunPanel:
    """What the session's newest run waits for."""
    run = await found.journal.runs.newest(session.key)
    if run is None:
        return parts.RunPanel(standing_url(session.key), "There was no run yet", going=False)
    told = await found.runs.standing(run.id)
    live = found.runs.live(session.key)
    compare = await _compare_href(found, session, run)
    if live is None or live.row.id != run.id:
        over = _over(session, run, told, await replay_form(found, session))
        return replace(over, compare_href=compare)
    return replace(_going(session, live, told), compare_href=compare)


async def _compare_href(found: Services, session: SessionRow, run: RunRow) -> str:
    """The run beside the one before."""
    place = place_of(run, await found.journal.runs.list(session.key))
    sides = (f"{session.key}@{place - 1}", f"{session.key}@{place}")
    return choose_url(*sides) if place > 1 else ""


def beside(branches: Sequence[Mapping[str, Any]]) -> tuple[parts.Beside, ...]:
    """What goes on at the same time, as lines."""
    return tuple(_beside(each) for each in branches)


def _over(
    session: SessionRow, run: RunRow, told: Mapping[str, Any], form: parts.ReplayForm | None
) -> parts.RunPanel:
    whys = tuple(
        parts.Why(
            "warn",
            f"Waits for a person: {visible(each['agent'])} {each['asks']}{_for(each['for'])}.",
            href=session_url(session.key, event=each["event"], tab="event"),
            label=f"#{each['event']}",
        )
        for each in told["questions"]
    )
    title = f"The newest run: {WORDS[run.status]}"
    return parts.RunPanel(standing_url(session.key), title, going=False, whys=whys, replay=form)


def _for(asker: Mapping[str, Any] | None) -> str:
    return visible(f" for the {asker['kind']} {asker['name']}") if asker else ""


def _going(session: SessionRow, live: LiveRun, told: Mapping[str, Any]) -> parts.RunPanel:
    held = bool(live.stepper.holds)
    several = len(told["branches"]) > 1
    return parts.RunPanel(
        href=standing_url(session.key),
        title="Where the run stands",
        going=True,
        silent=None if held else moment(live.progressed.at),
        whys=(*_whys(told), *map(_hold, live.stepper.holds)),
        action="" if held or live.stopping else commands_url(live.row.id),
        key=uuid.uuid4().hex,
        stop_href="" if live.stopping else stop_url(live.row.id),
        break_action=breakpoints_url(session.key),
        calls=tuple(_call(live, each, blocked=bool(told["blocked"])) for each in told["calls"]),
        beside=beside(told["branches"]) if several else (),
        tasks=_tasks(told),
    )


def _whys(told: Mapping[str, Any]) -> Iterator[parts.Why]:
    if told["blocked"]:
        yield _blocked(told["blocked"], own=told["blocked"]["run"] in {None, told["run"]})
    for circle in told["deadlocks"]:
        yield parts.Why("bad", visible(deadlock(circle, told)))
    if not told["answered"]:
        yield parts.Why(
            "warn",
            "The agent's process does not tell where it stands: it is being started, it is "
            "suspended, or code in C does not let go of the interpreter.",
        )


def _hold(hold: Hold) -> parts.Why:
    """Where the debugger holds what: `before the tool is called (pay, of cashier)`."""
    arrival = hold.arrival
    where = sentence(arrival.gate, arrival.number).removeprefix("Paused ")
    tool = f"{visible(arrival.tool)}, of " if arrival.tool else ""
    text = f"The debugger holds it {where} ({tool}{visible(arrival.agent)}). Continue or step."
    return parts.Why("info", text)


def _blocked(blocked: Mapping[str, Any], *, own: bool) -> parts.Why:
    what = f"The tool {visible(blocked['tool'])}" if blocked["tool"] else "Code of the agent"
    if not own:
        what = "Another run of this app"
    text = f"{what} blocks the event loop, for {duration(blocked['seconds'])} now."
    place = blocked["place"]
    return parts.Why("bad", text, _place(place), visible(place["source"]) if place else "")


def call_ending(run: str, call: Mapping[str, Any]) -> parts.CallEnding:
    """The form that ends a call."""
    schema = call["schema"]
    return parts.CallEnding(
        action=calls_url(run),
        key=uuid.uuid4().hex,
        call=call["id"],
        name=visible(call["name"]),
        slot=answer_slot(call["id"]),
        fields=answer_form(schema).fields() if schema else (),
        typed_slot=typed_slot(call["id"]),
        typed=typed_answer(call),
    )


def answer_slot(call: int) -> str:
    """What the ids begin with of the fields for a call's answer."""
    return f"answer-{call}"


def typed_slot(call: int) -> str:
    """The same of the field for any answer."""
    return f"typed-{call}"


def typed_answer(call: Mapping[str, Any]) -> parts.AskField:
    """That field: it takes what the tool does not declare, too."""
    label = f"Answer in place of {visible(call['name'])}"
    return parts.AskField("value", label, "json", hint="JSON, or a text")


def answer_form(schema: str) -> SchemaForm:
    """What a tool declares to return, as a form."""
    return SchemaForm(mapping(json.loads(schema)), "of")


def _call(live: LiveRun, call: Mapping[str, Any], *, blocked: bool) -> parts.PendingCall:
    is_tool = call["kind"] == "tool"
    name = visible(call["name"])
    kind: Literal["thought", "call"] = "call" if is_tool else "thought"
    draft = {"on": "tool", "name": call["name"], "agent": call["agent"]}
    can_end = not (call["told"] or live.stopping)
    return parts.PendingCall(
        id=call["id"],
        kind=kind,
        name=name,
        about=visible(call["about"]),
        who=_who(call),
        since=moment(call["since"]),
        place=_place(call["place"]),
        source=visible(call["place"]["source"]) if call["place"] else "",
        draft=json.dumps(draft) if is_tool else "",
        ending=call_ending(live.row.id, call) if can_end else None,
        note=_ending_note(call, blocked=blocked),
    )


def _ending_note(call: Mapping[str, Any], *, blocked: bool) -> str:
    if call["told"]:
        return "It was told to end and takes no notice so far. Stopping the run ends it."
    if blocked:
        return "While the event loop is blocked no call can be ended by itself; stop the run."
    if call["thread"]:
        return (
            "A plain function in a thread cannot be stopped. If you end the call, the run goes on "
            "without it, and what it returns later is dropped."
        )
    return ""


def _beside(branch: Mapping[str, Any]) -> parts.Beside:
    return parts.Beside(
        status=branch["status"],
        word=_word(branch),
        who=_who(branch) or f"task {branch['task']}",
        doing=visible(branch["doing"]),
        place=_place(branch["place"]),
        since=moment(branch["since"]) if branch["since"] else None,
    )


def _word(branch: Mapping[str, Any]) -> str:
    """What it does: one that runs may well wait for something of its own."""
    runs = branch["status"] != "running" or branch["doing"] or branch["waits"] == "running"
    return _STATUS[branch["status"]] if runs else _WAITS[branch["waits"]]


def _tasks(told: Mapping[str, Any]) -> tuple[parts.TaskShown, ...]:
    circles = {each for circle in told["deadlocks"] for each in circle}
    return tuple(
        parts.TaskShown(
            id=task["id"],
            who=_who(task) or ("the run itself" if task is told["tasks"][0] else ""),
            waits=_waits(task),
            stack=_stack(task["places"]),
            circle=task["id"] in circles,
        )
        for task in told["tasks"]
    )


def _waits(task: Mapping[str, Any]) -> str:
    if task["on"]:
        return f"waits for {task['on']}"
    after = task["awaits"]
    if after is None:
        return _WAITS[task["waits"]]
    if task["waits"] == "lock":
        return f"waits for a lock that task {after} has"
    return f"waits for task {after}"


def _stack(places: Sequence[Mapping[str, Any]]) -> tuple[parts.Frames, ...]:
    """The frames, the innermost first, those of the app apart from the others."""
    return tuple(
        parts.Frames(own, tuple(_frame(place) for place in group))
        for own, group in groupby(reversed(places), key=lambda place: bool(place["own"]))
    )


def _frame(place: Mapping[str, Any]) -> tuple[str, str, str]:
    where = f"{place['file']}:{place['line']}"
    return visible(where), visible(place["function"]), visible(place["source"])


def _place(place: Mapping[str, Any] | None) -> str:
    return visible(f"{place['file']}:{place['line']} in {place['function']}") if place else ""


def _who(told: Mapping[str, Any]) -> str:
    """The agent, and its branch where the name does not say it."""
    branch = told["branch"]
    return visible(f"{told['agent']} ({branch})" if branch else told["agent"])
