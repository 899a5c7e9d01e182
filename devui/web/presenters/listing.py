"""Sessions in a list, with what is known of each."""

from collections.abc import Sequence

from devui.store.rows import SessionRow
from devui.web.parts.apps import SessionItem
from devui.web.presenters.chip import newest_run
from devui.web.presenters.lists import session_item
from devui.web.services import Services


async def session_items(
    found: Services, rows: Sequence[SessionRow], *, show_app: bool = False, pick: bool = False
) -> tuple[SessionItem, ...]:
    """The sessions in the same order; `pick`: to be compared."""
    journal, keys = found.journal, [row.key for row in rows]
    forks, notes = await journal.forks.among(keys), await journal.notes.of_sessions(keys)
    imported = await journal.imports.among(keys)
    items = []
    for row in rows:
        run = await newest_run(found, row.key)
        items.append(
            session_item(
                row,
                run,
                fork=forks.get(row.key),
                note=notes.get(row.key),
                imported=row.key in imported,
                show_app=show_app,
                pick=pick,
            )
        )
    return tuple(items)
