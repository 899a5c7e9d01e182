"""A turn through `POST /run_sse`, with every event on disk before it is sent.

usage: python -m benchmarks.run_sse [--seconds 2] [--clients 50]

One client on one connection, a session of its own for each turn; then several clients at once. From
the second turn on, so that the start of the worker is not in it.
"""

import argparse
import time
from concurrent.futures import ThreadPoolExecutor

import psutil

from benchmarks.report import Figures, median_ms, report
from benchmarks.rest import Client
from benchmarks.served import Served, data_folder, serve

APPS = ("text", "tool1", "tool10")
WARM_UP = 3


def measure(url: str, app: str, seconds: float) -> float:
    """The median milliseconds of a turn."""
    return median_ms(_turns(url, app, seconds))


def measure_cpu(served: Served, app: str, seconds: float) -> dict[str, float]:
    """The median milliseconds of a turn, and the CPU milliseconds of server and worker in it."""
    _turns(served.url, app, 0)
    worker = max(served.process.children(), key=lambda child: child.create_time())
    before = [_cpu(served.process), _cpu(worker)]
    walls = _turns(served.url, app, seconds)
    used = [_cpu(served.process) - before[0], _cpu(worker) - before[1]]
    server, worker_ms = (1000 * each / (len(walls) + WARM_UP) for each in used)
    name = f"run_sse.{app}"
    return {
        f"{name}_ms": median_ms(walls),
        f"{name}_server_cpu_ms": server,
        f"{name}_worker_cpu_ms": worker_ms,
    }


def measure_many(url: str, app: str, seconds: float, clients: int) -> float:
    """Turns per second of so many clients at once; raises RuntimeError at the first bad answer."""
    with ThreadPoolExecutor(clients) as pool:
        started = time.perf_counter()
        done = pool.map(lambda _: len(_turns(url, app, seconds)), range(clients))
        turns = sum(done) + clients * WARM_UP
        return turns / (time.perf_counter() - started)


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
    options = parser.parse_args()
    figures: Figures = {}
    with data_folder() as data, serve(data) as served:
        for app in APPS:
            figures |= measure_cpu(served, app, options.seconds)
        for app in ("text", "tool10"):
            rate = measure_many(served.url, app, options.seconds, options.clients)
            figures[f"run_sse.{app}_clients_turns_s"] = rate
    report(figures)


if __name__ == "__main__":
    main()
