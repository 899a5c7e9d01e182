"""Folders that ADK users have: nested, oddly named, with files beside the agent (adk-web 2.2)."""

import html
import json
import re
from dataclasses import replace

import pytest

from devui.debugger.apps.apps import AppFolder
from tests.kit.server import get_session, make_session, run, running, write_app

AGENT = """
from devui.runtime.agents import Agent
from devui.runtime.models.scripted_llm import Rule, Say, ScriptedLlm

root_agent = Agent(
    name="root", model=ScriptedLlm(rules=[Rule(then=Say("from " + __name__))])
)
"""
PAGE = {"Accept": "text/html"}


@pytest.fixture
def agents(tmp_path):
    folder = tmp_path / "agents"
    write_app(folder, "hello", AGENT)
    return folder


@pytest.fixture
def client(agents, tmp_path):
    with running(agents, tmp_path / "data") as server, server.client() as client:
        yield client


def page(client, path: str = "/") -> str:
    """The text of a page, without tags; code is in backticks."""
    text = re.sub(r"<code>(.*?)</code>", r"`\1`", client.get(path, headers=PAGE).text)
    text = re.sub(r"<[^>]+>", " ", text)
    return " ".join(html.unescape(text).split())


@pytest.mark.parametrize("name", ["team.alpha", "team.beta", "ünï", "a.b.c.d.e", "日本"])
def test_an_app_with_any_importable_name_and_depth_is_listed_and_runs(agents, client, name):
    write_app(agents, name.replace(".", "/"), AGENT)
    (agents / "team").mkdir(exist_ok=True)
    assert client.get("/list-apps").json() == sorted(["hello", name])
    assert name in page(client)
    session = make_session(client, name)
    [answer] = run(client, name, session["id"], "Hi")
    assert answer["content"]["parts"][0]["text"] == f"from {name}.agent"
    assert name in page(client, f"/apps/{name}")
    assert client.get("/sessions/1", headers=PAGE).status_code == 200


def test_agents_in_a_package_share_its_modules(agents, client):
    (agents / "team").mkdir()
    (agents / "team" / "__init__.py").write_text("")
    (agents / "team" / "words.py").write_text("WORD = 'shared'\n")
    code = "from ..words import WORD\nfrom team.words import WORD as again\n"
    write_app(agents, "team/alpha", code + AGENT.replace('"from " + __name__', "WORD + again"))
    session = make_session(client, "team.alpha")
    [answer] = run(client, "team.alpha", session["id"], "Hi")
    assert answer["content"]["parts"][0]["text"] == "sharedshared"


LEFT_OUT = {
    "my agent/agent.py": "my agent Python can't import a folder with this name. Rename it, for"
    " example to my_agent.",
    "1st/agent.py": "1st Python can't import a folder with this name. Rename it, for example to"
    " agent_1st.",
    "team/x.y/agent.py": "team/x.y Python can't import a folder with this name.",
    ".hidden/agent.py": ".hidden Hidden folders are skipped.",
    "tmp/agent.py": "tmp Folders named tmp are skipped.",
    "a/b/c/d/e/f/agent.py": "a/b/c/d/e Apps can be up to 5 folders deep.",
    "yaml/root_agent.yml": "yaml Rename root_agent.yml to root_agent.yaml.",
    "main/main.py": "main It has no agent.py, but main.py defines `root_agent`.",
    "loose.py": "loose.py Apps are folders. Move this file to loose/agent.py.",
}


@pytest.mark.parametrize("path", LEFT_OUT)
def test_an_agent_that_is_not_listed_is_named_with_the_reason(agents, client, path):
    file = agents / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("root_agent = None\n")
    assert client.get("/list-apps").json() == ["hello"]
    assert f"Not listed {LEFT_OUT[path]}" in page(client)


def test_a_link_out_of_the_folder_is_reported(agents, client, tmp_path):
    (agents / "link").symlink_to(write_app(tmp_path, "outside", AGENT).parent)
    assert "link It is a link to another folder." in page(client)


def test_a_services_file_in_the_agents_folder_is_reported(agents, client):
    assert "Partially supported files" not in page(client)
    (agents / "services.yaml").write_text("services: []")
    assert "Partially supported files services.yaml Memory services registered here" in page(client)


def test_folders_without_an_agent_are_not_reported(agents, client):
    for path in ("notes/notes.md", "lib/util.py", "hello/sub/agent.py", ".venv/x.py", "hello/b.py"):
        (agents / path).parent.mkdir(parents=True, exist_ok=True)
        (agents / path).write_text("agents = 3\n")
    environment = agents / "env" / "lib" / "package"
    environment.mkdir(parents=True)
    (environment / "agent.py").write_text("root_agent = 1\n")
    (agents / "env" / "pyvenv.cfg").write_text("")
    assert client.get("/list-apps").json() == ["hello"]
    text = page(client)
    assert "Not listed" not in text
    expected = "3 other folders without an `agent.py` or `root_agent.yaml`: env , lib , notes"
    assert expected in text


