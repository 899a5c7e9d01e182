"""A client that remembers every event it was shown, and later checks that the server kept it."""

import json
import re
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import httpx2

from tests.kit.frames import messages
from tests.kit.server import get_session, make_session

HTML = {"Accept": "text/html"}
CUT_OFF = {"interrupted", "failed"}
_MARKS = re.compile(r'class="run-end (\w+)" id="r-([0-9a-f]{32})"')


@dataclass
class RecordingClient:
    """What was shown of one session, and what was acknowledged."""

    app: str
    name: str
    key: int
    shown: dict[int, str] = field(default_factory=dict)
    """Event ids by number, from the stream."""
    promised: set[int] = field(default_factory=set)
    """The values of `n` whose change was acknowledged."""
    runs: list[str] = field(default_factory=list)
    """Runs whose start was acknowledged; each will be cut off."""
    ended: dict[str, str] = field(default_factory=dict)
    """The statuses of runs whose end was checked; an end is final."""

    @classmethod
    def of_new_session(cls, client: httpx2.Client, app: str, name: str) -> "RecordingClient":
        """Create a session of a user of its own."""
        make_session(client, app, name, sessionId=name, state={"born": name, "user:born": name})
        query = {"app": app, "user": name, "id": name}
        [row] = client.get("/api/sessions", params=query).json()["sessions"]
        return cls(app, name, row["key"])

    def watch(
        self, client: httpx2.Client, seen: threading.Semaphore, *, until_its_end: bool = False
    ) -> None:
        """Read the session's stream until the connection breaks or, if asked, the last run ends."""
        path = f"/api/sessions/{self.key}/stream?after={max(self.shown, default=0)}"
        with suppress(httpx2.TransportError), client.stream("GET", path) as answer:
            assert answer.status_code == 200, answer.read()
            for message in messages(answer.iter_lines()):
                payload = json.loads(message.data) if message.data else {}
                if payload.get("type") == "event":
                    assert self.shown.setdefault(payload["number"], payload["id"]) == payload["id"]
                    seen.release()
                elif until_its_end and self.is_over(payload):
                    break
        seen.release(10_000)

    def is_over(self, payload: dict[str, Any]) -> bool:
        """Return whether a message says that the last run has ended."""
        return payload.get("run") == self.runs[-1] and payload["status"] in {*CUT_OFF, "done"}

    def change(self, client: httpx2.Client) -> None:
        """Change the state repeatedly, until the connection breaks."""
        path = f"/apps/{self.app}/users/{self.name}/sessions/{self.name}"
        n = max(self.promised, default=0)
        with suppress(httpx2.TransportError):
            while True:
                n += 1
                delta = {"n": n, "user:n": n, f"key{n % 5}": "x" * n}
                answer = client.patch(path, json={"stateDelta": delta})
                assert answer.status_code == 200, answer.text
                self.promised.add(n)

    def run(self, client: httpx2.Client) -> None:
        """Start a run of the agent."""
        with suppress(httpx2.TransportError):
            path = f"/api/sessions/{self.key}/runs"
            answer = client.post(path, json={"message": "go", "streaming": True})
            assert answer.status_code == 201, answer.text
            self.runs.append(answer.json()["run"])

    def holds(self, client: httpx2.Client) -> None:
        """Check that all shown events are in place, the state is the fold, and runs are marked.

        Ends that were checked before are checked again by `ends_hold`.
        """
        session = get_session(client, self.app, self.name, self.name)
        events = session["events"]
        assert {number: events[number - 1]["id"] for number in self.shown} == self.shown
        state: dict[str, Any] = {"born": self.name, "user:born": self.name}
        values = set()
        for event in events:
            delta = event["actions"].get("stateDelta", {})
            values.add(delta.get("n"))
            state |= delta
        assert session["state"] == state
        assert self.promised <= values
        if self.runs:
            self._runs_are_marked(client)

    def _runs_are_marked(self, client: httpx2.Client) -> None:
        for run in self.runs[len(self.ended) :]:
            self.ended[run] = self._end(client, run)
        page = client.get(f"/sessions/{self.key}", headers=HTML).text
        marks = _MARKS.findall(page)
        assert {status for status, _ in marks} <= CUT_OFF
        assert len({run for _, run in marks}) == len(marks), "a run has two marks"
        assert [run for _, run in marks].count(self.runs[-1]) == 1

    def ends_hold(self, client: httpx2.Client) -> None:
        """Check that every run still has the end that it had when it was first checked."""
        assert {run: self._end(client, run) for run in self.runs} == self.ended

    @staticmethod
    def _end(client: httpx2.Client, run: str) -> str:
        status = client.get(f"/api/runs/{run}").json()["status"]
        assert status in CUT_OFF
        return status
