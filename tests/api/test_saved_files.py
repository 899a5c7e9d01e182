"""Files sent with a message are saved as artifacts, if wanted, and named in the message."""

import base64
import html
import json
import re
import shutil

import pytest

from tests.kit.debugged_run import DebuggedRun, settled
from tests.kit.oracle import adk_python
from tests.kit.patience import wait_until
from tests.kit.server import running, write_app
from tests.kit.terminal import Terminal, devui

AGENT = '''
import json

from ROOT.agents import LlmAgent
from ROOT.models import BaseLlm, LlmResponse
from google.genai import types


class Reader(BaseLlm):
    """Reads the artifact `note.txt`, and says what it was sent and what it read."""

    async def generate_content_async(self, llm_request, stream=False):
        last = llm_request.contents[-1].parts[-1]
        if last.function_response:
            sent = [
                part.text or part.inline_data.display_name
                for content in llm_request.contents
                for part in content.parts
                if part.text or part.inline_data
            ]
            text = json.dumps({"sent": sent, "read": last.function_response.response["result"]})
            part = types.Part(text=text)
        else:
            part = types.Part.from_function_call(name="read", args={})
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


async def read(tool_context) -> str:
    """Reads the note."""
    part = await tool_context.load_artifact("note.txt")
    return part.inline_data.data.decode() if part else "no such file"


read.__devui_effect__ = "read_only"
root_agent = LlmAgent(name="reader", model=Reader(model="reader"), tools=[read])
'''
NOTE = '[Uploaded Artifact: "note.txt"]'


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server with one app per engine."""
    folder = tmp_path_factory.mktemp("saved_files")
    write_app(folder / "agents", "devui_reader", AGENT.replace("ROOT", "devui.runtime"))
    options = []
    if adk_python() is not None:
        write_app(folder / "agents", "adk_reader", AGENT.replace("ROOT", "google.adk"))
        options = ["--python", str(adk_python())]
    with running(folder / "agents", folder / "data", *options) as server:
        yield server


@pytest.fixture
def client(server):
    with server.client() as client:
        client.headers["Origin"] = server.url
        yield client


@pytest.fixture(params=["devui_reader", "adk_reader"])
def reader(request, client):
    """A session of the app on one of the engines."""
    if request.param == "adk_reader" and adk_python() is None:
        pytest.skip("needs google-adk")
    return DebuggedRun(client, request.param)


def message(content="Buy milk.", text="Read this"):
    data = base64.b64encode(content.encode()).decode()
    blob = {"mimeType": "text/plain", "displayName": "note.txt", "data": data}
    return {"role": "user", "parts": [{"text": text}, {"inlineData": blob}]}


def messages(client, key):
    """The user's messages in the journal."""
    events = client.get(f"/api/sessions/{key}/events").json()["events"]
    bodies = (client.get(f"/api/sessions/{key}/events/{each['number']}").json() for each in events)
    events = [body["event"] for body in bodies]
    return [each for each in events if each["author"] == "user" and "content" in each]


def answer_of(reader, key=None):
    """What the agent says in the end."""
    page = reader.client.get(f"/api/sessions/{key or reader.key}/events").json()["events"]
    body = reader.client.get(f"/api/sessions/{key or reader.key}/events/{page[-1]['number']}")
    return json.loads(body.json()["event"]["content"]["parts"][0]["text"])


def test_a_file_is_saved_and_named_in_the_message(reader):
    reader.start(message(), pause=False, save_files=True).settled()
    [event] = messages(reader.client, reader.key)
    assert event["content"]["parts"] == [{"text": "Read this"}, {"text": NOTE}]
    assert event["actions"]["artifactDelta"] == {"note.txt": 0}
    assert answer_of(reader) == {"sent": ["Read this", NOTE], "read": "Buy milk."}
    reader.start(message("Buy tea."), pause=False, save_files=True).settled()
    assert messages(reader.client, reader.key)[1]["actions"]["artifactDelta"] == {"note.txt": 1}
    assert answer_of(reader)["read"] == "Buy tea."
    page = {"Accept": "text/html"}
    of_first = f"/sessions/{reader.key}?at=1&event=1&tab=artifacts&file=note.txt"
    assert "Buy milk." in reader.client.get(of_first, headers=page).text


def test_files_of_the_same_name_are_saved_apart(reader):
    first, second = message("Buy milk."), message("Buy tea.")
    first["parts"].append(second["parts"][1])
    reader.start(first, pause=False, save_files=True).settled()
    [event] = messages(reader.client, reader.key)
    assert event["actions"]["artifactDelta"] == {"note.txt": 0, "note-2.txt": 0}
    assert answer_of(reader)["sent"] == ["Read this", NOTE, '[Uploaded Artifact: "note-2.txt"]']


def test_a_file_is_sent_inline_unless_it_is_to_be_saved(reader):
    reader.start(message(), pause=False).settled()
    [event] = messages(reader.client, reader.key)
    assert event["content"]["parts"][1]["inlineData"]["displayName"] == "note.txt"
    assert not event["actions"].get("artifactDelta")
    assert answer_of(reader)["read"] == "no such file"


