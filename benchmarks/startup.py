"""Time from the start of `devui` to the first 200 on `/`, first turns, and memory of processes.

usage: python -m benchmarks.startup [--runs 5]

The first start isn't counted: it writes bytecode and warms the disk cache.
"""

import argparse
import statistics
import time

import psutil

from benchmarks.report import median_ms, report
from benchmarks.rest import Client
from benchmarks.served import data_folder, resident_mb, serve


def first_turn(url: str) -> float:
    """Return the seconds of the first turn of an app."""
    client = Client(url, "tool1")
    seconds = client.turn(client.new_session())
    client.close()
    return seconds


def wait_for_spare(server: psutil.Process) -> float:
    """Wait until the spare worker is idle; return its megabytes."""
    while not (children := server.children()):
        time.sleep(0.05)
    [spare] = children
    while spare.cpu_percent(0.3) > 1:
        pass
    return resident_mb(spare)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    ready, idle, spare, first, at_once, worker = [], [], [], [], [], []
    for _ in range(runs + 1):
        with data_folder() as data, serve(data) as served:
            ready.append(served.ready)
            idle.append(resident_mb(served.process))
            spare.append(wait_for_spare(served.process))
            first.append(first_turn(served.url))
            worker += [resident_mb(child) for child in served.process.children()[:1]]
        with data_folder() as data, serve(data) as served:
            at_once.append(first_turn(served.url))
    report(
        {
            "startup.ready_ms": median_ms(ready[1:]),
            "startup.first_turn_ms": median_ms(first[1:]),
            "startup.turn_at_once_ms": median_ms(at_once[1:]),
            "memory.server_idle_mb": statistics.median(idle[1:]),
            "memory.worker_mb": statistics.median(worker),
            "memory.spare_mb": statistics.median(spare),
        }
    )


if __name__ == "__main__":
    main()
