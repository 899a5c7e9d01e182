"""The processes that a test's server has started."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from tests.kit.server import Server


def workers_of(agents: Path, app: str = "") -> list[psutil.Process]:
    """Every worker process of this machine on this folder of agents, or on one app of it."""
    return [
        process
        for process in psutil.process_iter(["cmdline"])
        if "devui.worker" in (line := process.info["cmdline"] or [])
        and str(agents) in line
        and (not app or app in line)
    ]


def worker_of(server: Server, app: str) -> psutil.Process:
    """The process of an app, the newest if one before it is on its way out."""
    return max(processes_of(server, app), key=lambda process: process.create_time())


def processes_of(server: Server, app: str) -> list[psutil.Process]:
    """The processes of an app: one, or two while the app is loaded anew."""
    children = psutil.Process(server.pid).children()
    return [child for child in children if _serves(child, app)]


def _serves(process: psutil.Process, app: str) -> bool:
    """Whether it is a process of the app; one that has just ended is none."""
    try:
        alive = process.status() != psutil.STATUS_ZOMBIE
        line = process.cmdline()
        return alive and "--app" in line and line[line.index("--app") + 1] == app
    except psutil.NoSuchProcess:
        return False


@contextmanager
def suspended(process: psutil.Process) -> Iterator[None]:
    """Let it stand still; that it ended meanwhile hides no failure of what is done here."""
    process.suspend()
    try:
        yield
    finally:
        with suppress(psutil.NoSuchProcess):
            process.resume()
