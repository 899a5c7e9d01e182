"""Runs that end with an error of their model: to ADK it is an answer, and they are done."""

from typing import Final

from devui.store.journal import Journal
from devui.store.rows import EventRow, RunRow

_TRAILING: Final = 50
"""The events of an invocation's end among which its last one that isn't a checkpoint is."""


async def final_error(journal: Journal, run: RunRow) -> EventRow | None:
    """The model's error that a run ended with, though it is done.

    Lists of sessions have the same rule in SQL (`store/session_lists.py`).
    """
    if run.status != "done" or run.invocation_id is None:
        return None
    rows = await journal.events.rows_of_invocation(run.session, run.invocation_id, limit=_TRAILING)
    last = next((row for row in reversed(rows) if row.kind != "checkpoint"), None)
    return last if last is not None and last.kind == "error" else None
