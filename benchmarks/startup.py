"""From the start of `devui` to the first 200 on `/`, and memory of the idle server and a worker.

usage: python -m benchmarks.startup [--runs 5]

The first start is thrown away: it writes bytecode and warms the disk's cache.
"""

import argparse
import statistics

from benchmarks.report import median_ms, report
from benchmarks.rest import Client
from benchmarks.served import data_folder, resident_mb, serve


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    ready, idle, first, worker = [], [], [], []
    for _ in range(runs + 1):
        with data_folder() as data, serve(data) as served:
            ready.append(served.ready)
            idle.append(resident_mb(served.process))
            client = Client(served.url, "tool1")
            first.append(client.turn(client.new_session()))
            client.close()
            worker += [resident_mb(child) for child in served.process.children()]
    report(
        {
            "startup.ready_ms": median_ms(ready[1:]),
            "startup.first_turn_ms": median_ms(first[1:]),
            "memory.server_idle_mb": statistics.median(idle[1:]),
            "memory.worker_mb": statistics.median(worker),
        }
    )


if __name__ == "__main__":
    main()
