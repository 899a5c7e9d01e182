"""An A2A server for tests, as a separate process.

`python -m tests.kit.a2a_server` listens on a free loopback port and prints its address.
Its agent does what the user's first text says, see `ACTS`. `/stream` has the card of an agent that
streams, `/plain` of one that doesn't; `/other`, `/secret` and `/broken` have bad cards. The answer
to a message posted to `/odd` has the message's text, parsed as JSON, as its result.
"""

import asyncio
import json
import logging
import socket
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import uvicorn
from a2a.helpers import new_data_part, new_text_message
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    Message,
    Part,
    Role,
    Task,
    TaskState,
    TaskStatus,
)
from a2a.utils.constants import AGENT_CARD_WELL_KNOWN_PATH
from google.protobuf.json_format import MessageToDict
from starlette.applications import Starlette
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route

Act = Callable[[RequestContext, EventQueue, TaskUpdater], Awaitable[None]]
PNG = b"\x89PNG\r\n"
LONG = "adk_is_long_running"


def text(words: str, **metadata: Any) -> Part:
    return Part(text=words, metadata=metadata or None)


def parts_of(context: RequestContext) -> list[Any]:
    """Return the parts of the message as JSON, without empty values."""
    parts = MessageToDict(context.message).get("parts", []) if context.message else []
    return [{key: each for key, each in part.items() if each} for part in parts]


def act_for(context: RequestContext) -> str:
    """Return the act that the user asks for; what other agents said doesn't count."""
    parts = context.message.parts if context.message else []
    texts = [part.text for part in parts if part.text and "is_user_input" in part.metadata]
    return texts[0] if texts and texts[0] in ACTS else "echo"


async def greet(context, queue, task):
    await queue.enqueue_event(new_text_message("Hello.", context_id=context.context_id))


async def think(context, queue, task):
    parts = [text("Hm.", adk_thought=True), text("Hello.")]
    message = Message(role=Role.ROLE_AGENT, parts=parts, message_id="m")
    message.context_id = context.context_id
    await queue.enqueue_event(message)


async def echo(context, queue, task):
    await begin(context, queue)
    heard_parts = json.dumps(parts_of(context), sort_keys=True)
    await task.add_artifact([text(heard_parts)], last_chunk=True)
    await task.complete()


async def stream(context, queue, task):
    await begin(context, queue)
    await task.start_work(task.new_agent_message([text("I look.")]))
    for index, piece in enumerate(["One, ", "two, ", "three."]):
        await task.add_artifact(
            [text(piece)], artifact_id="a", append=index > 0, last_chunk=index == 2
        )
    await task.complete()


async def several(context, queue, task):
    await begin(context, queue)
    await task.add_artifact([text("First. ")], artifact_id="a")
    await task.add_artifact([text("Second.")], artifact_id="b")
    await task.add_artifact([text("Still first.")], artifact_id="a", append=True)
    await task.complete(task.new_agent_message([text("That is all.")]))


async def files(context, queue, task):
    await begin(context, queue)
    link = Part(url="https://files.example/a.pdf", media_type="application/pdf", filename="a.pdf")
    picture = Part(raw=PNG, media_type="image/png", filename="dot.png")
    table = new_data_part({"rows": [{"name": "Ada"}]})
    await task.add_artifact([text("Here."), picture, link, table], last_chunk=True)
    await task.complete()


async def ask(context, queue, task):
    """Ask for a color, and repeat the answer."""
    if context.current_task is None:
        await begin(context, queue)
        await task.requires_input(task.new_agent_message([text("Let me see."), text("Which?")]))
        return
    heard_parts = json.dumps(parts_of(context), sort_keys=True)
    await task.complete(task.new_agent_message([text(f"Taken: {heard_parts}")]))


async def login(context, queue, task):
    await begin(context, queue)
    await task.requires_auth(task.new_agent_message([text("Sign in, please.")]))


async def approve(context, queue, task):
    """Ask with a call of its own, which the user must answer."""
    if context.current_task is not None:
        await ask(context, queue, task)
        return
    await begin(context, queue)
    call = new_data_part({"id": "call-1", "name": "approve", "args": {"sum": 5}})
    call.metadata.update({"adk_type": "function_call", LONG: True})
    await task.requires_input(task.new_agent_message([call]))


async def approve_aloud(context, queue, task):
    """Ask as a google-adk server does: with the message that it has already sent while working."""
    if context.current_task is not None:
        await ask(context, queue, task)
        return
    await begin(context, queue)
    call = new_data_part({"id": "call-1", "name": "approve", "args": {"sum": 5}})
    call.metadata.update({"adk_type": "function_call", LONG: True})
    question = task.new_agent_message([call])
    await task.start_work(question)
    begin_part = new_data_part({"id": "call-1", "name": "approve", "response": {"status": "begun"}})
    begin_part.metadata.update({"adk_type": "function_response"})
    await task.start_work(task.new_agent_message([begin_part]))
    await task.start_work(task.new_agent_message([text("It waits.")]))
    await task.requires_input(question)


