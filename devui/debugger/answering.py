"""Whether what a person answers was asked here, and is not answered yet (R31).

The framework asks by an event: a call that names the tool to be made once it is confirmed. An event
that was taken in from elsewhere may ask for anything, in words of its own choosing. So an answer
counts only for what a run of this journal has asked, in this session or before it was forked. And
it counts once: an answer that comes later would stand in the history and be nobody's.
"""

from typing import Any, Final

from devui.debugger.summary import HUMAN_CALLS, Summary
from devui.store.events import USER
from devui.store.journal import Journal

_LOOKED_AT: Final = 500
"""Events at a time that are searched for an answer."""


class ForeignQuestion(Exception):
    """Nobody has asked this here: it came with the session, or it is not there at all."""


class AnsweredAlready(Exception):
    """The question has its answer, or was asked again."""


async def check_answers(
    journal: Journal, session: int, message: dict[str, Any] | None
) -> int | None:
    """Up to which seq the message answers open questions; None if it answers none.

    Raises ForeignQuestion and AnsweredAlready. Results of an app's own long-running tools are not
    looked at: a program may give several, one after the other.
    """
    seen = None
    for part in (message or {}).get("parts") or []:
        response = part.get("functionResponse") or {}
        if response.get("name") in HUMAN_CALLS:
            call = str(response.get("id") or "")
            seen = await open_until(journal, session, call, await _asked_at(journal, session, call))
    return seen


async def open_until(journal: Journal, session: int, call: str, after: int) -> int:
    """Up to which seq nothing after `after` answers the call, or asks it again.

    Raises AnsweredAlready.
    """
    while rows := await journal.events.page(session, after=after, limit=_LOOKED_AT):
        for row in rows:
            summary = Summary.from_json(row.summary)
            answers = summary.responses if row.author == USER else ()
            if any(answer.id == call for answer in answers):
                raise AnsweredAlready(f"this was answered already, in #{row.number}")
            if any(each.id == call for each in summary.calls):
                raise AnsweredAlready(f"this was asked again, in #{row.number}: answer there")
        after = rows[-1].seq
    return after


async def _asked_at(journal: Journal, session: int, call: str) -> int:
    """The seq of the event that asks, the newest one."""
    rows = await journal.events.asking(session, call)
    asks = [
        (row.seq, ours)
        for row, ours in rows
        if any(each.id == call for each in Summary.from_json(row.summary).calls)
    ]
    if not any(ours for _, ours in asks):
        raise ForeignQuestion(
            f"no run of this server has asked {call!r}: a question that came with its session is "
            "not carried out. Say in a message what you want"
        )
    return asks[-1][0]
