"""Whether what a person answers was asked here, and is not answered yet (R31).

A runtime cannot go on with the result of a call that is not in the history, so a message with one
begins no run.

The framework asks by an event: a call that names the tool to be made once it is confirmed. An event
that was taken in from elsewhere may ask for anything, in words of its own choosing. So an answer
counts only for what a run of this journal has asked, in this session or before it was forked. And
it counts once: an answer that comes later would stand in the history and be nobody's.
"""

from typing import Any, Final

from devui.debugger.history.rewinds import NOTHING_TAKEN, taken_back
from devui.debugger.questions.questions import HUMAN_CALLS
from devui.store.journal import Journal
from devui.store.rows import EventRow
from devui.wire.events import USER, Content

_LOOKED_AT: Final = 500
"""Events at a time that are searched for an answer."""


class ForeignQuestion(Exception):
    """Nobody has asked this here: it came with the session, or it is not there at all."""


class NoSuchCall(Exception):
    """The message answers no call of the session that counts, or calls of several invocations."""


class AnsweredAlready(Exception):
    """The question has its answer, or was asked again."""


async def check_answers(
    journal: Journal, session: int, message: dict[str, Any] | None
) -> int | None:
    """Up to which seq the message answers open questions; None if it answers none.

    Raises ForeignQuestion, NoSuchCall and AnsweredAlready. A call of an app's own long-running tool
    may get several results, one after the other. A result without an id answers no call.
    """
    seq, invocations = None, set()
    for response in Content(message or {}).responses:
        call = str(response.id or "")
        if response.name in HUMAN_CALLS:
            seq = await open_until(journal, session, call, await _asked_at(journal, session, call))
        if call:
            invocations.add(await _invocation_of(journal, session, call))
    if len(invocations) > 1:
        raise NoSuchCall(
            "the message answers function calls of several invocations: send one message for each"
        )
    return seq


async def _invocation_of(journal: Journal, session: int, call: str) -> str:
    """The invocation that made the call, as far as it counts. Raises NoSuchCall."""
    rows = [row for row, _ in await _calling(journal, session, call)]
    rewinds = await taken_back(journal, session) if rows else NOTHING_TAKEN
    counting = [row for row in rows if rewinds.by(row.number) is None]
    if counting:
        return counting[-1].invocation_id
    why = "a rewind has taken back" if rows else "this session does not have"
    raise NoSuchCall(
        f"the message answers the function call {call!r}, which {why}: give the function response "
        "the id of a call that is there, or send a new message"
    )


async def open_until(journal: Journal, session: int, call: str, after: int) -> int:
    """Up to which seq nothing after `after` answers the call, or asks it again.

    Raises AnsweredAlready.
    """
    while rows := await journal.events.page(session, after=after, limit=_LOOKED_AT):
        for row in rows:
            summary = row.summary
            answers = summary.responses if row.author == USER else ()
            if any(answer.id == call for answer in answers):
                raise AnsweredAlready(f"this was already answered in #{row.number}")
            if any(each.id == call for each in summary.calls):
                raise AnsweredAlready(f"this was asked again in #{row.number}: answer there")
        after = rows[-1].seq
    return after


async def _asked_at(journal: Journal, session: int, call: str) -> int:
    """The seq of the event that asks, the newest one."""
    asks = [(row.seq, ours) for row, ours in await _calling(journal, session, call)]
    if not any(ours for _, ours in asks):
        raise ForeignQuestion(
            f"no run on this server asked {call!r}: questions from an imported session can't be "
            "answered here. Send a message instead"
        )
    return asks[-1][0]


async def _calling(journal: Journal, session: int, call: str) -> list[tuple[EventRow, bool]]:
    """The events that make the call of this id, and whether a run of this server wrote each."""
    return [
        (row, ours)
        for row, ours in await journal.events.asking(session, call)
        if any(each.id == call for each in row.summary.calls)
    ]
