"""The questions of an invocation that nobody has answered yet."""

import json
from dataclasses import asdict
from typing import Any, Final

from devui.debugger.questions.questions import HUMAN_CALLS
from devui.debugger.questions.requesters import askers_in
from devui.store.journal import Journal
from devui.store.rows import EventRow, RunRow
from devui.store.summaries import CallSummary, Summary
from devui.wire.events import USER, Content

_LOOKED_AT: Final = 500
"""How many of a session's newest events are searched for open questions."""


async def open_questions(journal: Journal, run: RunRow) -> list[dict[str, Any]]:
    """Return the long-running calls of the run's invocation that no person has answered."""
    rows = await journal.events.page(run.session, limit=_LOOKED_AT)
    if not any(Summary.may_ask(row.summary_json) for row in rows):
        return []
    questions: dict[str, dict[str, Any]] = {}
    for row in rows:
        summary = row.summary
        if row.invocation_id == run.invocation_id:
            questions |= {
                call.id: _as_json(row, call)
                for call in summary.calls
                if call.id and call.long_running
            }
        if row.author == USER:
            for answer in summary.responses:
                questions.pop(answer.id or "", None)
    bodies = await journal.events.bodies(
        run.session, {each["event"] for each in questions.values()}
    )
    askers = await askers_in(journal, run.session, [event for _, event in bodies])
    return [
        {**each, "for": asdict(askers[call]) if call in askers else None}
        for call, each in questions.items()
    ]


def answer_lost(run: RunRow) -> bool:
    """Whether the run ended before its answer became an event, so the question is still open."""
    return bool(run.ended and run.message and Content(json.loads(run.message)).responses)


def _as_json(row: EventRow, call: CallSummary) -> dict[str, Any]:
    return {
        "call": call.id,
        "name": call.name,
        "args": call.args,
        "agent": row.author,
        "event": row.number,
        "about": call.about,
        "asks": HUMAN_CALLS.get(call.name, f"waiting for the result of {call.name}"),
    }