SOURCES = {
    "def broken(:\n": "Syntax error in agent.py, line 1.",
    "x = 1\nif x\n": "Syntax error in agent.py, line 2.",
    "my_root_agent = 1\n": "agent.py has no root_agent.",
    "": "agent.py has no root_agent.",
    "\ufeffroot_agent: object = 1\n": "",
    "print(root_agent := 1)\n": "",
    "root_agent, x = 1, 2\n": "",
    "app = App(root_agent=1)\n": "",
    "from .parts import root_agent\n": "",
    "from .parts import maker as root_agent\n": "",
    "from .parts import *\n": "",
    "def __getattr__(name): ...\n": "",
    "globals()['root' + '_agent'] = 1\n": "",
    "\0": "",
}


@pytest.mark.parametrize("source", SOURCES)
def test_a_card_says_why_an_app_cannot_load(agents, source):
    write_app(agents, "odd", source)
    folder = AppFolder.at(agents)
    assert folder.source("odd").problem == SOURCES[source]
    other = replace(folder, has_same_python=False).source("odd").problem
    assert other == ("" if "Syntax" in SOURCES[source] else SOURCES[source])


def test_an_agent_beside_an_agent_py_without_one_is_no_problem(agents):
    write_app(agents, "odd", "x = 1\n")
    (agents / "odd" / "root_agent.yaml").write_text("name: odd\n")
    assert AppFolder.at(agents).source("odd").problem == ""


def test_a_card_shows_a_problem_until_the_app_is_loaded(agents, client):
    write_app(agents, "odd", "x = 1\n")
    assert "odd not started agent.py has no root_agent." in page(client)
    write_app(agents, "odd", "if x\n")
    assert "odd not started Syntax error in agent.py, line 1." in page(client)
    write_app(agents, "odd", AGENT)
    assert "odd not started LlmAgent" in page(client)


def test_each_folder_without_an_agent_says_what_it_contains(agents, client):
    for path in ("work/a.py", "notes/a.md", "deep/more/a.py", "env/pyvenv.cfg"):
        (agents / path).parent.mkdir(parents=True)
        (agents / path).write_text("")
    (agents / "none").mkdir()
    expected = (
        "deep no agent in its folders env virtual environment none empty notes no Python files"
        " work Python files without root_agent"
    )
    assert expected in page(client)


def test_many_other_folders_are_folded(agents, client):
    assert "other folder" not in page(client)
    for number in range(300):
        (agents / f"d{number:03}").mkdir()
    answer = client.get("/", headers=PAGE).text
    [fold] = re.findall(r'<details class="other-folders.*?</details>', answer, re.DOTALL)
    summary, _, names = fold.partition("</summary>")
    assert "300 other folders" in summary
    assert re.findall(r"<code[^>]*>(d\d+)", summary) == ["d000", "d001", "d002"]
    assert len(re.findall(r"<code[^>]*>d\d+", names)) == 200
    assert "and 100 more" in names


def test_a_card_says_what_an_app_is_before_and_after_it_is_loaded(agents, client):
    source = AGENT.replace(
        'name="root",', 'name="root", description="Greets.", tools=[len, abs],', 1
    )
    write_app(agents, "hello", source)
    write_app(agents, "made", f"{AGENT}\nmake = lambda: root_agent\nroot_agent = make()\n")
    text = page(client)
    assert "hello not started Greets. LlmAgent · 2 tools not used yet" in text
    assert "made not started not used yet" in text  # only running it would tell
    session = make_session(client, "made")
    run(client, "made", session["id"], "Hi")
    assert "made ready LlmAgent · scripted · runs on devui 1 session" in page(client)


README = """# Hello

- Not a prompt

## Sample Inputs

- `Go home`
- "What now?"
- `this` is explained

```
In
two lines
```
"""


def test_the_example_prompts_of_a_readme_are_buttons(agents, client):
    (agents / "hello" / "README.md").write_text(README)
    session = make_session(client, "hello")
    expected = ["Go home", "What now?", "In\ntwo lines"]
    app = client.get("/apps/hello", headers=PAGE).text
    assert re.findall(r'<button name="text" value="([^"]*)"', app) == expected
    [key] = [each["key"] for each in client.get("/api/sessions").json()["sessions"]]
    chat = client.get(f"/sessions/{key}", headers=PAGE).text
    assert session["id"] in chat
    assert re.findall(r'name="text" value="([^"]*)"><button class="prompt"', chat) == expected


