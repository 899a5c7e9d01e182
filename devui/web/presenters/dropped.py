"""Events that people let fall, as rows of the timeline."""

import json
from collections.abc import Iterable, Iterator, Sequence

from devui.store.rows import EditRow
from devui.store.rows import EventRow as StoredEvent
from devui.web.parts.timeline import DroppedRow, EventRow, InvocationHeader, TimelineItem
from devui.web.text.formats import moment
from devui.web.text.jsontext import json_text
from devui.web.text.visible import visible


def dropped_row(row: EditRow) -> DroppedRow:
    """The row of one."""
    edit = row.edit
    return DroppedRow(
        edit=row.id,
        text=visible(f"{edit.actor} dropped an event of {edit.agent}"),
        moment=moment(edit.at),
        original=json_text(json.loads(edit.before)),
    )


def with_dropped(
    items: Sequence[TimelineItem], events: Iterable[StoredEvent], drops: Iterable[EditRow]
) -> list[TimelineItem]:
    """The items of these events with the dropped ones where they would have been."""
    places = {row.number: row.seq for row in events}
    waiting = sorted(drops, key=lambda drop: drop.seq or 0)
    placed: list[TimelineItem] = []
    for position, item in enumerate(items):
        seq = next((places[number] for number in _numbers(items[position:])), 0)
        while waiting and (waiting[0].seq or 0) < seq:
            placed.append(dropped_row(waiting.pop(0)))
        placed.append(item)
    return [*placed, *map(dropped_row, waiting)]


def _numbers(items: Sequence[TimelineItem]) -> Iterator[int]:
    """The number of the event that comes next: an item's own, or below a header the first."""
    for item in items:
        if isinstance(item, EventRow):
            yield item.number
        elif not isinstance(item, InvocationHeader):
            return
