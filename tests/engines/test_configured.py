"""Plugins and a memory service that a project configures outside its agents, on both engines."""

import json
import time

import pytest

from tests.kit.oracle import adk_python, needs_adk
from tests.kit.patience import PATIENCE
from tests.kit.server import get_session, make_session, run, running, write_app
from tests.kit.terminal import devui

AGENT = """
import json
import sys
from pathlib import Path
from types import SimpleNamespace

from google.adk.agents import Agent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.genai import types


class Scripted(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        part = types.Part(text="Hello.")
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


class Analytics(BasePlugin):
    def __init__(self, **table):
        super().__init__(name="analytics")
        self.table = table

    async def after_agent_callback(self, *, agent, callback_context):
        with Path(__file__).with_name("sent.txt").open("a") as file:
            print(json.dumps(self.table), file=file)


sys.modules["google.adk.plugins.bigquery_agent_analytics_plugin"] = SimpleNamespace(
    BigQueryAgentAnalyticsPlugin=Analytics
)


async def recall(callback_context):
    answer = await callback_context.search_memory("tea")
    callback_context.state["recalled"] = [each.content.parts[0].text for each in answer.memories]


root_agent = Agent(name="desk", model=Scripted(model="scripted"), before_agent_callback=recall)
"""
PLUGINS = """
from google.adk.plugins.base_plugin import BasePlugin


class Audit(BasePlugin):
    async def before_agent_callback(self, *, agent, callback_context):
        seen = callback_context.state.get("audited", [])
        callback_context.state["audited"] = [*seen, self.name]


by_hand = Audit(name="by hand")
no_plugin = 3
"""
SHELF = """
from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.genai import types


class Shelf(BaseMemoryService):
    def __init__(self, uri, **given):
        self.uri, self.given = uri, sorted(given)

    async def add_session_to_memory(self, session):
        pass

    async def search_memory(self, *, app_name, user_id, query):
        text = f"{query} from {self.uri} with {self.given}"
        part = types.Part(text=text)
        return SearchMemoryResponse(memories=[MemoryEntry(content=types.Content(parts=[part]))])
"""
YAML = "services: [{scheme: shelf, type: memory, class: shelves.Shelf}]"
PYTHON = """
from google.adk.cli.service_registry import get_service_registry
from shelves import Shelf

get_service_registry().register_memory_service("shelf", lambda uri, **more: Shelf(uri, **more))
"""
TABLE = """
bigquery_agent_analytics:
  project_id: lab
  dataset_id: events
  dataset_location: EU
"""
PARTS = ("devui", pytest.param("google-adk", marks=needs_adk))


@pytest.fixture
def agents(tmp_path):
    folder = tmp_path / "agents"
    write_app(folder, "desk", AGENT)
    (folder / "house_plugins.py").write_text(PLUGINS, encoding="utf-8")
    (folder / "shelves.py").write_text(SHELF, encoding="utf-8")
    return folder


def options(engine):
    return ["--engine", engine, *(["--python", str(adk_python())] if engine != "devui" else [])]


def state(client):
    session = make_session(client, "desk")["id"]
    frames = run(client, "desk", session, "go")
    assert not any("error" in frame for frame in frames), frames
    return get_session(client, "desk", session)["state"]


@pytest.mark.parametrize("engine", PARTS)
def test_extra_plugins_are_classes_or_objects(agents, tmp_path, engine):
    names = ["house_plugins.Audit", "house_plugins.by_hand"]
    wrong = ["house_plugins.no_plugin", "house_plugins.Absent", "no_such_module.Plugin", "Plugin"]
    plugin_options = [word for name in [*names, *wrong] for word in ("--extra_plugins", name)]
    with (
        running(agents, tmp_path / "data", *options(engine), *plugin_options) as server,
        server.client() as client,
    ):
        assert state(client)["audited"] == ["house_plugins.Audit", "by hand"]
        info = client.get("/dev/apps/desk/build_graph").json()
        assert [each["name"] for each in info["plugins"]] == ["house_plugins.Audit", "by hand"]
        page = client.get("/apps/desk", headers={"Accept": "text/html"}).text
        assert all(f"The plugin {name} of --extra_plugins is left out" in page for name in wrong)


