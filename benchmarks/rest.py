"""A client of ADK's REST API that adds as little as possible to what it measures."""

import http.client
import json
import time
from typing import Any
from urllib.parse import urlsplit

from benchmarks.workload import QUESTION, SCENARIOS


class Client:
    """One keep-alive connection to one app."""

    def __init__(self, url: str, app: str) -> None:
        parts = urlsplit(url)
        self.app = app
        self.connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)

    def close(self) -> None:
        self.connection.close()

    def new_session(self) -> str:
        """Create a session and return its id."""
        answer = json.loads(self._post(f"/apps/{self.app}/users/u/sessions", {}))
        return str(answer["id"])

    def turn(self, session: str) -> float:
        """Run one turn through `/run_sse`; return the seconds from the request to the last byte."""
        message = {"role": "user", "parts": [{"text": QUESTION}]}
        body = {"appName": self.app, "userId": "u", "sessionId": session, "newMessage": message}
        started = time.perf_counter()
        answer = self._post("/run_sse", {**body, "streaming": False})
        wall = time.perf_counter() - started
        events = answer.count(b"data: ")
        if events != SCENARIOS[self.app].events:
            raise RuntimeError(f"{self.app}: {events} events: {answer[:500]!r}")
        return wall

    def key_of(self, session: str) -> int:
        """Return the key of a session in the journal."""
        path = f"/api/sessions?app={self.app}&user=u&id={session}"
        return int(json.loads(self._request("GET", path))["sessions"][0]["key"])

    def start(self, key: int) -> None:
        """Start a turn without waiting for its end."""
        self._post(f"/api/sessions/{key}/runs", {"message": QUESTION})

    def _post(self, path: str, body: dict[str, Any]) -> bytes:
        return self._request("POST", path, json.dumps(body))

    def _request(self, method: str, path: str, body: str | None = None) -> bytes:
        headers = {"Content-Type": "application/json"}
        self.connection.request(method, path, body, headers)
        response = self.connection.getresponse()
        answer = response.read()
        if response.status not in (200, 201):
            raise RuntimeError(f"{method} {path}: {response.status} {answer[:500]!r}")
        return answer
