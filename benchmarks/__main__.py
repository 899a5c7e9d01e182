"""Run benchmarks several times and print the medians, beside google-adk's if it has any.

usage: scripts/bench [FIGURE...] [--runs 3] [--adk-python PATH] [--write]

A FIGURE is a module of this folder. `--adk-python` is the interpreter of an environment that holds
google-adk; its runs alternate with ours. `--write` puts the table into docs/guide/performance.md.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.report import Figures, show

ROOT = Path(__file__).resolve().parents[1]
GUIDE = ROOT / "docs" / "guide" / "performance.md"
BEGIN, END = "<!-- figures -->", "<!-- end of figures -->"
FIGURES = (
    "startup",
    "turns",
    "growth",
    "gates",
    "run_sse",
    "floor",
    "watchers",
    "soak",
    "engine",
    "store",
    "first_load",
    "long_session",
    "day",
)
SIDE_BY_SIDE = ("turns", "growth", "gates", "run_sse", "day")
BY_SERVER = ("run_sse", "day")
"""The figures of google-adk's own server, measured by a program in our environment."""


def run(python: str, figure: str, *options: str) -> Figures:
    """Run a benchmark once in its own process; return the figures in its last line."""
    done = subprocess.run(
        [python, "-m", f"benchmarks.{figure}", *options],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"benchmarks.{figure} failed:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    figures: Figures = json.loads(done.stdout.splitlines()[-1])
    return figures


def medians(runs: list[Figures]) -> Figures:
    """Return the median of each figure over several runs."""
    return {name: statistics.median(each[name] for each in runs) for name in runs[0]}


def measure(figure: str, runs: int, adk_python: str | None) -> tuple[Figures, Figures]:
    """Return our medians and google-adk's, from alternating runs."""
    ours, theirs = [], []
    for _ in range(runs):
        if figure != "engine":
            ours.append(run(sys.executable, figure))
        elif adk_python:
            ours.append(run(sys.executable, figure, "--adk-python", adk_python))
        if adk_python and figure in BY_SERVER:
            theirs.append(run(sys.executable, figure, "--adk-python", adk_python))
        elif adk_python and figure in SIDE_BY_SIDE:
            theirs.append(run(adk_python, figure, "--impl", "google.adk"))
    return medians(ours) if ours else {}, medians(theirs) if theirs else {}


def machine() -> str:
    """Describe this machine."""
    cores = os.cpu_count()
    python = platform.python_version()
    return f"{cores} cores ({platform.machine()}), {platform.system()}, Python {python}"


def table(rows: list[tuple[str, float, float | None]]) -> str:
    """Return the figures as a Markdown table."""
    lines = ["| figure | devui | google-adk | ratio |", "|---|--:|--:|--:|"]
    for name, ours, theirs in rows:
        ratio = ""
        if theirs and ours and not name.endswith("_ratio"):
            faster = ours / theirs if name.endswith("_turns_s") else theirs / ours
            ratio = f"{faster:.1f}x"
        beside = f"{'' if theirs is None else show(theirs)} | {ratio}"
        lines.append(f"| `{name}` | {show(ours)} | {beside} |")
    return "\n".join(lines)


def write(text: str) -> None:
    """Put the text between the two marks in the guide."""
    page = GUIDE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    GUIDE.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument("figures", nargs="*", metavar="FIGURE", default=FIGURES)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--adk-python", help="an interpreter that has google-adk")
    parser.add_argument("--write", action="store_true", help="keep the figures in the guide")
    arguments = parser.parse_args()
    rows: list[tuple[str, float, float | None]] = []
    for figure in arguments.figures:
        ours, theirs = measure(figure, arguments.runs, arguments.adk_python)
        measurements = [(name, value, theirs.get(name)) for name, value in ours.items()]
        print(table(measurements), flush=True)
        rows += measurements
    today = datetime.now(tz=UTC).date()
    runs_text = "one run" if arguments.runs == 1 else f"medians of {arguments.runs} runs"
    head = f"Measured on {today} on {machine()}; {runs_text}."
    if arguments.write:
        write(f"{head}\n\n{table(rows)}")
    print(head)
    print(json.dumps({name: value for name, value, _ in rows}))


if __name__ == "__main__":
    main()
