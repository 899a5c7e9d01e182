"""A turn through `POST /run_sse`, with every event on disk before it is sent.

usage: python -m benchmarks.run_sse [--seconds 2]

One client, one connection, a session of its own for each turn. From the second turn on, so that the
start of the worker is not in it.
"""

import argparse
import time

from benchmarks.report import Figures, median_ms, report
from benchmarks.rest import Client
from benchmarks.served import data_folder, serve

APPS = ("text", "tool1", "tool10")
WARM_UP = 3


def measure(url: str, app: str, seconds: float) -> float:
    """The median milliseconds of a turn."""
    client = Client(url, app)
    for _ in range(WARM_UP):
        client.turn(client.new_session())
    walls: list[float] = []
    until = time.perf_counter() + seconds
    while time.perf_counter() < until or len(walls) < 5:
        walls.append(client.turn(client.new_session()))
    client.close()
    return median_ms(walls)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0, help="measured time per scenario")
    seconds = parser.parse_args().seconds
    figures: Figures = {}
    with data_folder() as data, serve(data) as served:
        for app in APPS:
            figures[f"run_sse.{app}_ms"] = measure(served.url, app, seconds)
    report(figures)


if __name__ == "__main__":
    main()
