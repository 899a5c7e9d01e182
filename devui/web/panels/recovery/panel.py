"""Interrupted invocations, forks and rewinds, as the session page shows them."""

import json
from collections.abc import Mapping
from hashlib import sha1
from typing import Any, Final

from devui.debugger.recovery.cutoff import RESUMABLE, Cutoff, CutoffStatus, cutoff
from devui.debugger.recovery.fork_maker import message_text
from devui.debugger.recovery.unknown_calls import UnknownCall, was_cut_off
from devui.debugger.runs.live import LiveRun
from devui.store.rows import EventRow, ForkRow, SessionRow
from devui.web.links import (
    choose_url,
    close_url,
    fork_here_url,
    forks_url,
    replays_url,
    rewind_url,
    runs_url,
    session_url,
)
from devui.web.panels.apps.lists import forked_at, session_name
from devui.web.panels.chat.run_notes import cut_off
from devui.web.panels.recovery.actions import CONCLUDED, is_resumable, opening_message
from devui.web.panels.recovery.event_fields import fields_of
from devui.web.panels.recovery.model_key import missing_key
from devui.web.panels.recovery.parts import (
    ForkChoice,
    ForkForm,
    ForkLink,
    Lineage,
    RerunMenu,
    Resume,
    UnknownCallForm,
)
from devui.web.panels.timeline.kinds import WORDS
from devui.web.services import Services
from devui.web.text.deceptive_characters import visible
from devui.web.text.formats import clipped, event_numbers, plural
from devui.web.text.jsontree import indented
from devui.wire.events import Event
from devui.wire.gates import GUARD

_TITLES: Final[Mapping[CutoffStatus, str]] = {
    "stopped": "Stopped",
    "interrupted": "Interrupted when the server stopped,",
    "failed": "Failed",
    "forked": "Forked in the middle of an invocation,",
    "waiting": "Waiting for an answer",
}
_MARKS: Final[Mapping[CutoffStatus, str]] = {"failed": "error", "forked": "fork"}
"""The icon beside a title; `stop` for the others."""
_NO_WAY_BACK = (
    "This app can't resume a run where it ended. To change that for future runs, set"
    " resumability_config=ResumabilityConfig(is_resumable=True) on the App."
)
_IN_PARENT = "the result was recorded before the fork"
_HELD_BACK = "it was paused by the debugger"
_EDITED = "it hasn't run with these arguments"
_FAILED = "it runs again unless you enter a result"
_ANSWERED = "{} answered it, but the answer wasn't committed"
_GUARDED = "the guard used the recorded result, but it wasn't committed"
_UNKNOWN = "it may or may not have taken effect"
_LATER = "long-running: it may or may not have taken effect"
_RETURNED = "it returned, but the result wasn't committed"
_NOTES: Final = {
    "read_only": "read-only: safe to run again",
    "idempotent": "idempotent: safe to run again",
    "effects": "it has side effects, which may or may not have happened",
    "hint": "its server says it's safe to call twice",
}
_LOST: Final[Mapping[str, str]] = {
    "before_commit": "",
    "before_model": "The model call by {agent} wasn't made.",
    "after_model": "Lost: the model's answer to {agent}.",
    "before_tool": "{tool} wasn't called.",
    "after_tool": "Lost: the result of {tool}.",
}
"""By the gate at which something was held; at the other gates, nothing is lost."""
_EDITABLE: Final = 60_000
"""Maximum bytes of an event that a form offers for editing."""
_FILLABLE: Final = 20_000
"""Maximum bytes of an event that a form offers as fields."""
_SAYABLE: Final = 20_000
"""Maximum characters of a message that the page offers for editing and running again."""


