"""ADK's commands and options in ADK's spelling: each is recognized, and works or gives advice."""

import json

import click
import pytest

from devui.cli.commands import INSTEAD as COMMANDS
from devui.cli.commands import kebab, main
from devui.cli.options import ADK_OPTIONS
from tests.kit.oracle import needs_adk, run_adk
from tests.kit.server import ROOT, make_session, run, running, write_app
from tests.kit.terminal import devui

GUIDE = ROOT / "docs" / "guide" / "from-adk-web.md"
LIST = """
import json
from google.adk.cli.cli_tools_click import main
options = {
    name: [
        [*parameter.opts, *parameter.secondary_opts]
        for parameter in command.params
        if parameter.param_type_name == "option"
    ]
    for name, command in main.commands.items()
}
print("LIST" + json.dumps(options))
"""
AGENT = """
import os
from devui.runtime.agents import Agent
from devui.runtime.models import LLMRegistry, Rule, Say, ScriptedLlm

told = " ".join(os.environ.get(n, "-") for n in ("ADK_ENABLE_A", "ADK_DISABLE_B"))


class Named(ScriptedLlm):
    @classmethod
    def supported_models(cls):
        return ["scripted-.*"]

    def __init__(self, model):
        super().__init__(model=model, rules=[Rule(then=Say(f"{told} {model}"))])


LLMRegistry.register(Named)
root_agent = Agent(name="hello")
"""


@pytest.fixture(scope="module")
def adk():
    """The options of google-adk's commands, with all their spellings."""
    return json.loads(run_adk(LIST).rpartition("LIST")[2])


def known(name):
    """The options of our command, in one spelling."""
    command = main.get_command(click.Context(main), name)
    return {
        kebab(each)
        for parameter in command.params
        if isinstance(parameter, click.Option)
        for each in (*parameter.opts, *parameter.secondary_opts)
    }


@needs_adk
@pytest.mark.parametrize(
    ("theirs", "ours"),
    [("web", "web"), ("api_server", "web"), ("run", "run"), ("create", "create")],
)
def test_every_option_of_adk_is_recognized(adk, theirs, ours):
    spelled = {kebab(name) for names in adk[theirs] for name in names}
    assert spelled - known(ours) == set()


@needs_adk
def test_every_command_of_adk_exists_here_or_gives_advice(adk):
    groups = {"deploy", "conformance", "eval_set", "migrate", "telemetry"}
    assert groups <= adk.keys()
    ours = {*main.list_commands(click.Context(main)), "api_server"}
    assert adk.keys() - ours == COMMANDS.keys()


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_an_unsupported_command_exits_with_2_and_one_line_of_advice(tmp_path, name):
    done = devui(name, "agents", "--print_detailed_results", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert COMMANDS[name] in done.stderr


@pytest.mark.parametrize("command", sorted(ADK_OPTIONS))
def test_the_guide_names_every_option(command):
    guide = GUIDE.read_text(encoding="utf-8")
    assert [each.name for each in ADK_OPTIONS[command] if f"`{each.name}" not in guide] == []


VALUES = {"text": ["x"], "texts": ["x"], "number": ["7"]}


@pytest.mark.parametrize("spelling", ["adk", "kebab"])
def test_the_server_starts_with_every_option_and_notes_ineffective_ones(tmp_path, spelling):
    """All options at once, except those that leave no trace in a folder."""
    write_app(tmp_path / "agents", "hello", AGENT)
    arguments, advised = [], []
    for option in ADK_OPTIONS["web"]:
        if option.name in {"--use_local_storage", "--verbose", "--session_service_uri"}:
            continue
        name = option.name if spelling == "adk" else kebab(option.name)
        arguments += [name, *VALUES.get(option.kind, [])]
        advised += [option.name] if option.effect is None else []
    errors = devui("web", "nowhere", *arguments, cwd=tmp_path).stderr
    assert [name for name in advised if f"note: {name} has no effect: " not in errors] == []
    agents = tmp_path / "agents"
    with running(agents, tmp_path / "data", *arguments) as server, server.client() as client:
        assert client.get("/list-apps").json() == ["hello"]


def test_features_default_model_and_auto_created_sessions_work(tmp_path):
    write_app(tmp_path / "agents", "hello", AGENT)
    options = ["--enable_features", "A,C", "--disable-features=B", "--auto_create_session"]
    options += ["--default_llm_model", "scripted-one"]
    with (
        running(tmp_path / "agents", tmp_path / "data", *options) as server,
        server.client() as client,
    ):
        [event] = run(client, "hello", "made-by-the-run", "hi")
        assert event["content"]["parts"][0]["text"] == "1 1 scripted-one"
    with running(tmp_path / "agents", tmp_path / "data") as server, server.client() as client:
        body = {"app_name": "hello", "user_id": "u", "session_id": "no"}
        message = {"role": "user", "parts": [{"text": "hi"}]}
        assert client.post("/run", json={**body, "new_message": message}).status_code == 404


@pytest.mark.parametrize(
    ("option", "kept"),
    [
        ("--no_use_local_storage", []),
        ("--session-service-uri=memory://", []),
        ("--session_service_uri=sqlite:///kept/my.db", ["kept"]),
    ],
)
def test_sessions_are_stored_where_adks_options_say(tmp_path, option, kept):
    write_app(tmp_path / "agents", "hello", AGENT)
    with running(tmp_path / "agents", tmp_path / "data", option) as server:
        with server.client() as client:
            make_session(client, "hello")
        assert sorted({path.name for path in tmp_path.iterdir()} - {"agents"}) == kept
    if kept:
        assert (tmp_path / "kept" / "my.devui").is_dir()


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (["resmue"], "'resume'"),
        (["api_sever"], "'api-server'"),
        (["--prot", "80"], "'--port'"),
        (["dbg", "stpe"], "'step'"),
        (["run", "x", "--jsnl"], "'--jsonl'"),
    ],
)
def test_a_misspelled_command_or_option_gets_a_suggestion(tmp_path, typed, meant):
    done = devui(*typed, cwd=tmp_path)
    assert done.returncode == 2
    assert meant in done.stderr
