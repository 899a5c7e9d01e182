"""The program that `devui --in-process` becomes: it runs the apps of a folder in the terminal.

`python -m devui.hosting --agents DIR --engine NAME -- ARGUMENTS`; started by it alone. The
arguments are those of the `devui` command, with which it starts the server.
"""

import argparse
import os
import socket
import subprocess
import sys
from functools import cache, partial
from pathlib import Path
from typing import get_args

from devui.hosting.host import Host
from devui.hosting.serve import LIMITS, ServeError, Serving
from devui.wire.engines import EngineChoice
from devui.worker.engines.choice import prepare
from devui.worker.loading import load


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="devui.hosting")
    parser.add_argument("--agents", type=Path, required=True)
    parser.add_argument("--engine", choices=get_args(EngineChoice), required=True)
    parser.add_argument("arguments", nargs="*")
    return parser.parse_args()


def main() -> int:
    """Run the apps until the server ends or Ctrl-C comes, and return the server's status."""
    options = _arguments()
    prepare(options.engine)
    ours, theirs = socket.socketpair()
    served_by = ["--served-by", str(theirs.fileno()), str(os.getpid())]
    with theirs:
        server = subprocess.Popen(  # noqa: S603 - ourselves
            [sys.executable, "-P", "-m", "devui", *options.arguments, *served_by],
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            start_new_session=True,  # Ctrl-C is for us, who end it in order
            text=True,
        )
    # An app is imported when it is first used, and again if it did not load.
    host = Host(cache(partial(load, options.agents)), ours, options.agents)
    host.start()
    serving = Serving(server, ours, host)
    sys.stdout.write(f"{LIMITS}\n")
    sys.stdout.flush()
    try:
        serving.wait()
    except KeyboardInterrupt:
        serving.stop()
    except ServeError:
        return server.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
