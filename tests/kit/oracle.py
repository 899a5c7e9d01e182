"""A Python that has google-adk, for tests that compare with it or exchange files with it.

`DEVUI_ADK_PYTHON` names it, or `.venv-adk` is one; tests are skipped where there is neither.
"""

import os
import subprocess
import textwrap
from pathlib import Path

import pytest

from tests.kit.patience import PATIENCE

ROOT = Path(__file__).resolve().parents[2]


def adk_python() -> Path | None:
    """The interpreter, or None."""
    named = os.environ.get("DEVUI_ADK_PYTHON")
    path = Path(named) if named else ROOT / ".venv-adk" / "bin" / "python"
    return path if path.exists() else None


needs_adk = pytest.mark.skipif(
    adk_python() is None, reason="no google-adk: set DEVUI_ADK_PYTHON to a Python that has it"
)


def run_adk(code: str, *args: str | Path) -> str:
    """What this code prints; it is the body of `async def main(args)`. Its stderr on failure."""
    body = textwrap.indent(textwrap.dedent(code), "    ")
    program = f"import asyncio, sys\nasync def main(args):\n{body}\nasyncio.run(main(sys.argv[1:]))"
    done = subprocess.run(
        [str(adk_python()), "-W", "ignore", "-c", program, *map(str, args)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
