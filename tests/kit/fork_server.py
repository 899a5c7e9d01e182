"""Servers forked from a process that has imported devui, for tests that start one each.

Python takes a second to import what a server and its worker need. Here, one process per process of
the tests has imported it, and forks the `devui` command: a separate process that is stopped and
killed like any other, with its own descriptors, folder and environment, and with workers and
servers that are forked from it (`tests/kit/forked_programs.py`). The product knows nothing about
this. What depends on a fresh start of Python is tested with one: `Server(..., fresh=True)`, and
what decision 27 lists.
"""

import atexit
import gc
import importlib
import json
import os
import pkgutil
import resource
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, TextIO

from tests.kit.forked_programs import end_with, fork_programs, load_worker
from tests.kit.patience import PATIENCE

ROOT = Path(__file__).parents[2]


class ForkedProcess:
    """A `devui` command with the members of `subprocess.Popen` that tests use."""

    def __init__(self, output: int, errors: int | None, status: int) -> None:
        self.stdout = _opened(output)
        self.stderr = None if errors is None else _opened(errors)
        self._status = _opened(status)
        self.returncode: int | None = None
        self.pid = int(self._status.readline())

    def poll(self) -> int | None:
        """Return its exit status, negative for a signal; None while it runs."""
        if self.returncode is None and select.select([self._status], [], [], 0)[0]:
            self._end()
        return self.returncode

    def wait(self, timeout: float) -> int:
        """Wait for its end, and return its exit status. Raises subprocess.TimeoutExpired."""
        if self.returncode is None:
            if not select.select([self._status], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("devui", timeout)
            self._end()
        return self.returncode or 0

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float) -> tuple[str, str]:
        """Return its output and errors once it has ended; kill it after `timeout` seconds."""
        patience = threading.Timer(timeout, self.kill)
        patience.start()
        with ThreadPoolExecutor(1) as pool, self.stdout, self.stderr or nullcontext():
            errors = pool.submit(self.stderr.read) if self.stderr else None
            output = self.stdout.read()
            complaint = errors.result() if errors else ""
        self.wait(timeout)
        patience.cancel()
        return output, complaint

    def close(self) -> None:
        """Kill it if it still runs, and close its streams."""
        self.kill()
        self.wait(PATIENCE)
        for stream in (self.stdout, self.stderr):
            if stream:
                stream.close()

    def _end(self) -> None:
        self.returncode = os.waitstatus_to_exitcode(int(self._status.readline()))
        self._status.close()


def _opened(descriptor: int) -> TextIO:
    return open(descriptor, encoding="utf-8", errors="replace")


@cache
def _fork_server() -> socket.socket:
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.kit.fork_server", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
    atexit.register(process.wait)
    atexit.register(ours.close)
    return ours


_READ_AT_START = ("PYTHON", "LD_")
"""Prefixes of the variables that Python or the system reads when a program starts."""
_AT_START = {name: text for name, text in os.environ.items() if name.startswith(_READ_AT_START)}


def is_forkable(env: Mapping[str, str]) -> bool:
    """Return whether a fork is equivalent to a start of Python with these variables."""
    read = {name: text for name, text in env.items() if name.startswith(_READ_AT_START)}
    return {**read, "PYTHONUNBUFFERED": ""} == {**_AT_START, "PYTHONUNBUFFERED": ""}


def fork_devui(
    command: Sequence[str],
    *,
    cwd: Path,
    env: dict[str, str],
    max_file_size: int | None = None,
    merge: bool = False,
) -> ForkedProcess:
    """Run `devui` with these arguments.

    `max_file_size` is the size in bytes to which each of its files may grow; with `merge`, its
    errors go to its output.
    """
    job = {"command": command, "cwd": str(cwd), "env": env, "max_file_size": max_file_size}
    output, to_output = os.pipe()
    errors, to_errors = (None, os.dup(to_output)) if merge else os.pipe()
    status, to_status = os.pipe()
    text = json.dumps(job).encode()
    theirs = [to_output, to_errors, to_status]
    server = _fork_server()
    socket.send_fds(server, [len(text).to_bytes(4, "big")], theirs)
    server.sendall(text)
    for descriptor in theirs:
        os.close(descriptor)
    return ForkedProcess(output, errors, status)


# --- the process that forks ---------------------------------------------------------------


_LOADED_LATER = (
    "anyio._backends._asyncio",
    "importlib.readers",
    "uvicorn.lifespan.on",
    "uvicorn.protocols.http.h11_impl",
)
"""Modules of other packages that a server imports when it starts."""


