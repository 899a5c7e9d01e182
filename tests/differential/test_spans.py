"""Compares what a turn exports through OpenTelemetry on devui's runtime and on google-adk."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.differential.oracle import NoOracleError, interpreter
from tests.differential.spans import PLAYS, SETTINGS
from tests.source import ROOT

pytestmark = pytest.mark.differential

CASES = [f"{play.__name__.replace('_', ' ')}, {setting}" for setting in SETTINGS for play in PLAYS]


def exported(python: Path | str, root: str) -> dict[str, Any]:
    done = subprocess.run(
        [str(python), "-W", "ignore", "-m", "tests.differential.spans", root],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    records: dict[str, Any] = json.loads(done.stdout)
    return records


@pytest.fixture(scope="module")
def ours() -> dict[str, Any]:
    return exported(sys.executable, "devui.runtime")


@pytest.fixture(scope="module")
def theirs() -> dict[str, Any]:
    try:
        return exported(interpreter(), "google.adk")
    except NoOracleError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(error))


@pytest.mark.parametrize("case", CASES)
def test_spans_metrics_and_logs_match_google_adk(case, ours, theirs) -> None:
    assert ours[case] == theirs[case]


def outline(spans: list[Any]) -> list[Any]:
    """Return only the names of spans, with the names of their children as nested lists."""
    return [part for span in spans for part in (span["name"], outline(span["below"])) if part]


def test_a_turn_is_a_tree_of_spans(ours) -> None:
    answer = "generate_content scripted"
    calls = [answer, "execute_tool _city", answer]
    assert outline(ours["tool, as it comes"]["spans"]) == [
        "invoke_workflow agent",
        ["invoke_agent agent", calls],
    ]
    assert outline(ours["transferred, schema 1"]["spans"]) == [
        "invocation",
        [
            "invoke_agent first",
            ["call_llm", [answer], "execute_tool transfer_to_agent"],
            "invoke_agent second",
            ["call_llm", [answer]],
        ],
    ]


def test_instruments_are_not_loaded_without_a_provider() -> None:
    program = (
        "import asyncio, sys\n"
        "import opentelemetry.trace, opentelemetry.metrics\n"
        "from tests.differential.spans import tool\n"
        "from tests.differential.stage import Stage\n"
        "stage = Stage('devui.runtime')\n"
        "asyncio.run(tool(stage))\n"
        "assert len(stage.events) == 3, stage.events\n"
        "print('devui.runtime.telemetry.instruments' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "False\n", done.stderr
