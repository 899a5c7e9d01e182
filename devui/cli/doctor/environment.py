"""What devui runs on: Python, its packages, SQLite, the port, and which model keys are there.

Of keys only the names are read, never the values.
"""

import os
import re
import socket
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Final

from dotenv import dotenv_values

from devui import __version__
from devui.cli.doctor.finding import Finding, fault, good, note
from devui.settings import DEFAULT_HOST, DEFAULT_PORT

_KEYS: Final = (
    *("GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS"),
    *("GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_CLOUD_PROJECT", "OPENAI_API_KEY"),
    *("ANTHROPIC_API_KEY", "MISTRAL_API_KEY", "GROQ_API_KEY", "OPENROUTER_API_KEY"),
)
_WAL_RESET: Final = (3, 51, 3)
"""Before it, two connections that checkpoint and commit at one moment could damage a file."""
_REQUIREMENT: Final = re.compile(
    r"""(?P<name>[\w.-]+) (?:\[[^]]*\])? \s* (?:>=\s*(?P<least>[\d.]+))?
        [^;]* (?:;.*extra\s*==\s*['"](?P<extra>[\w-]+)['"])?""",
    re.VERBOSE,
)
_NOT_FOR_USE: Final = frozenset({"dev"})


def look_at_environment(agents: Path) -> Iterator[Finding]:
    """What there is to say; `agents` is where `.env` files are looked for."""
    python = ".".join(map(str, sys.version_info[:3]))
    yield good(f"devui {__version__} on Python {python}, {sys.platform}")
    yield _sqlite()
    yield from _packages()
    yield _port()
    yield from _keys(agents)


def _sqlite() -> Finding:
    name = f"SQLite {sqlite3.sqlite_version}"
    if sqlite3.sqlite_version_info >= _WAL_RESET:
        return good(name)
    return note(
        f"{name} can damage a file that two programs write at the same time",
        "devui is safe because only one connection writes; elsewhere, open the journal read-only",
    )


def _packages() -> Iterator[Finding]:
    try:
        requirements = requires("devui") or []
    except PackageNotFoundError:
        yield note("devui is not installed as a package", "its requirements can't be checked")
        return
    problems: dict[str, list[str]] = {}
    for requirement in requirements:
        match = _REQUIREMENT.match(requirement)
        if match is None or match["extra"] in _NOT_FOR_USE:
            continue
        problem = _problem(match["name"], match["least"])
        if match["extra"] is not None:
            problems.setdefault(match["extra"], []).extend([problem] if problem else [])
        elif problem:
            yield fault(problem, "reinstall devui in its own virtual environment")
    yield _extras(problems)


def _extras(problems: dict[str, list[str]]) -> Finding:
    """Which optional parts are there; the others are wrong only if an agent needs them."""
    present = sorted(extra for extra, wrong in problems.items() if not wrong)
    absent = sorted(extra for extra, wrong in problems.items() if wrong)
    words = [f"installed: {', '.join(present) or 'none'}"]
    words += [f"not installed: {', '.join(absent)}"] if absent else []
    advice = f"`pip install 'devui[{','.join(absent)}]'` for agents that need them"
    return Finding("good", f"extras {'; '.join(words)}", advice if absent else "")


def _problem(name: str, least: str | None) -> str:
    """What is wrong with a package; "" if nothing is."""
    try:
        current = version(name)
    except PackageNotFoundError:
        return f"{name} is missing"
    old = least is not None and _numbers(current) < _numbers(least)
    return f"{name} {current} is older than {least}" if old else ""


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def _port() -> Finding:
    with closing(socket.socket()) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((DEFAULT_HOST, DEFAULT_PORT))
        except OSError as error:
            return note(
                f"port {DEFAULT_PORT} is not available: {error.strerror}",
                "devui uses the next free port, or the one given with --port",
            )
    return good(f"port {DEFAULT_PORT} is free")


def _keys(agents: Path) -> Iterator[Finding]:
    places = {"the environment": {name for name in _KEYS if os.environ.get(name)}}
    folder = agents.resolve()
    files = [*(parent / ".env" for parent in (folder, *folder.parents)), *folder.glob("*/.env")]
    for file in files:
        if file.is_file():
            values = dotenv_values(file, interpolate=False)
            places[str(file)] = {name for name in _KEYS if values.get(name)}
    lines = [f"{', '.join(sorted(names))} in {place}" for place, names in places.items() if names]
    if lines:
        yield good(f"model keys: {'; '.join(lines)}")
    else:
        yield note(
            "no model keys are set", "scripted models need none; for others, put keys into .env"
        )
