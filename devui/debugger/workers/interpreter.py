"""The Python that the workers run in: devui's own, or one that the user names.

In another one nothing of devui is installed. What the workers need there is google-genai and
pydantic, which google-adk brings, and python-dotenv.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

PACKAGE: Final = Path(__file__).resolve().parents[2]
"""The folder of `devui`."""
OLDEST_PYTHON: Final = (3, 11)
NEEDED: Final = {"google-genai": "1.75", "pydantic": "2.10", "python-dotenv": "1.0"}
"""What the workers import, with the oldest versions that they were tried with."""
ADK: Final = "google-adk"
OLDEST_ADK: Final = "2.5.0"
"""The oldest google-adk that was tried as an engine."""

_SECONDS_TO_ANSWER: Final = 20.0
_PROGRAM: Final = """
import json, sys
sys.path[:] = [folder for folder in sys.path if folder]
from importlib.metadata import PackageNotFoundError, version
def have(name):
    try:
        return version(name)
    except PackageNotFoundError:
        return None
print(json.dumps({"python": sys.version_info[:3], "packages": {n: have(n) for n in sys.argv[1:]}}))
"""
"""Runs on any Python 3.8 or newer, so that one that is too old can be named."""
_PLACE_OF_ADK: Final = """
import sys
from importlib.util import find_spec
sys.path[:] = [folder for folder in sys.path if folder]
found = find_spec("google") and find_spec("google.adk")
print(*(found.submodule_search_locations if found else ()), sep="\\n")
"""
"""Looks for the package without importing it."""


class WrongPython(ValueError):
    """What was named is no Python that workers can run in; the message says what to do."""


class NoFrontEnd(ValueError):
    """No interpreter has a google-adk with its front end; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Installed:
    """What there is in an interpreter."""

    python: tuple[int, ...]
    packages: Mapping[str, str]
    """The versions of google-adk and of what workers need, as far as they are installed."""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python to start workers with."""

    path: Path
    own: bool
    """It is the one that this process runs in."""
    variables: Mapping[str, str] = field(default_factory=dict, hash=False)
    """More variables for its processes; empty ones are left out."""

    @classmethod
    def at(cls, place: Path | None, variables: Mapping[str, str] | None = None) -> Self:
        """The interpreter, or that of the environment's folder, which was named.

        Raises WrongPython if there is none.
        """
        if place is None:
            return cls(Path(sys.executable), own=True, variables=variables or {})
        # A link is not followed: an environment's interpreter is one, and where it lies counts.
        path = place.absolute()
        if path.is_dir():
            inside = [path / "bin" / "python", path / "Scripts" / "python.exe"]
            path = next((each for each in inside if each.is_file()), path)
        if not (path.is_file() and os.access(path, os.X_OK)):
            raise WrongPython(
                f"{str(place)!r} isn't a Python interpreter: name one, such as .venv/bin/python, or"
                " the folder of a virtual environment"
            )
        return cls(path, own=path == Path(sys.executable), variables=variables or {})

    @property
    def worker(self) -> list[str]:
        """The command that starts a worker, up to its options."""
        if self.own:
            return [sys.executable, "-P", "-m", "devui.worker"]
        return [str(self.path), "-P", str(PACKAGE / "worker" / "standalone.py")]

    def environment(self, outer: Mapping[str, str]) -> dict[str, str]:
        """The variables for its processes: an environment of its own counts as activated."""
        inner = {**outer, **{name: value for name, value in self.variables.items() if value}}
        folder = self.path.parent
        if not self.own and (folder.parent / "pyvenv.cfg").is_file():
            inner["VIRTUAL_ENV"] = str(folder.parent)
            inner["PATH"] = os.pathsep.join([str(folder), outer.get("PATH", os.defpath)])
        return inner

    def packages_time(self) -> int:
        """When packages were last installed or removed, in ns since the epoch; 0 if unknown."""
        if self.own:
            folders = [Path(sysconfig.get_path(name)) for name in ("purelib", "platlib")]
        else:
            folders = [*self.path.parent.parent.glob("lib/python*/*-packages")]
        return max((folder.stat().st_mtime_ns for folder in folders if folder.is_dir()), default=0)

    def installed(self) -> Installed:
        """Ask it what it has, in a process of its own; raises WrongPython if it does not say."""
        try:
            result = subprocess.run(  # noqa: S603 - the interpreter that the user named
                [self.path, "-c", _PROGRAM, ADK, *NEEDED],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=_SECONDS_TO_ANSWER,
                check=True,
            )
            answer = json.loads(result.stdout)
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            reason = error.stderr if isinstance(error, subprocess.CalledProcessError) else error
            raise WrongPython(f"{self.path} doesn't work as an interpreter: {reason}") from error
        packages = {
            name: version for name, version in answer["packages"].items() if version is not None
        }
        return Installed(tuple(answer["python"]), packages)

    def front_end(self) -> Path | None:
        """The folder of the front end of `adk web`, which google-adk brings; None without one."""
        try:
            result = subprocess.run(  # noqa: S603 - the interpreter that the user named
                [self.path, "-c", _PLACE_OF_ADK],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=_SECONDS_TO_ANSWER,
                check=True,
            )
        except (OSError, subprocess.SubprocessError):
            return None
        folders = [Path(line) / "cli" / "browser" for line in result.stdout.splitlines() if line]
        return next((each for each in folders if (each / "index.html").is_file()), None)

    def check(self) -> Installed:
        """What it has; raises WrongPython if workers cannot run on that."""
        has = self.installed()
        if has.python < OLDEST_PYTHON:
            version = ".".join(map(str, has.python))
            raise WrongPython(
                f"{self.path} is Python {version}; the workers need 3.11 or newer. Name a newer one"
                " with --python."
            )
        wrong = [
            f"{name} {has.packages[name]} is older than {least}"
            if name in has.packages
            else f"{name} is missing"
            for name, least in NEEDED.items()
            if numbers(has.packages.get(name, "")) < numbers(least)
        ]
        if wrong:
            names = [f"{name}>={least}" for name, least in NEEDED.items()]
            raise WrongPython(
                f"In {self.path} {', '.join(wrong)}. Install what agents need there with"
                f" {self.command_for(*names)}."
            )
        return has

    def summary(self, has: Installed) -> str:
        """Where it is and what it has, in one line."""
        python = ".".join(map(str, has.python))
        packages = [
            f"{name} {has.packages[name]}" for name in (ADK, *NEEDED) if name in has.packages
        ]
        return f"agents run in {self.path}: {', '.join([f'Python {python}', *packages])}"

    def command_for(self, *packages: str) -> str:
        """How to install packages into it, by either of two tools."""
        path, names = shlex.quote(str(self.path)), shlex.join(packages)
        return f"`{path} -m pip install {names}` (uv: `uv pip install --python {path} {names}`)"


def front_end(interpreter: Interpreter) -> Path:
    """The folder of google-adk's front end: the agents' interpreter goes before devui's own.

    Raises NoFrontEnd.
    """
    own = Interpreter.at(None)
    folder = interpreter.front_end() or own.front_end()
    if folder is None:
        names = " and ".join(dict.fromkeys([str(interpreter.path), str(own.path)]))
        raise NoFrontEnd(
            f"--adk-web serves the front end of an installed google-adk, and {names} has none."
            f" Install it with {interpreter.command_for(ADK)}, or name the environment that has it"
            " with --python."
        )
    return folder


def numbers(version: str) -> tuple[int, ...]:
    """The first three parts of a version, to be compared."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])
