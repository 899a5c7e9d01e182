"""Turns through `POST /run_sse`, with every event on disk before it is sent.

usage: python -m benchmarks.run_sse [--seconds 2] [--clients 50] [--adk-python PATH]

First one client on one connection, with a new session for each turn; then several clients at once;
then the same with a page open on the session of each client, which all its turns use. The first
turns, which start the worker, don't count. With --adk-python, google-adk's own server is measured
instead, with its sessions in a SQLite file and without the pages.
"""

import argparse
import http.client
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from urllib.parse import urlsplit

import psutil

from benchmarks.report import Figures, median_ms, report
from benchmarks.rest import Client
from benchmarks.served import Served, data_folder, serve, serve_adk

APPS = ("text", "tool1", "tool10")
WARM_UP = 3


def measure(url: str, app: str, seconds: float) -> float:
    """Return the median milliseconds of a turn."""
    return median_ms(_turns(url, app, seconds))


def measure_cpu(served: Served, app: str, seconds: float) -> Figures:
    """Return the median milliseconds of a turn, and its CPU milliseconds in all processes."""
    _turns(served.url, app, 0)
    processes = [served.process, *served.process.children()]
    before = [(process, _cpu(process)) for process in processes]
    walls = _turns(served.url, app, seconds)
    # A process that was loading the next spare worker may have ended.
    used = sum(_cpu(process) - start for process, start in before if process.is_running())
    return {
        f"run_sse.{app}_ms": median_ms(walls),
        f"run_sse.{app}_cpu_ms": 1000 * used / (len(walls) + WARM_UP),
    }


def measure_many(
    url: str, app: str, seconds: float, clients: int, *, watched: bool = False
) -> Figures:
    """Return the turns per second of `clients` at once, and how many turns failed."""
    until = time.perf_counter() + seconds

    def keep_asking(_: int) -> tuple[int, int]:
        client = Client(url, app)
        done = failures = 0
        session = client.new_session()
        with _page(url, client.key_of(session)) if watched else nullcontext():
            while not done + failures or time.perf_counter() < until:
                try:
                    client.turn(session if watched else client.new_session())
                    done += 1
                except (RuntimeError, OSError):
                    failures += 1
                    client.close()  # the next request reconnects
        client.close()
        return done, failures

    with ThreadPoolExecutor(clients) as pool:
        started = time.perf_counter()
        counts = list(pool.map(keep_asking, range(clients)))
        wall = time.perf_counter() - started
    name = f"run_sse.{app}_{'watched' if watched else 'clients'}"
    return {
        f"{name}_turns_s": sum(done for done, _ in counts) / wall,
        f"{name}_failures": sum(failures for _, failures in counts),
    }


@contextmanager
def _page(url: str, key: int) -> Iterator[None]:
    """Read the stream of a session's page until the block ends."""
    place = urlsplit(url)
    connection = http.client.HTTPConnection(place.hostname or "", place.port)
    connection.request("GET", f"/sessions/{key}/stream?after=0")
    plug, answer = connection.sock, connection.getresponse()

    def read() -> None:
        with suppress(http.client.HTTPException):  # the connection is cut before the stream ends
            while answer.read1(2**16):
                pass

    reader = threading.Thread(target=read)
    reader.start()
    yield
    plug.shutdown(socket.SHUT_RDWR)
    reader.join()
    connection.close()


def _turns(url: str, app: str, seconds: float) -> list[float]:
    client = Client(url, app)
    for _ in range(WARM_UP):
        client.turn(client.new_session())
    walls: list[float] = []
    until = time.perf_counter() + seconds
    while time.perf_counter() < until or len(walls) < 5:
        walls.append(client.turn(client.new_session()))
    client.close()
    return walls


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0, help="measured time per scenario")
    parser.add_argument("--clients", type=int, default=50, help="clients at once")
    parser.add_argument("--adk-python", help="an interpreter that has google-adk")
    options = parser.parse_args()
    figures: Figures = {}
    python = options.adk_python
    with data_folder() as data, serve_adk(data, python) if python else serve(data) as served:
        for app in APPS:
            figures |= measure_cpu(served, app, options.seconds)
        for app in ("text", "tool10"):
            figures |= measure_many(served.url, app, options.seconds, options.clients)
            if not python:
                figures |= measure_many(
                    served.url, app, options.seconds, options.clients, watched=True
                )
    report(figures)


if __name__ == "__main__":
    main()
