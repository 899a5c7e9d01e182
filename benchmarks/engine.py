"""Turns on google-adk: its bare Runner in memory, and the same through devui.

usage: python -m benchmarks.engine --adk-python PATH [--seconds 2]

Through devui, every event is on disk before `POST /run_sse` sends it. `armed` is with a breakpoint
on tools that never holds, so that the run asks the server around each call.
"""

import argparse
import json
import os
import subprocess
import urllib.request

from benchmarks.report import Figures, report
from benchmarks.run_sse import APPS, measure
from benchmarks.served import ROOT, data_folder, serve

BREAKPOINT = {"on": "tool", "condition": "args.city == 'nowhere'"}


def bare(python: str, seconds: float) -> Figures:
    """Return the milliseconds of a turn of google-adk's Runner alone, for each app."""
    command = [python, "-m", "benchmarks.turns", "--impl", "google.adk", "--seconds", str(seconds)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    figures: Figures = json.loads(done.stdout.splitlines()[-1])
    return {f"engine.{app}_bare_ms": figures[f"turn.{app}_ms"] for app in APPS}


def arm(url: str, app: str) -> None:
    """Set a breakpoint that never holds."""
    request = urllib.request.Request(
        f"{url}/api/apps/{app}/breakpoints",
        data=json.dumps(BREAKPOINT).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        answer.read()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--adk-python", required=True, help="an interpreter that has google-adk")
    parser.add_argument("--seconds", type=float, default=2.0, help="measured time per scenario")
    arguments = parser.parse_args()
    figures = bare(arguments.adk_python, arguments.seconds)
    options = ("--python", arguments.adk_python)
    with data_folder() as data, serve(data, *options, impl="google.adk") as served:
        for app in APPS:
            figures[f"engine.{app}_ms"] = measure(served.url, app, arguments.seconds)
        for app in APPS:
            arm(served.url, app)
            figures[f"engine.{app}_armed_ms"] = measure(served.url, app, arguments.seconds)
    report(figures)


if __name__ == "__main__":
    main()
