"""What pages and programs alike do to go on, back, or another way: resume, rewind, fork."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from devui.debugger.apps.apps import UnknownApp
from devui.debugger.events.news import PositionChanged
from devui.debugger.guard.ground import guard_of_fork, guard_over
from devui.debugger.guard.guard import Guard, Policy
from devui.debugger.recovery.answers import CallAnswer, Misjudged, Settled, opening, settle
from devui.debugger.recovery.cutoff import is_over
from devui.debugger.recovery.forking import Forking, ForkRequest, NotForkable, message_text
from devui.debugger.recovery.unknown import unknown_calls
from devui.debugger.runs.request import RunRequest
from devui.debugger.runs.settings import last_settings
from devui.debugger.stepping.commands import Like
from devui.debugger.workers.workers import AppBroken
from devui.store.rows import EventRow, ForkRow, SessionRow
from devui.web.errors import Conflict, NotFound, Unprocessable
from devui.web.services import Services
from devui.web.unmasked import unmasked
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
    """An invocation that cannot be resumed."""


class Finished(Conflict):
    """An invocation that has nothing left to resume."""


def goes_on(services: Services, app: str) -> bool:
    """Whether what was cut off can be resumed, as far as that is known without loading the app."""
    try:
        info = services.workers.status(app).info
    except UnknownApp:
        return True
    return info is None or info.goes_on


async def decisions_for(
    services: Services,
    session: SessionRow,
    invocation: str,
    answers: Mapping[str, CallAnswer],
    *,
    actor: str,
) -> tuple[Settled, ...]:
    """The decisions for a resume; raises Undecided, Unprocessable, Finished, NoCheckpoints and
    Conflict.

    Whether it can be is known of an app that is loaded, and has to be known before anything is
    done: what is decided is told to the agent once, and is in the session from then on.
    """
    runs = await services.journal.runs.list(session.key)
    newest = next((run for run in runs if run.invocation_id == invocation), None)
    if newest is not None and await is_over(services.journal, newest):
        raise Finished(
            f"invocation {invocation} is done, so nothing is left to resume: send a message, or"
            " fork the session to run a part of it again"
        )
    with suppress(UnknownApp):
        try:
            await services.workers.worker(session.app)
        except AppBroken as error:
            raise Conflict(f"nothing was resumed: {session.app} failed to load: {error}") from error
    if not goes_on(services, session.app):
        raise NoCheckpoints(NO_CHECKPOINTS)
    calls = await unknown_calls(services.journal, session.key, invocation)
    try:
        return settle(calls, answers, actor)
    except Misjudged as error:
        raise Unprocessable(str(error)) from error


async def ask_no_more(services: Services, session: SessionRow) -> None:
    """Ask no more about what was cut off; the session stays as it is. Raises Conflict."""
    if services.runs.live(session.key) is not None:
        raise Conflict("a run is in progress on this session: stop it first")
    run = await services.journal.runs.newest(session.key)
    if run is None:
        await services.journal.forks.close(session.key)
    else:
        await services.journal.runs.close(run.id)
    services.bus.publish(session.key, PositionChanged(run.id if run else "", 0))


async def make_fork(services: Services, session: SessionRow, request: ForkRequest) -> SessionRow:
    """Fork; raises Unprocessable for a fork that makes no sense."""
    if request.event is not None:
        body = await services.journal.events.body(session.key, request.number)
        original = body[1].fields if body else {}
        request = replace(request, event=await unmasked(services, request.event, original))
    try:
        return await Forking(services.journal, services.bus).fork(session, request)
    except NotForkable as error:
        raise Unprocessable(str(error)) from error


async def run_fork(
    services: Services,
    fork: SessionRow,
    *,
    streaming: bool,
    policy: Policy = "ask",
    run_to: Like | None = None,
    actor: str = "api",
) -> str:
    """Say the parent's message that follows, or resume what the fork cut through; `policy` is what
    becomes of tools that the parent has run behind the fork. `run_to`: hold what is like this.

    Raises Undecided when calls of unknown outcome are in the way, and Conflict when it cannot run
    or nothing is left to do.
    """
    row = await services.journal.forks.get(fork.key)
    decisions: tuple[Settled, ...] = ()
    if row is None:
        raise NotFound("this session isn't a fork")
    if row.reason == "message":
        content = await message_after(services, row)
        body = await services.journal.events.body(row.parent, row.number + 1)
        before = body[0].invocation_id if body else None
        settings = await last_settings(services.journal, row.parent, before)
        request = RunRequest(message=content, streaming=streaming, settings=settings, actor=actor)
    elif row.invocation is None:
        raise Conflict("the fork starts after a finished invocation: send it a message")
    else:
        decisions = await decisions_for(services, fork, row.invocation, {}, actor=actor)
        request = RunRequest(
            invocation=row.invocation, streaming=streaming, opening=opening(decisions), actor=actor
        )
    guard = await first_guard(
        services, fork, policy, invocation=request.invocation, decisions=decisions
    )
    request = replace(request, guard=guard, run_to=run_to)
    return (await services.runs.start(fork, request)).id


async def first_guard(
    services: Services,
    session: SessionRow,
    policy: Policy = "ask",
    *,
    invocation: str | None = None,
    decisions: Sequence[Settled] = (),
) -> Guard | None:
    """The guard for the next run of a session: that of a fork which has not run yet.

    Calls of unknown outcome in the invocation that goes on have been decided about already.
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
    """The agents of an app as far as they are known without loading it."""
    try:
        info = services.workers.status(app).info
    except UnknownApp:
        return []
    return info.agents if info else []


