"""How apps are found, loaded, described and replaced (adk-web 2.2, R51, R57)."""

import threading
from collections.abc import Callable

import pytest

from tests.kit.processes import workers_of
from tests.kit.server import make_session, run, run_body, running, write_app

AGENT = """
import logging, os
from devui.runtime.agents import Agent
from devui.runtime.models.scripted_llm import Rule, Say, ScriptedLlm

print("imported")
logging.getLogger("mine").warning("while importing")

def model(text, **more):
    return ScriptedLlm(rules=[Rule(then=Say(text, **more))])

"""


def agent(text: str, **more: object) -> str:
    options = "".join(f", {name}={value!r}" for name, value in more.items())
    return f"{AGENT}\nroot_agent = Agent(name='Root', model=model({text!r}{options}))\n"


@pytest.fixture
def agents(tmp_path):
    folder = tmp_path / "agents"
    write_app(folder, "hello", agent("one"))
    return folder


@pytest.fixture
def server(agents, tmp_path):
    with running(agents, tmp_path / "data") as server:
        yield server


@pytest.fixture
def client(server):
    with server.client() as client:
        yield client


def answer(client, app: str) -> str:
    session = make_session(client, app)
    last = run(client, app, session["id"], "Hi")[-1]
    return last["error"] if "error" in last else last["content"]["parts"][0]["text"]


def until(holds: Callable[[], bool]) -> None:
    """Poll until it holds; the test's timeout ends the wait."""
    while not holds():
        threading.Event().wait(0.05)


def test_a_package_may_export_the_agent_itself(agents, client):
    (agents / "packed").mkdir()
    (agents / "packed" / "__init__.py").write_text(agent("from the package"))
    assert answer(client, "packed") == "from the package"


def test_an_app_wins_over_a_root_agent(agents, client):
    code = agent("root agent") + (
        "from devui.runtime.apps import App\n"
        "app = App(name='named', root_agent=Agent(name='Other', model=model('the app')))\n"
    )
    write_app(agents, "both", code)
    assert answer(client, "both") == "the app"


def test_an_app_imports_its_modules_relatively_and_by_name(agents, client):
    write_app(agents, "split", "from . import words\nfrom split.words import agent as root_agent\n")
    (agents / "split" / "__init__.py").write_text("")
    words = agent("split").replace("root_agent =", "agent =")
    (agents / "split" / "words.py").write_text(words)
    assert answer(client, "split") == "split"


def test_the_nearest_env_file_is_loaded(agents, client):
    expression = "model(os.environ['GREETING'].upper())"  # the value itself may be redacted
    code = AGENT + f"root_agent = Agent(name='Root', model={expression})\n"
    write_app(agents, "greets", code)
    (agents / "greets" / ".env").write_text("GREETING=from the file\n")
    assert answer(client, "greets") == "FROM THE FILE"


@pytest.mark.req("R09")
def test_agent_code_does_not_see_the_servers_token(agents, client):
    code = AGENT + "root_agent = Agent(name='Root', model=model(str('DEVUI_TOKEN' in os.environ)))"
    write_app(agents, "spy", code)
    assert answer(client, "spy") == "False"


def test_opening_an_apps_folder_lists_only_that_app(agents, tmp_path):
    write_app(agents, "other", agent("two"))
    with running(agents / "hello", tmp_path / "more") as server, server.client() as client:
        assert client.get("/list-apps").json() == ["hello"]
        assert answer(client, "hello") == "one"


@pytest.mark.req("R22")
def test_hidden_misnamed_and_linked_folders_are_not_apps(agents, client, tmp_path):
    for name in (".hidden", "a b", "__pycache__", "1st", "tmp"):
        write_app(agents, name, agent("no"))
    outside = write_app(tmp_path, "outside", agent("no")).parent
    (agents / "link").symlink_to(outside)
    (agents / "notes").mkdir()
    assert client.get("/list-apps").json() == ["hello"]


@pytest.mark.req("R22")
def test_listing_apps_runs_none_of_their_code(agents, client):
    write_app(agents, "marks", "open('marker', 'w').close()\n")
    assert "marks" in client.get("/list-apps").json()
    client.get("/", headers={"Accept": "text/html"})
    assert not list(agents.parent.glob("**/marker"))


