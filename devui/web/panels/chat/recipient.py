"""Predicts which agent takes the next message, from the session's newest events.

Both runtimes look for the newest event, rewound ones excluded, from an agent that can transfer back
all the way up to the root agent. If there is none, the root agent takes the message
(`find_agent_to_run`).
"""

from collections.abc import Container, Iterable
from typing import Final

from devui.debugger.history.rewinds import effective_rewinds
from devui.debugger.workers.workers import AppStatus
from devui.store.rows import EventRow, SessionRow
from devui.web.panels.chat.parts import Recipient
from devui.web.services import Services
from devui.web.text.deceptive_characters import visible
from devui.wire.events import USER

_NEWEST: Final = 100
"""How many events are examined."""


async def recipient(services: Services, session: SessionRow, app: AppStatus | None) -> Recipient:
    """Return the agent, or the app until it is loaded."""
    if app is None or app.info is None:
        return Recipient(visible(session.app))
    root, *others = app.info.agents
    takers = {root.name, *(agent.name for agent in others if agent.takes_turns)}
    if len(takers) == 1:
        return Recipient(visible(root.name))
    rows = await services.journal.events.page(session.key, limit=_NEWEST)
    rewinds = await effective_rewinds(services.journal, session.key)
    newest = [row for row in reversed(rows) if rewinds.by(row.number) is None]
    name = _taker(newest, takers) or root.name
    if name == root.name:
        return Recipient(visible(name))
    transfers = (row.author for row in newest if row.summary.transfer_to == name)
    return Recipient(visible(name), visible(next(transfers, None) or root.name), visible(root.name))


def _taker(rows: Iterable[EventRow], takers: Container[str]) -> str | None:
    """Return the agent that got the turn or spoke in the first event that shows it."""
    for row in rows:
        if row.author == USER or row.summary.kind == "error":
            continue
        for name in (row.summary.transfer_to, row.author):
            if name in takers:
                return name
    return None
