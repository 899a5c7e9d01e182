"""What a run is waiting for, in words: for the Run tab and for the branches of a held run."""

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, Final, Literal

from devui.debugger.compare.sides import place_of
from devui.debugger.runs.activity import RunActivity
from devui.debugger.runs.live import LiveRun
from devui.debugger.runs.options import settings_of_run
from devui.debugger.stepping.stepper import Hold
from devui.store.rows import EventRow, RunRow, SessionRow
from devui.web.basic_parts import BranchItem
from devui.web.links import (
    activity_url,
    breakpoints_url,
    calls_url,
    choose_url,
    commands_url,
    session_url,
)
from devui.web.panels.questions.parts import QuestionField
from devui.web.panels.questions.schema_forms import SchemaForm
from devui.web.panels.replays.panel import replay_form
from devui.web.panels.replays.parts import ReplayForm
from devui.web.panels.runs.parts import (
    CallEnding,
    Frames,
    PendingCall,
    RunPanel,
    TaskItem,
    WaitReason,
)
from devui.web.panels.runs.status import WORDS
from devui.web.panels.settings.panel import in_words
from devui.web.services import Services
from devui.web.text.actors import by
from devui.web.text.debuggers import UNRESPONSIVE, debugger_words
from devui.web.text.deceptive_characters import visible
from devui.web.text.formats import duration, event_numbers, moment
from devui.web.text.gates import deadlock, sentence
from devui.wire.events import fields_in

_STATUS: Final = {"held": "held", "running": "running", "behind": "waiting to commit"}
_COMMITS: Final = frozenset({"before_commit", "after_commit"})
_WAITS: Final[Mapping[str, str]] = {
    "running": "running on the event loop",
    "gate": "paused by the debugger",
    "commit": "waiting for its event to be committed",
    "server": "waiting for the devui server",
    "thread": "waiting for a function in a thread",
    "task": "waiting for another task",
    "tasks": "waiting for its tasks",
    "lock": "waiting for a lock",
    "queue": "waiting for a queue",
    "signal": "waiting for a signal from other code",
    "time": "sleeping",
    "other": "waiting for something external, such as the network",
}


async def activity_of(
    services: Services, session: SessionRow, row: EventRow | None
) -> RunActivity | None:
    """Return what an event's run, or the session's newest run, waits for; None without a run.

    The worker may take seconds to answer.
    """
    of_event = await services.journal.runs.get(row.run) if row and row.run else None
    run = of_event or await services.journal.runs.newest(session.key)
    event = row.number if row else None
    return RunActivity(run, await services.runs.activity(run.id), event) if run else None


async def run_panel(
    services: Services, session: SessionRow, activity: RunActivity | None
) -> RunPanel:
    """Return the Run tab: what a run waits for, in words."""
    if activity is None:
        return RunPanel(activity_url(session.key), "No runs yet", going=False)
    run = activity.run
    live = services.runs.live(session.key)
    if live is not None and live.row.id == run.id:
        panel = _going(session, live, activity.report)
    else:
        title = await _title(services, run)
        form = await replay_form(services, session, run.id)
        panel = _over(session, title, activity.report, form)
        if live is not None:
            panel = replace(panel, live_href=session_url(session.key, tab="run"))
    return replace(
        panel,
        href=activity_url(session.key, activity.event),
        event=activity.event,
        compare_href=await _compare_href(services, session, run),
        settings=in_words(await settings_of_run(services.journal, run.id)),
        by=_actors(run),
    )


async def _title(services: Services, run: RunRow) -> str:
    newest = await services.journal.runs.newest(run.session)
    if newest is None or newest.id == run.id:
        return f"Latest run: {WORDS[run.status]}"
    extents = await services.journal.replays.extents(run.session)
    where = event_numbers(*extents.get(run.id, (0, 0)))
    return f"Run of {where}: {WORDS[run.status]}"


def _actors(run: RunRow) -> str:
    """Return who started the run and who stopped it."""
    actors = {"started": by(run.actor), "stopped": by(run.stopped_by)}
    return ", ".join(f"{did} {who}" for did, who in actors.items() if who)


