"""Events that were rewound: dimmed and labelled in the timeline and the chat."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal, TypeVar

from devui.debugger.history.rewinds import EffectiveRewinds
from devui.web.links import rewind_url, session_url
from devui.web.panels.chat.parts import ChatMessage
from devui.web.panels.inspector.mark_parts import RewindMark
from devui.web.panels.recovery.parts import UndoRewind
from devui.web.panels.timeline.parts import EventRow
from devui.web.text.formats import event_numbers

Place = Literal["row", "message", "detail"]
_Item = TypeVar("_Item")


def with_rewind_marks(
    items: Iterable[_Item], rewinds: EffectiveRewinds, session: int
) -> tuple[_Item, ...]:
    """Return the rows and messages, with marks on those that were rewound."""
    if not rewinds.holding:
        return tuple(items)
    return tuple(_mark(item, rewinds, session) for item in items)


def _mark(item: _Item, rewinds: EffectiveRewinds, session: int) -> _Item:
    if not isinstance(item, EventRow | ChatMessage):
        return item
    is_row = isinstance(item, EventRow)
    mark = rewind_mark(rewinds, item.number, session, "row" if is_row else "message")
    hidden = rewinds.hidden_by(item.number)
    if isinstance(item, ChatMessage) and hidden:
        numbers = event_numbers(hidden.start, hidden[-1])
        undo = UndoRewind(item.number, rewind_url(session), numbers)
        return replace(item, text=f"Rewound: models don't see {numbers}", again=undo)
    return replace(item, rewind=mark)


def rewind_mark(
    rewinds: EffectiveRewinds, number: int, session: int, place: Place
) -> RewindMark | None:
    """Return the mark of a rewound event; None for any other."""
    by = rewinds.by(number)
    return RewindMark(number, by, session_url(session, event=by), place) if by else None
