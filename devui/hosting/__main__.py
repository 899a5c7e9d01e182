"""The program that `devui --in-process` turns into: it runs a folder's apps in the terminal.

`python -m devui.hosting --agents DIR --engine NAME -- ARGUMENTS`; only `devui` starts it. It starts
the server with ARGUMENTS, which are those of the `devui` command.
"""

import argparse
import os
import signal
import socket
import subprocess
import sys
from functools import cache, partial
from pathlib import Path
from typing import get_args

from devui.hosting.host import Host
from devui.hosting.serve import ServeError, Serving
from devui.wire.engines import EngineChoice
from devui.worker.engines.choice import EngineUnavailable, prepare
from devui.worker.engines.kit import App, BaseNode
from devui.worker.loading import load

_SERVED_BY = "DEVUI_SERVED_BY"
"""The environment variable that tells the server who runs the apps: a descriptor and a pid."""
_TOKEN = "DEVUI_TOKEN"  # noqa: S105 - the name of a variable


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="devui.hosting")
    parser.add_argument("--agents", type=Path, required=True)
    parser.add_argument("--engine", choices=get_args(EngineChoice), required=True)
    parser.add_argument("arguments", nargs="*")
    return parser.parse_args()


def load_app(agents: Path, name: str) -> App | BaseNode:
    """Import an app as a worker does; a failed import leaves nothing behind for the next try."""
    modules, path, hooks = {*sys.modules}, [*sys.path], [*sys.path_hooks]
    try:
        return load(agents, name)
    except BaseException:
        for module in {*sys.modules} - modules:
            file = vars(sys.modules[module]).get("__file__")
            if file and Path(file).is_relative_to(agents):
                del sys.modules[module]
        sys.path[:], sys.path_hooks[:] = path, hooks
        raise


def main() -> int:
    """Run the apps until the server ends or Ctrl-C is pressed, and return the exit status."""
    options = _arguments()
    try:
        prepare(options.engine)
    except EngineUnavailable:
        sys.stderr.write(
            f"Error: google-adk is not installed in {sys.executable}. Install it with"
            f" `{sys.executable} -m pip install google-adk`, or omit --engine.\n"
        )
        return 1
    ours, theirs = socket.socketpair()
    with theirs:
        server = subprocess.Popen(  # noqa: S603 - ourselves
            [sys.executable, "-P", "-m", "devui", *options.arguments],
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            env={**os.environ, _SERVED_BY: f"{theirs.fileno()} {os.getpid()}"},
            start_new_session=True,  # Ctrl-C goes only to this process, which stops the server
            text=True,
        )
    os.environ.pop(_TOKEN, None)  # agent code must not have it (R09)
    # An app is imported on first use, and again if that failed.
    host = Host(cache(partial(load_app, options.agents)), ours, options.agents)
    host.start()
    serving = Serving(server, ours, host)
    try:
        serving.wait()
    except KeyboardInterrupt:
        serving.stop()
    except ServeError:
        return _failure(server.returncode)
    return 0


def _failure(status: int) -> int:
    """Return the exit status for a server's exit status, and report the signal that killed it.

    If it failed to start, the server has already printed the reason.
    """
    if status > 0:
        return status
    sys.stderr.write(f"Error: the server was ended by {signal.Signals(-status).name}.\n")
    return 128 - status


if __name__ == "__main__":
    sys.exit(main())
