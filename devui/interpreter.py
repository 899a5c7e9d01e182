"""The Python that agents run in, in workers and tests: devui's own, or one that the user names.

The latter doesn't need devui installed, only google-genai and pydantic, which come with google-adk,
and python-dotenv.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import sysconfig
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

WORKER_PYTHON: Final = "DEVUI_WORKER_PYTHON"
"""The variable that names the agents' Python or its environment, for the server and tests."""
PACKAGE: Final = Path(__file__).resolve().parent
"""The folder of `devui`."""
OLDEST_PYTHON: Final = (3, 11)
NEEDED: Final = {"google-genai": "1.75", "pydantic": "2.10", "python-dotenv": "1.0"}
"""The packages that workers import, with the oldest versions that were tested."""
ADK: Final = "google-adk"
OLDEST_ADK: Final = "2.5.0"
"""The oldest google-adk that was tested as an engine."""

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
"""Runs on Python 3.8 and newer, so that the error can give the version of one that is too old."""
_PLACE_OF_ADK: Final = """
import sys
from importlib.util import find_spec
sys.path[:] = [folder for folder in sys.path if folder]
found = find_spec("google") and find_spec("google.adk")
print(*(found.submodule_search_locations if found else ()), sep="\\n")
"""
"""Looks for the package without importing it."""


_MISSING: Final = """
import json, sys
from importlib.util import find_spec
sys.path[:] = [folder for folder in sys.path if folder]
def has(name):
    try:
        return find_spec(name) is not None
    except ImportError:
        return False
    except Exception:
        return True
print(json.dumps([name for name in json.load(sys.stdin) if not has(name)]))
"""
"""Looks for modules without importing them; only their parent packages are imported."""


class WrongPython(ValueError):
    """Workers can't run in the interpreter; the message says what to do."""


class NoFrontEnd(ValueError):
    """No interpreter has google-adk's front end; the message says what to do."""


@dataclass(frozen=True, slots=True)
class InstalledVersions:
    """The versions of an interpreter and its packages."""

    python: tuple[int, ...]
    packages: Mapping[str, str]
    """The installed versions of google-adk and of the packages in `NEEDED`."""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python for workers and for processes that play recordings."""

    path: Path
    own: bool
    """Whether this process runs in it."""
    variables: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Environment variables to add for its processes; empty ones are skipped."""

    @classmethod
    def at(cls, place: Path | None, variables: Mapping[str, str] | None = None) -> Self:
        """Return the interpreter at a path or in an environment's folder; without one, this one.

        Raises WrongPython if there is no interpreter.
        """
        if place is None:
            return cls(Path(sys.executable), own=True, variables=variables or {})
        # Links aren't resolved: an environment's interpreter is one, and its location matters.
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
        """The command that starts a worker, without options."""
        if self.own:
            return [sys.executable, "-P", "-m", "devui.worker"]
        return [str(self.path), "-P", str(PACKAGE / "worker" / "standalone.py")]

    def environment(self, outer: Mapping[str, str]) -> dict[str, str]:
        """Return the variables for its processes, as if its virtual environment were activated."""
        inner = {**outer, **{name: value for name, value in self.variables.items() if value}}
        folder = self.path.parent
        if not self.own and (folder.parent / "pyvenv.cfg").is_file():
            inner["VIRTUAL_ENV"] = str(folder.parent)
            inner["PATH"] = os.pathsep.join([str(folder), outer.get("PATH", os.defpath)])
        return inner

    def packages_time(self) -> int:
        """Return when packages were last installed or removed, in ns since the epoch.

        0 if unknown.
        """
        if self.own:
            folders = [Path(sysconfig.get_path(name)) for name in ("purelib", "platlib")]
        else:
            folders = [*self.path.parent.parent.glob("lib/python*/*-packages")]
        return max((folder.stat().st_mtime_ns for folder in folders if folder.is_dir()), default=0)

    def installed(self) -> InstalledVersions:
        """Run it to find out its versions; raise WrongPython if that fails."""
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
        return InstalledVersions(tuple(answer["python"]), packages)

    def missing(self, modules: Collection[str]) -> frozenset[str]:
        """Return the modules that it can't import; an empty set if the check fails."""
        if not modules:
            return frozenset()
        try:
            result = subprocess.run(  # noqa: S603 - the interpreter that the user named
                [self.path, "-c", _MISSING],
                input=json.dumps(sorted(modules)),
                capture_output=True,
                text=True,
                timeout=_SECONDS_TO_ANSWER,
                check=True,
            )
            return frozenset(json.loads(result.stdout))
        except (OSError, ValueError, subprocess.SubprocessError):
            return frozenset()

    def front_end(self) -> Path | None:
        """Return the folder of `adk web`'s front end, part of google-adk; None if absent."""
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

    def check(self) -> InstalledVersions:
        """Return its versions; raise WrongPython if workers can't run in it."""
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

    def summary(self, has: InstalledVersions) -> str:
        """Return its path and versions, in one line."""
        python = ".".join(map(str, has.python))
        packages = [
            f"{name} {has.packages[name]}" for name in (ADK, *NEEDED) if name in has.packages
        ]
        return f"agents run in {self.path}: {', '.join([f'Python {python}', *packages])}"

    def command_for(self, *packages: str) -> str:
        """Return the commands that install packages into it, for pip and uv."""
        path, names = shlex.quote(str(self.path)), shlex.join(packages)
        return f"`{path} -m pip install {names}` (uv: `uv pip install --python {path} {names}`)"


def front_end(interpreter: Interpreter) -> Path:
    """Return the folder of google-adk's front end, from the agents' interpreter or else devui's.

    Raises NoFrontEnd if neither has it.
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
    """Return the first three parts of a version, for comparison."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])
