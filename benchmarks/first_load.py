"""The first load of the start page with an empty cache: bytes, requests, first paint.

usage: python -m benchmarks.first_load [--runs 5]
"""

import argparse
import statistics

from benchmarks.browser import chromium, load
from benchmarks.report import report
from benchmarks.served import data_folder, serve


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    with data_folder() as data, serve(data) as served, chromium() as browser:
        loads = [load(browser, f"{served.url}/", until="main a[href]") for _ in range(runs + 1)][1:]
    names = ("kb", "requests", "first_paint_ms")
    report({f"first_load.{n}": statistics.median(each[n] for each in loads) for n in names})


if __name__ == "__main__":
    main()
