"""MCP servers forked from a process that has imported their packages.

Python takes most of a second to import `mcp`, and dozens of cases start servers, on two runtimes.
This command hands its streams to a process that has imported it, and lives as long as the fork: if
one of the two ends, so does the other. `tests/runtime/test_mcp_toolset.py` starts servers as users
do.
"""

import atexit
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from functools import cache
from pathlib import Path

STREAMS = (0, 1, 2)


def mcp_command(*args: str) -> list[str]:
    """Return the command of a server; the arguments are those of `tests.kit.mcp_server`."""
    return [sys.executable, "-S", "-E", __file__, _forker(), *args]


@cache
def _forker() -> str:
    """Start the process that forks, which lives as long as this one, and return its socket."""
    folder = tempfile.TemporaryDirectory(prefix="devui-mcp-")
    path = str(Path(folder.name) / "forker")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
        process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "tests.kit.mcp_forks", str(listening.fileno())],
            pass_fds=[listening.fileno()],
            cwd=Path(__file__).parents[2],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    atexit.register(folder.cleanup)
    atexit.register(process.communicate)
    return path


def link(path: str, *args: str) -> None:
    """Give this process's streams to a fork, and wait for its end."""
    with socket.socket(socket.AF_UNIX) as fork:
        fork.connect(path)
        socket.send_fds(fork, ["\0".join(args).encode()], STREAMS)
        for stream in STREAMS:
            os.close(stream)  # only the fork holds them, so that its end closes them
        fork.recv(1)
    os._exit(0)


def fork_servers(listening: socket.socket) -> None:
    """Fork a server for each link, until the other end of our input is closed."""
    from tests.kit.mcp_server import main  # links have to do without it  # noqa: PLC0415

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while select.select([listening, 0], [], [])[0] == [listening]:
        command, _ = listening.accept()
        if os.fork() == 0:
            kind, *port = _take_streams(command)
            main(kind, *map(int, port))
            os._exit(0)
        command.close()


def _take_streams(command: socket.socket) -> list[str]:
    """Take over the streams of the link, and return its arguments."""
    arguments, streams, _, _ = socket.recv_fds(command, 1000, len(STREAMS))
    for stream, number in zip(streams, STREAMS, strict=True):
        os.dup2(stream, number)
        os.close(stream)
    threading.Thread(target=_end_with, args=[command], daemon=True).start()
    return arguments.decode().split("\0")


def _end_with(command: socket.socket) -> None:
    command.recv(1)
    os._exit(1)


if __name__ == "__main__":
    if len(sys.argv) == 2:
        fork_servers(socket.socket(fileno=int(sys.argv[1])))
    else:
        link(*sys.argv[1:])
