"""The real server in a separate process, with a folder of agents and a data folder."""

import os
import re
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import httpx2

from tests.kit.fork_server import ForkedProcess, fork_devui, is_forkable
from tests.kit.frames import frames
from tests.kit.journal_checks import look_through
from tests.kit.patience import PATIENCE

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "agents"
TOKEN = "a-token-for-the-tests"


class Server:
    """`devui` as a user starts it. Call `start` after `kill` to see what was kept."""

    def __init__(
        self, agents: Path, data: Path, *options: str, fresh: bool = False, spare: bool = False
    ) -> None:
        """`fresh`: in a new Python, which takes a second longer; `spare`: with a spare worker."""
        self.agents, self.data = agents, data
        self.options = options if spare else ("--no-spare-worker", *options)
        self._fresh = fresh
        self.link = ""
        self.port: int | None = 0
        """0 for any port; None to request none."""
        self.max_file_size: int | None = None
        """The size in bytes to which its files may grow, as on a full disk; None for no limit."""
        self.environment: dict[str, str] = {}
        """Additional environment variables."""
        self._process: subprocess.Popen[str] | ForkedProcess | None = None
        self._lines: SimpleQueue[str] = SimpleQueue()

    def start(self) -> "Server":
        command = [str(self.agents), "--no-browser", "--data-dir", str(self.data), *self.options]
        command += [] if self.port is None else ["--port", str(self.port)]
        env = {**os.environ, "DEVUI_TOKEN": TOKEN, "PYTHONUNBUFFERED": "1", **self.environment}
        cwd = self.data.parent
        if self._fresh or not is_forkable(env):
            self._process = subprocess.Popen(
                [sys.executable, "-m", "devui", *command],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                env=env,
                cwd=cwd,
                preexec_fn=self._fill_the_disk,
            )
        else:
            self._process = fork_devui(
                command, cwd=cwd, env=env, max_file_size=self.max_file_size, merge=True
            )
        self._lines = SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()
        self.link = self.printed(r"http://\S+")
        self.port = int(re.search(r":(\d+)/", self.link)[1])
        return self

    def _fill_the_disk(self) -> None:
        if self.max_file_size is not None:
            _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (self.max_file_size, most))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def ended(self) -> bool:
        return self._process.poll() is not None

    def client(self, **options: Any) -> httpx2.Client:
        """Return a client with the bearer token; it reads no certificates, to save time."""
        headers = {"Authorization": f"Bearer {TOKEN}"}
        options = {"verify": False, "timeout": PATIENCE, **options}
        return httpx2.Client(base_url=self.url, headers=headers, **options)

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._ended()

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Stop the server cleanly, and return its exit status."""
        if self._process.poll() is None:
            self._process.send_signal(number)
        return self._ended()

    def _ended(self) -> int:
        status = self._process.wait(PATIENCE)
        look_through(self.data)
        return status

    def _read(self) -> None:
        """Read what the command prints, so that it never waits for a full pipe."""
        stdout, lines = self._process.stdout, self._lines
        for line in stdout:
            lines.put(line)
        stdout.close()
        lines.put("")

    def printed(self, pattern: str) -> str:
        """Return the first match of the pattern in what the command prints from now on."""
        seen = ""
        with suppress(Empty):
            while line := self._lines.get(timeout=PATIENCE):
                seen += line
                if match := re.search(pattern, line):
                    return match[0]
        self._process.kill()
        raise AssertionError(f"devui did not start:\n{seen}")


@contextmanager
def running(
    agents: Path,
    data: Path,
    *options: str,
    fresh: bool = False,
    spare: bool = False,
    **environment: str,
) -> Iterator[Server]:
    """Yield a server that is stopped at the end, whatever happened to it."""
    server = Server(agents, data, *options, fresh=fresh, spare=spare)
    server.environment = environment
    server.start()
    try:
        yield server
    finally:
        server.stop()


def make_session(client: httpx2.Client, app: str, user: str = "u", **body: Any) -> dict[str, Any]:
    answer = client.post(f"/apps/{app}/users/{user}/sessions", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def get_session(client: httpx2.Client, app: str, session: str, user: str = "u") -> dict[str, Any]:
    answer = client.get(f"/apps/{app}/users/{user}/sessions/{session}")
    assert answer.status_code == 200, answer.text
    return answer.json()


def run_body(app: str, session: str, text: str, **more: Any) -> dict[str, Any]:
    message = {"role": "user", "parts": [{"text": text}]}
    names = {"appName": app, "userId": "u", "sessionId": session}
    return {**names, "newMessage": message, **more}


def run(client: httpx2.Client, app: str, session: str, text: str, **more: Any) -> list[Any]:
    """Return everything that one `/run_sse` sends, parsed."""
    with client.stream("POST", "/run_sse", json=run_body(app, session, text, **more)) as answer:
        assert answer.status_code == 200, answer.read()
        return list(frames(answer.iter_lines()))


def write_app(agents: Path, name: str, code: str) -> Path:
    """Write an app of the test's own, and return its agent.py."""
    folder = agents / name
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "agent.py"
    file.write_text(code, encoding="utf-8")
    return file
