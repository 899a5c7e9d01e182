"""`/run` and `/run_sse`, with ADK's exact framing (adk-web 1.5).

The run belongs to the server: it continues if the client disconnects (Law 4, R49). This is the only
intended difference from ADK's server.
"""

import json
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from devui.debugger.apps.adk_files import starting_state
from devui.debugger.events.feed import follow
from devui.debugger.events.news import EventCommitted, News, PartialArrived, RunChanged
from devui.debugger.runs.request import RunRequest
from devui.store.rows import RunRow, SessionRow
from devui.web.adk.answers import AdkRunErrorJson
from devui.web.adk.bodies import RunBody, parse, unused
from devui.web.adk.event_json import AdkEventJson
from devui.web.adk.public_events import public_event
from devui.web.adk.sessions import begin
from devui.web.errors import BadRequest, NotFound, Unprocessable
from devui.web.operation import Refusal, operation
from devui.web.panels.recovery.model_key import missing_key
from devui.web.security.intake import read_json
from devui.web.services import Services, services_of
from devui.web.sse import BARE, Message, stream_response

_ENDED = {"done", "failed", "stopped", "interrupted"}
_MESSAGE_LIMIT = 20_000_000
"""The size limit of a request in bytes; it may contain files (R26)."""

_ROLE = 60
"""How many characters of an ignored role are repeated."""


_BUSY: Final = Refusal(409, "The session has an active run, or can't go on with what is asked")


class RunFailed(Exception):
    """The agent's code raised an exception."""

    def __init__(self, error: dict[str, Any], hint: str) -> None:
        """`error` is the worker's report, and `hint` a sentence on what to do, or ""."""
        self.kind = str(error.get("type"))
        self.message = " ".join(filter(None, (str(error.get("message")), hint)))
        super().__init__(f"{self.kind}: {self.message}")


@operation(
    list[AdkEventJson],
    body=RunBody,
    refusals=(404, _BUSY, Refusal(500, "The agent failed")),
)
async def run(request: Request) -> Response:
    """Run an agent and return all events; if the agent fails, the status is 500.

    Like `/run_sse`, it accepts a trailing comma in the body, as in ADK's
    documentation.
    """
    services = services_of(request)
    body, warning = await _body(request, streams=False)
    session, row, after = await _start(services, body, streaming=False)
    try:
        events = [event async for event in _events(services, session, row, after)]
    except RunFailed as failure:
        return Response(
            json.dumps({"detail": str(failure)}),
            status_code=500,
            media_type="application/json",
            headers=warning,
        )
    return Response(f"[{','.join(events)}]", media_type="application/json", headers=warning)


@operation(
    AdkEventJson | AdkRunErrorJson,
    media="text/event-stream",
    body=RunBody,
    refusals=(404, _BUSY),
)
async def run_sse(request: Request) -> Response:
    """Run an agent and stream its events as they are committed.

    Server-sent events: one whole `data: {…}` frame per event, and a comment line every four seconds
    while the agent is silent. `streaming` adds partial events. If the agent fails, the last message
    says why.
    """
    services = services_of(request)
    body, warning = await _body(request, streams=True)
    session, row, after = await _start(services, body, streaming=body.streaming)
    split = body.function_call_event_id is None

    async def frames() -> AsyncGenerator[Message, None]:
        try:
            async with aclosing(_events(services, session, row, after)) as events:
                async for event in events:
                    for part in _split_artifacts(event) if split else [event]:
                        yield Message(part)
        except RunFailed as failure:
            yield Message(json.dumps(_error_frame(failure)))

    return stream_response(frames(), streams=services.streams, options=BARE, headers=warning)


async def _body(request: Request, *, streams: bool) -> tuple[RunBody, dict[str, str]]:
    """Return the validated body, and the header with warnings about its ignored parts."""
    value = await read_json(
        request, limit=_MESSAGE_LIMIT, allow_trailing_comma=True, allow_runtime_json=True
    )
    body = parse(RunBody, value)
    role = (body.new_message and body.new_message.role) or "user"
    more = (
        [] if role == "user" else [f"ignored newMessage.role {role[:_ROLE]!a}: it is always user"]
    )
    if body.streaming and not streams:
        more.append("ignored streaming: use /run_sse for partial events")
    return body, unused(RunBody, value, *more)


