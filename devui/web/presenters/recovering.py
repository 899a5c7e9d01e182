"""What was cut off and how it can go on, forks and rewinds, as the session page shows them."""

import json
from collections.abc import Mapping
from hashlib import sha1
from typing import Any, Final

from devui.debugger.guard.effects import GUARD
from devui.debugger.live import LiveRun
from devui.debugger.recovery.cutoff import RESUMABLE, Cutoff, Standing, cutoff
from devui.debugger.recovery.forking import said
from devui.debugger.recovery.unknown import UnknownCall
from devui.debugger.summary import Summary
from devui.store.forkrows import ForkRow
from devui.store.rows import EventRow, SessionRow
from devui.web.links import choose_url, close_url, forks_url, runs_url, session_url
from devui.web.parts import every as parts
from devui.web.presenters.kinds import WORDS
from devui.web.presenters.lists import forked_at, session_name
from devui.web.presenters.runs import cut_off
from devui.web.recovery import NO_CHECKPOINTS, goes_on
from devui.web.services import Services
from devui.web.text.bounds import clipped
from devui.web.text.figures import plural
from devui.web.text.visible import visible

_TITLES: Final[Mapping[Standing, str]] = {
    "stopped": "Stopped",
    "interrupted": "Interrupted: the server went away",
    "failed": "Failed",
    "forked": "Forked in the middle of an invocation",
    "waiting": "Waiting for an answer",
}
_IN_PARENT = "its result was recorded before the fork"
_HELD_BACK = "the debugger had held it back"
_ANSWERED = "{} gave its answer, which was not committed"
_GUARDED = "the guard took its recorded result, which was not committed"
_LATER = "it is answered later, and nobody knows whether it was carried out"
_RETURNED = "it returned, but its result was not committed"
_NOTES: Final = {
    "read_only": "read-only: running it again does no harm",
    "idempotent": "marked as idempotent: running it again does no harm",
    "effects": "it has effects, and nobody knows whether it was carried out",
    "hint": "its server says that it may be called twice",
}
_LOST: Final[Mapping[str, str]] = {
    "before_commit": "",
    "before_model": "The model of {agent} was not asked.",
    "after_model": "Lost: what the model had answered {agent}.",
    "before_tool": "{tool} was not called.",
    "after_tool": "Lost: what {tool} had returned.",
}
"""By the gate at which something was held; at the others nothing is lost with it."""
_EDITABLE: Final = 60_000
"""Bytes of an event that a form still offers to be changed."""


async def resume(found: Services, session: int, live: LiveRun | None) -> parts.Resume:
    """What became of the newest invocation, if that needs a word."""
    if await found.journal.imports.get(session) is not None:
        row = await found.journal.sessions.get(session)
        count = await found.journal.imports.set_aside(session)
        aside = f"{plural(count, 'unknown member')} of its file set aside." if count else ""
        return parts.Resume(
            title="Imported",
            text="It is read only; a fork of it is yours." + (f" {aside}" if aside else ""),
            imported=True,
            fork_action=forks_url(session),
            number=row.events if row else 0,
        )
    stands = await cutoff(found.journal, session, live)
    if stands.standing == "waiting" and stands.question is not None:
        return parts.Resume(
            title=_TITLES["waiting"],
            text="The invocation goes on with it.",
            href=session_url(session, event=stands.question),
            label=f"#{stands.question} asks",
        )
    if stands.standing not in RESUMABLE or stands.invocation is None:
        return parts.Resume()
    number = stands.last.number if stands.last else 0
    row = await found.journal.sessions.get(session)
    stays = row is not None and not goes_on(found, row.app)
    return parts.Resume(
        title=_TITLES[stands.standing],
        text=_committed(stands),
        href=session_url(session, event=number) if number else "",
        label=_last(stands.last),
        action=runs_url(session),
        invocation=stands.invocation,
        fork_action=forks_url(session) if stands.standing != "forked" and number else "",
        number=number,
        close_action=close_url(session),
        lost=tuple(_lost(hold) for hold in stands.lost if hold["gate"] in _LOST),
        streamed=tuple(cut_off(text) for _, text in stands.streamed),
        unknown=tuple(_ask(call, session) for call in stands.unknown),
        stays=NO_CHECKPOINTS if stays else "",
    )


