"""Checks what devui runs on: Python, its packages, SQLite, the port, and the model keys.

Only the names of keys are reported, never their values.
"""

import os
import re
import socket
import sqlite3
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Final, NamedTuple

from dotenv import dotenv_values

from devui import __version__
from devui.cli.doctor.finding import Finding, fault, good, note
from devui.interpreter import numbers
from devui.settings import DEFAULT_HOST, DEFAULT_PORT

_KEYS: Final = (
    *("GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS"),
    *("GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_CLOUD_PROJECT", "OPENAI_API_KEY"),
    *("ANTHROPIC_API_KEY", "MISTRAL_API_KEY", "GROQ_API_KEY", "OPENROUTER_API_KEY"),
)
_WAL_RESET: Final = (3, 51, 3)
"""In older versions, a checkpoint and a commit at the same time could damage the file."""
_REQUIREMENT: Final = re.compile(
    r"""(?P<name>[\w.-]+) (?:\[[^]]*\])? \s* (?:>=\s*(?P<least>[\d.]+))?
        [^;]* (?:;.*extra\s*==\s*['"](?P<extra>[\w-]+)['"])?""",
    re.VERBOSE,
)
_NOT_FOR_USE: Final = frozenset({"dev"})


def check_environment(agents: Path) -> Iterator[Finding]:
    """Check the environment; `agents` is the folder to search for `.env` files."""
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
    problems: dict[str, list[_Problem]] = {}
    for requirement in requirements:
        match = _REQUIREMENT.match(requirement)
        if match is None or match["extra"] in _NOT_FOR_USE:
            continue
        of_extra = problems.setdefault(match["extra"] or "", [])
        if problem := _problem(match["name"], match["least"]):
            of_extra.append(problem)
    for problem in problems.pop("", []):
        yield fault(problem.what, "reinstall devui in its own virtual environment")
    yield from _extras(problems)


class _Problem(NamedTuple):
    """A problem with a package."""

    what: str
    is_missing: bool


def _problem(name: str, least: str | None) -> _Problem | None:
    try:
        current = version(name)
    except PackageNotFoundError:
        return _Problem(f"{name} is missing", is_missing=True)
    if least is None or numbers(current) >= numbers(least):
        return None
    return _Problem(f"{name} {current} is older than {least}", is_missing=False)


def _extras(problems: Mapping[str, Sequence[_Problem]]) -> Iterator[Finding]:
    """Report which extras are installed or outdated; agents may not need any."""
    absent = sorted(
        extra for extra, wrong in problems.items() if any(each.is_missing for each in wrong)
    )
    old = sorted(extra for extra, wrong in problems.items() if wrong and extra not in absent)
    for extra in old:
        what = ", ".join(each.what for each in problems[extra])
        yield note(f"extra {extra}: {what}", f"`pip install 'devui[{extra}]'` updates it")
    present = sorted(problems.keys() - {*absent, *old})
    words = [f"installed: {', '.join(present) or 'none'}"]
    words += [f"not installed: {', '.join(absent)}"] if absent else []
    advice = f"`pip install 'devui[{','.join(absent)}]'` for agents that need them"
    yield Finding("good", f"extras {'; '.join(words)}", advice if absent else "")


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
