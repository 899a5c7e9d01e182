"""The Python interpreter that has google-adk, and the records of all cases played there."""

import hashlib
import json
import os
import subprocess
from pathlib import Path
from typing import Any

from tests.kit.rounds import THOROUGH
from tests.source import ROOT

VERSION = "2.13.0"
"""The google-adk release that behavior is compared with."""

_HOW = (
    f"No Python with google-adk {VERSION} was found. scripts/test makes one in .venv-adk;"
    " or name one: DEVUI_ADK_PYTHON=/path/to/python."
)


_VERSIONS = """
import platform
from importlib.metadata import distributions
versions = {each.name.lower(): each.version for each in distributions()}
print(versions.pop("google-adk", ""))
print(platform.platform(), platform.python_version(), sorted(versions.items()))
"""
"""Prints the google-adk version, then the platform and all other package versions."""


class NoOracleError(RuntimeError):
    """Raised if there is no google-adk to compare with."""


def interpreter() -> Path:
    """Return the path of the Python that has google-adk.

    Raises:
        NoOracleError: There is none; the message says what to do.
    """
    variable = os.environ.get("DEVUI_ADK_PYTHON")
    path = Path(variable) if variable else ROOT / ".venv-adk" / "bin" / "python"
    if not path.exists():
        raise NoOracleError(f"{path} does not exist. {_HOW}")
    return path


def reference(folder: Path) -> dict[str, Any]:
    """Return google-adk's records of all cases, played in one process because its import is slow.

    They are cached in `folder` until the cases or the interpreter change.
    """
    python = str(interpreter())
    versions = subprocess.run(
        [python, "-c", _VERSIONS], capture_output=True, text=True, check=False
    )
    version = versions.stdout.partition("\n")[0]
    if version != VERSION:
        raise NoOracleError(f"{python} has google-adk {version or 'not at all'}. {_HOW}")
    file = folder / f"{_fingerprint(python + versions.stdout)}.json"
    if file.exists():
        return _read(file.read_text(encoding="utf-8"))
    text = _play(python)
    records = _read(text)
    if not any("broken" in record for record in records.values()):
        for older in folder.glob("*.json"):
            older.unlink(missing_ok=True)
        new = file.with_suffix(f".{os.getpid()}")
        new.write_text(text, encoding="utf-8")
        new.replace(file)
    return records


def _read(text: str) -> dict[str, Any]:
    records: dict[str, Any] = json.loads(text)
    return records


def _fingerprint(environment: str) -> str:
    """Hash everything that affects the records: cases, helpers and environment."""
    digest = hashlib.sha256(f"{environment}{THOROUGH}".encode())
    for folder in ("tests/differential", "tests/kit"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:32]


def _play(python: str) -> str:
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
    return done.stdout
