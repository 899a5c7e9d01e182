"""A durable turn through the smallest server on the same libraries: the limit of `run_sse`.

usage: python -m benchmarks.floor [--seconds 2] [--clients 50]
"""

import argparse

from benchmarks.report import Figures, report
from benchmarks.run_sse import measure_cpu, measure_many
from benchmarks.served import data_folder, serve_floor

APPS = ("text", "tool10")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0, help="measured time per scenario")
    parser.add_argument("--clients", type=int, default=50, help="clients at once")
    options = parser.parse_args()
    figures: Figures = {}
    with data_folder() as data, serve_floor(data) as served:
        for app in APPS:
            figures |= measure_cpu(served, app, options.seconds)
        for app in APPS:
            figures |= measure_many(served.url, app, options.seconds, options.clients)
    report({name.replace("run_sse", "floor"): value for name, value in figures.items()})


if __name__ == "__main__":
    main()
