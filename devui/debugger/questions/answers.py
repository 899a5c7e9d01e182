"""Whether a person's answer belongs to a question that was asked here and is still open (R31).

A runtime can't continue with the result of a call that isn't in the history, so a message with such
a result starts no run.

The framework asks with an event: a call that names the tool to run once it is confirmed. An event
imported from elsewhere may ask for anything, in any words. So an answer counts only if a run of
this journal asked for it, in this session or before it was forked. And it counts once: a later
answer would be in the history without a question.
"""

from typing import Any, Final

from devui.debugger.history.rewinds import NO_REWINDS, effective_rewinds
from devui.debugger.questions.questions import HUMAN_CALLS
from devui.store.journal import Journal
from devui.store.rows import EventRow
from devui.wire.events import USER, Content, Fields

_LOOKED_AT: Final = 500
"""How many events at a time are searched for an answer."""


class ForeignQuestion(Exception):
    """The question wasn't asked here: it was imported with the session, or it doesn't exist."""


class CallNotFound(Exception):
    """The message answers a call that is missing or rewound, or calls of several invocations."""


class AlreadyAnswered(Exception):
    """The question was already answered, or asked again."""


async def check_answers(
    journal: Journal, session: int, message: dict[str, Any] | None
) -> int | None:
    """Check a message's answers, and return the seq up to which its questions are open.

    None if it answers no question of the framework. A call of an app's own long-running tool may
    get several results, one after the other. A result without an id answers no call.

    Raises ForeignQuestion, CallNotFound and AlreadyAnswered.
    """
    seq, invocations = None, set()
    for response in Content(message or {}).responses:
        call = str(response.id or "")
        if response.name in HUMAN_CALLS:
            seq = await open_until(journal, session, call, await _asked_at(journal, session, call))
        if call:
            invocations.add(await _invocation_of(journal, session, call))
    if len(invocations) > 1:
        raise CallNotFound(
            "the message answers function calls of several invocations: send one message for each"
        )
    return seq


async def _invocation_of(journal: Journal, session: int, call: str) -> str:
    """Return the invocation that made the call. Raises CallNotFound, also if it was rewound."""
    rows = [row for row, _ in await _calling(journal, session, call)]
    rewinds = await effective_rewinds(journal, session) if rows else NO_REWINDS
    counting = [row for row in rows if rewinds.by(row.number) is None]
    if counting:
        return counting[-1].invocation_id
    why = "a rewind has taken back" if rows else "this session does not have"
    raise CallNotFound(
        f"the message answers the function call {call!r}, which {why}: give the function response "
        "the id of a call that is there, or send a new message"
    )


async def open_until(journal: Journal, session: int, call: str, after: int) -> int:
    """Check that no event after the seq `after` answers or repeats the call; return the last seq.

    Raises AlreadyAnswered.
    """
    while rows := await journal.events.page(session, after=after, limit=_LOOKED_AT):
        for row in rows:
            summary = row.summary
            answers = summary.responses if row.author == USER else ()
            if any(answer.id == call for answer in answers):
                raise AlreadyAnswered(f"this was already answered in #{row.number}")
            if any(each.id == call for each in summary.calls):
                raise AlreadyAnswered(f"this was asked again in #{row.number}: answer there")
        after = rows[-1].seq
    return after


async def latest_result(journal: Journal, session: int, call: str, after: int) -> Fields | None:
    """Return the last response to a call that was made at the seq `after`, if there is one."""
    number = None
    while rows := await journal.events.page(session, after=after, limit=_LOOKED_AT):
        for row in rows:
            if any(each.id == call for each in row.summary.responses):
                number = row.number
        after = rows[-1].seq
    body = await journal.events.body(session, number) if number else None
    responses = body[1].responses if body else ()
    return next((each.result for each in responses if each.id == call), None)


async def _asked_at(journal: Journal, session: int, call: str) -> int:
    """Return the seq of the newest event that asks. Raises ForeignQuestion."""
    asks = [(row.seq, ours) for row, ours in await _calling(journal, session, call)]
    if not any(ours for _, ours in asks):
        raise ForeignQuestion(
            f"no run on this server asked {call!r}: questions from an imported session can't be "
            "answered here. Send a message instead"
        )
    return asks[-1][0]


async def _calling(journal: Journal, session: int, call: str) -> list[tuple[EventRow, bool]]:
    """Return the events that make the call, and whether a run of this server wrote each."""
    return [
        (row, ours)
        for row, ours in await journal.events.asking(session, call)
        if any(each.id == call for each in row.summary.calls)
    ]
