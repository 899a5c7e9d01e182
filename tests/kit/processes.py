"""The processes that a test's server has started."""

from pathlib import Path

import psutil


def workers_of(agents: Path, app: str = "") -> list[psutil.Process]:
    """Every worker process of this machine on this folder of agents, or on one app of it."""
    return [
        process
        for process in psutil.process_iter(["cmdline"])
        if "devui.worker" in (line := process.info["cmdline"] or [])
        and str(agents) in line
        and (not app or app in line)
    ]