async def resume(services: Services, session: int, live: LiveRun | None) -> Resume:
    """Return how the newest invocation ended and how to continue it, if that is worth showing."""
    if await services.journal.imports.get(session) is not None:
        row = await services.journal.sessions.get(session)
        count = await services.journal.imports.unknown_members(session)
        fields = plural(count, "unrecognized field")
        verb = "was stored but not used" if count == 1 else "were stored but not used"
        aside = f"{fields} in the file {verb}." if count else ""
        return Resume(
            title="Imported",
            text="Read-only. Fork it to make changes." + (f" {aside}" if aside else ""),
            is_imported=True,
            fork_action=forks_url(session),
            number=row.events if row else 0,
        )
    state = await cutoff(services.journal, session, live)
    if state.status == "waiting" and state.question is not None:
        return Resume(
            title=_TITLES["waiting"],
            text="The agent continues once you answer.",
            href=session_url(session, event=state.question),
            label=f"#{state.question} asks",
        )
    if state.status not in RESUMABLE or state.invocation is None:
        return Resume()
    number = state.last.number if state.last else 0
    retries = state.status == "failed" and not was_cut_off(state.run)
    is_fork = state.status == "forked"
    row = await services.journal.sessions.get(session)
    stays = _NO_WAY_BACK if row is not None and not is_resumable(services, row.app) else ""
    message = await opening_message(services, session, state.invocation)
    is_of_a_tool = any(call.is_failed for call in state.unknown)
    is_of_a_model = state.status == "failed" and not is_of_a_tool
    error = await _error_text(services, state) if is_of_a_model else ""
    return Resume(
        title=_TITLES[state.status],
        text="after" if number else "before anything was committed",
        href=session_url(session, event=number) if number else "",
        label=f"#{number}" if number else "",
        action=runs_url(session),
        invocation=state.invocation,
        fork_action=forks_url(session) if number and (stays or not is_fork) else "",
        mark=_MARKS.get(state.status, "stop"),
        again="Retry from here" if retries else "Resume",
        number=number,
        resend_action=rewind_url(session) if message else "",
        message=message,
        new_keys=await _new_keys(services, session, message) if message else "",
        close_action=close_url(session),
        losses=tuple(_loss(hold) for hold in state.lost if hold["gate"] in _LOST),
        streamed=tuple(cut_off(text) for _, text in state.streamed),
        unknown=tuple(_ask(call, session, resumable=not stays) for call in state.unknown),
        key=missing_key(error, services.apps, row.app) if row else None,
        stays=CONCLUDED if state.is_concluded else stays,
    )


async def again_menu(
    services: Services, session: SessionRow, row: EventRow, event: Event
) -> RerunMenu | None:
    """Return the ways to run a user's message again; None for any other event."""
    text = message_text(event)
    if text is None:
        return None
    journal, number = services.journal, row.number
    newest = await journal.events.body(session.key, session.events)
    is_last = newest is not None and newest[0].invocation_id == row.invocation_id
    is_imported = await journal.imports.get(session.key) is not None
    new_keys = await _new_keys(services, session.key, number)
    is_plain = all(part.is_text_alone for part in event.parts) and len(text) <= _SAYABLE
    return RerunMenu(
        number=number,
        rewind_action="" if is_imported else rewind_url(session.key),
        fork_action=forks_url(session.key),
        replay_action=replays_url(session.key),
        text=text if is_plain else "",
        hides=event_numbers(number, session.events),
        new_keys=new_keys,
        forks_first=is_imported or not is_last,
    )


async def _new_keys(services: Services, session: int, message: int) -> str:
    """Return the session's state keys with values that it didn't have before the message."""
    state = services.journal.state
    moment = await state.moment(session, message - 1)
    if moment is None:  # the session was deleted in the meantime
        return ""
    before = {value.key for value in await state.at(session, moment) if value.scope == "session"}
    now = (value for value in await state.at(session) if value.scope == "session")
    keys = (value.key for value in now if value.value != "null")
    return clipped(", ".join(visible(key) for key in keys if key not in before))


async def _error_text(services: Services, state: Cutoff) -> str:
    """Return the message of the exception that ended the run, or of its model's error."""
    if state.run is not None and state.run.error:
        details = json.loads(state.run.error)
        return str(details.get("message") if isinstance(details, dict) else details)
    last = state.last
    body = await services.journal.events.body(last.session, last.number) if last else None
    return str(body[1].error_message) if body else ""


