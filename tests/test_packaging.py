"""What people install works: from the checkout to sdist, wheel, and an empty environment."""

import re
import shutil
import signal
import subprocess
import sys
import tarfile
import urllib.request
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import devui
from tests.kit.patience import PATIENCE
from tests.source import ROOT

pytestmark = pytest.mark.slow


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command to its end; fail with its output if it fails."""
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command} failed:\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The sdist, and the wheel built from it."""
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ROOT, cwd=out)
    (sdist,) = out.glob("*.tar.gz")
    (wheel,) = out.glob("*.whl")
    return sdist, wheel


@pytest.fixture(scope="module")
def installed(distributions: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `devui` command of an environment that has the wheel and nothing else of ours."""
    home = tmp_path_factory.mktemp("environment")
    venv.create(home, with_pip=False)
    python = home / "bin" / "python"
    quiet = ("--quiet", "--disable-pip-version-check")
    pip = (sys.executable, "-m", "pip", "--python", python, "install", *quiet)
    run(*pip, distributions[1], cwd=home)
    return home / "bin" / "devui"


@pytest.fixture
def link(installed: Path, tmp_path: Path) -> Iterator[str]:
    """The address that a `devui` prints when started in another directory."""
    shutil.copytree(ROOT / "agents" / "field_state", tmp_path / "mine" / "field_state")
    command = [installed, "mine", "--no-browser", "--no-auth", "--port", "0"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as server:
        assert server.stdout is not None
        lines = []
        for line in server.stdout:
            lines.append(line)
            match = re.search(r"http://127\.0\.0\.1:\d+/\S*", line)
            if match:
                break
        else:
            pytest.fail("devui ended without a link:\n" + "".join(lines))
        yield match[0]
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=PATIENCE)


def fetch(url: str) -> tuple[int, str]:
    with urllib.request.urlopen(url, timeout=PATIENCE) as response:
        return response.status, response.read().decode()


def test_the_wheel_holds_the_package_its_pages_and_its_licence(
    distributions: tuple[Path, Path],
) -> None:
    with zipfile.ZipFile(distributions[1]) as archive:
        names = set(archive.namelist())
    info = f"devui-{devui.__version__}.dist-info"
    expected = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "devui").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    for folder in ("templates", "static"):
        expected |= {
            f"devui/{path.relative_to(ROOT).as_posix()}"
            for path in (ROOT / folder).rglob("*")
            if path.is_file()
        }
    expected |= {f"{info}/{name}" for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt")}
    expected |= {f"{info}/licenses/LICENSE"}
    assert expected == names


def test_the_sdist_holds_what_the_wheel_is_built_from(distributions: tuple[Path, Path]) -> None:
    with tarfile.open(distributions[0]) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames()}
    expected = {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "devui/py.typed"}
    assert expected <= names
    assert "agents/travel/agent.py" in names
    assert not {name for name in names if name.startswith((".venv", ".git/", "tests/"))}


def test_an_installed_devui_serves_its_pages_from_another_directory(link: str) -> None:
    status, page = fetch(link)
    assert status == 200
    assert "field_state" in page
    style = re.search(r'href="(/static/[^"]+\.css[^"]*)"', page)
    assert style, f"the page links no stylesheet of ours:\n{page[:2000]}"
    origin = "/".join(link.split("/", 3)[:3])
    status, text = fetch(origin + style[1])
    assert status == 200
    assert "{" in text


def test_the_installed_command_prints_its_version(installed: Path, tmp_path: Path) -> None:
    assert devui.__version__ in run(installed, "--version", cwd=tmp_path)
