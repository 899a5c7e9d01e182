"""A stand-in for the Gemini API: real HTTP on a local port, answers from a queue.

    with GeminiServer() as server:
        server.answer(chunk(text("Hel")), chunk(text("lo"), finish="STOP"))
        model = Gemini(base_url=server.url, client_kwargs={"api_key": "any"})

It speaks `models/{model}:generateContent` (the first chunk is the answer) and
`models/{model}:streamGenerateContent?alt=sse` (each chunk is one SSE message),
so the real google-genai client is between it and what is tested. Creating a cache is a request like
any other, with `cache` as its answer; deletions need none.
Used as a proxy, it stands in for any plain-HTTP host.
"""

import json
import threading
from collections import deque
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import urlsplit

Json = dict[str, Any]


@dataclass(frozen=True)
class ReceivedRequest:
    """One request as it arrived."""

    path: str
    query: str
    headers: dict[str, str]
    body: Json


@dataclass(frozen=True)
class _Answer:
    status: int
    chunks: tuple[Json, ...]
    ends: bool = True


class GeminiServer:
    """The server; use it as a context manager."""

    def __init__(self) -> None:
        self.received: list[ReceivedRequest] = []
        self.left = threading.Event()
        self._answers: deque[_Answer] = deque()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        """The base URL for `Gemini(base_url=...)`."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def answer(self, *chunks: Json) -> None:
        """Queue the answer to one request; see `chunk`."""
        self._answers.append(_Answer(200, chunks))

    def fall_silent(self, *chunks: Json) -> None:
        """Queue a stream that stays open until its client has left, which sets `left`."""
        self._answers.append(_Answer(200, chunks, ends=False))

    def fail(self, code: int, status: str, message: str) -> None:
        """Queue an HTTP error in Google's form, for example 429 RESOURCE_EXHAUSTED."""
        error = {"error": {"code": code, "message": message, "status": status}}
        self._answers.append(_Answer(code, (error,)))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def _take(self, request: ReceivedRequest) -> _Answer:
        self.received.append(request)
        if self._answers:
            return self._answers.popleft()
        message = "The test queued no answer for this request: call server.answer(...)."
        error = {"error": {"code": 500, "message": message, "status": "INTERNAL"}}
        return _Answer(500, (error,))

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                url = urlsplit(self.path)
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                headers = {key.lower(): value for key, value in self.headers.items()}
                answer = server._take(ReceivedRequest(url.path, url.query, headers, body))
                streams = answer.status == 200 and url.path.endswith(":streamGenerateContent")
                self.send_response(answer.status)
                media = "text/event-stream" if streams else "application/json"
                self.send_header("Content-Type", media)
                self.end_headers()
                if not streams:
                    self.wfile.write(json.dumps(answer.chunks[0]).encode())
                elif not _streamed(self, answer):
                    server.left.set()

            def do_DELETE(self) -> None:
                url = urlsplit(self.path)
                headers = {key.lower(): value for key, value in self.headers.items()}
                server.received.append(ReceivedRequest(url.path, url.query, headers, {}))
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *args: object) -> None:
                pass

        return Handler


def _streamed(handler: BaseHTTPRequestHandler, answer: _Answer) -> bool:
    """Send a stream, and return whether the client stayed until its end."""
    try:
        for message in answer.chunks:
            handler.wfile.write(b"data: " + json.dumps(message).encode() + b"\r\n\r\n")
            handler.wfile.flush()
        return answer.ends or bool(handler.rfile.read(1))
    except ConnectionError:  # it hung up before it had read everything
        return False


def cache(name: str, ends: str = "2999-01-01T00:00:00Z") -> Json:
    """Return the answer to a request for a cache."""
    return {"name": f"cachedContents/{name}", "expireTime": ends}


def chunk(*parts: Json, finish: str | None = None, **more: Any) -> Json:
    """Return one GenerateContentResponse in Gemini's JSON, with one candidate."""
    candidate: Json = {"index": 0}
    if parts:
        candidate["content"] = {"role": "model", "parts": list(parts)}
    if finish:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], "modelVersion": "gemini-test-001", **more}


def text(value: str, **more: Any) -> Json:
    """Return a text part; with `thought=True`, a thought."""
    return {"text": value, **more}


def call(name: str, **args: Any) -> Json:
    """Return a function-call part."""
    return {"functionCall": {"name": name, "args": args}}
