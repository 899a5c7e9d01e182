"""The processes that a test's server has started."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from tests.kit.server import Server


def workers_of(agents: Path, app: str = "") -> list[psutil.Process]:
    """Return all worker processes of this machine for a folder of agents, or for one app of it."""
    return [
        process
        for process in psutil.process_iter(["cmdline"])
        if "devui.worker" in (line := process.info["cmdline"] or [])
        and str(agents) in line
        and (not app or app in line)
    ]


def worker_of(server: Server, app: str) -> psutil.Process:
    """Return the process of an app: the newest, if an earlier one is about to end."""
    return max(processes_of(server, app), key=lambda process: process.create_time())


def processes_of(server: Server, app: str) -> list[psutil.Process]:
    """Return the processes of an app: one, or two while the app is being reloaded."""
    children = psutil.Process(server.pid).children()
    return [child for child in children if _serves(child, app)]


def _serves(process: psutil.Process, app: str) -> bool:
    """Return whether it is a process of the app that hasn't ended."""
    try:
        alive = process.status() != psutil.STATUS_ZOMBIE
        line = process.cmdline()
        return alive and "--app" in line and line[line.index("--app") + 1] == app
    except psutil.NoSuchProcess:
        return False


@contextmanager
def suspended(process: psutil.Process) -> Iterator[None]:
    """Suspend a process inside the block; if it ends meanwhile, that masks no error inside."""
    process.suspend()
    try:
        yield
    finally:
        with suppress(psutil.NoSuchProcess):
            process.resume()
