"""State with many keys, a page at a time, and one value of any size, a part at a time.

However large the state is, a page reads and renders only what it shows.
"""

from collections.abc import Sequence

from devui.store.journal import Journal
from devui.store.rows import Change, Scope, Value
from devui.web.links import session_url, state_keys_url
from devui.web.panels.inspector.parts import MoreLink, StateKeys
from devui.web.panels.state.panel import KEYS, LONGEST, SCOPES, state_values
from devui.web.text.formats import plural


async def some_state(
    journal: Journal, session: int, seq: int | None, number: int | None
) -> tuple[list[Value], dict[Scope, MoreLink]]:
    """Return the first keys of each scope as of an event, or now, and links to the others."""
    values: list[Value] = []
    more: dict[Scope, MoreLink] = {}
    for scope in SCOPES:
        page = await journal.state.page(session, scope, seq, limit=KEYS, longest=LONGEST + 1)
        values += page.values
        if page.following is not None:
            count = await journal.state.count(session, scope, seq)
            href = state_keys_url(session, scope, at=number)
            more[scope] = MoreLink(f"Show or search all {plural(count, 'key')}", href)
    return values, more


async def some_changes(journal: Journal, session: int, number: int) -> Sequence[Change]:
    """Return the first keys that an event set."""
    return await journal.state.changes(session, number, limit=KEYS, longest=LONGEST + 1)


async def further_changes(
    journal: Journal, session: int, number: int, listed_count: int
) -> MoreLink | None:
    """Return the link to an event's other changes; None if all are listed."""
    if listed_count < KEYS:
        return None
    count = await journal.state.changed(session, number) - listed_count
    href = session_url(session, event=number, tab="state")
    return MoreLink(f"and {plural(count, 'more key')} in the State tab", href) if count else None


async def state_keys(
    journal: Journal,
    session: int,
    scope: Scope,
    *,
    seq: int | None,
    number: int | None,
    start: str,
    find: str,
) -> StateKeys:
    """Return the keys of a scope that contain `find`, beginning with `start`."""
    state = journal.state
    page = await state.page(
        session, scope, seq, start=start, find=find, limit=KEYS, longest=LONGEST + 1
    )
    values, following = page
    more = None
    if following is not None:
        count = await state.count(session, scope, seq, start=following, find=find)
        href = state_keys_url(session, scope, at=number, start=following, find=find)
        more = MoreLink(f"Show {min(count, KEYS):,} of {plural(count, 'more key')}", href)
    return StateKeys(state_values(values, session=session, number=number), more)
