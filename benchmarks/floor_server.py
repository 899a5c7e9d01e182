"""The least that a server of ADK's API has to do for a durable turn, on the libraries devui uses.

One process serves HTTP and commits each event to SQLite before it sends it on; another executes the
agents. Nothing is checked, recorded, summarized, redacted, debugged or shown: what devui takes
longer than this is the price of its features.

usage: python -m benchmarks.floor_server JOURNAL
"""

import asyncio
import json
import socket
import sqlite3
import sys
import time
import uuid
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from benchmarks.workload import SCENARIOS, Runtime

Message = dict[str, Any]


class Peer:
    """Messages to and from the other process, a line of JSON each."""

    def __init__(self, reader: asyncio.StreamReader, writer: Any) -> None:
        self._reader, self._writer = reader, writer

    def send(self, message: Message) -> None:
        self._writer.write(json.dumps(message).encode() + b"\n")

    async def __aiter__(self) -> AsyncIterator[Message]:
        while line := await self._reader.readline():
            yield json.loads(line)


class Server:
    """The routes of a turn, the journal, and the worker."""

    def __init__(self, journal: str) -> None:
        self._database = sqlite3.connect(journal, isolation_level=None)
        self._database.executescript(
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
            "CREATE TABLE sessions (key INTEGER PRIMARY KEY, id TEXT UNIQUE, app TEXT);"
            "CREATE TABLE events (session INTEGER, id TEXT, body TEXT);"
            "CREATE INDEX events_of_session ON events (session);"
        )
        self._runs: defaultdict[str, asyncio.Queue[Message]] = defaultdict(asyncio.Queue)
        self._worker: Peer

    @asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        command = [sys.executable, "-m", "benchmarks.floor_server"]
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
        assert process.stdout is not None
        self._worker = Peer(process.stdout, process.stdin)
        reading = asyncio.create_task(self._read())
        yield
        reading.cancel()
        process.kill()
        await process.wait()

    async def _read(self) -> None:
        async for message in self._worker:
            self._runs[message["run"]].put_nowait(message)

    async def create_session(self, request: Request) -> Response:
        session, app = str(uuid.uuid4()), request.path_params["app"]
        self._database.execute("INSERT INTO sessions (id, app) VALUES (?, ?)", (session, app))
        answer = {"id": session, "appName": app, "userId": request.path_params["user"]}
        return JSONResponse({**answer, "state": {}, "events": [], "lastUpdateTime": time.time()})

    async def run_sse(self, request: Request) -> Response:
        body, run = await request.json(), str(uuid.uuid4())
        [(key, app)] = self._database.execute(
            "SELECT key, app FROM sessions WHERE id = ?", (body["sessionId"],)
        ).fetchall()
        self._worker.send({"run": run, "app": app, "session": body["sessionId"]})
        return StreamingResponse(self._stream(run, key), media_type="text/event-stream")

    async def _stream(self, run: str, key: int) -> AsyncIterator[str]:
        while event := (await self._runs[run].get()).get("event"):
            row = (key, event["id"], json.dumps(event))
            self._database.execute("INSERT INTO events VALUES (?, ?, ?)", row)
            self._worker.send({"run": run})
            if event["author"] != "user":
                yield f"data: {row[2]}\n\n"
        del self._runs[run]


async def work() -> None:
    """Execute turns, and wait for each event's commit before the next step."""
    runtime, current = Runtime("devui.runtime"), ContextVar[str]("run")
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    writer, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, sys.stdout)
    server = Peer(reader, writer)
    commits: dict[str, asyncio.Future[None]] = {}

    class Sessions(runtime.module("sessions").InMemorySessionService):
        async def append_event(self, session: Any, event: Any) -> Any:
            event = await super().append_event(session, event)
            run, fields = current.get(), event.model_dump(mode="json", by_alias=True)
            commits[run] = loop.create_future()
            server.send({"run": run, "event": fields})
            await commits[run]
            return event

    runners = {}
    for name in SCENARIOS:
        runner = runtime.runner(agent=runtime.bench_agent(name), app_name=name)
        runner.session_service = Sessions()
        runners[name] = runner

    async def turn(order: Message) -> None:
        current.set(order["run"])
        place = {"user_id": "u", "session_id": order["session"]}
        service = runners[order["app"]].session_service
        await service.create_session(app_name=order["app"], **place)
        async for _ in runners[order["app"]].run_async(**place, new_message=runtime.question()):
            pass
        server.send({"run": order["run"]})

    turns = set()
    async for message in server:
        if "app" in message:
            turns.add(task := asyncio.create_task(turn(message)))
            task.add_done_callback(turns.discard)
        else:
            commits.pop(message["run"]).set_result(None)


def serve(journal: str) -> None:
    server = Server(journal)
    sessions = "/apps/{app}/users/{user}/sessions"
    routes = [
        Route("/", lambda _: JSONResponse({})),
        Route(sessions, server.create_session, methods=["POST"]),
        Route("/run_sse", server.run_sse, methods=["POST"]),
    ]
    # Only sockets made for TCP by number get TCP_NODELAY from asyncio.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    config = uvicorn.Config(
        Starlette(routes=routes, lifespan=server.lifespan),
        loop="asyncio",
        http="h11",
        log_config=None,
        access_log=False,
    )
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    if sys.argv[1:]:
        serve(sys.argv[1])
    else:
        asyncio.run(work())
