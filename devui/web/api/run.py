"""`/run` and `/run_sse`, with ADK's exact framing (adk-web 1.5).

The run belongs to the server: a client that goes away does not end it (Law 4, R49), which is the
one place where this differs from ADK's server on purpose.
"""

import json
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from devui.debugger.feed import follow
from devui.debugger.fragments import Trickle
from devui.debugger.news import EventCommitted, News, PartialArrived, RunChanged
from devui.debugger.runrequest import RunRequest
from devui.store.rows import RunRow, SessionRow
from devui.web.api.bodies import RunBody, parse
from devui.web.api.public_events import public_event
from devui.web.errors import BadRequest, NotFound
from devui.web.security.intake import read_json
from devui.web.services import Services, services
from devui.web.sse import BARE, Message, stream_response

_ENDED = {"done", "failed", "stopped", "interrupted"}
_MESSAGE_LIMIT = 20_000_000
"""Bytes of a request that may carry files inline (R26)."""


class RunFailed(Exception):
    """The agent's code raised; `error` is what the worker told of it."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(f"{error.get('type')}: {error.get('message')}")
        self.error = error


async def run(request: Request) -> Response:
    """Run to the end and answer with all events; a failure of the agent is a 500."""
    found = services(request)
    body = parse(RunBody, await read_json(request, limit=_MESSAGE_LIMIT, last_comma=True))
    session, row, after = await _start(found, body, streaming=False)
    try:
        events = [event async for event in _events(found, session, row, after)]
    except RunFailed as failed:
        return Response(
            json.dumps({"detail": str(failed)}), status_code=500, media_type="application/json"
        )
    return Response(f"[{','.join(events)}]", media_type="application/json")


async def run_sse(request: Request) -> Response:
    """Run and answer with each event as it is committed, or streamed, one frame a write."""
    found = services(request)
    body = parse(RunBody, await read_json(request, limit=_MESSAGE_LIMIT, last_comma=True))
    session, row, after = await _start(found, body, streaming=body.streaming)
    split = body.function_call_event_id is None

    async def frames() -> AsyncGenerator[Message, None]:
        try:
            async with aclosing(_events(found, session, row, after)) as events:
                async for event in events:
                    for part in _split_artifacts(event) if split else [event]:
                        yield Message(part)
        except RunFailed as failed:
            yield Message(json.dumps(_error_frame(failed)))

    return stream_response(frames(), streams=found.streams, manner=BARE)


async def _start(
    found: Services, body: RunBody, *, streaming: bool
) -> tuple[SessionRow, RunRow, int]:
    if not body.app_name:
        raise BadRequest("app_name is required")
    found.apps.require(body.app_name)
    session = await found.journal.sessions.find(body.app_name, body.user_id, body.session_id)
    if session is None:
        raise NotFound(f"Session not found: {body.session_id}")
    if body.new_message is None and body.invocation_id is None:
        raise BadRequest("new_message is required, or invocation_id to resume an invocation")
    message = body.new_message and body.new_message.model_dump(
        mode="json", by_alias=True, exclude_none=True
    )
    after = await found.journal.head()
    row = await found.runs.start(
        session,
        RunRequest(
            message={**message, "role": "user"} if message else None,
            invocation=body.invocation_id,
            state_delta=body.state_delta,
            streaming=streaming,
        ),
    )
    return session, row, after


async def _events(
    found: Services, session: SessionRow, row: RunRow, after: int
) -> AsyncGenerator[str, None]:
    """The JSON of the run's events, without the user's own message; raises RunFailed."""
    begun, trickle = False, Trickle()
    async with aclosing(follow(found.journal, found.bus, session.key, after)) as batches:
        async for batch in batches:
            for news in batch.news:
                text = _own_event(news, row.id)
                told = text and _told(news, text, trickle, found)
                if told and not _is_message(news, begun):
                    yield public_event(told)
                begun = begun or text is not None
                if isinstance(news, RunChanged) and news.run.id == row.id:
                    if news.run.status == "failed":
                        raise RunFailed(json.loads(news.run.error or "{}"))
                    if news.run.status in _ENDED:
                        return


def _told(news: News, text: str, trickle: Trickle, found: Services) -> str | None:
    """The event, or of a partial one what can be told already (R64)."""
    if isinstance(news, PartialArrived):
        return trickle.partial(text, found.veil.redactor())
    if isinstance(news, EventCommitted):
        trickle.superseded(news.row.author)
    return text


def _own_event(news: News, run_id: str) -> str | None:
    if isinstance(news, PartialArrived) and news.run == run_id:
        return news.data
    if isinstance(news, EventCommitted) and news.row.run == run_id:
        return news.data
    return None


def _is_message(news: News, begun: bool) -> bool:
    """Whether an event of a run is the user's message, which comes first.

    The answer to an agent that has given a task away is the user's, too, but it has a place.
    """
    if begun or not isinstance(news, EventCommitted) or news.row.author != "user":
        return False
    return not (json.loads(news.data).get("nodeInfo") or {}).get("path")


def _split_artifacts(event: str) -> list[str]:
    """ADK's page reads artifacts from a frame of their own (adk-web 1.5)."""
    if '"artifactDelta":{"' not in event:
        return [event]
    whole = json.loads(event)
    saved = (whole.get("actions") or {}).get("artifactDelta")  # and not a word of something else
    if not saved or not (whole.get("content") or {}).get("parts"):
        return [event]
    content = {**whole, "actions": {**whole["actions"], "artifactDelta": {}}}
    artifact = {key: value for key, value in whole.items() if key != "content"}
    return [json.dumps(part, separators=(",", ":")) for part in (content, artifact)]


def _error_frame(failed: RunFailed) -> dict[str, Any]:
    kind, message = str(failed.error.get("type")), str(failed.error.get("message"))
    details = {"error_type": kind, "error_message": message, "timestamp": time.time()}
    return {"error": f"{kind}: {message}", "error_details": details}
