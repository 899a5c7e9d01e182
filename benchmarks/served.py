"""A server under test: started as a user would, in its own process, on fresh data."""

import contextlib
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[1]
AGENTS = Path(__file__).resolve().parent / "agents"


@dataclass(frozen=True, slots=True)
class Served:
    """A running server."""

    url: str
    """Its origin, without a trailing slash."""
    ready: float
    """Seconds from the start of its process to the first response on `/`."""
    process: psutil.Process


@contextlib.contextmanager
def data_folder() -> Iterator[Path]:
    """Make a folder on disk for a journal; remove it afterwards."""
    with tempfile.TemporaryDirectory(prefix="devui-bench-") as folder:
        yield Path(folder)


@contextlib.contextmanager
def serve(data: Path, *options: str, impl: str = "devui.runtime") -> Iterator[Served]:
    """Run `devui` on the agents in this folder, with its journal in `data`.

    `impl` is the package that the agents import.
    """
    command = [sys.executable, "-m", "devui", str(AGENTS), "--no-browser", "--no-auth"]
    command += ["--port", "0", "--data-dir", str(data), *options]
    with _started(command, data, BENCH_IMPL=impl) as served:
        yield served


@contextlib.contextmanager
def serve_adk(
    data: Path, python: str, *, command: str = "api_server", store: str = "sqlite+aiosqlite"
) -> Iterator[Served]:
    """Run google-adk's own server on the same agents, with its sessions in `sessions.db`.

    `store` is the scheme of its session service's URI. `data` is also its home folder.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    words = [str(Path(python).absolute()), "-W", "ignore", "-m", "google.adk.cli", command]
    words += ["--port", port]
    words += ["--session_service_uri", f"{store}:///{data / 'sessions.db'}", str(AGENTS)]
    with _started(words, data, BENCH_IMPL="google.adk", HOME=str(data)) as served:
        yield served


@contextlib.contextmanager
def serve_floor(data: Path) -> Iterator[Served]:
    """Run the smallest server on the same agents, with its journal in `data`."""
    command = [sys.executable, "-m", "benchmarks.floor_server", str(data / "journal.db")]
    with _started(command, data) as served:
        yield served


@contextlib.contextmanager
def _started(command: list[str], data: Path, **variables: str) -> Iterator[Served]:
    # As for users: a start finds the bytecode of the previous one.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"PYTHONPATH": str(ROOT), **variables}
    started = time.perf_counter()
    with subprocess.Popen(
        command,
        cwd=data,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as child:
        try:
            url = _link(child)
            # Its further output is read, too, because the pipe holds only 64 KB.
            threading.Thread(target=deque, args=(child.stdout, 0), daemon=True).start()
            _first_answer(f"{url}/")
            ready = time.perf_counter() - started
            yield Served(url, ready, psutil.Process(child.pid))
        finally:
            child.terminate()
            child.wait(timeout=30)


def _first_answer(url: str) -> None:
    until = time.monotonic() + 30
    while True:
        try:
            urllib.request.urlopen(url, timeout=30).close()
        except urllib.error.HTTPError:  # google-adk's API server has nothing at /
            return
        except urllib.error.URLError:  # `adk web` prints its link before it listens
            if time.monotonic() > until:
                raise
            time.sleep(0.01)
        else:
            return


def _link(child: subprocess.Popen[str]) -> str:
    for line in child.stdout or []:
        if match := re.search(r"http://[\d.]+:\d+", line):
            return match[0]
    raise RuntimeError(f"the server ended with code {child.wait()} before it printed a link")


def resident_mb(process: psutil.Process) -> float:
    """Return the resident memory in megabytes (10^6 bytes)."""
    return process.memory_info().rss / 1e6
