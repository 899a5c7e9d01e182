"""The chat and the timeline of a page that is as of some event (decisions/0011)."""

from dataclasses import replace

from devui.debugger.rewinds import taken_back
from devui.store.journal import Journal
from devui.store.rows import EventRow
from devui.web.parts.chat import ChatMessage, ChatPart, ComposerState, ToolChip
from devui.web.parts.session import RunNote
from devui.web.presenters.window import SIZE, Window, window_around, window_before


async def window_at(journal: Journal, at: EventRow, row: EventRow | None = None) -> Window:
    """The events up to one, or of these the ones around `row`; its run was under way then, so that
    calls wait for their results."""
    if row is None or row.number > at.number - SIZE:
        window = await window_before(journal, at.session, at.seq + 1)
    else:
        window = await window_around(journal, at.session, row, until=at.seq + 1)
    taken = await taken_back(journal, at.session, until=at.number)
    return replace(window, running=at.run, taken=taken, later=())


def unasked(messages: tuple[ChatMessage | RunNote, ...]) -> tuple[ChatMessage | RunNote, ...]:
    """Without forms: the past can be answered no more."""
    return tuple(
        replace(message, parts=tuple(_without_form(part) for part in message.parts))
        if isinstance(message, ChatMessage)
        else message
        for message in messages
    )


def _without_form(part: ChatPart) -> ChatPart:
    return replace(part, ask=None) if isinstance(part, ToolChip) else part


def nothing_to_send(number: int) -> ComposerState:
    """Why no message can be sent."""
    return ComposerState(f"The page is as of #{number}: go live to send a message")
