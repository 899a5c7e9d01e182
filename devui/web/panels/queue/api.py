"""The queue over HTTP."""

import json
from typing import Any

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response
from typing_extensions import TypedDict

from devui.debugger.runs.queue import Waiting
from devui.debugger.runs.request import RunRequest
from devui.store.rows import SessionRow
from devui.store.runs.queued_messages import QueuedRow
from devui.web.adk.bodies import parse
from devui.web.adk.contents import Message, Strict
from devui.web.errors import NotFound
from devui.web.json_answers import answer
from devui.web.lookup import session_of
from devui.web.operation import Refusal, operation
from devui.web.panels.runs.api import MESSAGE_BYTES, message_of
from devui.web.panels.runs.schemas import PositionJson
from devui.web.panels.settings.reading import SettingsBody, SettingsJson, settings_of_body
from devui.web.security.intake import read_json
from devui.web.services import Services
from devui.web.text.numbers import whole_number


class QueueBody(Strict):
    """`POST /api/sessions/{key}/queue`."""

    message: str | Message
    streaming: bool = True
    pause: bool = False
    save_files: bool = False
    """Save the message's files as artifacts, as when starting a run."""
    settings: SettingsBody | None = None
    actor: str = Field(default="api", max_length=100)


class QueuedBody(Strict):
    """`PATCH /api/sessions/{key}/queue/{number}`: the message keeps its files."""

    text: str = Field(min_length=1)


class QueuedMessageJson(TypedDict):
    """A queued message."""

    number: int
    message: dict[str, Any]
    """A Content."""
    streaming: bool
    pause: bool
    saveFiles: bool
    """Whether its files will be saved as artifacts."""
    settings: SettingsJson | None
    """Null for the agents' own settings."""
    actor: str
    at: float
    """Seconds since the epoch."""


class QueueJson(TypedDict):
    """The session's queue."""

    status: Waiting
    """What keeps messages from being sent; `ready` if nothing does."""
    messages: list[QueuedMessageJson]


_NO_MESSAGE = Refusal(409, "The message was sent or removed")


@operation(QueueJson)
async def show(request: Request) -> Response:
    """List queued messages.

    The first one is sent when the session's run ends without an error and without a question.
    """
    services, session = await session_of(request)
    return answer(await _queue(services, session))


@operation(QueueJson, status=201, body=QueueBody)
async def add(request: Request) -> Response:
    """Queue a message.

    It is sent when the session's run ends, or at once if there is no run. Answers with the queue.
    """
    services, session = await session_of(request)
    body = parse(QueueBody, await read_json(request, limit=MESSAGE_BYTES, allow_runtime_json=True))
    run_request = RunRequest(
        message=message_of(body.message),
        streaming=body.streaming,
        pause=body.pause,
        save_files=body.save_files,
        settings=await settings_of_body(services, session, body.settings),
        actor=body.actor,
    )
    await services.queue.add(session, run_request)
    return answer(await _queue(services, session), status=201)


@operation(QueueJson, body=QueuedBody, refusals=(_NO_MESSAGE,))
async def change(request: Request) -> Response:
    """Edit a queued message."""
    services, session = await session_of(request)
    body = parse(QueuedBody, await read_json(request, limit=MESSAGE_BYTES))
    await services.queue.change(session.key, _number(request), body.text)
    return answer(await _queue(services, session))


@operation(QueueJson, refusals=(_NO_MESSAGE,))
async def remove(request: Request) -> Response:
    """Remove a queued message."""
    services, session = await session_of(request)
    await services.queue.remove(session.key, _number(request))
    return answer(await _queue(services, session))


@operation(
    PositionJson, status=201, refusals=(Refusal(409, "A run is active, or the message is gone"),)
)
async def send(request: Request) -> Response:
    """Send a queued message now.

    It is sent before earlier messages. Answers with the position of its run.
    """
    services, session = await session_of(request)
    run = await services.queue.send(session, _number(request))
    return answer(await services.runs.position(run.id), status=201)


def _number(request: Request) -> int:
    number = whole_number(request.path_params["number"])
    if number is None:
        raise NotFound("there is no such message in the queue")
    return number


async def _queue(services: Services, session: SessionRow) -> QueueJson:
    rows = await services.journal.queued.list(session.key)
    return {
        "status": await services.queue.waiting(session.key),
        "messages": [_message(row) for row in rows],
    }


def _message(row: QueuedRow) -> QueuedMessageJson:
    options = json.loads(row.options)
    return {
        "number": row.id,
        "message": json.loads(row.message),
        "streaming": options["streaming"],
        "pause": options["pause"],
        "saveFiles": options.get("saveFiles", False),
        "settings": options.get("settings"),
        "actor": row.actor,
        "at": row.at,
    }
