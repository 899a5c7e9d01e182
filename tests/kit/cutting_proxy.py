"""A proxy in front of a server that cuts its streams: after some bytes, or before the first."""

import contextlib
import re
import socket
import threading
from collections import deque
from collections.abc import Iterable
from typing import Self

Cut = int | str
"""A number cuts an answer after so many bytes, "refuse" sends 503, and "drop" sends nothing."""

_BUSY = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
_HEAD = 65_536


class CuttingProxy:
    """Forwards everything, and applies the next of its cuts to each stream; a context manager."""

    def __init__(self, port: int, cuts: Iterable[Cut]) -> None:
        self._port = port
        self.left = deque(cuts)
        """The cuts that haven't been applied yet."""
        self._listener = socket.create_server(("127.0.0.1", 0))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with contextlib.suppress(OSError), client:
            head = b""
            while b"\r\n\r\n" not in head and (more := client.recv(_HEAD)):
                head += more
            streams = re.match(rb"GET \S+/stream\b", head)
            cut = self.left.popleft() if streams and self.left else None
            if cut == "refuse":
                client.sendall(_BUSY)
            elif cut != "drop" and head:
                self._pass_on(client, head, cut if isinstance(cut, int) else None)

    def _pass_on(self, client: socket.socket, head: bytes, remaining: int | None) -> None:
        """Forward one request per connection, addressed to the server itself."""
        ours, theirs = self.url.encode(), f"http://127.0.0.1:{self._port}".encode()
        head = head.replace(ours.removeprefix(b"http://"), theirs.removeprefix(b"http://"))
        head = re.sub(rb"(?i)\r\nconnection:[^\r]*", b"", head)
        head = head.replace(b"\r\n", b"\r\nConnection: close\r\n", 1)
        with socket.create_connection(("127.0.0.1", self._port)) as server:
            server.sendall(head)
            while remaining != 0 and (
                more := server.recv(_HEAD if remaining is None else remaining)
            ):
                client.sendall(more)
                remaining = None if remaining is None else remaining - len(more)