async def _compare_href(services: Services, session: SessionRow, run: RunRow) -> str:
    """Return where to compare the run with the one before it."""
    place = place_of(run, await services.journal.runs.list(session.key))
    sides = (f"{session.key}@{place - 1}", f"{session.key}@{place}")
    return choose_url(*sides) if place > 1 else ""


def beside(branches: Sequence[Mapping[str, Any]]) -> tuple[BranchItem, ...]:
    """Return the branches that run at the same time, as lines."""
    return tuple(_beside(each) for each in branches)


def _over(
    session: SessionRow, title: str, report: Mapping[str, Any], form: ReplayForm | None
) -> RunPanel:
    whys = tuple(
        WaitReason(
            "warn",
            f"Waiting for a person: {visible(each['agent'])} {each['asks']}{_for(each['for'])}"
            + (f": {visible(each['about'])}" if each["about"] else "."),
            href=session_url(session.key, event=each["event"], tab="event"),
            label=f"#{each['event']}",
        )
        for each in report["questions"]
    )
    return RunPanel(activity_url(session.key), title, going=False, whys=whys, replay=form)


def _for(asker: Mapping[str, Any] | None) -> str:
    return visible(f" for the {asker['kind']} {asker['name']}") if asker else ""


def _going(session: SessionRow, live: LiveRun, report: Mapping[str, Any]) -> RunPanel:
    is_held = bool(live.stepper.holds)
    several = len(report["branches"]) > 1
    return RunPanel(
        href=activity_url(session.key),
        title="What the run is doing",
        going=True,
        silent=None if is_held else moment(live.last_progress.at),
        whys=(*_whys(report), *map(_hold, live.stepper.holds)),
        action="" if is_held or live.stopping else commands_url(live.row.id),
        key=uuid.uuid4().hex,
        break_action=breakpoints_url(session.key),
        calls=tuple(
            _call(live, each, is_blocked=bool(report["blocked"])) for each in report["calls"]
        ),
        beside=beside(report["branches"]) if several else (),
        tasks=_tasks(live, report),
    )


def _whys(report: Mapping[str, Any]) -> Iterator[WaitReason]:
    if report["debugger"]:
        yield WaitReason("warn", " ".join(debugger_words(report["debugger"])))
    if report["blocked"]:
        yield _block_reason(
            report["blocked"], own=report["blocked"]["run"] in {None, report["run"]}
        )
    for circle in report["deadlocks"]:
        yield WaitReason("bad", visible(deadlock(circle, report)))
    if not (report["answered"] or report["debugger"]):
        yield WaitReason("warn", UNRESPONSIVE)


def _hold(hold: Hold) -> WaitReason:
    """Return what the debugger holds, and where: `before the tool call (pay, cashier)`."""
    arrival = hold.arrival
    where = sentence(arrival.gate, arrival.number).removeprefix("Paused ")
    tool = f"{visible(arrival.tool)}, " if arrival.tool else ""
    text = f"Paused by the debugger {where} ({tool}{visible(arrival.agent)}). Continue or step."
    return WaitReason("info", text)


def _block_reason(block: Mapping[str, Any], *, own: bool) -> WaitReason:
    what = f"The tool {visible(block['tool'])}" if block["tool"] else "The agent's code"
    if not own:
        what = "Another run of this app"
    text = f"{what} has been blocking the event loop for {duration(block['seconds'])}."
    place = block["place"]
    return WaitReason("bad", text, _place(place), visible(place["source"]) if place else "")


def call_ending(run: str, call: Mapping[str, Any]) -> CallEnding:
    """Return the form that ends a call or answers it."""
    schema = call["schema"]
    return CallEnding(
        action=calls_url(run),
        key=uuid.uuid4().hex,
        call=call["id"],
        name=visible(call["name"]),
        slot=answer_slot(call["id"]),
        fields=answer_form(schema).fields() if schema else (),
        typed_slot=typed_slot(call["id"]),
        typed_field=typed_answer(call),
    )


def answer_slot(call: int) -> str:
    """Return the prefix of the ids of the fields for a call's answer."""
    return f"answer-{call}"


