"""Workers run in the user's own environment, in which devui isn't installed."""

import html
import os
import shutil
import subprocess
import sys
import venv

import pytest

from tests.kit.oracle import adk_python, needs_adk
from tests.kit.server import ROOT, make_session, run, running, write_app

PROJECTS = ROOT / "tests" / "projects"
HTML = {"Accept": "text/html"}
ENVIRONMENTS = os.environ.get("DEVUI_ADK_PYTHONS", "").split(os.pathsep)
"""More interpreters with google-adk, to be tested one after another."""


@pytest.fixture(scope="module", params=["google-adk", "devui"])
def engine(request):
    return request.param


@pytest.fixture(scope="module", params=["oracle", *filter(None, ENVIRONMENTS)])
def other(request, engine, tmp_path_factory):
    """A server whose workers run in an environment with google-adk and without devui."""
    python = adk_python() if request.param == "oracle" else request.param
    if python is None:
        pytest.skip("no google-adk: set DEVUI_ADK_PYTHON to a Python that has it")
    folder = tmp_path_factory.mktemp("other")
    agents = folder / "agents"
    shutil.copytree(PROJECTS, agents)
    with running(agents, folder / "data", "--python", str(python), "--engine", engine) as server:
        yield server, str(python)


def texts(client, app, message):
    frames = run(client, app, make_session(client, app)["id"], message)
    assert not any("error" in frame for frame in frames), frames
    return [
        part["text"]
        for frame in frames
        if not frame.get("partial")
        for part in frame.get("content", {}).get("parts", [])
        if "text" in part
    ]


@pytest.mark.parametrize(
    ("app", "message", "answer"),
    [
        ("weather", "What is the weather in Oslo?", "The forecast: sunny in Oslo"),
        ("travel_desk", "When do flights leave?", "Flights leave at nine. (en)"),
        ("expenses", "Pay me 20 euros", "20 euros are paid."),
    ],
)
def test_projects_run_on_either_engine(other, engine, app, message, answer):
    server, _ = other
    with server.client() as client:
        assert texts(client, app, message) == [answer]
        page = client.get(f"/apps/{app}", headers=HTML).text
    assert f"Engine: <b>{engine}" in page


def test_an_agent_of_devui_runtime_runs_without_devui_installed(other, engine):
    if engine == "google-adk":
        pytest.skip("google-adk does not run it")
    server, python = other
    code = f"""
import subprocess, sys
from devui.runtime.agents import LlmAgent
from devui.runtime.models import Rule, Say, ScriptedLlm

assert sys.prefix == {str(prefix(python))!r}
assert not [folder for folder in sys.path if folder.startswith({sys.prefix + "/"!r})], sys.path
child = subprocess.run([sys.executable, "-P", "-c", "import devui"], capture_output=True)
assert b"No module named" in child.stderr
assert not {{"starlette", "aiosqlite", "uvicorn", "jinja2"}} & set(sys.modules)
root_agent = LlmAgent(name="own", model=ScriptedLlm(rules=[Rule(then=Say("hello"))]))
"""
    write_app(server.agents, "own", code)
    with server.client() as client:
        assert texts(client, "own", "hi") == ["hello"]


def reloaded(server, app):
    """The app's page after reloading the app."""
    with server.client() as client:
        client.post(f"/apps/{app}/reload")
        return client.get(f"/apps/{app}", headers=HTML).text


def prefix(python):
    command = [python, "-c", "import sys; print(sys.prefix)"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_missing_packages_are_listed_with_the_install_command(tmp_path):
    venv.create(tmp_path / "bare", symlinks=True)
    python = tmp_path / "bare" / "bin" / "python"
    shutil.copytree(PROJECTS, tmp_path / "agents")
    with running(tmp_path / "agents", tmp_path / "data", "--python", str(tmp_path / "bare")) as it:
        page = reloaded(it, "weather").replace("&#39;", "'")
    for word in ("google-genai is missing", "pydantic is missing", "python-dotenv is missing"):
        assert word in page
    assert f"{python} -m pip install 'google-genai>=" in page.replace("&gt;", ">")
    assert f"uv pip install --python {python} " in page


def test_missing_packages_are_listed_in_the_terminal(tmp_path):
    venv.create(tmp_path / "bare", symlinks=True)
    (tmp_path / "agents").mkdir()
    options = ["--python", str(tmp_path / "bare"), "--no-browser", "--port", "0"]
    done = subprocess.Popen(
        [sys.executable, "-m", "devui", "agents", *options],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    try:
        assert "pydantic is missing" in done.stderr.readline()
    finally:
        done.terminate()
        done.communicate()


def test_an_invalid_interpreter_is_refused_at_the_start(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "devui", str(ROOT / "agents"), "--python", str(tmp_path)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 1
    assert "isn't a Python interpreter: name one" in done.stderr


@needs_adk
@pytest.mark.parametrize(
    ("engine", "app", "words"),
    [
        ("devui", "weather", "You chose devui"),
        ("google-adk", "weather", "You chose google-adk"),
        ("google-adk", "native", "imports devui.runtime, which google-adk cannot run"),
    ],
)
def test_a_chosen_engine_is_used_or_refused_with_advice(tmp_path, engine, app, words):
    shutil.copytree(PROJECTS, tmp_path / "agents")
    code = "from devui.runtime.agents import Agent\nroot_agent = Agent(name='native')\n"
    write_app(tmp_path / "agents", "native", code)
    options = ("--python", str(adk_python()), "--engine", engine)
    with running(tmp_path / "agents", tmp_path / "data", *options) as server:
        assert words in reloaded(server, app)


def test_the_google_adk_engine_is_refused_if_it_is_not_installed(tmp_path):
    shutil.copytree(PROJECTS, tmp_path / "agents")
    with running(tmp_path / "agents", tmp_path / "data", "--engine", "google-adk") as server:
        page = html.unescape(reloaded(server, "weather"))
    assert f"google-adk isn't installed in {sys.executable}" in page
    assert "-m pip install google-adk" in page
    assert "--python" in page
    assert "engine devui" in page
