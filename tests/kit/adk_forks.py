"""Runs code in forks of a process that has imported google-adk's services.

Importing them takes Python two seconds. This program runs in a Python that has google-adk, and
reads a JSON job per line; `tests.kit.oracle.run_stores` starts it.
"""

import gc
import importlib
import json
import os
import sys
from typing import Any

MODULES = (
    "artifacts",
    "events",
    "sessions.database_session_service",
    "sessions.sqlite_session_service",
    "tools.tool_confirmation",
)


def _run(job: dict[str, Any]) -> None:
    for number, file in enumerate(job["files"], 1):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT), number)
    sys.argv[1:] = job["args"]
    exec(job["program"], {"__name__": "__main__"})


def main() -> None:
    """Run each program in a fork, and print its exit status."""
    for name in MODULES:
        importlib.import_module(f"google.adk.{name}")
    gc.freeze()
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _run(json.loads(line))
            return
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