@pytest.mark.parametrize(("name", "apps"), [("hello", ["hello"]), ("my agent", [])])
def test_opening_an_apps_own_folder_lists_it_or_says_why_not(tmp_path, name, apps):
    folder = write_app(tmp_path / "agents", name, AGENT).parent
    with running(folder, tmp_path / "data") as server, server.client() as client:
        assert client.get("/list-apps").json() == apps
        assert ("my agent Python can't import" in page(client)) is not bool(apps)


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("agent.py", "hello"),
        ("root_agent.yaml", "hello"),
        ("agent/__init__.py", "hello"),
        ("agent/agent.py", "agent"),
    ],
)
def test_opening_a_file_of_an_app_opens_the_app(tmp_path, file, name):
    write_app(tmp_path / "agents", "other", AGENT)
    path = tmp_path / "agents" / "hello" / file
    path.parent.mkdir(parents=True)
    path.write_text(AGENT if path.suffix == ".py" else "name: hello\n")
    with running(path, tmp_path / "data") as server, server.client() as client:
        assert client.get("/list-apps").json() == [name]


@pytest.mark.parametrize(
    ("path", "text", "words"),
    [
        ("plugins.yaml", "a: 1", "Pass other plugins to an App in agent.py"),
        ("services.yml", "services: []", "Session and artifact services aren't"),
        ("services.py", "from google.adk.cli.service_registry import x", "services aren't"),
        ("initial_state.json", "[1]", "New sessions start without it: initial_state.json is not"),
        ("initial_state.json", '{"a": NaN}', "NaN is not a valid JSON number"),
        ("root_agent.yaml", "name: x", "agent.py takes precedence."),
    ],
)
def test_a_partially_supported_file_is_named_on_the_apps_page(agents, client, path, text, words):
    assert "Partially supported files" not in page(client, "/apps/hello")
    (agents / "hello" / path).write_text(text)
    assert words in page(client, "/apps/hello")


def test_a_mistake_in_a_yaml_app_is_reported_with_its_line(agents, client):
    (agents / "configured").mkdir()
    (agents / "configured" / "root_agent.yaml").write_text("name: x\n")
    assert client.get("/list-apps").json() == ["configured", "hello"]
    session = make_session(client, "configured")
    (agents / "configured" / "root_agent.yaml").write_text("name: x\ninstructions: help\n")
    message = run(client, "configured", session["id"], "Hi")[-1]["error"]
    assert (
        "root_agent.yaml:2: LlmAgent has no `instructions`; did you mean `instruction`?" in message
    )


INSTALL = "Install it where the agents run: "
START = "Start devui in"


@pytest.mark.parametrize(
    ("name", "line", "words"),
    [
        ("lacks", "import nowhere_to.be.seen", "-m pip install nowhere-to`"),
        ("lacks", "from google.cloud import nothing_v2", "-m pip install google-cloud-nothing`"),
        ("lacks", "import google.cloud.nothing as x", "-m pip install google-cloud-nothing`"),
        ("lacks", "from . import gone", ""),
        ("lacks", "from lacks.gone import x", ""),
        ("lacks", "import json.gone", ""),
        ("lacks", "import helper", "Use a relative import: `from .helper import ...`."),
        ("team.alpha", "from alpha.helper import x", f"{START} {{agents}}/team instead."),
        ("team.alpha", "from agents.team import x", f"{START} {{agents.parent}} instead."),
        ("lacks", "import beside", "PYTHONPATH={agents.parent}."),
    ],
)
def test_an_import_that_fails_says_what_to_install_or_change(agents, client, name, line, words):
    file = write_app(agents / name.rpartition(".")[0], name.rpartition(".")[2], f"{line}\n")
    file.with_name("helper.py").write_text("")
    (agents.parent / "beside.py").write_text("")
    session = make_session(client, name)
    reason, _, advice = run(client, name, session["id"], "Hi")[-1]["error"].partition("\n")
    assert reason.startswith(("ModuleNotFoundError: No module", "ImportError: cannot import"))
    assert advice.endswith(words.format(agents=agents))
    assert (INSTALL in advice) == ("pip install" in words)
    assert bool(advice) == bool(words)
    assert advice in html.unescape(page(client, f"/apps/{name}"))


def test_a_new_session_starts_with_the_initial_state(agents, client):
    file = agents / "hello" / "initial_state.json"
    file.write_text(json.dumps({"seed": 1, "user:lang": "de"}))
    assert make_session(client, "hello")["state"] == {"seed": 1, "user:lang": "de"}
    own = make_session(client, "hello", state={"seed": 2, "more": 3})
    assert own["state"] == {"seed": 2, "user:lang": "de", "more": 3}
    session = client.post("/apps/hello/users/u/sessions/named", json={}).json()
    assert session["state"] == {"seed": 1, "user:lang": "de"}
    origin = {"Origin": str(client.base_url).rstrip("/"), "Sec-Fetch-Site": "same-origin"}
    client.post("/apps/hello/sessions", data={"id": "form"}, headers={**PAGE, **origin})
    assert get_session(client, "hello", "form", user="user")["state"]["seed"] == 1
    file.write_text("{broken")  # the next session is created anyway
    assert make_session(client, "hello")["state"] == {"user:lang": "de"}
