"""Resume, rewind and fork, shared by the pages and the API."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from devui.debugger.apps.apps import UnknownApp
from devui.debugger.events.news import PositionChanged
from devui.debugger.guard.guard import Guard, Policy
from devui.debugger.guard.run_guard import guard_of_fork, guard_over
from devui.debugger.recovery.answers import (
    CallAnswer,
    CallDecision,
    InvalidDecision,
    decide,
    opening,
)
from devui.debugger.recovery.cutoff import is_over
from devui.debugger.recovery.fork_maker import ForkMaker, ForkRequest, NotForkable, message_text
from devui.debugger.recovery.message_files import with_files
from devui.debugger.recovery.unknown_calls import unknown_calls
from devui.debugger.runs.options import last_options
from devui.debugger.runs.request import RunRequest
from devui.debugger.stepping.commands import Like
from devui.debugger.workers.workers import AppBroken
from devui.store.rows import EventRow, ForkRow, SessionRow
from devui.web.errors import Conflict, NotFound, Unprocessable
from devui.web.restored_secrets import restore_secrets
from devui.web.services import Services
from devui.wire.events import Content, Event
from devui.wire.messages import AgentInfo

NO_CHECKPOINTS = (
    "This run can't be resumed: its app records no checkpoints. To make future "
    "runs resumable, set resumability_config=ResumabilityConfig(is_resumable=True) on the App."
)
CONCLUDED = (
    "This run can't be retried: its app records checkpoints, and the agent recorded that it is "
    "done. Send the message again instead."
)


class NoCheckpoints(Conflict):
    """The invocation can't be resumed: its app records no checkpoints."""


class NothingToResume(Conflict):
    """The invocation has nothing left to resume."""


def is_resumable(services: Services, app: str) -> bool:
    """Return whether an interrupted run can be resumed, as far as known without loading the app."""
    try:
        info = services.workers.status(app).info
    except UnknownApp:
        return True
    return info is None or info.is_resumable


async def decisions_for(
    services: Services,
    session: SessionRow,
    invocation: str,
    answers: Mapping[str, CallAnswer],
    *,
    actor: str,
) -> tuple[CallDecision, ...]:
    """Return the decisions for a resume; raises DecisionRequired, Unprocessable,
    NothingToResume, NoCheckpoints and Conflict.

    The app is loaded first, to know whether it can resume: the agent receives a decision once, and
    the session keeps it, so there must be none for a resume that can't happen.
    """
    runs = await services.journal.runs.list(session.key)
    newest = next((run for run in runs if run.invocation_id == invocation), None)
    if newest is not None and await is_over(services.journal, newest):
        raise NothingToResume(
            f"invocation {invocation} is done, so nothing is left to resume: send a message, or"
            " fork the session to run a part of it again"
        )
    with suppress(UnknownApp):
        try:
            await services.workers.worker(session.app)
        except AppBroken as error:
            raise Conflict(f"nothing was resumed: {session.app} failed to load: {error}") from error
    if not is_resumable(services, session.app):
        raise NoCheckpoints(NO_CHECKPOINTS)
    calls = await unknown_calls(services.journal, session.key, invocation)
    try:
        return decide(calls, answers, actor)
    except InvalidDecision as error:
        raise Unprocessable(str(error)) from error


async def ask_no_more(services: Services, session: SessionRow) -> None:
    """Close an interrupted invocation without resuming it. Raises Conflict during a run."""
    if services.runs.live(session.key) is not None:
        raise Conflict("a run is in progress on this session: stop it first")
    run = await services.journal.runs.newest(session.key)
    if run is None:
        await services.journal.forks.close(session.key)
    else:
        await services.journal.runs.close(run.id)
    services.bus.publish(session.key, PositionChanged(run.id if run else "", 0))


async def make_fork(services: Services, session: SessionRow, request: ForkRequest) -> SessionRow:
    """Fork a session; raises Unprocessable for a fork that isn't possible."""
    if request.event is not None:
        body = await services.journal.events.body(session.key, request.number)
        original = body[1].fields if body else {}
        request = replace(request, event=await restore_secrets(services, request.event, original))
    try:
        return await ForkMaker(services.journal, services.bus).fork(session, request)
    except NotForkable as error:
        raise Unprocessable(str(error)) from error


async def run_fork(
    services: Services,
    fork: SessionRow,
    *,
    text: str | None = None,
    streaming: bool | None = None,
    policy: Policy = "ask",
    run_to: Like | None = None,
    actor: str = "api",
) -> str:
    """Run a fork: send the message that follows in the parent, or `text` instead of it, or resume
    the invocation that the fork cut in two. Return the run's id.

    `policy` decides about tools that the parent ran after the fork; `run_to` is where the run is
    held. The run has the options of the parent's, except for `streaming` if given. Raises
    DecisionRequired if calls of unknown outcome need a decision, and Conflict if the fork can't run
    or nothing is left to do.
    """
    row = await services.journal.forks.get(fork.key)
    decisions: tuple[CallDecision, ...] = ()
    if row is None:
        raise NotFound("this session isn't a fork")
    if row.reason == "message":
        body = await services.journal.events.body(row.parent, row.number + 1)
        event = body[1] if body else None
        content = await _message_with(services, text, event)
        if content is None and event is not None:
            content = message_of(event)
        before = body[0].invocation_id if body else None
        options = await last_options(services.journal, row.parent, before)
        if content is not None and event is not None:
            content = await _with_files(services, row.parent, event, content)
        request = RunRequest(message=content, actor=actor)
    elif row.invocation is None:
        raise Conflict("the fork starts after a finished invocation: send it a message")
    else:
        decisions = await decisions_for(services, fork, row.invocation, {}, actor=actor)
        options = await last_options(services.journal, row.parent, row.invocation)
        request = RunRequest(invocation=row.invocation, opening=opening(decisions), actor=actor)
    guard = await first_guard(
        services, fork, policy, invocation=request.invocation, decisions=decisions
    )
    request = replace(request, guard=guard, run_to=run_to)
    request = request.with_options(options, streaming=streaming)
    return (await services.runs.start(fork, request)).id