def load_devui() -> None:
    """Import every module of the server, and read static files and templates for all servers."""
    for name in ("devui.cli", "devui.debugger", "devui.store", "devui.web"):
        package = importlib.import_module(name)
        for module in pkgutil.walk_packages(package.__path__, f"{name}."):
            importlib.import_module(module.name)
    for name in _LOADED_LATER:
        importlib.import_module(name)
    kind = importlib.import_module("jinja2").Environment
    compiled, compile_one = {}, kind.compile

    def recall(environment: Any, source: str, name: str, *where: Any) -> Any:
        if name not in compiled:
            compiled[name] = compile_one(environment, source, name, *where)
        return compiled[name]

    kind.compile = recall
    kind_of_assets = importlib.import_module("devui.web.assets").Assets
    assets = kind_of_assets.find()
    kind_of_assets.find = lambda: assets
    environment = importlib.import_module("devui.web.render").Renderer(assets).environment
    for template in environment.list_templates():
        environment.get_template(template)


def load_agents() -> None:
    """Import what most tests' agents and the workers that run them need, and build the models.

    pydantic would otherwise build them at their first use.
    """
    for name in ("agents", "apps", "events", "models", "runners", "sessions", "tools", "workflow"):
        importlib.import_module(f"devui.runtime.{name}")
    for name in (
        "devui.runtime.memory.listing",
        "devui.runtime.tools.agent_tool",
        "devui.runtime.tools.tool_confirmation",
        "devui.worker.engines.native",
        "pydantic._internal._serializers",
    ):
        importlib.import_module(name)
    for module, names in _MODELS.items():
        for name in names.split():
            getattr(importlib.import_module(module), name).model_rebuild()


_MODELS = {
    "devui.runtime.agents.llm_agent": "LlmAgent",
    "devui.runtime.agents.run_config": "RunConfig",
    "devui.runtime.events.event": "Event NodeInfo",
    "devui.runtime.events.event_actions": "EventActions",
    "devui.runtime.models.llm_request": "LlmRequest",
    "devui.runtime.models.llm_response": "LlmResponse",
    "devui.runtime.models.scripted_llm": "ScriptedLlm",
    "devui.runtime.sessions.session": "Session",
    "google.genai.types": "AudioTranscriptionConfig FunctionCall FunctionDeclaration"
    " FunctionResponse GenerateContentResponseUsageMetadata",
}


class _Children:
    """The commands that this process has forked, and where to report their ends."""

    def __init__(self) -> None:
        self._tell: dict[int, int] = {}
        """The descriptors to report to, by process id."""
        self.ends, write_end = os.pipe()
        """Readable when a command has ended."""
        for descriptor in (self.ends, write_end):
            os.set_blocking(descriptor, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(write_end)

    def fork(self, job: dict[str, Any], output: int, errors: int, status: int) -> None:
        """Fork the command, and report its process id."""
        child = os.fork()
        if child == 0:
            end_with(partial(_become_devui, job, output, errors))
        self._tell[child] = status
        os.write(status, f"{child}\n".encode())
        os.close(output)
        os.close(errors)

    def reap(self) -> None:
        """Report the exit status of each command that has ended."""
        os.read(self.ends, 1000)
        while self._tell and (pid_and_status := os.waitpid(-1, os.WNOHANG))[0]:
            descriptor = self._tell.pop(pid_and_status[0])
            with suppress(BrokenPipeError):
                os.write(descriptor, f"{pid_and_status[1]}\n".encode())
            os.close(descriptor)


def _become_devui(job: dict[str, Any], output: int, errors: int) -> None:
    os.dup2(output, 1)
    os.dup2(errors, 2)
    os.closerange(3, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    sys.stdout.reconfigure(line_buffering=True)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    # A shell that starts the tests in the background makes their children ignore Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(job["cwd"])
    os.environ.clear()
    os.environ.update(job["env"])
    if job["max_file_size"] is not None:
        _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (job["max_file_size"], most))
    sys.argv = ["devui", *job["command"]]
    importlib.import_module("devui.cli").main()


def main() -> None:
    """Fork a command for each incoming job, until nobody can send one."""
    jobs = socket.socket(fileno=int(sys.argv[1]))
    load_devui()
    load_worker()
    load_agents()
    fork_programs()
    gc.freeze()  # a garbage collection in a server would copy the memory that they share
    children = _Children()
    while True:
        ready, _, _ = select.select([jobs, children.ends], [], [])
        if children.ends in ready:
            children.reap()
        if jobs in ready:
            size, descriptors, _, _ = socket.recv_fds(jobs, 4, 3)
            if not size:
                return
            job = json.loads(jobs.recv(int.from_bytes(size, "big"), socket.MSG_WAITALL))
            children.fork(job, *descriptors)


if __name__ == "__main__":
    main()
