"""Model settings for one run: checked, applied on both engines, and stored with the run."""

import json
import re
import time

import pytest

from tests.kit.debugged_run import DebuggedRun
from tests.kit.oracle import adk_python
from tests.kit.patience import PATIENCE, wait_until
from tests.kit.server import get_session, running, write_app

AGENT = '''
import json

from ROOT.agents import LlmAgent
from ROOT.apps import App, ResumabilityConfig
from ROOT.models import BaseLlm, LlmResponse
from google.genai import types
from ROOT.tools import FunctionTool


class Mirror(BaseLlm):
    """Says what it was asked with, and calls `pay` for "pay"."""

    async def generate_content_async(self, llm_request, stream=False):
        config, last = llm_request.config, llm_request.contents[-1].parts[-1]
        if last.text == "pay":
            part = types.Part.from_function_call(name="pay", args={})
        else:
            part = types.Part(text=json.dumps({
                "by": self.model, "model": llm_request.model, "temperature": config.temperature,
                "topP": config.top_p, "maxOutputTokens": config.max_output_tokens,
                "system": config.system_instruction, "stream": stream,
            }))
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


def pay() -> str:
    """Pays."""
    return "paid"


other = LlmAgent(name="other", model=Mirror(model="mirror-two"), description="Never asked.")
root_agent = LlmAgent(
    name="mirror",
    model=Mirror(model="mirror-one"),
    instruction="Reflect.",
    sub_agents=[other],
    tools=[FunctionTool(pay, require_confirmation=True)],
    generate_content_config=types.GenerateContentConfig(temperature=0.7),
)
'''

