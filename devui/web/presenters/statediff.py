"""What differs in the state between two moments of a session, as the State tab shows it.

One of them is marked and stays while rows are chosen; the other is the selected event, or now.
"""

import asyncio
from collections.abc import Sequence
from typing import Final

from devui.debugger.blame import ABSENT, Difference, Found
from devui.debugger.paths import path_text
from devui.debugger.statediff import Moment, StateChange, state_changes, writer
from devui.store.rows import EventRow, SessionRow
from devui.store.state import prefixed
from devui.web.links import session_url
from devui.web.parts import every as parts
from devui.web.presenters.breaking import Asked
from devui.web.services import Services
from devui.web.text.figures import plural
from devui.web.text.jsontree import json_tree
from devui.web.text.visible import visible

_PLACES: Final = 30
"""Places of one key that are shown."""
_WRITERS: Final = {"initial": "start", "elsewhere": "elsewhere"}


async def state_diff(
    found: Services, session: SessionRow, row: EventRow | None, marked: Moment
) -> parts.StateDiff:
    """What differs between the marked moment and the event, or now; the earlier one comes first."""
    here = Moment(row.number, row.seq) if row else None
    backwards = here is not None and here.number < marked.number
    first, last = (here, marked) if backwards else (marked, here)
    before = await found.journal.state.at(session.key, first.seq if first else None)
    after = await found.journal.state.at(session.key, last.seq if last else None)
    changes = await asyncio.to_thread(state_changes, before, after)
    return parts.StateDiff(
        first=_name(first),
        last=_name(last),
        hint=_hint(marked, here),
        keys=tuple(_key(change, session.key) for change in changes),
    )


def state_with(session: SessionRow, row: EventRow | None, asked: Asked) -> parts.StateWith:
    """The form to compare the state of an event, or of now, with another one."""
    event, at = row.number if row else None, asked.at.number if asked.at else None
    marked = asked.since.number if asked.since else None

    def href(since: int | None) -> str:
        return session_url(session.key, event=event, tab="state", at=at, pin=asked.pin, since=since)

    return parts.StateWith(
        action=session_url(session.key),
        event=event,
        at=at,
        since=marked,
        mark_href=href(event) if event and event != marked else "",
        unmark_href=href(None),
    )


def _hint(marked: Moment, here: Moment | None) -> str:
    if here is not None and here.number == marked.number:
        return "Choose another event: what differs between the two is shown here."
    where = f"#{marked.number}" if marked.number else "The beginning"
    return f"{where} stays: choose any event to compare it with."


def _name(moment: Moment | None) -> str:
    if moment is None:
        return "now"
    return f"#{moment.number}" if moment.number else "before the first event"


def _key(change: StateChange, session: int) -> parts.ChangedKey:
    now = change.new
    number = now.number if now else None
    mark: parts.Mark = "removed" if now is None else "changed" if change.old else "new"
    return parts.ChangedKey(
        key=visible(prefixed(change.scope, change.key)),
        mark=mark,
        by=f"#{number}" if number else _WRITERS.get(writer(now), "") if now else "",
        href=session_url(session, event=number) if number else None,
        places=tuple(_places(change.differences)),
        more=_more(len(change.differences)),
    )


def _places(differences: Sequence[Difference]) -> list[parts.ChangedPlace]:
    return [
        parts.ChangedPlace(visible(path_text(each.path)), _tree(each.old), _tree(each.new))
        for each in differences[:_PLACES]
    ]


def _more(count: int) -> str:
    return f"and {plural(count - _PLACES, 'more place')}" if count > _PLACES else ""


def _tree(value: Found) -> parts.JsonTree | None:
    return None if value is ABSENT else json_tree(value, open_levels=0)
