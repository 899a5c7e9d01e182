"""Servers that die, many and quickly: one process has imported devui and forks each of them.

A fork is the whole `devui` command, in a separate process that is killed like any other. It may be
given a plan, a place in its code at which it kills itself; the product knows nothing about this.
`python -m tests.kit.killable_servers` is the process that forks; `ServerForker` starts it and sends
it requests.
"""

import asyncio
import gc
import importlib
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import httpx2
import psutil

from tests.kit.fork_server import load_agents, load_devui
from tests.kit.forked_programs import fork_programs, load_worker
from tests.kit.patience import PATIENCE
from tests.kit.server import ROOT, TOKEN


@dataclass(frozen=True)
class KillPlan:
    """Where a server kills itself."""

    place: str
    """`before` or `after` a statement that begins with `statement`, or `publish`: a fact is
    committed, and nobody has been notified."""
    statement: str = ""
    count: int = 1
    """The number of the occurrence at which it kills itself."""
    checkpoints: bool = False
    """Whether SQLite moves its log into the database with nearly every commit."""


class ForkedServer:
    """A server, from its start to its end."""

    def __init__(self, forker: "ServerForker", url: str, pid: int) -> None:
        self._forge, self.url, self.pid = forker, url, pid

    def client(self) -> httpx2.Client:
        """Return a client with the bearer token; it reads no certificates, to save time."""
        headers = {"Authorization": f"Bearer {TOKEN}"}
        return httpx2.Client(base_url=self.url, headers=headers, timeout=PATIENCE, verify=False)

    def kill(self) -> None:
        """Kill it, if it hasn't killed itself."""
        os.kill(self.pid, signal.SIGKILL)  # the number isn't reused before the next server
        self.ended()

    def worker(self) -> psutil.Process:
        """Return the youngest of its child processes that hasn't ended."""
        living = []
        for child in psutil.Process(self.pid).children():
            with suppress(psutil.NoSuchProcess):
                if child.status() != psutil.STATUS_ZOMBIE:
                    living.append((child.create_time(), child.pid, child))
        return max(living)[2]

    def counts(self) -> tuple[int, int]:
        """Return the numbers of its current tasks and threads."""
        os.kill(self.pid, signal.SIGUSR1)
        match = self._forge.told(r"# (\d+) tasks, (\d+) threads")
        return int(match[1]), int(match[2])

    def ended(self) -> None:
        """Wait for its end, which SIGKILL must have caused."""
        how = self._forge.told(r"# ended (\d+)")[1]
        assert int(how) == signal.SIGKILL, f"it ended by itself: {how}"


class ServerForker:
    """The process that forks servers, one at a time; a context manager that ends both."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.kit.killable_servers"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=ROOT,
            env={**os.environ, "DEVUI_TOKEN": TOKEN, "PYTHONUNBUFFERED": "1"},
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        with self._process:
            os.killpg(self._process.pid, signal.SIGKILL)

    def serve(
        self,
        agents: Path,
        data: Path,
        plan: KillPlan | None = None,
        *,
        stalled: int | None = None,
        loads: float | None = None,
    ) -> ForkedServer | None:
        """Start a server, and return it once it answers; return None if its plan killed it first.

        `stalled` is the time after which a reader that takes nothing is dropped, `loads` the time
        that an app may take to be imported, both in seconds.
        """
        command = [
            str(agents),
            "--no-browser",
            "--no-spare-worker",
            "--port",
            "0",
            "--data-dir",
            str(data),
        ]
        job = {"command": command, "plan": asdict(plan) if plan else None}
        job |= {"stalled": stalled, "loads": loads}
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        pid = int(self.told(r"# begun (\d+)")[1])
        match = self.told(r"(http://[^/ ]+)/|# ended (\d+)")
        return ForkedServer(self, match[1], pid) if match[1] else None

    def told(self, pattern: str) -> re.Match[str]:
        """Wait until the pattern is printed, and return its match."""
        seen = ""
        patience = threading.Timer(PATIENCE, self._process.kill)
        patience.start()
        try:
            while line := self._process.stdout.readline():
                seen += line
                if match := re.search(pattern, line):
                    return match
        finally:
            patience.cancel()
        raise AssertionError(f"{pattern} was not printed:\n{seen}")


class _KilledConnection(sqlite3.Connection):
    plan: ClassVar[KillPlan]
    left: ClassVar[int]

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.plan.place == "before":
            self.set_trace_callback(self._before)

    def execute(self, sql: str, parameters: Any = ()) -> sqlite3.Cursor:
        if self.plan.checkpoints:
            sql = sql.replace("wal_autocheckpoint = 4000", "wal_autocheckpoint = 2")
        cursor = super().execute(sql, parameters)
        if self.plan.place == "after" and sql.startswith(self.plan.statement):
            _count_down()
        return cursor

    def _before(self, sql: str) -> None:
        if sql.lstrip().startswith(self.plan.statement):
            _count_down()


def _count_down(*_: Any) -> None:
    _KilledConnection.left -= 1
    if _KilledConnection.left == 0:
        os.kill(os.getpid(), signal.SIGKILL)


def _arrange(plan: KillPlan) -> None:
    """Install the plan, in this process alone."""
    _KilledConnection.plan, _KilledConnection.left = plan, plan.count
    journal = importlib.import_module("devui.store.journal").Journal
    journal.open.__func__.__kwdefaults__["factory"] = _KilledConnection
    if plan.place == "publish":
        importlib.import_module("devui.debugger.events.bus").Bus.publish = _count_down


def _count(*_: Any) -> None:
    tasks = len(asyncio.all_tasks())
    os.write(1, f"\n# {tasks} tasks, {threading.active_count()} threads\n".encode())


def _play(job: dict[str, Any]) -> None:
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    signal.signal(signal.SIGUSR1, _count)
    if job["plan"]:
        _arrange(KillPlan(**job["plan"]))
    if job["stalled"]:
        options = importlib.import_module("devui.web.sse").PAGE
        object.__setattr__(options, "stalled", job["stalled"])
        importlib.import_module("devui.cli.web")._UNREAD_SECONDS = job["stalled"]
    if job["loads"]:
        importlib.import_module("devui.debugger.workers.workers").SECONDS_TO_LOAD = job["loads"]
    importlib.import_module("devui.cli").main(job["command"])


def main() -> None:
    """Fork a server for each line of standard input, and print when it begins and ends."""
    load_devui()
    load_worker()
    load_agents()
    fork_programs()
    gc.freeze()  # a garbage collection in a server would copy the memory that they share
    pid = 0
    for line in sys.stdin:
        if pid:
            os.waitpid(pid, 0)
        pid = os.fork()
        if pid == 0:
            _play(json.loads(line))
            os._exit(0)
        sys.stdout.write(f"# begun {pid}\n")
        status = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        sys.stdout.write(f"\n# ended {status.si_status if status else 0}\n")


if __name__ == "__main__":
    main()
