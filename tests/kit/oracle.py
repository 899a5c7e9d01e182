"""A Python that has google-adk, for tests that compare with it or exchange files with it.

`DEVUI_ADK_PYTHON` names it, or it is in `.venv-adk`; without either, tests are skipped.
"""

import atexit
import json
import os
import subprocess
import tempfile
import textwrap
import threading
from functools import cache
from pathlib import Path

import pytest

from tests.kit.patience import PATIENCE

ROOT = Path(__file__).resolve().parents[2]


def adk_python() -> Path | None:
    """Return the interpreter, or None."""
    variable = os.environ.get("DEVUI_ADK_PYTHON")
    path = Path(variable) if variable else ROOT / ".venv-adk" / "bin" / "python"
    return path if path.exists() else None


needs_adk = pytest.mark.skipif(
    adk_python() is None, reason="no google-adk: set DEVUI_ADK_PYTHON to a Python that has it"
)


@cache
def adk_has(package: str) -> bool:
    """Return whether there is such an interpreter and it has the package."""
    python = adk_python()
    if python is None:
        return False
    code = f"import sys, importlib.util; sys.exit(importlib.util.find_spec({package!r}) is None)"
    return subprocess.run([str(python), "-c", code], check=False).returncode == 0


def run_adk(code: str, *args: str | Path) -> str:
    """Run the body of `async def main(args)`, and return what it prints; fail with its stderr."""
    done = subprocess.run(
        [str(adk_python()), "-W", "ignore", "-c", _program(code), *map(str, args)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_stores(code: str, *args: str | Path) -> str:
    """Do what `run_adk` does, with google-adk's session and artifact services already imported."""
    process = _forker()
    with tempfile.TemporaryDirectory() as folder:
        files = [str(Path(folder, name)) for name in ("output", "errors")]
        job = {"program": _program(code), "args": [*map(str, args)], "files": files}
        process.stdin.write(json.dumps(job) + "\n")
        process.stdin.flush()
        patience = threading.Timer(PATIENCE, process.kill)
        patience.start()
        status = process.stdout.readline()
        patience.cancel()
        output, errors = (Path(file).read_text(encoding="utf-8") for file in files)
    assert status == "0\n", errors
    return output


@cache
def _forker() -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [str(adk_python()), "-W", "ignore", "-m", "tests.kit.adk_forks"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    atexit.register(process.communicate)
    return process


def _program(code: str) -> str:
    body = textwrap.indent(textwrap.dedent(code), "    ")
    return f"import asyncio, sys\nasync def main(args):\n{body}\nasyncio.run(main(sys.argv[1:]))"
