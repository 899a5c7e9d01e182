"""Recorded summaries of old events."""

import json
from collections.abc import Sequence
from typing import Any

from devui.runtime.events.event import Event
from devui.runtime.events.reading import read_event
from devui.worker.replaying.ids import Ids


def recorded_summary(recorded: dict[str, Any], events: Sequence[Event], ids: Ids) -> Event:
    """The summary as it was recorded, as one of these events, with the ids of the replay."""
    made = {name: value for name, value in recorded.items() if name not in {"id", "timestamp"}}
    event = read_event(ids.actual(json.dumps(made)))
    if event.actions.compaction is not None:
        event.actions.compaction.start_timestamp = min(each.timestamp for each in events)
        event.actions.compaction.end_timestamp = max(each.timestamp for each in events)
    return event