async def fail_aloud(context, queue, task):
    """Fail with the message that was already sent while working."""
    await begin(context, queue)
    message = task.new_agent_message([text("Out of order.")])
    await task.start_work(message)
    await task.failed(message)


async def work(context, queue, task):
    """Call a tool of its own, and report the call."""
    await begin(context, queue)
    call = new_data_part({"id": "call-2", "name": "look", "args": {"where": "here"}})
    call.metadata.update({"adk_type": "function_call"})
    done = new_data_part({"id": "call-2", "name": "look", "response": {"result": "seen"}})
    done.metadata.update({"adk_type": "function_response"})
    await task.start_work(task.new_agent_message([call, done]))
    await task.complete(task.new_agent_message([text("Seen.")]))


async def fail(context, queue, task):
    await begin(context, queue)
    await task.failed(task.new_agent_message([text("Out of order.")]))


async def reject(context, queue, task):
    await begin(context, queue)
    await task.reject()


async def crash(context, queue, task):
    raise RuntimeError("boom")


async def hang(context, queue, task):
    await begin(context, queue)
    await task.add_artifact([text("Wait")], artifact_id="a")
    await asyncio.Event().wait()


ACTS: dict[str, Act] = {
    act.__name__: act
    for act in (greet, think, echo, stream, several, files, ask, login, approve, work)
} | {act.__name__: act for act in (approve_aloud, fail_aloud, fail, reject, crash, hang)}


async def begin(context: RequestContext, queue: EventQueue) -> None:
    """Announce the new task."""
    status = TaskStatus(state=TaskState.TASK_STATE_SUBMITTED)
    await queue.enqueue_event(
        Task(id=context.task_id, context_id=context.context_id, status=status)
    )


class Executor(AgentExecutor):
    """Performs acts; a waiting task remembers its act."""

    def __init__(self) -> None:
        self._waiting: dict[str, str] = {}

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        task_id, context_id = context.task_id or "", context.context_id or ""
        name = self._waiting.pop(task_id, None) or act_for(context)
        if context.current_task is None:
            self._waiting[task_id] = name
        await ACTS[name](context, event_queue, TaskUpdater(event_queue, task_id, context_id))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        await TaskUpdater(event_queue, context.task_id or "", context.context_id or "").cancel()


def card(address: str, *, streaming: bool) -> AgentCard:
    """Return the agent's card."""
    return AgentCard(
        name="helper",
        description="Does what it is told.",
        version="1",
        supported_interfaces=[
            AgentInterface(protocol_binding="JSONRPC", url=address, protocol_version="1.0")
        ],
        capabilities=AgentCapabilities(streaming=streaming),
        default_input_modes=["text"],
        default_output_modes=["text"],
        skills=[AgentSkill(id="all", name="All", description="All.", tags=["all"])],
    )


def application(address: str) -> Starlette:
    """Return the app with the agents, each below a path of its own."""

    async def secret(request: Any) -> JSONResponse:
        if request.headers.get("authorization") != "Bearer sesame":
            return JSONResponse({"error": "who are you?"}, status_code=401)
        return JSONResponse(MessageToDict(card(f"{address}/plain", streaming=False)))

    async def broken(request: Any) -> PlainTextResponse:
        return PlainTextResponse("no card")

    async def odd(request: Any) -> JSONResponse:
        call = await request.json()
        words = call["params"]["message"]["parts"][0]["text"]
        return JSONResponse({"jsonrpc": "2.0", "id": call["id"], "result": json.loads(words)})

    elsewhere = card("https://elsewhere.example/rpc", streaming=False)
    routes = [
        Route(f"/secret{AGENT_CARD_WELL_KNOWN_PATH}", secret),
        Route(f"/broken{AGENT_CARD_WELL_KNOWN_PATH}", broken),
        Route("/odd", odd, methods=["POST"]),
        *create_agent_card_routes(elsewhere, card_url=f"/other{AGENT_CARD_WELL_KNOWN_PATH}"),
    ]
    for name, streaming in (("stream", True), ("plain", False)):
        agent_card = card(f"{address}/{name}", streaming=streaming)
        handler = DefaultRequestHandler(Executor(), InMemoryTaskStore(), agent_card)
        routes += create_agent_card_routes(
            agent_card, card_url=f"/{name}{AGENT_CARD_WELL_KNOWN_PATH}"
        )
        routes += create_jsonrpc_routes(handler, f"/{name}")
    return Starlette(routes=routes)


def main() -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    sys.stdout.write(f"{address}\n")
    sys.stdout.flush()
    logging.disable()  # it fails on purpose
    config = uvicorn.Config(application(address), log_level="error")
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main()
