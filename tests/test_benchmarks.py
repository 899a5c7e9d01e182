"""The benchmarks run, and report what the guide says. Their figures don't matter here."""

import json
import re
import subprocess
import sys

import pytest

from benchmarks.__main__ import FIGURES
from tests.source import ROOT

QUICK = {
    "turns": ["--seconds", "0.01"],
    "gates": ["--seconds", "0.01"],
    "run_sse": ["--seconds", "0.01"],
    "floor": ["--seconds", "0.01", "--clients", "2"],
    "startup": ["--runs", "1"],
    "day": [
        *("--events", "100", "--sessions", "60", "--rows", "40"),
        *("--runs", "1", "--keys", "2", "--sends", "1"),
    ],
}


@pytest.mark.slow
@pytest.mark.parametrize("figure", QUICK)
def test_a_benchmark_ends_with_its_figures_as_json(figure: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{figure}", *QUICK[figure]],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout.splitlines()[-1])
    assert all(value > 0 for name, value in figures.items() if not name.endswith("_failures"))
    guide = (ROOT / "docs" / "guide" / "performance.md").read_text(encoding="utf-8")
    assert all(name.split(".")[0] in guide for name in figures)


def test_every_figure_has_its_module() -> None:
    missing = [name for name in FIGURES if not (ROOT / "benchmarks" / f"{name}.py").is_file()]
    assert missing == []


def test_the_guide_has_figures_of_each_kind_that_it_explains() -> None:
    guide = (ROOT / "docs" / "guide" / "performance.md").read_text(encoding="utf-8")
    explained, _, figures = guide.partition("<!-- figures -->")
    kinds = {*re.findall(r"`(\w+)\.[^`]+`", explained)}
    assert kinds == {*re.findall(r"^\| `(\w+)\.", figures, re.MULTILINE)}
