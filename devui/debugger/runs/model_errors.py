"""Runs that end with a model error. ADK treats it as an answer, so their status is `done`."""

from typing import Final

from devui.store.journal import Journal
from devui.store.rows import EventRow, RunRow

_TRAILING: Final = 50
"""How many of an invocation's last events to search for the last that isn't a checkpoint."""


async def final_error(journal: Journal, run: RunRow) -> EventRow | None:
    """Return the model error that a run ended with although its status is `done`, if any.

    Lists of sessions apply the same rule in SQL (`store/session_lists.py`).
    """
    if run.status != "done" or run.invocation_id is None:
        return None
    rows = await journal.events.rows_of_invocation(run.session, run.invocation_id, limit=_TRAILING)
    last = next((row for row in reversed(rows) if row.kind != "checkpoint"), None)
    return last if last is not None and last.kind == "error" else None
