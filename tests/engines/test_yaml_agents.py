"""A `root_agent.yaml` runs on either engine and gives the same agents on both."""

import re
import sys

import pytest

from devui.runtime.agents import yaml_agents
from tests.kit.oracle import adk_python, needs_adk, run_adk
from tests.kit.server import make_session, run, running

ROOT_AGENT = """
agent_class: SequentialAgent
name: desk
description: a desk
sub_agents:
  - config_path: parts/clerk.yaml
  - code: described.code.closing
before_agent_callbacks:
  - name: described.code.greet
"""
CLERK = """
name: clerk
model_code: {name: described.code.model}
instruction: Look things up.
description: looks things up
output_key: found
include_contents: none
disallow_transfer_to_peers: true
generate_content_config: {temperature: 0.25, max_output_tokens: 99}
output_schema: {name: described.code.Shape}
before_model_callbacks:
  - name: described.code.note
tools:
  - name: described.code.look_up
  - name: exit_loop
  - name: described.code.make_tool
    args: {word: hello}
  - name: AgentTool
    args: {agent: {config_path: helper.yaml}, skip_summarization: true}
"""
HELPER = "{name: helper, model: gemini-2.5-flash, instruction: Help.}"
CODE = '''
from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.genai import types
from pydantic import BaseModel

class Scripted(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        yield LlmResponse(content=types.Content(role="model", parts=[
            types.Part(text='{"word": "yes"}')]))

class Shape(BaseModel):
    word: str

model = Scripted(model="scripted")
closing = LlmAgent(name="closing", model=model, instruction="Close.")

def greet(callback_context):
    callback_context.state["greeted"] = True

def note(callback_context, llm_request):
    settings = llm_request.config
    callback_context.state["seen"] = [settings.temperature, settings.max_output_tokens]

def look_up(word: str) -> str:
    """Looks a word up."""
    return word

def make_tool(args):
    def made(word: str) -> str:
        """Made by a function."""
        return word
    return made
'''


@pytest.fixture
def agents(tmp_path):
    folder = tmp_path / "agents" / "described"
    (folder / "parts").mkdir(parents=True)
    (folder / "root_agent.yaml").write_text(ROOT_AGENT)
    (folder / "parts" / "clerk.yaml").write_text(CLERK)
    (folder / "parts" / "helper.yaml").write_text(HELPER)
    (folder / "code.py").write_text(CODE)
    return tmp_path / "agents"


def described(agents, tmp_path, engine):
    """The tree of agents, and the state and authors of a run."""
    python = ("--python", str(adk_python())) if engine == "google-adk" else ()
    data = tmp_path / engine
    with running(agents, data, *python, "--engine", engine) as server, server.client() as client:
        name = make_session(client, "described")["id"]
        frames = run(client, "described", name, "go")
        assert not any("error" in frame for frame in frames), frames
        state = client.get(f"/apps/described/users/u/sessions/{name}").json()["state"]
        page = client.get("/apps/described", headers={"Accept": "text/html"}).text
        info = client.get("/apps/described/tools", headers={"Accept": "text/html"}).text
        names = ("desk", "clerk", "look_up", "made", "exit_loop", "helper")
        tree = {name: (name in page, name in info) for name in names}
        return tree, state, [frame["author"] for frame in frames]


@needs_adk
def test_a_file_gives_the_same_agents_on_both_engines(agents, tmp_path):
    by_adk = described(agents, tmp_path, "google-adk")
    ours = described(agents, tmp_path, "devui")
    assert ours == by_adk
    pages, state, authors = ours
    assert all(any(each) for each in pages.values()), pages
    assert (state["greeted"], state["seen"], state["found"]) == (True, [0.25, 99], {"word": "yes"})
    assert authors == ["desk", "clerk", "closing"]


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("root_agent.yaml", "name: [", ("root_agent.yaml:1:", "valid YAML")),
        ("root_agent.yaml", "just words", ("the file has no keys",)),
        (
            "root_agent.yaml",
            "{name: a, instructon: b}",
            ("instructon", "did you mean `instruction`?"),
        ),
        ("root_agent.yaml", "{agent_class: Nobody, name: a}", ("agent_class", "'Nobody'")),
        ("parts/clerk.yaml", "{name: a, tools: [{name: described.code.gone}]}", ("no gone",)),
        ("parts/clerk.yaml", "{name: a, tools: [{name: no_tool}]}", ("built-in tool 'no_tool'",)),
        ("parts/clerk.yaml", "{name: a, sub_agents: [../root_agent.yaml]}", ("is outside",)),
    ],
)
def test_a_mistake_in_a_file_is_reported(agents, tmp_path, file, text, words):
    (agents / "described" / file).write_text(text)
    options = ("--engine", "devui")
    with running(agents, tmp_path / "data", *options) as server, server.client() as client:
        detail = client.get("/apps/described/app-info").json()["detail"]
        assert all(word in detail for word in words), detail


