"""A client of the Debug Adapter Protocol that acts as an editor: attaches, stops, continues."""

import json
import socket
from typing import Any, Self

from tests.kit.patience import PATIENCE


class DapClient:
    """One session with a debug adapter; a context manager that closes its connection.

    Raises OSError if the adapter hangs up, as one that is about to end does.
    """

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self._file = self._socket.makefile("rb")
        self._number = 0
        self._unread: list[dict[str, Any]] = []
        arguments = {"clientID": "tests", "adapterID": "debugpy", "pathFormat": "path"}
        try:
            self.request("initialize", arguments)
        except OSError:
            self.__exit__()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()
        self._socket.close()

    def attach(self, file: str, *lines: int) -> None:
        """Do what an editor does from the start of its session to the breakpoints in a file."""
        request = self.send("attach", {"name": "tests", "type": "debugpy", "justMyCode": True})
        self.event("initialized")
        breakpoints = {"source": {"path": file}, "breakpoints": [{"line": line} for line in lines]}
        answer = self.request("setBreakpoints", breakpoints)
        assert all(each["verified"] for each in answer["breakpoints"]), answer
        self.request("configurationDone")
        self.answer(request)

    def request(self, command: str, arguments: dict[str, Any] | None = None) -> Any:
        """Send a request, and return the body of its answer."""
        return self.answer(self.send(command, arguments))

    def send(self, command: str, arguments: dict[str, Any] | None = None) -> int:
        self._number += 1
        message = {"seq": self._number, "type": "request", "command": command}
        body = json.dumps({**message, "arguments": arguments or {}}).encode()
        self._socket.sendall(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        return self._number

    def answer(self, number: int) -> Any:
        """Return the body of the answer to a request."""
        message = self._first("request_seq", number)
        assert message["success"], message
        return message.get("body")

    def event(self, name: str) -> Any:
        """Return the body of the next event of this name."""
        return self._first("event", name).get("body")

    def _first(self, key: str, value: object) -> dict[str, Any]:
        """Return the first unread message with this value."""
        while True:
            for message in self._unread:
                if message.get(key) == value:
                    self._unread.remove(message)
                    return message
            self._unread.append(self._read())

    def until_hung_up(self) -> None:
        """Wait until the process at the other end is gone."""
        while self._file.read(1):
            pass

    def _read(self) -> dict[str, Any]:
        size = 0
        while line := self._file.readline().strip():
            size = int(line.removeprefix(b"Content-Length: "))
        if not size:
            raise ConnectionResetError("the adapter hung up")
        message: dict[str, Any] = json.loads(self._file.read(size))
        return message
