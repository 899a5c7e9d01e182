"""What runs print and log, including lines that aren't in the journal yet."""

from devui.store.rows import OutputLine, RunRow
from devui.web.services import Services

NumberedLine = tuple[int, OutputLine]
"""A line with its number within its run, from 1."""


async def last_output(services: Services, run: RunRow, limit: int) -> list[NumberedLine]:
    """Return the last lines of a run, ascending, at most `limit`."""
    waiting = _waiting(services, run)  # first: lines written in between are then in both
    lines = await services.journal.runs.last_output(run.id, limit)
    return _join(lines, waiting)[-limit:]


async def output_after(
    services: Services, run: RunRow, after: int = 0, limit: int | None = None
) -> list[NumberedLine]:
    """Return the lines of a run above the number `after`, at most `limit`; None for all."""
    waiting = [line for line in _waiting(services, run) if line[0] > after]
    lines = await services.journal.runs.output(run.id, after, limit)
    return _join(lines, waiting)[:limit]


def _join(lines: list[NumberedLine], waiting: list[NumberedLine]) -> list[NumberedLine]:
    if not (lines or waiting):
        return []
    last_stored = lines[-1][0] if lines else 0
    return [*lines, *(line for line in waiting if line[0] > last_stored)]


def _waiting(services: Services, run: RunRow) -> list[NumberedLine]:
    """Return the lines that aren't in the journal yet."""
    live = services.runs.live(run.session)
    if live is None or live.row.id != run.id:
        return []
    return list(enumerate(live.output, live.lines - len(live.output) + 1))
