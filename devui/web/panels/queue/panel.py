"""The queue as the chat shows it."""

import json
from typing import Final

from devui.debugger.runs.queue import Waiting
from devui.store.rows import SessionRow
from devui.store.runs.queued_messages import QueuedRow
from devui.web.links import queued_url
from devui.web.panels.chat.content import spoken_parts
from devui.web.panels.queue.parts import QueuedMessage, QueuePanel
from devui.web.services import Services
from devui.wire.events import Content

_WHY: Final[dict[Waiting, str]] = {
    "running": "Queued: sent when this run ends",
    "asking": "Queued: sent after you answer the agent's question",
    "failed": "Not sent, because the run failed",
    "stopped": "Not sent, because the run was stopped",
    "interrupted": "Not sent, because the run was interrupted",
    "ready": "Not sent yet",
}


async def queue_panel(services: Services, session: SessionRow) -> QueuePanel:
    """Return the session's queued messages; an empty panel if there are none."""
    rows = await services.journal.queued.list(session.key)
    if not rows:
        return QueuePanel()
    waiting = await services.queue.waiting(session.key)
    can_send = waiting != "running"
    messages = tuple(_message(row, can_send=can_send) for row in rows)
    return QueuePanel(messages, _WHY[waiting])


def _message(row: QueuedRow, *, can_send: bool) -> QueuedMessage:
    content = Content(json.loads(row.message))
    return QueuedMessage(
        number=row.id,
        pieces=spoken_parts(content, markdown=False),
        text=content.text,
        action=queued_url(row.session, row.id),
        can_send=can_send,
    )
