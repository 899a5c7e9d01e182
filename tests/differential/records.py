"""Removes intended differences from the records of runs."""

from collections.abc import Callable
from typing import Any

Json = Any


def events_where(keep: Callable[[Json], bool]) -> Callable[[Json], Json]:
    """Return a function that keeps only these events of a record, both yielded and stored."""

    def keep_events(record: Json) -> Json:
        for holder in (*record["runs"], *record["sessions"].values()):
            holder["events"] = [event for event in holder["events"] if keep(event)]
        return record

    return keep_events


def without_errors(event: Json) -> bool:
    return "errorCode" not in event