async def _start(
    services: Services, body: RunBody, *, streaming: bool
) -> tuple[SessionRow, RunRow, int]:
    if not body.app_name:
        raise BadRequest("app_name is required")
    services.apps.require(body.app_name)
    session = await services.journal.sessions.find(body.app_name, body.user_id, body.session_id)
    if session is None and services.settings.create_sessions:
        state = starting_state(services.apps.require(body.app_name), None)
        session = await begin(
            services, body.app_name, body.user_id, body.session_id, state=state, events=None
        )
    if session is None:
        raise NotFound(f"Session not found: {body.session_id}")
    if body.service_tier == "deferred" and streaming:
        raise Unprocessable("the deferred service_tier can't stream: omit streaming")
    message = body.new_message and body.new_message.model_dump(
        mode="json", by_alias=True, exclude_none=True
    )
    after = await services.journal.head()
    row = await services.runs.start(
        session,
        RunRequest(
            message={**message, "role": "user"} if message else None,
            invocation=body.invocation_id,
            state_delta=body.state_delta,
            streaming=streaming,
            custom_metadata=body.custom_metadata,
            service_tier=body.service_tier,
        ),
    )
    return session, row, after


_KINDS: Final = (EventCommitted, PartialArrived, RunChanged)
"""The kinds of news that carry a run's events and its end."""


async def _events(
    services: Services, session: SessionRow, row: RunRow, after: int
) -> AsyncGenerator[str, None]:
    """Yield the JSON of the run's events, without the user's message. Raises RunFailed."""
    has_begun = False
    news_of = follow(services.journal, services.bus, session.key, after, kinds=_KINDS)
    async with aclosing(news_of) as batches:
        async for batch in batches:
            for news in batch.news:
                text = _own_event(news, row.id)
                if text and not _is_message(news, has_begun):
                    yield public_event(text)
                has_begun = has_begun or text is not None
                if isinstance(news, RunChanged) and news.run.id == row.id:
                    if news.run.status == "failed":
                        error = json.loads(news.run.error or "{}")
                        raise RunFailed(error, _hint(services, session.app, error))
                    if news.run.status in _ENDED:
                        return


def _hint(services: Services, app: str, error: dict[str, Any]) -> str:
    """Return where to put a missing model key; "" if the error already names the variable."""
    message = str(error.get("message"))
    key = missing_key(message, services.apps, app)
    if key is None or key.is_refused or key.variable in message:
        return ""
    place = "your program's environment" if key.is_hosted else f"{key.file} or devui's environment"
    return f"Set {key.variable} in {place}."


def _own_event(news: News, run_id: str) -> str | None:
    if isinstance(news, PartialArrived) and news.run == run_id:
        return news.data
    if isinstance(news, EventCommitted) and news.row.run == run_id:
        return news.event.text
    return None


def _is_message(news: News, has_begun: bool) -> bool:
    """Return whether an item of news is the user's message, the first event of a run.

    The answer to an agent that delegated a task is also by the user, but has a node path.
    """
    if has_begun or not isinstance(news, EventCommitted) or news.row.author != "user":
        return False
    return not news.event.node_path


def _split_artifacts(event: str) -> list[str]:
    """Put artifacts in a frame of their own, as ADK's page expects (adk-web 1.5)."""
    if '"artifactDelta":{"' not in event:
        return [event]
    whole = json.loads(event)
    versions = (whole.get("actions") or {}).get("artifactDelta")  # the match may be elsewhere
    if not versions or not (whole.get("content") or {}).get("parts"):
        return [event]
    content = {**whole, "actions": {**whole["actions"], "artifactDelta": {}}}
    artifact = {key: value for key, value in whole.items() if key != "content"}
    return [json.dumps(part, separators=(",", ":")) for part in (content, artifact)]


def _error_frame(failure: RunFailed) -> AdkRunErrorJson:
    return {
        "error": str(failure),
        "error_details": {
            "error_type": failure.kind,
            "error_message": failure.message,
            "timestamp": time.time(),
        },
    }
