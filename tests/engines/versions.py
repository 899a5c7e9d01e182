"""Tries which versions of google-adk run, one after another: `scripts/versions`.

Each version gets its own environment, created once and kept in the given folder. The three
projects run with it on both engines, and the table in docs/guide/from-adk-web.md is rewritten.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import NamedTuple

from tests.kit.server import ROOT, make_session, run, running

PROJECTS = {
    "weather": ("What is the weather in Oslo?", "The forecast: sunny in Oslo"),
    "travel_desk": ("When do flights leave?", "Flights leave at nine. (en)"),
    "expenses": ("Pay me 20 euros", "20 euros are paid."),
}
"""A message for each project in tests/projects, and the agent's answer."""
PAGE = ROOT / "docs" / "guide" / "from-adk-web.md"
BEGIN, END = "<!-- versions -->\n", "<!-- /versions -->\n"


class Version(NamedTuple):
    """A google-adk, and the google-genai to install instead of the one that it requires."""

    adk: str
    genai: str = ""


VERSIONS = (
    Version("2.13.0"),
    Version("2.13.0", "3.6.1"),
    Version("2.10.0"),
    Version("2.5.0"),
    Version("2.0.0"),
    Version("1.39.1"),
)


def environment(folder: Path, version: Version) -> Path:
    """The Python of the version's environment, which is created if missing."""
    place = folder / "-".join(filter(None, ("adk", *version)))
    python = place / "bin" / "python"
    if not (place / "made").exists():
        venv.create(place, clear=True, with_pip=True)
        install = [python, "-m", "pip", "install", "-q"]
        subprocess.run([*install, f"google-adk=={version.adk}"], check=True)
        if version.genai:
            subprocess.run([*install, f"google-genai=={version.genai}"], check=True)
        (place / "made").touch()
    return python


def installed(python: Path, package: str) -> str:
    """The version of a package in an interpreter's environment."""
    code = f"from importlib.metadata import version; print(version({package!r}))"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def outcome(python: Path, engine: str) -> str:
    """How the projects run on an engine: `runs`, or the first wrong answer or error."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(ROOT / "tests" / "projects", folder / "agents")
        options = ("--python", str(python), "--engine", engine)
        with running(folder / "agents", folder / "data", *options) as server, server.client() as c:
            for app, (message, right) in PROJECTS.items():
                session = make_session(c, app)
                if "id" not in session:
                    return str(session)
                frames = run(c, app, session["id"], message)
                wrong = [frame["error"] for frame in frames if "error" in frame]
                if wrong or right not in str(frames):
                    text = str(wrong[0] if wrong else frames)
                    return f"`{app}`: {text.replace(str(python), 'python')}"
    return "runs"


def table(folder: Path) -> str:
    """The guide's table in Markdown."""
    rows = [
        "| google-adk | google-genai | engine `google-adk` | engine `devui` in its environment |",
        "|---|---|---|---|",
    ]
    for version in VERSIONS:
        python = environment(folder, version)
        cells = [outcome(python, engine) for engine in ("google-adk", "devui")]
        rows.append(f"| {' | '.join([version.adk, installed(python, 'google-genai'), *cells])} |")
        sys.stderr.write(f"{rows[-1]}\n")
    return "\n".join(rows) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the environments are kept")
    arguments = parser.parse_args()
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}{table(arguments.folder)}{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
