"""`devui create`: a folder with an agent that answers at once."""

import stat
import subprocess
import sys

import pytest

from tests.kit.server import ROOT
from tests.kit.terminal import devui

ASK = "What is the time in Tokyo?"


def test_a_new_agent_answers_without_a_key(tmp_path):
    created = devui("create", "first", cwd=tmp_path)
    assert created.returncode == 0, created.stderr
    assert f'devui run first "{ASK}"' in created.stdout
    done = devui("run", "first", ASK, cwd=tmp_path)
    assert (done.returncode, done.stdout.startswith("It is ")) == (0, True), done.stderr
    done = devui("doctor", "--agents", ".", cwd=tmp_path)
    assert "FAULT" not in done.stdout.partition("Apps")[2]


def test_a_model_and_its_key_are_written_with_adks_names(tmp_path):
    options = ["--model", "gemini-2.5-pro", "--api_key", "k-1234", "--project=p", "--region", "eu"]
    done = devui("create", "deep/first", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "deep" / "first"
    code = (folder / "agent.py").read_text()
    compile(code, "agent.py", "exec")
    assert 'model="gemini-2.5-pro"' in code
    assert "from google.adk.agents import Agent" in code
    assert (folder / ".env").read_text().splitlines() == [
        "GOOGLE_GENAI_USE_VERTEXAI=1",
        "GOOGLE_CLOUD_PROJECT=p",
        "GOOGLE_CLOUD_LOCATION=eu",
        "GOOGLE_API_KEY=k-1234",
    ]
    assert stat.S_IMODE((folder / ".env").stat().st_mode) == 0o600
    assert ".env" in (folder / ".gitignore").read_text().splitlines()
    assert "k-1234" not in done.stdout + code


def test_create_does_not_overwrite_files(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "agent.py").write_text("mine")
    done = devui("create", "mine", cwd=tmp_path)
    assert (done.returncode, "already contains agent.py" in done.stderr) == (2, True)
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["agent.py"]


@pytest.mark.parametrize("name", ["9a", "user", "my-agent", "..", "a b"])
def test_an_invalid_agent_name_is_refused(tmp_path, name):
    done = devui("create", name, cwd=tmp_path)
    assert (done.returncode, "is not a valid" in done.stderr) == (2, True)
    assert not [path for path in tmp_path.iterdir() if path.is_dir()]


def test_created_agents_are_formatted_like_our_own_code(tmp_path):
    for name, model in (("one", []), ("two", ["--model", "m"])):
        devui("create", name, *model, cwd=tmp_path)
        command = [sys.executable, "-m", "ruff", "format", "--check", "--config"]
        done = subprocess.run(
            [*command, str(ROOT / "pyproject.toml"), name], cwd=tmp_path, capture_output=True
        )
        assert done.returncode == 0, (done.stdout, done.stderr)
