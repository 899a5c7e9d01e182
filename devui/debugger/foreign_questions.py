"""Whether what a person answers was asked here (R31).

The framework asks by an event: a call that names the tool to be made once it is confirmed. An event
that was taken in from elsewhere may ask for anything, in words of its own choosing. So an answer
counts only for what a run of this journal has asked, in this session or before it was forked.
"""

from typing import Any

from devui.debugger.summary import HUMAN_CALLS, Summary
from devui.store.journal import Journal


class ForeignQuestion(Exception):
    """Nobody has asked this here: it came with the session, or it is not there at all."""


async def check_answers(journal: Journal, session: int, message: dict[str, Any] | None) -> None:
    """Raise ForeignQuestion if the message answers what no run here has asked."""
    for part in (message or {}).get("parts") or []:
        response = part.get("functionResponse") or {}
        if response.get("name") in HUMAN_CALLS:
            await _check(journal, session, str(response.get("id") or ""))


async def _check(journal: Journal, session: int, call: str) -> None:
    for row, ours in await journal.events.asking(session, call):
        if ours and any(each.id == call for each in Summary.from_json(row.summary).calls):
            return
    raise ForeignQuestion(
        f"no run of this server has asked {call!r}: a question that came with its session is not "
        "carried out. Say in a message what you want"
    )
