"""What pages and programs alike do to go on, back, or another way: resume, rewind, fork."""

import json
from collections.abc import Mapping
from typing import Any

from devui.debugger.driver import RunRequest
from devui.debugger.recovery.answers import CallAnswer, Misjudged, Settled, settle
from devui.debugger.recovery.forking import ForkRequest, NotForkable, said
from devui.debugger.recovery.unknown import unknown_calls
from devui.store.events import USER
from devui.store.rows import EventRow, ForkRow, SessionRow
from devui.web.errors import Conflict, NotFound, Unprocessable
from devui.web.services import Services


async def settled(
    found: Services,
    session: SessionRow,
    invocation: str,
    answers: Mapping[str, CallAnswer],
    *,
    actor: str,
) -> tuple[Settled, ...]:
    """The decisions for a resume; raises Undecided and Unprocessable."""
    calls = await unknown_calls(found.journal, session.key, invocation)
    try:
        return settle(calls, answers, actor)
    except Misjudged as error:
        raise Unprocessable(str(error)) from error


async def forked(found: Services, session: SessionRow, wanted: ForkRequest) -> SessionRow:
    """Fork; raises Unprocessable for a fork that makes no sense."""
    try:
        return await found.forking.fork(session, wanted)
    except NotForkable as error:
        raise Unprocessable(str(error)) from error


async def run_fork(found: Services, made: SessionRow, *, streaming: bool) -> str:
    """Say the parent's message that follows, or resume what the fork cut through.

    Raises Undecided when calls of unknown outcome are in the way, and Conflict when nothing is
    left to do.
    """
    row = await found.journal.forks.get(made.key)
    if row is None:
        raise NotFound("this session is no fork")
    if row.reason == "message":
        content = await message_after(found, row)
        wanted = RunRequest(message=content, streaming=streaming)
    elif row.invocation is None:
        raise Conflict("the fork begins where an invocation had ended: send it a message")
    else:
        decided = await settled(found, made, row.invocation, {}, actor="page")
        wanted = RunRequest(invocation=row.invocation, streaming=streaming, settled=decided)
    return (await found.runs.start(made, wanted)).id


async def message_after(found: Services, row: ForkRow) -> dict[str, Any] | None:
    """The message of the parent right behind the fork, if it is still there."""
    body = await found.journal.events.body(row.parent, row.number + 1)
    event = json.loads(body[1]) if body else {}
    return None if said(event) is None else {**event["content"], "role": "user"}


async def unsent(found: Services, session: SessionRow) -> str:
    """The message that a fork was made to say in another way, while nothing has been said."""
    row = await found.journal.forks.get(session.key)
    if row is None or row.reason != "message" or session.events != row.number:
        return ""
    content = await message_after(found, row)
    return said({"author": USER, "content": content}) or "" if content else ""


async def invocation_of(found: Services, session: SessionRow, number: int) -> str:
    """The invocation of an event; raises NotFound."""
    row = await _event(found, session, number)
    return row.invocation_id


async def _event(found: Services, session: SessionRow, number: int) -> EventRow:
    body = await found.journal.events.body(session.key, number)
    if body is None:
        raise NotFound(f"session {session.key} has no event #{number}: it has {session.events}")
    return body[0]


async def rewound(
    found: Services,
    session: SessionRow,
    invocation: str,
    *,
    text: str | None = None,
    streaming: bool = True,
) -> str:
    """Begin a run that takes the session back, and then says the text; the run's id."""
    events = await found.journal.events.of_invocation(session.key, invocation)
    if not events:
        raise NotFound(f"session {session.key} has no invocation {invocation!r}")
    then = None
    if text is not None and text.strip():
        message = {"role": "user", "parts": [{"text": text.strip()}]}
        then = RunRequest(message=message, streaming=streaming)
    return (await found.runs.start(session, RunRequest(rewind=invocation, then=then))).id