async def _message_with(
    services: Services, text: str | None, event: Event | None
) -> dict[str, Any] | None:
    """Return the event's message with this text, unchanged if the text is; None without text."""
    text = (text or "").strip()
    if not text:
        return None
    before = (message_text(event) if event else None) or ""
    # A text area normalizes line ends, and what it shows has its secrets redacted.
    initial = before.replace("\r\n", "\n").replace("\r", "\n").strip()
    text = await restore_secrets(services, text, initial)
    if event and text == initial and all(part.is_text_alone for part in event.parts):
        return message_of(event)
    return {"role": "user", "parts": [{"text": text}]}


async def _with_files(
    services: Services, session: int, event: Event, message: dict[str, Any]
) -> dict[str, Any]:
    row = await services.journal.sessions.get(session)
    return message if row is None else await with_files(services.journal, row, event, message)


async def with_unsent_files(
    services: Services, session: SessionRow, message: dict[str, Any]
) -> dict[str, Any]:
    """Return a message to a fork with the files that the message it replaces was saved with."""
    row = await services.journal.forks.get(session.key)
    body = row and await services.journal.events.body(row.parent, row.number + 1)
    return await _with_files(services, row.parent, body[1], message) if row and body else message


async def first_guard(
    services: Services,
    session: SessionRow,
    policy: Policy = "ask",
    *,
    invocation: str | None = None,
    decisions: Sequence[CallDecision] = (),
) -> Guard | None:
    """Return the guard for a session's next run if it is a fork that hasn't run yet.

    Calls of unknown outcome in the resumed invocation have already been decided about.
    """
    agents = _agents(services, session.app)
    guard = await guard_of_fork(services.journal, session, policy=policy, agents=agents)
    if guard is not None and invocation is not None:
        decided_calls = {each.call.id for each in decisions if each.action != "again"}
        for call in await unknown_calls(services.journal, session.key, invocation):
            if call.id not in decided_calls:
                guard.allow(call.tool, call.args)
    return guard


def _agents(services: Services, app: str) -> list[AgentInfo]:
    """Return the agents of an app, as far as known without loading it."""
    try:
        info = services.workers.status(app).info
    except UnknownApp:
        return []
    return info.agents if info else []


async def message_after(services: Services, row: ForkRow) -> dict[str, Any] | None:
    """Return the parent's message directly after the fork, if it still exists."""
    body = await services.journal.events.body(row.parent, row.number + 1)
    return message_of(body[1]) if body else None


def message_of(event: Event) -> dict[str, Any] | None:
    """Return the user's message, to be sent again; None for any other event."""
    if message_text(event) is None:
        return None
    return {**event.content.fields, "role": "user"}


async def opening_message(services: Services, session: int, invocation: str) -> int:
    """Return the number of the user message that began the invocation; 0 if none did."""
    beginnings = await services.journal.events.beginnings(session, [invocation])
    number = beginnings.get(invocation, 0)
    body = await services.journal.events.body(session, number) if number else None
    return number if body and message_of(body[1]) else 0


async def unsent(services: Services, session: SessionRow) -> str:
    """Return the message that a fork was made to replace, until the fork has sent one; else ""."""
    row = await services.journal.forks.get(session.key)
    if row is None or row.reason != "message" or session.events != row.number:
        return ""
    if services.runs.live(session.key) is not None:  # the run is about to send it
        return ""
    content = await message_after(services, row)
    return Content(content).text if content else ""


async def invocation_of(services: Services, session: SessionRow, number: int) -> str:
    """Return the invocation of an event; raises NotFound."""
    row = await _event(services, session, number)
    return row.invocation_id


async def _event(services: Services, session: SessionRow, number: int) -> EventRow:
    body = await services.journal.events.body(session.key, number)
    if body is None:
        raise NotFound(f"session {session.key} has no event #{number}: it has {session.events}")
    return body[0]


async def rewind_session(
    services: Services,
    session: SessionRow,
    invocation: str,
    *,
    text: str | None = None,
    unchanged: bool = False,
    streaming: bool | None = None,
    policy: Policy = "ask",
    actor: str = "api",
) -> str:
    """Start a run that rewinds the session and then sends the text, or the original message if
    `unchanged`; return the run's id.

    `policy` decides about tools that ran in the rewound part. The message is sent with the options
    of the rewound run, except for `streaming` if given. Raises Conflict for a message to repeat
    that isn't one.
    """
    events = await services.journal.events.of_invocation(session.key, invocation)
    if not events:
        raise NotFound(f"session {session.key} has no invocation {invocation!r}")
    message = then = None
    if unchanged:
        message = message_of(events[0][1])
        if message is None:
            raise Conflict(f"#{events[0][0].number} isn't a user message")
    else:
        message = await _message_with(services, text, events[0][1])
    if message is not None:
        message = await with_files(services.journal, session, events[0][1], message)
        guard = await guard_over(
            services.journal,
            session,
            events[0][0].number - 1,
            policy=policy,
            agents=_agents(services, session.app),
        )
        options = await last_options(services.journal, session.key, invocation)
        then = RunRequest(message=message, guard=guard, actor=actor)
        then = then.with_options(options, streaming=streaming)
    run_request = RunRequest(rewind=invocation, then=then, actor=actor)
    return (await services.runs.start(session, run_request)).id