def _committed(stands: Cutoff) -> str:
    if stands.last is None:
        return "Nothing of it is committed."
    return "Committed up to"


def _last(row: EventRow | None) -> str:
    if row is None:
        return ""
    word = WORDS[Summary.from_json(row.summary).kind]
    return f"#{row.number}, {word} by {visible(row.author)}"


def _lost(hold: Mapping[str, Any]) -> tuple[str, str]:
    """What became of something that was held, and its words; those of an event with its kind."""
    who, text = visible(str(hold.get("agent") or "")), visible(str(hold.get("text") or ""))
    if hold["gate"] == "before_commit":
        word = WORDS.get(hold.get("kind") or "other", "event")
        return f"Lost before its commit, {word} by {who}:", text
    return _LOST[hold["gate"]].format(tool=visible(str(hold.get("tool") or "")), agent=who), ""


def unknown_slot(call: str) -> str:
    """What the ids of the fields about a call begin with."""
    digest = sha1(call.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()[:12]
    return f"u-{digest}"


def _ask(call: UnknownCall, session: int) -> parts.UnknownAsk:
    args = ", ".join(f"{name}={_json(value)}" for name, value in call.args.items())
    note = _NOTES.get(call.mark or "", "") or (_LATER if call.later else "")
    if call.answered_by == GUARD:
        note = _GUARDED
    elif call.answered_by:
        note = visible(_ANSWERED.format(call.answered_by))
    elif not call.made:
        note = _HELD_BACK
    elif call.recorded is not None:
        note = _IN_PARENT if call.in_parent else _RETURNED
    return parts.UnknownAsk(
        id=call.id,
        slot=unknown_slot(call.id),
        tool=visible(call.tool),
        args=visible(clipped(args)),
        href=session_url(session, event=call.event),
        note=note or "nobody knows whether it was carried out",
        default=call.default,
        recorded="" if call.recorded is None else visible(_json(call.recorded)),
        writes=", ".join(visible(f"{k} = {clipped(_json(v))}") for k, v in call.writes.items()),
        may_wait=call.later and call.made,
        held_back=not call.made,
    )


def fork_form(event: Mapping[str, Any], row: EventRow, *, opened: bool = False) -> parts.ForkForm:
    """The form for a fork at an event."""
    text = json.dumps(event, indent=2, ensure_ascii=False)
    return parts.ForkForm(
        action=forks_url(row.session),
        number=row.number,
        is_message=said(event) is not None,
        event=text if len(text) <= _EDITABLE else "",
        open=opened,
    )


async def lineage(found: Services, session: SessionRow) -> parts.Lineage:
    """Where the session comes from, and what was forked from it."""
    journal = found.journal
    row = await journal.forks.get(session.key)
    forks = await journal.forks.of(session.key)
    siblings = await journal.forks.of(row.parent) if row else []
    parent = await journal.sessions.get(row.parent) if row else None
    return parts.Lineage(
        parent=_parent(parent, row) if parent and row else None,
        compare_href=choose_url(str(parent.key), str(session.key)) if parent else "",
        gone=f"fork {forked_at(row)} of a session that is not here" if row and not parent else "",
        siblings=await _links(found, [s for s in siblings if s.session != session.key]),
        forks=await _links(found, forks),
    )


def _parent(parent: SessionRow, row: ForkRow) -> parts.ForkLink:
    href = session_url(parent.key, event=row.at or None)
    return parts.ForkLink(href, session_name(parent), forked_at(row), visible(row.note or ""))


async def _links(found: Services, rows: list[ForkRow]) -> tuple[parts.ForkLink, ...]:
    links = []
    for row in rows:
        child = await found.journal.sessions.get(row.session)
        if child is not None:
            name, note = session_name(child), visible(row.note or "")
            links.append(parts.ForkLink(session_url(child.key), name, forked_at(row), note))
    return tuple(links)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