TOOLS = "name: a\ninstruction: b\ntools: [{name: "
FAULTS = {
    "missing": ("agent_class: SequentialAgent\nname: a\nsub_agents: [{config_path: b.yaml}]\n", 3),
    "unknown": ("name: a\nagent_class: Nobody\n", 2),
    "empty": ("", None),
    "broken": ("name: a\ninstruction: [\n", 3),
    "misspelt": ("name: a\ninstruction: b\nmodle: c\n", 3),
    "command": (f"{TOOLS}McpToolset, args: {{stdio_server_params: {{command: ls}}}}}}]\n", 3),
    "no_tool": (f"{TOOLS}google_serch}}]\n", 3),
}
"""Files, and the line of the fault in each."""


@pytest.mark.parametrize("engine", ["devui", pytest.param("google-adk", marks=needs_adk)])
def test_a_mistake_is_reported_with_its_file_and_line(tmp_path, engine):
    agents = tmp_path / "agents"
    for name, (text, _) in FAULTS.items():
        (agents / name).mkdir(parents=True)
        (agents / name / "root_agent.yaml").write_text(text)
    python = ("--python", str(adk_python())) if engine == "google-adk" else ()
    with (
        running(agents, tmp_path / "data", *python, "--engine", engine) as server,
        server.client() as client,
    ):
        for name, (_, line) in FAULTS.items():
            detail = client.get(f"/apps/{name}/app-info").json()["detail"]
            assert detail.endswith(f"({name}/root_agent.yaml{f':{line}' if line else ''})"), detail


REFUSED = {
    "tools": "tools: [{name: PATH}]",
    "callbacks": "before_agent_callbacks: [{name: PATH}]",
    "model_code": "model_code: {name: PATH}",
    "output_schema": "output_schema: {name: PATH}",
    "sub_agents": "sub_agents: [{code: PATH}]",
    "agent_class": "agent_class: PATH",
}
PATHS = ("os.system", "timeit.timeit", "yaml.unsafe_load", "distutils.spawn.spawn", "os.path.join")


@pytest.mark.parametrize("engine", ["devui", pytest.param("google-adk", marks=needs_adk)])
def test_references_to_modules_that_can_run_code_are_refused(tmp_path, engine):
    agents = tmp_path / "agents"
    # On its engine, google-adk itself refuses, and each app takes seconds to load.
    every = "tools" if engine == "devui" else None
    cases = [(key, path) for key in REFUSED for path in (PATHS if key == every else PATHS[:1])]
    for number, (key, path) in enumerate(cases):
        folder = agents / f"case_{number}"
        folder.mkdir(parents=True)
        text = f"name: a\ninstruction: b\n{REFUSED[key].replace('PATH', path)}\n"
        (folder / "root_agent.yaml").write_text(text)
    python = ("--python", str(adk_python())) if engine == "google-adk" else ()
    with (
        running(agents, tmp_path / "data", *python, "--engine", engine) as server,
        server.client() as client,
    ):
        for number, (_, path) in enumerate(cases):
            app = f"case_{number}"
            [frame] = run(client, app, make_session(client, app)["id"], "go")
            words = "is not allowed here" if engine == "devui" else "module reference|qualified"
            assert re.search(words, frame["error"]), (path, frame)
            assert path in frame["error"]


@needs_adk
def test_the_refused_packages_are_the_same_as_google_adks():
    code = """
    import sys
    from google.adk.agents.config_agent_utils import _BLOCKED_MODULES
    print(*sorted(_BLOCKED_MODULES - sys.stdlib_module_names - set(sys.builtin_module_names)))
    """
    packages = set(yaml_agents.REFUSED) - sys.stdlib_module_names
    assert packages == set(run_adk(code).split())
