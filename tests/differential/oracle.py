"""The interpreter that has google-adk, and what it makes of all cases."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from tests.source import ROOT

VERSION = "2.13.0"
"""The release of google-adk that behaviour is compared with."""

_HOW = (
    f"No Python with google-adk {VERSION} was found. scripts/test makes one in .venv-adk;"
    " or name one: DEVUI_ADK_PYTHON=/path/to/python."
)


class NoOracleError(RuntimeError):
    """There is no google-adk to compare with."""


def interpreter() -> Path:
    """The Python that has google-adk.

    Raises:
        NoOracleError: there is none, with what to do.
    """
    named = os.environ.get("DEVUI_ADK_PYTHON")
    path = Path(named) if named else ROOT / ".venv-adk" / "bin" / "python"
    if not path.exists():
        raise NoOracleError(f"{path} does not exist. {_HOW}")
    return path


def reference() -> dict[str, Any]:
    """The records of all cases as google-adk plays them, in one process: its import is slow."""
    python = str(interpreter())
    asked = [python, "-c", "from importlib.metadata import version; print(version('google-adk'))"]
    found = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    if found != VERSION:
        raise NoOracleError(f"{python} has google-adk {found or 'not at all'}. {_HOW}")
    done = subprocess.run(
        [python, "-W", "ignore", "-m", "tests.differential.perform", "google.adk"],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"google-adk could not play the cases:\n{done.stderr[-4000:]}")
    records: dict[str, Any] = json.loads(done.stdout)
    return records