def typed_slot(call: int) -> str:
    """Return the prefix of the id of the field for any answer."""
    return f"typed-{call}"


def typed_answer(call: Mapping[str, Any]) -> QuestionField:
    """Return the field for any answer, including ones that the tool doesn't declare."""
    label = f"Answer for {visible(call['name'])}"
    return QuestionField("value", label, "json", hint="JSON or text")


def answer_form(schema: str) -> SchemaForm:
    """Return a form for the result that a tool declares."""
    return SchemaForm(fields_in(json.loads(schema)), "of", is_code=True)


def _call(live: LiveRun, call: Mapping[str, Any], *, is_blocked: bool) -> PendingCall:
    is_tool = call["kind"] == "tool"
    name = visible(call["name"])
    kind: Literal["thought", "call"] = "call" if is_tool else "thought"
    draft = {"on": "tool", "name": call["name"], "agent": call["agent"]}
    can_end = not (call["ending"] or live.stopping)
    return PendingCall(
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
        note=_ending_note(call, is_blocked=is_blocked),
    )


def _ending_note(call: Mapping[str, Any], *, is_blocked: bool) -> str:
    if call["ending"]:
        return "Cancellation requested; the call hasn't responded yet. Stop the run to end it."
    if is_blocked:
        return "A single call can't be ended while the event loop is blocked. Stop the run instead."
    if call["thread"]:
        return (
            "A function in a thread can't be stopped. If you end the call, the run continues "
            "without it and discards its result."
        )
    return ""


def _beside(branch: Mapping[str, Any]) -> BranchItem:
    return BranchItem(
        status=branch["status"],
        word=_word(branch),
        who=_who(branch) or f"task {branch['task']}",
        doing=visible(branch["doing"]),
        place=_place(branch["place"]),
        since=moment(branch["since"]) if branch["since"] else None,
    )


def _word(branch: Mapping[str, Any]) -> str:
    """Return the branch's status, or what it waits for if it runs without a known call."""
    runs = branch["status"] != "running" or branch["doing"] or branch["waits"] == "running"
    return _STATUS[branch["status"]] if runs else _WAITS[branch["waits"]]


def _tasks(live: LiveRun, report: Mapping[str, Any]) -> tuple[TaskItem, ...]:
    circles = {each for circle in report["deadlocks"] for each in circle}
    return tuple(
        TaskItem(
            id=task["id"],
            who=_who(task) or ("the run itself" if task is report["tasks"][0] else ""),
            waits=_WAITS["gate"] if _is_held(live, task) else _waits(task),
            stack=_stack(task["places"]),
            circle=task["id"] in circles,
        )
        for task in report["tasks"]
    )


def _is_held(live: LiveRun, task: Mapping[str, Any]) -> bool:
    """Return whether the task, reported as waiting for a commit, is held at a commit gate."""
    branches = {hold.arrival.branch for hold in live.stepper.holds if hold.arrival.gate in _COMMITS}
    return task["waits"] == "commit" and task["branch"] in branches


def _waits(task: Mapping[str, Any]) -> str:
    if task["on"]:
        return f"waiting for {task['on']}"
    after = task["awaits"]
    if after is None:
        return _WAITS[task["waits"]]
    if task["waits"] == "lock":
        return f"waiting for a lock held by task {after}"
    return f"waiting for task {after}"


def _stack(places: Sequence[Mapping[str, Any]]) -> tuple[Frames, ...]:
    """Return the frames, innermost first, with the app's own apart from the others."""
    return tuple(
        Frames(own, tuple(_frame(place) for place in group))
        for own, group in groupby(reversed(places), key=lambda place: bool(place["own"]))
    )


def _frame(place: Mapping[str, Any]) -> tuple[str, str, str]:
    where = f"{place['file']}:{place['line']}"
    return visible(where), visible(place["function"]), visible(place["source"])


def _place(place: Mapping[str, Any] | None) -> str:
    return visible(f"{place['file']}:{place['line']} in {place['function']}") if place else ""


def _who(report: Mapping[str, Any]) -> str:
    """Return the agent, with its branch if it has one."""
    branch = report["branch"]
    return visible(f"{report['agent']} ({branch})" if branch else report["agent"])
