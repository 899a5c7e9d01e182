"""Apps that import google.adk run unchanged where it is not installed."""

import platform
import sys

import pytest

from tests.kit.server import get_session, make_session, run, write_app

IMPORTS = """
import google.adk
Agent = google.adk.agents.Agent
---
import google.adk.agents.llm_agent
Agent = google.adk.agents.llm_agent.LlmAgent
---
from google import adk
Agent = adk.Agent
---
from google import adk, genai
assert genai.types
Agent = adk.agents.LlmAgent
---
import google.adk.agents as agents
Agent = agents.Agent
---
from google.adk import Agent, Runner
import google.adk
assert google.adk.__version__
---
import importlib
Agent = importlib.import_module('google.adk.agents').Agent
---
import importlib.util as u
assert u.find_spec('google.adk.tools')
from google.adk.agents import Agent
---
import importlib, google.adk.agents.llm_agent as module
module = importlib.reload(module)
Agent = module.LlmAgent
---
import google.adk.events.event as ours, devui.runtime.events.event as theirs
assert ours is theirs and ours.__spec__.name == 'devui.runtime.events.event'
from google.adk.agents import Agent
---
import pickle
from google.adk.agents import Agent
from google.adk.events import Event
assert pickle.loads(pickle.dumps(Event)) is Event
assert pickle.loads(b'cgoogle.adk.events.event\\nEvent\\n.') is Event
---
from google.adk.agents._streaming_mode import StreamingMode
from google.adk.agents.llm_agent import Agent, ToolContext
---
import importlib.metadata as m, importlib.util as u
try:
    m.version('google-adk')
except m.PackageNotFoundError:
    from google.adk.agents import Agent
---
import pkgutil, google.adk.agents as agents
names = {m.name for m in pkgutil.iter_modules(agents.__path__, 'google.adk.agents.')}
assert 'google.adk.agents.llm_agent' in names
Agent = agents.Agent
---
import runpy
names = runpy.run_module('google.adk.version')
assert names['__version__']
from google.adk.agents import Agent
---
import threading
found = []
def late():
    from google.adk.agents import Agent
    found.append(Agent)
threads = [threading.Thread(target=late) for _ in range(8)]
[t.start() for t in threads], [t.join() for t in threads]
Agent = found[0]
assert all(one is Agent for one in found) and len(found) == 8
""".strip().split("\n---\n")
"""Ways to import an agent class of google-adk."""


def play(client, app, *messages):
    """The texts that answer the messages, and the session after them."""
    session = make_session(client, app)["id"]
    texts = []
    for message in messages:
        for frame in run(client, app, session, message):
            assert "error" not in frame, frame
            parts = frame.get("content", {}).get("parts", []) if not frame.get("partial") else []
            texts += [part["text"] for part in parts if "text" in part]
    return texts, get_session(client, app, session)


def test_a_single_agent_calls_its_tool(client):
    texts, _ = play(client, "weather", "What is the weather in Oslo?")
    assert texts == ["The forecast: sunny in Oslo"]


def test_a_package_transfers_to_sub_agents_and_reads_its_env_file(client):
    texts, session = play(client, "travel_desk", "When do flights leave?")
    assert texts == ["Flights leave at nine. (en)"]
    assert session["events"][-1]["author"] == "flights_agent"
    assert session["state"] == {"flights_asked": 1}


def test_an_apps_plugins_and_resumability_are_used(client):
    texts, session = play(client, "expenses", "Pay me 20 euros")
    assert texts == ["20 euros are paid."]
    assert session["state"] == {"audit": ["reimburse"], "paid": 20}
    assert any(event["actions"].get("endOfAgent") for event in session["events"])


def test_an_app_asks_for_confirmation(client):
    _, session = play(client, "expenses", "Pay me 500 euros")
    calls = [
        part["functionCall"]["name"]
        for event in session["events"]
        for part in event["content"]["parts"]
        if "functionCall" in part
    ]
    assert calls == ["reimburse", "adk_request_confirmation"]
    assert "paid" not in session["state"]


@pytest.mark.parametrize("lines", IMPORTS)
def test_google_adk_may_be_imported_in_any_way(projects, client, lines):
    write_app(projects, "imports", f"{lines}\nroot_agent = Agent(name='imports')\n")
    client.post("/apps/imports/reload")
    page = client.get("/apps/imports", headers={"Accept": "text/html"}).text
    assert ">ready<" in page, page.split("app-failure", 1)[-1][:2000]


@pytest.mark.parametrize(
    "line",
    [
        "from google.adk.evaluation import AgentEvaluator",
        "import google.adk.evaluation",
        "from google.adk.agents import LiveRequestQueue",
        "import importlib.util\nimportlib.util.find_spec('google.adk.evaluation')",
    ],
)
def test_an_unsupported_import_is_explained_with_an_alternative(projects, client, line):
    write_app(projects, "asking", line)
    client.post("/apps/asking/reload")
    page = client.get("/apps/asking", headers={"Accept": "text/html"}).text
    assert "devui.runtime has no " in page
    assert "Instead:" in page


def test_an_import_that_google_adk_lacks_too_says_so(projects, client):
    write_app(projects, "asking", "from google.adk.workflow import NoSuchThing")
    client.post("/apps/asking/reload")
    page = client.get("/apps/asking", headers={"Accept": "text/html"}).text
    assert "devui.runtime has no workflow.NoSuchThing" in page
    assert "google-adk 2.13.0 has no public name workflow.NoSuchThing, either" in page
    assert f"Engine devui, Python {platform.python_version()} ({sys.executable})" in page
    write_app(projects, "asking", "from google.adk.agents import LlmAgnet")
    client.post("/apps/asking/reload")
    page = client.get("/apps/asking", headers={"Accept": "text/html"}).text
    assert "Did you mean LlmAgent?" in page
    assert "either" not in page


def test_google_adk_cannot_be_imported_outside_workers(projects, client):
    code = (
        "import subprocess, sys\n"
        "done = subprocess.run([sys.executable, '-c', 'import google.adk'], capture_output=True)\n"
        "assert done.returncode != 0\n"
        "from google.adk.agents import Agent\nroot_agent = Agent(name='outside')\n"
    )
    write_app(projects, "outside", code)
    client.post("/apps/outside/reload")
    assert ">ready<" in client.get("/apps/outside", headers={"Accept": "text/html"}).text
