"""The differences in the state between two moments of a session, as the State tab shows them.

One moment is marked and stays while other rows are selected; the other is the selected event, or
now.
"""

import asyncio
from collections.abc import Sequence
from typing import Final

from devui.debugger.history.blame import ABSENT, Difference, MaybeJson
from devui.debugger.history.paths import path_text
from devui.debugger.history.state_diff import Moment, StateChange, state_changes, writer
from devui.store.rows import EventRow, SessionRow
from devui.store.state import prefixed
from devui.web.basic_parts import JsonTree
from devui.web.links import session_url
from devui.web.page_query import PageQuery
from devui.web.panels.inspector.parts import ChangedKey, ChangedPlace, StateComparison, StateDiff
from devui.web.panels.state.parts import Mark
from devui.web.services import Services
from devui.web.text.deceptive_characters import visible
from devui.web.text.formats import plural
from devui.web.text.jsontree import json_tree

_PLACES: Final = 30
"""Maximum number of places shown for one key."""
_WRITERS: Final = {"initial": "start", "elsewhere": "elsewhere"}


async def state_diff(
    services: Services, session: SessionRow, row: EventRow | None, mark: Moment
) -> StateDiff:
    """Return the changes between the marked moment and the event, or now; the earlier is first."""
    here = Moment(row.number, row.seq) if row else None
    backwards = here is not None and here.number < mark.number
    first, last = (here, mark) if backwards else (mark, here)
    before = await services.journal.state.at(session.key, first.seq if first else None)
    after = await services.journal.state.at(session.key, last.seq if last else None)
    changes = await asyncio.to_thread(state_changes, before, after)
    return StateDiff(
        first=_name(first),
        last=_name(last),
        hint=_hint(mark, here),
        keys=tuple(_key(change, session.key) for change in changes),
    )


def state_with(session: SessionRow, row: EventRow | None, query: PageQuery) -> StateComparison:
    """Return the form to compare the state of an event, or of now, with another one."""
    event, at = row.number if row else None, query.at.number if query.at else None
    mark = query.since.number if query.since else None

    def href(since: int | None) -> str:
        return session_url(session.key, event=event, tab="state", at=at, pin=query.pin, since=since)

    return StateComparison(
        action=session_url(session.key),
        event=event,
        at=at,
        since=mark,
        mark_href=href(event) if event and event != mark else "",
        unmark_href=href(None),
    )


def _hint(mark: Moment, here: Moment | None) -> str:
    if here is not None and here.number == mark.number:
        return "Select another event to see what changed between the two."
    where = f"#{mark.number}" if mark.number else "The start"
    return f"{where} is marked. Select an event to compare it with."


def _name(moment: Moment | None) -> str:
    if moment is None:
        return "now"
    return f"#{moment.number}" if moment.number else "before the first event"


def _key(change: StateChange, session: int) -> ChangedKey:
    now = change.new
    number = now.number if now else None
    mark: Mark = "removed" if now is None else "changed" if change.old else "new"
    return ChangedKey(
        key=visible(prefixed(change.scope, change.key)),
        mark=mark,
        by=f"#{number}" if number else _WRITERS.get(writer(now), "") if now else "",
        href=session_url(session, event=number) if number else None,
        places=tuple(_places(change.differences)),
        more=_more(len(change.differences)),
    )


def _places(differences: Sequence[Difference]) -> list[ChangedPlace]:
    return [
        ChangedPlace(visible(path_text(each.path)), _tree(each.old), _tree(each.new))
        for each in differences[:_PLACES]
    ]


def _more(count: int) -> str:
    return f"and {plural(count - _PLACES, 'more place')}" if count > _PLACES else ""


def _tree(value: MaybeJson) -> JsonTree | None:
    return None if value is ABSENT else json_tree(value, open_levels=0)