def test_the_first_message_has_focus_while_an_app_has_no_sessions(client):
    def field() -> str:
        page = client.get("/apps/hello", headers={"Accept": "text/html"}).text
        return page.partition('<textarea id="first-message"')[2].partition(">")[0]

    assert " autofocus " in field()
    make_session(client, "hello")
    assert field()
    assert " autofocus " not in field()


@pytest.mark.req("R57")
def test_the_next_run_uses_the_saved_code(agents, client):
    assert answer(client, "hello") == "one"
    write_app(agents, "hello", agent("two"))
    assert answer(client, "hello") == "two"
    write_app(agents, "hello", agent("six"))
    assert answer(client, "hello") == "six"


@pytest.mark.req("R51")
def test_an_app_that_fails_to_load_recovers_when_it_is_saved(agents, client):
    write_app(agents, "hello", "def broken(:\n")
    assert "SyntaxError" in answer(client, "hello")
    write_app(agents, "hello", agent("mended"))
    until(lambda: answer(client, "hello") == "mended")


@pytest.mark.req("R57")
def test_a_run_finishes_on_the_code_it_started_with(agents, client, server):
    slow = agent("one two three four five six", chunks=6, delay=0.3)
    write_app(agents, "slow", slow)
    session = make_session(client, "slow")
    body = run_body("slow", session["id"], "Hi", streaming=True)
    with client.stream("POST", "/run_sse", json=body) as response:
        lines = response.iter_lines()
        next(lines)
        write_app(agents, "slow", "def broken(:\n")
        with server.client() as other:
            page = {"Accept": "text/html"}
            until(lambda: "SyntaxError" in other.get("/apps/slow", headers=page).text)
            assert "previous version stays in use" in other.get("/sessions/1", headers=page).text
        rest = [line for line in lines if line.startswith("data:")]
    assert "one two three four five six" in rest[-1]
    assert answer(client, "slow") == "one two three four five six"


def test_prints_and_log_records_of_tools_reach_the_log(agents, client):
    code = AGENT.replace("def model", "import threading\n\ndef model") + (
        "from devui.runtime.models.scripted_llm import Call\n"
        "def say(word: str) -> str:\n"
        "    print('tool said', word)\n"
        "    logging.getLogger('mine').warning('logged %s', word)\n"
        "    return word\n"
        "rules = [Rule(after='say', then=Say('done')), Rule(then=Call('say', word='boo'))]\n"
        "root_agent = Agent(name='Root', model=ScriptedLlm(rules=rules), tools=[say])\n"
    )
    write_app(agents, "loud", code)
    assert answer(client, "loud") == "done"
    page = client.get("/sessions/1?tab=log", headers={"Accept": "text/html"}).text
    log = page.split('class="log-lines"', 1)[1]
    for words in ("tool said boo", "mine: logged boo", "warning"):
        assert words in log


@pytest.mark.req("R57")
def test_a_hundred_saves_during_a_run_load_one_new_version(agents, client, server):
    write_app(agents, "slow", agent("one two three four five six", chunks=6, delay=0.3))
    session = make_session(client, "slow")
    with client.stream(
        "POST", "/run_sse", json=run_body("slow", session["id"], "Hi", streaming=True)
    ) as response:
        lines = response.iter_lines()
        next(lines)
        for number in range(100):
            write_app(agents, "slow", agent(f"version {number}"))
            (agents / "slow" / f"part{number}.py").write_text(f"n = {number}\n")
        rest = [line for line in lines if line.startswith("data:")]
    assert "one two three four five six" in rest[-1]
    until(lambda: answer(client, "slow") == "version 99")
    until(lambda: len(workers_of(agents, "slow")) == 1)
    with server.client() as other:
        page = other.get("/apps/slow", headers={"Accept": "text/html"}).text
    assert "failed to load" not in page


@pytest.mark.req("R57")
def test_a_renamed_app_is_found_under_its_new_name(agents, client):
    assert answer(client, "hello") == "one"
    (agents / "hello").rename(agents / "again")
    until(lambda: client.get("/list-apps").json() == ["again"])
    assert answer(client, "again") == "one"
    until(lambda: workers_of(agents, "hello") == [])
