"""A `.env` file has the same effect as with google-adk (adk-web 2.2)."""

import json

import pytest

from tests.kit.oracle import needs_adk, run_adk
from tests.kit.server import make_session, run, running

FILE = r"""
# a comment
PLAIN=one two
export EXPORTED=yes
GOOGLE_GENAI_USE_VERTEXAI=TRUE
GOOGLE_CLOUD_PROJECT = spaced
SINGLE='it is $PLAIN # kept'
DOUBLE="a\tb \"quoted\" # kept"
COMMENTED=value # not kept
HASHED=val#kept
EMPTY=
BARE
LINES="first
second"
REFERS=${PLAIN}/x
ABSENT=${NOWHERE:-else}
UNSET=${NOWHERE}
OUTER_TAKEN=from the file
OUTER_REFERS=${OUTER_TAKEN}
TWICE=first
TWICE=second
UMLAUT=Zürich
not a line =
AFTER=still read
"""
NAMES = [
    *("PLAIN", "EXPORTED", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_CLOUD_PROJECT", "SINGLE", "DOUBLE"),
    *("COMMENTED", "HASHED", "EMPTY", "BARE", "LINES", "REFERS", "ABSENT", "UNSET", "OUTER_TAKEN"),
    *("OUTER_REFERS", "TWICE", "UMLAUT", "AFTER", "ABOVE"),
]
AGENT = f"""
import os
from devui.runtime.agents import Agent
from devui.runtime.models.scripted_llm import Rule, Say, ScriptedLlm

seen = {{name: os.environ.get(name) for name in {NAMES}}}

def note(callback_context):
    callback_context.state["seen"] = seen

root_agent = Agent(name="a", model=ScriptedLlm(rules=[Rule(Say("ok"))]), before_agent_callback=note)
"""
BY_ADK = """
import json, os
from google.adk.cli.utils.envs import load_dotenv_for_agent
load_dotenv_for_agent(args[0], args[1])
print(json.dumps({name: os.environ.get(name) for name in json.loads(args[2])}))
"""


@needs_adk
@pytest.mark.parametrize("switch", ["", " True ", "0"])
@pytest.mark.parametrize("place", ["team/alpha", "team", "."])
def test_an_env_file_sets_the_same_variables_as_google_adk(tmp_path, monkeypatch, place, switch):
    agents = tmp_path / "agents"
    app = agents / "team" / "alpha"
    app.mkdir(parents=True)
    (app / "agent.py").write_text(AGENT)
    (tmp_path / ".env").write_text("ABOVE=hidden by the nearer one\n")
    (agents / place / ".env").write_text(FILE)
    monkeypatch.setenv("OUTER_TAKEN", "from outside")
    monkeypatch.setenv("ADK_DISABLE_LOAD_DOTENV", switch)
    expected = json.loads(run_adk(BY_ADK, "alpha", agents / "team", json.dumps(NAMES)))
    with running(agents, tmp_path / "data") as server, server.client() as client:
        name = make_session(client, "team.alpha")["id"]
        run(client, "team.alpha", name, "go")
        state = client.get(f"/apps/team.alpha/users/u/sessions/{name}").json()["state"]
        # Lines of the file that can't be read are logged without its secrets.
        assert client.get("/api/sessions").status_code == 200
    assert state["seen"] == expected
    assert (expected["PLAIN"] is None) == (switch == " True ")
