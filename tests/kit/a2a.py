"""The A2A server for tests, started once in each process that asks for it."""

import atexit
import subprocess
import sys
from functools import cache

from tests.source import ROOT

CARD = "/.well-known/agent-card.json"


def start() -> tuple[subprocess.Popen[str], str]:
    """Start a server; return its process and address. See `tests.kit.a2a_server`."""
    command = [sys.executable, "-W", "ignore", "-m", "tests.kit.a2a_server"]
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    url = server.stdout.readline().strip() if server.stdout else ""
    if not url:
        raise RuntimeError("the A2A server of the tests did not start; see what it wrote")
    return server, url


def end(server: subprocess.Popen[str]) -> None:
    """Kill the server, whatever it is doing."""
    server.kill()
    server.wait()
    if server.stdout:
        server.stdout.close()


@cache
def address() -> str:
    """Return the address of a server that runs until this process ends."""
    server, url = start()
    atexit.register(end, server)
    return url


def card_of(agent: str) -> str:
    """Return the address of an agent's card."""
    return f"{address()}/{agent}{CARD}"
