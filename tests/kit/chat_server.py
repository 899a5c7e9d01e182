"""A stand-in for a service with OpenAI's chat completions API: real HTTP on a local port.

    with ChatServer() as server:
        server.answer(says("Hel"), says("lo", finish="stop"))
        model = OpenAILlm(model="m", base_url=server.url)

A request with `"stream": true` gets each chunk as a server-sent event; any other gets one
completion that joins the chunks.
"""

import json
import threading
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

Json = dict[str, Any]
USAGE = {
    "prompt_tokens": 7,
    "completion_tokens": 3,
    "total_tokens": 10,
    "prompt_tokens_details": {"cached_tokens": 2},
    "completion_tokens_details": {"reasoning_tokens": 1},
}


_WITHOUT_END = ("", b"")


@dataclass(frozen=True)
class ReceivedRequest:
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    body: Json


class ChatServer:
    """The server; use it as a context manager."""

    def __init__(self) -> None:
        self.received: list[ReceivedRequest] = []
        self.left = threading.Event()
        self._answers: deque[tuple[int, tuple[Json, ...]] | tuple[str, bytes]] = deque()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        """The base URL to give to OpenAI's clients."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def answer(self, *chunks: Json) -> None:
        """Queue the answer to one request; see `says` and `calls`."""
        self._answers.append((200, chunks))

    def fail(self, status: int, message: str) -> None:
        """Queue an HTTP error in OpenAI's form."""
        self._answers.append((status, ({"error": {"message": message}},)))

    def send(self, media: str, body: bytes) -> None:
        """Queue an answer that is sent unchanged, with HTTP 200."""
        self._answers.append((media, body))

    def speak_on(self) -> None:
        """Queue a stream that continues until its client has left, which sets `left`."""
        self._answers.append(_WITHOUT_END)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def _take(self, request: ReceivedRequest) -> tuple[int, tuple[Json, ...]] | tuple[str, bytes]:
        self.received.append(request)
        if self._answers:
            return self._answers.popleft()
        return 500, ({"error": {"message": "The test queued no answer for this request."}},)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                headers = {key.lower(): value for key, value in self.headers.items()}
                status, chunks = server._take(ReceivedRequest(self.path, headers, body))
                if (status, chunks) == _WITHOUT_END:
                    _speak_on(self)
                    server.left.set()
                    return
                if isinstance(chunks, bytes):
                    self.send_response(200)
                    self.send_header("Content-Type", status)
                    self.end_headers()
                    self.wfile.write(chunks)
                    return
                streams = status == 200 and body.get("stream")
                self.send_response(status)
                media = "text/event-stream" if streams else "application/json"
                self.send_header("Content-Type", media)
                self.end_headers()
                if streams:
                    self.wfile.write(b": a comment\n\n")
                    for message in [*map(json.dumps, map(_chunk, chunks)), "[DONE]"]:
                        self.wfile.write(f"data: {message}\n\n".encode())
                        self.wfile.flush()
                else:
                    whole = _whole(chunks) if status == 200 else chunks[0]
                    self.wfile.write(json.dumps(whole).encode())

            def log_message(self, *args: object) -> None:
                pass

        return Handler


def _speak_on(handler: BaseHTTPRequestHandler) -> None:
    """Stream until the client has left."""
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream")
    handler.end_headers()
    word = f"data: {json.dumps(_chunk(says('word')))}\n\n".encode()
    with suppress(OSError):
        while True:
            handler.wfile.write(word)
            time.sleep(0.02)


def says(text: str | None = None, *, finish: str | None = None, **more: Any) -> Json:
    """Return a chunk: what it adds to the message, and how the answer ends.

    A number as `choice` assigns the chunk to another of several answers.
    """
    delta = {"role": "assistant", **({"content": text} if text is not None else {}), **more}
    return {"delta": delta, "finish": finish}


def calls(
    index: int, call_id: str | None, name: str | None, arguments: str, finish: str | None = None
) -> Json:
    """Return a piece of a tool call's arguments; only the first piece has id and name."""
    function = {"arguments": arguments, **({"name": name} if name else {})}
    call = {"index": index, "function": function}
    if call_id:
        call |= {"id": call_id, "type": "function"}
    return says(finish=finish, tool_calls=[call])


def _envelope(kind: str, choice: Json) -> Json:
    head = {"id": "c1", "object": kind, "created": 1, "model": "served-model"}
    return {**head, "choices": [{"index": 0, **choice}]}


def _chunk(chunk: Json) -> Json:
    if "error" in chunk:
        return chunk
    choice = {"delta": chunk["delta"], "finish_reason": chunk["finish"]}
    choice["index"] = chunk.get("choice", 0)
    chunk_json = _envelope("chat.completion.chunk", choice)
    return {**chunk_json, "usage": chunk.get("usage", USAGE)} if chunk["finish"] else chunk_json


def _whole(chunks: tuple[Json, ...]) -> Json:
    texts = [chunk["delta"].get("content") or "" for chunk in chunks]
    thoughts = [chunk["delta"].get("reasoning_content") or "" for chunk in chunks]
    calls: dict[int, Json] = {}
    for chunk in chunks:
        for call in chunk["delta"].get("tool_calls", ()):
            call_json = calls.setdefault(
                call["index"], {"type": "function", "function": {"arguments": ""}}
            )
            call_json |= {key: call[key] for key in ("id", "extra_content") if key in call}
            call_json["function"]["arguments"] += call["function"]["arguments"]
            if "name" in call["function"]:
                call_json["function"]["name"] = call["function"]["name"]
    message: Json = {"role": "assistant", "content": "".join(texts) or None}
    if any(thoughts):
        message["reasoning_content"] = "".join(thoughts)
    if calls:
        message["tool_calls"] = [calls[index] for index in sorted(calls)]
    choice = {"message": message, "finish_reason": chunks[-1]["finish"]}
    return {**_envelope("chat.completion", choice), "usage": chunks[-1].get("usage", USAGE)}