async def message_after(services: Services, row: ForkRow) -> dict[str, Any] | None:
    """The message of the parent right behind the fork, if it is still there."""
    body = await services.journal.events.body(row.parent, row.number + 1)
    return message_of(body[1]) if body else None


def message_of(event: Event) -> dict[str, Any] | None:
    """The user's message, to be sent again; None for an event that is none."""
    if message_text(event) is None:
        return None
    return {**event.content.fields, "role": "user"}


async def opening_message(services: Services, session: int, invocation: str) -> int:
    """The number of the user's message that the invocation began with; 0 if it began otherwise."""
    beginnings = await services.journal.events.beginnings(session, [invocation])
    number = beginnings.get(invocation, 0)
    body = await services.journal.events.body(session, number) if number else None
    return number if body and message_of(body[1]) else 0


async def unsent(services: Services, session: SessionRow) -> str:
    """The message that a fork was made to say in another way, while nothing has been said."""
    row = await services.journal.forks.get(session.key)
    if row is None or row.reason != "message" or session.events != row.number:
        return ""
    content = await message_after(services, row)
    return Content(content).text if content else ""


async def invocation_of(services: Services, session: SessionRow, number: int) -> str:
    """The invocation of an event; raises NotFound."""
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
    streaming: bool = True,
    policy: Policy = "ask",
    actor: str = "api",
) -> str:
    """Begin a run that takes the session back, and then says the text, or what was said
    (`unchanged`); the run's id.

    `policy` is what becomes of tools that had run in what is taken back. Raises Conflict for a
    message that isn't one.
    """
    events = await services.journal.events.of_invocation(session.key, invocation)
    if not events:
        raise NotFound(f"session {session.key} has no invocation {invocation!r}")
    message = then = None
    if unchanged:
        message = message_of(events[0][1])
        if message is None:
            raise Conflict(f"#{events[0][0].number} isn't a user message")
    elif text is not None and text.strip():
        message = {"role": "user", "parts": [{"text": text.strip()}]}
    if message is not None:
        guard = await guard_over(
            services.journal,
            session,
            events[0][0].number - 1,
            policy=policy,
            agents=_agents(services, session.app),
        )
        settings = await last_settings(services.journal, session.key, invocation)
        then = RunRequest(
            message=message, streaming=streaming, settings=settings, guard=guard, actor=actor
        )
    run_request = RunRequest(rewind=invocation, then=then, actor=actor)
    return (await services.runs.start(session, run_request)).id
