"""An HTTP service for tests, as a separate process, that answers with the request it received.

`python -m tests.kit.pets_server` listens on a free port and prints its address first. Some paths
have other answers: `/text` a text, `/list` a list, `/nothing` 204, `/moved` a redirect, `/broken`
500, and `/page` 500 with a long body. `/slow` answers after six seconds.
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