SERVICES = [
    (place, file, text)
    for file, text in (("services.yaml", YAML), ("services.yml", YAML), ("services.py", PYTHON))
    for place in ("", "desk")
]


# One module finds the files for both engines; Google's takes two seconds to load.
@pytest.mark.parametrize(
    ("engine", "place", "file", "text"),
    [("devui", *service) for service in SERVICES]
    + [pytest.param("google-adk", *SERVICES[n], marks=needs_adk) for n in (0, -1)],
)
def test_a_registered_memory_service_is_used(agents, tmp_path, engine, place, file, text):
    (agents / place / file).write_text(text, encoding="utf-8")
    uri = ["--memory_service_uri", "shelf://top"]
    with (
        running(agents, tmp_path / "data", *options(engine), *uri) as server,
        server.client() as client,
    ):
        memory = "tea from shelf://top with ['agents_dir']"
        assert state(client)["recalled"] == [memory]


@pytest.mark.parametrize("engine", PARTS)
def test_an_unregistered_memory_service_keeps_the_app_from_loading(agents, tmp_path, engine):
    uri = ["--memory_service_uri", "shelf://top"]
    with (
        running(agents, tmp_path / "data", *options(engine), *uri) as server,
        server.client() as client,
    ):
        [frame] = run(client, "desk", make_session(client, "desk")["id"], "go")
        assert "No memory service is registered for the scheme 'shelf'" in frame["error"]


@needs_adk
def test_events_go_to_the_table_in_plugins_yaml_on_google_adk(agents, tmp_path):
    file, sent_file = agents / "desk" / "plugins.yaml", agents / "desk" / "sent.txt"
    file.write_text(TABLE, encoding="utf-8")
    table = {"project_id": "lab", "dataset_id": "events", "table_id": None, "location": "EU"}
    with (
        running(agents, tmp_path / "data", *options("google-adk")) as server,
        server.client() as client,
    ):
        state(client)
        assert json.loads(sent_file.read_text()) == table
        for text in ("- 1", TABLE.replace("EU", "''")):
            file.write_text(text, encoding="utf-8")
            assert client.post("/apps/desk/reload").status_code == 303
            state(client)
            assert json.loads(sent_file.read_text()) == table, text


def test_a_replay_sends_nothing_to_the_table(agents, tmp_path):
    (agents / "desk" / "plugins.yaml").write_text(TABLE, encoding="utf-8")
    with (
        running(agents, tmp_path / "data", *options("google-adk")) as server,
        server.client() as client,
    ):
        state(client)
        [session] = client.get("/api/sessions", params={"app": "desk"}).json()["sessions"]
        path = f"/api/sessions/{session['key']}"
        [recorded] = client.get(f"{path}/runs").json()["runs"]
        replay = client.post(f"{path}/replays", json={"run": recorded["run"]}).json()
        until = time.monotonic() + PATIENCE
        while (answer := client.get(f"/api/runs/{replay['run']}/replay").json())["verdict"] is None:
            assert time.monotonic() < until, answer
        assert answer["verdict"]["divergence"] is None, answer
        assert len((agents / "desk" / "sent.txt").read_text().splitlines()) == 1


def test_the_table_in_plugins_yaml_has_no_effect_on_devuis_engine(agents, tmp_path):
    (agents / "desk" / "plugins.yaml").write_text(TABLE, encoding="utf-8")
    with running(agents, tmp_path / "data", *options("devui")) as server, server.client() as client:
        state(client)
        assert not (agents / "desk" / "sent.txt").exists()
        page = client.get("/apps/desk", headers={"Accept": "text/html"}).text
        assert "plugins.yaml has no effect" in page
        assert "Only the google-adk engine" in page


def test_the_doctor_says_which_files_take_effect(agents, tmp_path):
    (agents / "services.yaml").write_text(YAML, encoding="utf-8")
    (agents / "desk" / "plugins.yaml").write_text(TABLE, encoding="utf-8")
    output = devui("doctor", "--agents", str(agents), cwd=tmp_path).stdout
    assert f"{agents}/services.yaml is only partly supported" in output
    assert "are used with --memory_service_uri" in output
    assert f"{agents}/desk/plugins.yaml is only partly supported" in output
