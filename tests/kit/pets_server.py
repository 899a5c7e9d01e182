"""An HTTP service of the tests, as a process of its own: it answers with what it was asked.

`python -m tests.kit.pets_server` listens on a free port and prints its address first. Some paths
answer otherwise: `/text` with a text, `/list` with a list, `/nothing` with 204, `/moved` with a
redirect, `/broken` with 500, `/page` with 500 and much to read, `/slow` after six seconds.
"""

import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Handler(BaseHTTPRequestHandler):
    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        request = {
            "method": self.command,
            "path": self.path,
            "headers": {key.lower(): value for key, value in self.headers.items()},
            "body": body,
        }
        special: dict[str, tuple[int, Any]] = {
            "/text": (200, "plain"),
            "/list": (200, [1, 2]),
            "/nothing": (204, ""),
            "/moved": (302, ""),
            "/broken": (500, "out of order"),
            "/page": (500, "<p>" * 5_000),
        }
        if self.path == "/slow":
            time.sleep(6)
        status, content = special.get(self.path, (200, request))
        data = (content if isinstance(content, str) else json.dumps(content)).encode()
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "http://169.254.169.254/secrets")
        self.send_header("Content-Type", "text/plain" if data == b"plain" else "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = _answer  # noqa: N815  http.server's names

    def log_message(self, *args: object) -> None:
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    sys.stdout.write(f"http://127.0.0.1:{server.server_address[1]}\n")
    sys.stdout.flush()
    server.serve_forever()
