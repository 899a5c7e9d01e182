"""The scripts, in a copy of the project whose Python only records its arguments."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.source import ROOT

SCRIPTS = ["run", "test", "check", "fix", "bench", "nightly"]
RECORDER = """#!/bin/sh
[ "$1" = -c ] && exit 0
echo "$@" >> "$CALLS"
"""


class Copy:
    """A checkout with only the scripts, and an environment that records."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "calls"
        shutil.copytree(ROOT / "scripts", folder / "scripts")
        shutil.copy(ROOT / "pyproject.toml", folder)
        python = folder / ".venv" / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.write_text(RECORDER)
        python.chmod(0o755)

    def run(self, script: str, *arguments: str, cwd: Path | None = None) -> list[str]:
        """Run a script, and return the arguments of each call of Python."""
        self.log.write_text("")
        subprocess.run(
            [self.folder / "scripts" / script, *arguments],
            cwd=cwd or self.folder,
            env={**os.environ, "CALLS": str(self.log)},
            check=True,
            capture_output=True,
        )
        return self.log.read_text().splitlines()

    def tests(self, script: str, folder: Path, *arguments: str, has_adk: bool = True) -> list[str]:
        """Run a script that needs browsers, which exist, and google-adk, which may exist."""
        program = folder / "program"
        program.write_text("#!/bin/sh\necho Mozilla Firefox\n")
        program.chmod(0o755)
        variables = ("DEVUI_AXE", "DEVUI_CHROMIUM", "DEVUI_FIREFOX", "DEVUI_ADK_PYTHON")
        with pytest.MonkeyPatch.context() as patch:
            for name in variables:
                patch.setenv(name, str(program))
            if not has_adk:
                patch.delenv("DEVUI_ADK_PYTHON")
            return self.run(script, *arguments)


@pytest.fixture
def checkout(tmp_path: Path) -> Copy:
    (tmp_path / "checkout").mkdir()
    return Copy(tmp_path / "checkout")


@pytest.mark.parametrize("name", [*(f"scripts/{script}" for script in SCRIPTS), ".ci/run"])
def test_scripts_are_executable_and_stop_at_the_first_error(name: str) -> None:
    path = ROOT / name
    assert os.access(path, os.X_OK)
    assert "\nset -euo pipefail\n" in path.read_text(encoding="utf-8")


def test_an_environment_is_made_once_and_updated_when_the_project_changes(checkout: Copy) -> None:
    assert any("pip install" in call for call in checkout.run("run"))
    assert checkout.run("run") == [f"-m devui {checkout.folder}/agents"]
    with (checkout.folder / "pyproject.toml").open("a") as project:
        project.write("# changed\n")
    assert any("pip install" in call for call in checkout.run("run"))


def test_the_scripts_that_need_development_tools_install_them(checkout: Copy) -> None:
    checkout.run("run")
    calls = checkout.run("check")
    assert any(call.endswith(f"-e {checkout.folder}[dev]") for call in calls)
    assert checkout.run("run") == [f"-m devui {checkout.folder}/agents"]


@pytest.mark.parametrize(
    ("arguments", "folder_is_given"),
    [
        ([], False),
        (["--no-browser"], False),
        (["mine"], True),
        (["--no-browser", "mine"], True),
        (["--port", "9000", "mine", "--no-auth"], True),
        (["--data-dir", "mine"], False),
        (["--data-dir=mine", "--port=9000"], False),
    ],
)
def test_run_shows_the_samples_unless_a_folder_is_given(
    checkout: Copy, tmp_path: Path, arguments: list[str], folder_is_given: bool
) -> None:
    (tmp_path / "mine").mkdir()
    checkout.run("run")
    samples = [] if folder_is_given else [f"{checkout.folder}/agents"]
    expected = " ".join(["-m devui", *samples, *arguments])
    assert checkout.run("run", *arguments, cwd=tmp_path) == [expected]


def test_the_test_script_passes_its_arguments_to_pytest(checkout: Copy, tmp_path: Path) -> None:
    calls = checkout.tests("test", tmp_path, "-k", "one")
    assert calls[-1].startswith("-m pytest ")
    assert calls[-1].endswith(" -k one")
    assert "-m mypy --no-error-summary" in calls


def test_a_fast_run_makes_no_environment_for_google_adk(checkout: Copy, tmp_path: Path) -> None:
    calls = checkout.tests("test", tmp_path, "--fast", "-x", has_adk=False)
    assert not any(call.startswith("-m venv") for call in calls)
    assert calls[-1].startswith("-m pytest ")
    assert calls[-1].endswith(" --fast -x")


def test_the_nightly_script_tests_hostile_texts_in_firefox(checkout: Copy, tmp_path: Path) -> None:
    files = " ".join(
        f"tests/browser/test_{name}.py" for name in ("hostile", "matrix", "leaving", "windows")
    )
    assert checkout.tests("nightly", tmp_path, "-x")[-1] == f"-m pytest {files} -x"
