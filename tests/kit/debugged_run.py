"""A run under the debugger, driven over HTTP as any client does."""

import time
import uuid
from typing import Any

import httpx2

from tests.kit.patience import PATIENCE
from tests.kit.server import get_session, make_session

GOING = {"running", "stopping"}


def settled(client: httpx2.Client, run: str) -> dict[str, Any]:
    """Wait until a run is held or over, and return its position."""
    position = client.get(f"/api/runs/{run}").json()
    patience = time.monotonic() + 2 * PATIENCE
    while position["status"] in GOING:
        assert time.monotonic() < patience, position
        query = {"after": position["position"]}
        if position["position"] is None:  # of an earlier server, and not ended yet
            time.sleep(0.05)
            query = {}
        position = client.get(f"/api/runs/{run}", params=query).json()
    return position


def forget_sessions(client: httpx2.Client) -> None:
    """Stop active runs and delete every session, so that the server's next test finds none."""
    for session in client.get("/api/sessions").json()["sessions"]:
        if run := session["run"]:
            client.post(f"/api/runs/{run}/commands", json={"command": "stop", "key": "forget"})
            settled(client, run)
        path = f"/apps/{session['app']}/users/{session['user']}/sessions/{session['id']}"
        assert client.delete(path).status_code == 200, session


class DebuggedRun:
    """One session of an app, and the run that is debugged on it."""

    def __init__(self, client: httpx2.Client, app: str, *, user: str = "u", **session: Any) -> None:
        self.client, self.app = client, app
        self.session = make_session(client, app, user, **session)["id"]
        query = {"app": app, "user": user, "id": self.session}
        self.key = client.get("/api/sessions", params=query).json()["sessions"][0]["key"]
        self.run = ""
        self.position: dict[str, Any] = {}

    def start(self, message: str = "go", **more: Any) -> "DebuggedRun":
        """Start a run, held before its first event unless told otherwise."""
        body = {"message": message, "pause": True, **more}
        answer = self.client.post(f"/api/sessions/{self.key}/runs", json=body)
        assert answer.status_code == 201, answer.text
        self.position = answer.json()
        self.run = self.position["run"]
        return self

    def settled(self) -> dict[str, Any]:
        """Wait until the run is held or over, and return its position; fail if it hangs."""
        self.position = settled(self.client, self.run)
        return self.position

    def wait_for_output(self, words: str) -> "DebuggedRun":
        """Wait until the run has printed these words."""
        patience = time.monotonic() + PATIENCE
        while words not in self.client.get(f"/api/runs/{self.run}/log").text:
            assert time.monotonic() < patience, f"{words!r} was not printed"
            time.sleep(0.02)
        return self

    def post(self, command: str, **more: Any) -> httpx2.Response:
        """Send a command as given."""
        return self.client.post(f"/api/runs/{self.run}/commands", json={"command": command, **more})

    def tell(self, command: str, *, wait: bool = True, **more: Any) -> dict[str, Any]:
        """Give a command at the run's current position, and return its position afterwards."""
        body = {"key": uuid.uuid4().hex, "position": self.position["position"], **more}
        answer = self.post(command, **body)
        assert answer.status_code == 200, answer.text
        return self.settled() if wait else answer.json()

    def hold(self) -> dict[str, Any]:
        """Return the only hold."""
        [hold] = self.position["holds"]
        return hold

    def gates(self, *commands: str) -> list[tuple[str, str]]:
        """Return gate and agent of every hold after each command."""
        return [
            (hold["gate"], hold["agent"]) for each in commands for hold in self.tell(each)["holds"]
        ]

    def kept(self) -> dict[str, Any]:
        """Return the stored session."""
        return get_session(self.client, self.app, self.session)

    def texts(self) -> list[str]:
        """Return the texts of the stored events."""
        parts = [
            p for e in self.kept()["events"] for p in (e.get("content") or {}).get("parts", [])
        ]
        return [part["text"] for part in parts if "text" in part]