ALL = {
    "model": "mirror-two",
    "temperature": 0.2,
    "topP": 0.9,
    "maxOutputTokens": 500,
    "instruction": "Answer briefly.",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server with one app per engine."""
    folder = tmp_path_factory.mktemp("settings")
    write_app(folder / "agents", "devui_mirror", AGENT.replace("ROOT", "devui.runtime"))
    options = []
    if adk_python() is not None:
        write_app(folder / "agents", "adk_mirror", AGENT.replace("ROOT", "google.adk"))
        options = ["--python", str(adk_python())]
    with running(folder / "agents", folder / "data", *options) as server:
        yield server


@pytest.fixture
def client(server):
    with server.client() as client:
        yield client


@pytest.fixture(params=["devui_mirror", "adk_mirror"])
def mirror(request, client):
    """A session of the app on one of the engines."""
    if request.param == "adk_mirror" and adk_python() is None:
        pytest.skip("needs google-adk")
    return DebuggedRun(client, request.param)


def answers(debugged, session=None):
    """What the models report of their requests."""
    events = get_session(debugged.client, debugged.app, session or debugged.session)["events"]
    said = (event for event in events if "content" in event)  # a rewind has no content
    texts = (event["content"]["parts"][0].get("text", "") for event in said)
    return [json.loads(text) for text in texts if text.startswith("{")]


def runs(debugged, key=None):
    """The settings of the session's runs."""
    rows = debugged.client.get(f"/api/sessions/{key or debugged.key}/runs").json()["runs"]
    return [run["settings"] for run in rows]


def test_settings_apply_to_one_run_its_replays_and_its_forks(mirror):
    mirror.start("hello", pause=False, settings=ALL).settled()
    mirror.start("hello", pause=False).settled()
    first, second = answers(mirror)
    assert first["by"] == first["model"] == "mirror-two"
    assert (first["temperature"], first["topP"], first["maxOutputTokens"]) == (0.2, 0.9, 500)
    assert first["system"].startswith("Reflect.")
    assert first["system"].endswith("\n\nAnswer briefly.")
    assert second["by"] == "mirror-one"
    assert (second["temperature"], second["topP"]) == (0.7, None)
    assert runs(mirror) == [ALL, None]
    source = mirror.client.get(f"/api/sessions/{mirror.key}/runs").json()["runs"][0]["run"]
    answer = mirror.client.post(f"/api/sessions/{mirror.key}/replays", json={"run": source})
    assert answer.status_code == 201, answer.text
    replay = answer.json()
    mirror.run = replay["run"]
    mirror.settled()
    verdict = mirror.client.get(f"/api/runs/{replay['run']}/replay").json()["verdict"]
    assert verdict["identical"], verdict
    assert runs(mirror, replay["session"]) == [ALL]
    body = {"number": 1, "message": True, "run": True}
    fork = mirror.client.post(f"/api/sessions/{mirror.key}/forks", json=body)
    assert fork.status_code == 201, fork.text
    assert runs(mirror, fork.json()["key"]) == [ALL]


def test_an_answered_run_keeps_the_settings_of_the_run_that_asked(mirror):
    mirror.start("pay", pause=False, settings={"temperature": 0.3}).settled()
    page = mirror.client.get(f"/sessions/{mirror.key}").text
    event = re.search(r'name="event" value="(\d+)"', page)[1]
    call = re.search(r'name="call" value="([^"]+)"', page)[1]
    choice = re.search(r'<button name="choice" value="([^"]+)"', page)[1]
    body = {"event": int(event), "call": call, "fields": {"choice": choice}}
    response = mirror.client.post(f"/api/sessions/{mirror.key}/answers", json=body)
    assert response.status_code == 201, response.text
    mirror.run = mirror.client.get(f"/api/sessions/{mirror.key}/run").json()["run"]
    mirror.settled()
    assert answers(mirror)[-1]["temperature"] == 0.3


def wait_for_answers(mirror, count, session=None):
    patience = time.monotonic() + PATIENCE
    while len(replies := answers(mirror, session)) < count and time.monotonic() < patience:
        time.sleep(0.05)
    assert len(replies) == count
    return replies


def newest_run_ended(mirror):
    run = f"/api/sessions/{mirror.key}/run"
    wait_until(lambda: mirror.client.get(run).json()["status"] == "done")


def page_post(mirror, path, **form):
    """Send a form as the page's buttons do."""
    htmx = {"HX-Request": "true", "Origin": str(mirror.client.base_url).rstrip("/")}
    answer = mirror.client.post(f"/sessions/{mirror.key}/{path}", data=form, headers=htmx)
    assert answer.status_code == 204, answer.text
    return answer


@pytest.mark.parametrize("streaming", [True, False])
def test_a_message_sent_again_keeps_settings_and_streaming(mirror, streaming):
    settings = {"temperature": 0.2}
    mirror.start("hello", pause=False, settings=settings, streaming=streaming).settled()
    page_post(mirror, "rewind", number=1, unchanged="yes")
    wait_for_answers(mirror, 2)
    newest_run_ended(mirror)
    page_post(mirror, "rewind", number=1, text="hello there")
    replies = wait_for_answers(mirror, 3)
    fork = page_post(mirror, "forks", number=1, change="message", run="yes").headers["HX-Redirect"]
    query = {"key": fork.rpartition("/")[2]}
    [row] = mirror.client.get("/api/sessions", params=query).json()["sessions"]
    replies += wait_for_answers(mirror, 1, row["id"])
    assert [reply["stream"] for reply in replies] == [streaming] * 4
    assert [reply["temperature"] for reply in replies] == [0.2] * 4


def test_an_uncommitted_message_sent_again_keeps_its_settings(mirror):
    mirror.start("hello", settings={"temperature": 0.2}, streaming=False).settled()
    mirror.tell("stop")
    mirror.settled()
    page = mirror.client.get(f"/sessions/{mirror.key}").text
    note = page[page.index(f'id="n-{mirror.run}"') :].partition("</article>")[0]
    form = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', note))
    page_post(mirror, "runs", **form)
    [reply] = wait_for_answers(mirror, 1)
    assert (reply["stream"], reply["temperature"]) == (False, 0.2)


def test_a_held_request_has_the_settings(mirror):
    mirror.start("hello", settings={"temperature": 0.1})
    mirror.settled()
    mirror.tell("step_into")
    while mirror.hold()["gate"] != "before_model":
        mirror.tell("step_into")
    assert mirror.hold()["held"]["config"]["temperature"] == 0.1


def test_invalid_settings_are_refused_before_a_run_starts(mirror):
    path = f"/api/sessions/{mirror.key}/runs"
    for settings, place in (
        ({"temperature": "hot"}, "temperature"),
        ({"topP": 1.1}, "topP"),
        ({"maxOutputTokens": 0}, "maxOutputTokens"),
        ({"model": "gpx-9"}, "model"),
        ({"heat": 1}, "heat"),
    ):
        answer = mirror.client.post(path, json={"message": "hello", "settings": settings})
        assert answer.status_code == 422, answer.text
        assert answer.json()["detail"][0]["loc"][-1] == place
    assert runs(mirror) == []


def test_a_queued_message_keeps_its_settings(client):
    mirror = DebuggedRun(client, "devui_mirror").start("hello")
    body = {"message": "later", "settings": {"temperature": 0.4}}
    queued = client.post(f"/api/sessions/{mirror.key}/queue", json=body)
    assert queued.json()["messages"][0]["settings"] == {"temperature": 0.4}
    mirror.tell("continue")
    assert [reply["temperature"] for reply in wait_for_answers(mirror, 2)] == [0.7, 0.4]


def test_the_composer_reports_invalid_settings_and_keeps_valid_ones(client, server):
    mirror = DebuggedRun(client, "devui_mirror")
    send = f"/sessions/{mirror.key}/runs"
    htmx = {"HX-Request": "true", "Origin": server.url, "Sec-Fetch-Site": "same-origin"}
    form = {"text": "hello", "temperature": "hot", "model": "gpx-9", "maxOutputTokens": "5.5"}
    wrong = client.post(send, data=form, headers=htmx)
    assert wrong.status_code == 422
    assert "Enter a number from 0 to 2." in wrong.text
    assert "devui_mirror can&#39;t use the model &#39;gpx-9&#39;" in wrong.text
    assert "Enter a whole number from 1 to 10,000,000." in wrong.text
    assert 'value="hot"' in wrong.text
    assert runs(mirror) == []
    form = {"text": "hello", "temperature": "0,25", "instruction": "Be kind."}
    assert client.post(send, data=form, headers=htmx).status_code == 204
    mirror.run = client.get(f"/api/sessions/{mirror.key}/run").json()["run"]
    mirror.settled()
    page = client.get(f"/sessions/{mirror.key}").text
    assert 'name="temperature" value="0.25"' in page
    tab = client.get(f"/sessions/{mirror.key}?tab=run").text
    assert "temperature 0.25, append to system instruction: Be kind." in tab