def test_the_request_shows_an_inline_file_and_serves_it(reader):
    reader.start(message(), pause=False).settled()
    page = {"Accept": "text/html"}
    rows = reader.client.get(f"/api/sessions/{reader.key}/events").json()["events"]
    tab = f"/sessions/{reader.key}?event={rows[-1]['number']}&tab=request"
    request = reader.client.get(tab, headers=page).text
    [link] = set(re.findall(r'href="([^"]*/blocks/[^"]*/file[^"]*)"', request))
    assert reader.client.get(html.unescape(link)).content == b"Buy milk."
    missing = html.unescape(link).replace("%5B1%5D", "%5B7%5D")
    assert reader.client.get(missing).status_code == 404


@pytest.mark.parametrize("padding", [0, 1_500_000])
def test_a_replay_saves_the_file_again(reader, padding):
    reader.start(message("Buy milk." + " " * padding), pause=False, save_files=True).settled()
    replay = reader.client.post(f"/api/sessions/{reader.key}/replays", json={"live_tools": True})
    assert replay.status_code == 201, replay.text
    settled(reader.client, replay.json()["run"])
    report = reader.client.get(f"/api/runs/{replay.json()['run']}/replay").json()
    assert (report["verdict"] or {}).get("identical"), report


@pytest.mark.slow
def test_a_test_saves_the_file_again(reader, server, tmp_path):
    reader.start(message(), pause=False, save_files=True).settled()
    agents = tmp_path / "agents"
    shutil.copytree(server.agents, agents)
    made = Terminal(server)("make-test", str(reader.key), "-o", f"{tmp_path}/tests/test_note.py")
    assert made.returncode == 0, made.stderr
    python = ["--python", str(adk_python())] if reader.app == "adk_reader" else []
    played = devui("test", *python, "tests", "--", "-p", "no:cacheprovider", cwd=tmp_path)
    assert "1 passed" in played.stdout, played.stdout + played.stderr


@pytest.mark.parametrize("text", ["Read this", "Read it again"])
def test_the_message_of_a_fork_saves_the_file_again(reader, text):
    reader.start(message(), pause=False, save_files=True).settled()
    form = {"number": 1, "change": "message", "run": "yes", "text": f"{text}\r\n{NOTE}"}
    fork = reader.client.post(f"/sessions/{reader.key}/forks", data=form)
    assert fork.status_code == 303, fork.text
    sent_again(reader, int(fork.headers["location"].rpartition("/")[2]), text)


def test_the_composer_of_a_fork_saves_the_file_again(reader):
    reader.start(message(), pause=False, save_files=True).settled()
    form = {"number": 1, "change": "message"}
    page = reader.client.post(f"/sessions/{reader.key}/forks", data=form).headers["location"]
    assert NOTE.replace('"', "&#34;") in reader.client.get(page).text
    reader.client.post(f"{page}/runs", data={"text": f"Read it again\r\n{NOTE}"})
    sent_again(reader, int(page.rpartition("/")[2]), "Read it again")


def test_a_rewound_message_saves_the_file_again(reader):
    reader.start(message(), pause=False, save_files=True).settled()
    form = {"number": 1, "text": f"Read it again\r\n{NOTE}"}
    answer = reader.client.post(f"/sessions/{reader.key}/rewind", data=form)
    assert answer.status_code == 303, answer.text
    sent_again(reader, reader.key, "Read it again")


def sent_again(reader, key, text):
    """Check the newest message, and that the agent reads its file."""
    wait_until(lambda: any(part == {"text": text} for part in newest_message(reader.client, key)))
    settled(reader.client, reader.client.get(f"/api/sessions/{key}/run").json()["run"])
    assert newest_message(reader.client, key) == [{"text": text}, {"text": NOTE}]
    assert answer_of(reader, key)["read"] == "Buy milk."


def newest_message(client, key):
    """The parts of the user's newest message."""
    return next((event["content"]["parts"] for event in reversed(messages(client, key))), [])


def test_a_queued_file_is_saved_when_it_is_sent(reader):
    reader.start("Wait")
    place = f"/api/sessions/{reader.key}/queue"
    body = {"message": message(), "save_files": True}
    assert reader.client.post(place, json=body).json()["messages"][0]["saveFiles"] is True
    reader.settled()
    reader.tell("continue")
    wait_until(lambda: len(messages(reader.client, reader.key)) == 2)
    settled(reader.client, reader.client.get(f"/api/sessions/{reader.key}/run").json()["run"])
    assert answer_of(reader)["read"] == "Buy milk."


def test_the_form_saves_files_without_a_script(reader):
    form = {"text": "Read this", "save_files": "on"}
    files = {"files": ("note.txt", b"Buy milk.", "text/plain")}
    sent = reader.client.post(f"/sessions/{reader.key}/runs", data=form, files=files)
    assert sent.status_code in {200, 303}, sent.text
    settled(reader.client, reader.client.get(f"/api/sessions/{reader.key}/run").json()["run"])
    assert answer_of(reader)["read"] == "Buy milk."
