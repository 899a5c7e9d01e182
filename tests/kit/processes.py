"""The processes that a test's server has started."""

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
    found = [
        (child.create_time(), child)
        for child in psutil.Process(server.pid).children()
        if child.status() != psutil.STATUS_ZOMBIE and child.cmdline()[-6:-4] == ["--app", app]
    ]
    return max(found, key=lambda pair: pair[0])[1]