def _loss(hold: Mapping[str, Any]) -> tuple[str, str]:
    """Return what happened to something that was held, and its text if it was an event."""
    who, text = visible(str(hold.get("agent") or "")), visible(str(hold.get("text") or ""))
    if hold["gate"] == "before_commit":
        word = WORDS.get(hold.get("kind") or "other", "event")
        return f"Lost before it was committed, {word} by {who}:", text
    return _LOST[hold["gate"]].format(tool=visible(str(hold.get("tool") or "")), agent=who), ""


def unknown_slot(call: str) -> str:
    """Return the prefix of the ids of the fields about a call."""
    digest = sha1(call.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()[:12]
    return f"u-{digest}"


def _ask(call: UnknownCall, session: int, *, resumable: bool) -> UnknownCallForm:
    args = ", ".join(f"{name}={_json(value)}" for name, value in call.args.items())
    note = _NOTES.get(call.mark or "") or (_LATER if call.long_running else _UNKNOWN)
    if call.answered_by == GUARD:
        note = _GUARDED
    elif call.answered_by:
        note = visible(_ANSWERED.format(call.answered_by))
    elif call.is_edited:
        note = _EDITED
    elif not call.is_made:
        note = _HELD_BACK
    elif call.is_failed:
        note = _FAILED if resumable else ""
    elif call.recorded is not None:
        note = _IN_PARENT if call.in_parent else _RETURNED
    return UnknownCallForm(
        id=call.id,
        slot=unknown_slot(call.id),
        tool=visible(call.tool),
        args=visible(clipped(args)),
        href=session_url(session, event=call.event),
        edit_href=fork_here_url(session, call.event, edit=True),
        note=note,
        default=call.default,
        recorded="" if call.recorded is None else visible(_json(call.recorded)),
        writes=", ".join(visible(f"{k} = {clipped(_json(v))}") for k, v in call.writes.items()),
        may_wait=call.long_running and call.is_made,
        held_back=not call.is_made,
        verb=_verb(call),
    )


def _verb(call: UnknownCall) -> str:
    """Return what happened to the call, in the words after its name."""
    if call.is_edited:
        return "was edited"
    if call.is_failed:
        exception = call.error.partition(":")[0]
        return f"raised {visible(exception)}" if exception else "has no result"
    if not call.is_made:
        return "never ran" if call.recorded is not None else "was about to run"
    return "ran" if call.recorded is not None else "was in progress"


def fork_form(event: Event, row: EventRow, fork: str = "") -> ForkForm:
    """Return the form for a fork at an event; `fork` as in `PageQuery`."""
    text, is_whole = indented(event.fields, _EDITABLE)
    is_message = message_text(event) is not None
    sections = fields_of(event) if is_whole and len(text) < _FILLABLE else ()
    choice: ForkChoice = "message" if is_message else "same"
    if fork == "edit" and is_whole:
        choice = "fields" if sections else "event"
    return ForkForm(
        action=forks_url(row.session),
        number=row.number,
        is_message=is_message,
        event=text if is_whole else "",
        sections=sections,
        choice=choice,
        open=bool(fork),
    )


async def lineage(services: Services, session: SessionRow) -> Lineage:
    """Return where the session was forked from, and what was forked from it."""
    journal = services.journal
    row = await journal.forks.get(session.key)
    forks = await journal.forks.of(session.key)
    siblings = await journal.forks.of(row.parent) if row else []
    parent = await journal.sessions.get(row.parent) if row else None
    return Lineage(
        parent=_parent(parent, row) if parent and row else None,
        compare_href=choose_url(str(parent.key), str(session.key)) if parent else "",
        parent_note=f"fork {forked_at(row)} of a session that isn't here"
        if row and not parent
        else "",
        siblings=await _links(services, [s for s in siblings if s.session != session.key]),
        forks=await _links(services, forks),
    )


def _parent(parent: SessionRow, row: ForkRow) -> ForkLink:
    href = session_url(parent.key, event=row.at or None)
    return ForkLink(href, session_name(parent), forked_at(row), visible(row.note or ""))


async def _links(services: Services, rows: list[ForkRow]) -> tuple[ForkLink, ...]:
    links = []
    for row in rows:
        child = await services.journal.sessions.get(row.session)
        if child is not None:
            name, note = session_name(child), visible(row.note or "")
            links.append(ForkLink(session_url(child.key), name, forked_at(row), note))
    return tuple(links)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
