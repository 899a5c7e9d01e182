"""Session files are exchanged between google-adk's services and ours (adk-runtime 2.5)."""

import json
import os
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.kit.adk_sessions import Steps
from tests.kit.oracle import adk_python, needs_adk
from tests.kit.rounds import rounds
from tests.source import ROOT

pytestmark = needs_adk

OURS = Steps("devui.runtime")


class Theirs:
    """A child process that performs steps with google-adk."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [str(adk_python()), "-W", "ignore", "-m", "tests.kit.adk_sessions"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.services = self._read_reply()

    def run(self, service, path, steps):
        request = {"service": service, "path": str(path), "steps": steps}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return self._read_reply()

    def _read_reply(self):
        line = self._process.stdout.readline()
        assert line, f"google-adk's process ended with {self._process.wait()}"
        return json.loads(line)

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


@pytest.fixture(scope="module")
def theirs():
    child = Theirs()
    yield child
    child.close()


values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 2**53) | st.floats(-1e6, 1e6) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=4,
)
states = st.dictionaries(
    st.sampled_from(["a", "b", "user:a", "user:c", "app:a", "app:d", "temp:e"]), values, max_size=4
)
PARTS = [
    {"text": "é \U0001f600"},
    {"text": "hm", "thought": True, "thoughtSignature": "c2ln"},
    {"functionCall": {"id": "c1", "name": "look", "args": {"a": [1, None, 2.5]}}},
    {"functionResponse": {"id": "c1", "name": "look", "response": {"result": {"b": "x"}}}},
    {"inlineData": {"mimeType": "image/png", "data": "AQID", "displayName": "a.png"}},
    {"fileData": {"mimeType": "text/plain", "fileUri": "gs://b/f"}},
    {"executableCode": {"language": "PYTHON", "code": "1+1"}},
    {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}},
]
contents = st.builds(
    lambda role, parts: {"role": role, "parts": parts},
    st.sampled_from(["user", "model"]),
    st.lists(st.sampled_from(PARTS), min_size=1, max_size=3),
)
actions = st.fixed_dictionaries(
    {"stateDelta": states},
    optional={
        "artifactDelta": st.just({"f.txt": 3}),
        "transferToAgent": st.just("other"),
        "escalate": st.just(True),
        "skipSummarization": st.just(True),
        "agentState": st.just({"step": 2}),
        "endOfAgent": st.just(True),
    },
)
EXTRAS = {
    "branch": st.just("a.b"),
    "content": contents,
    "errorCode": st.just("SAFETY"),
    "errorMessage": st.just("no"),
    "turnComplete": st.booleans(),
    "customMetadata": st.dictionaries(st.text(max_size=3), values, max_size=2),
    "usageMetadata": st.just({"promptTokenCount": 7, "totalTokenCount": 9}),
    "finishReason": st.just("STOP"),
    "longRunningToolIds": st.just(["c1"]),
    "groundingMetadata": st.just({"webSearchQueries": ["w"]}),
}
events = st.fixed_dictionaries(
    {"author": st.sampled_from(["user", "writer"]), "actions": actions}, optional=EXTRAS
)
PLACES = [("u", "s"), ("u", "t"), ("v", "s")]


@st.composite
def histories(draw):
    """Draw steps that create, fill and delete sessions; event times increase."""
    steps, there = [], set()
    for number in range(draw(st.integers(1, 8))):
        user, name = draw(st.sampled_from(PLACES))
        step = {"user": user, "id": name}
        if (user, name) not in there:
            there.add((user, name))
            steps.append({"do": "create", "state": draw(states), **step})
        elif draw(st.integers(0, 4)) == 0:
            there.remove((user, name))
            steps.append({"do": "delete", **step})
        else:
            own = {"id": f"e{number}", "invocationId": "i1", "timestamp": 4e9 + number}
            steps.append({"do": "append", "event": draw(events) | own, **step})
    return steps


@pytest.mark.parametrize("service", ["sqlite", "database"])
async def test_google_adk_can_fill_a_session_of_ours_without_shared_state(theirs, service):
    if service not in theirs.services:
        missing = pytest.fail if os.environ.get("CI") else pytest.skip
        missing("google-adk's DatabaseSessionService needs sqlalchemy")
    place = {"user": "u", "id": "s"}
    own = {"id": "e", "invocationId": "i", "timestamp": 4e9, "author": "user"}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "sessions.db")
        await OURS.run(service, path, [{"do": "create", "state": {}, **place}])
        content = theirs.run(service, path, [{"do": "append", "event": own, **place}])
    assert [event["id"] for event in content["u/s"]["events"]] == ["e"]


@pytest.mark.slow
@pytest.mark.parametrize("service", ["sqlite", "database"])
@settings(
    max_examples=rounds(15, 40),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(steps=histories(), cuts=st.lists(st.integers(0, 8), min_size=1, max_size=3))
async def test_a_file_is_the_same_whoever_writes_it_even_in_turns(theirs, service, steps, cuts):
    if service not in theirs.services:
        missing = pytest.fail if os.environ.get("CI") else pytest.skip
        missing("google-adk's DatabaseSessionService needs sqlalchemy")
    with tempfile.TemporaryDirectory() as folder:
        ours_alone = await OURS.run(service, Path(folder, "ours.db"), steps)
        assert ours_alone == theirs.run(service, Path(folder, "ours.db"), [])
        theirs_alone = theirs.run(service, Path(folder, "theirs.db"), steps)
        assert theirs_alone == await OURS.run(service, Path(folder, "theirs.db"), [])
        assert ours_alone == theirs_alone

        shared, done = Path(folder, "shared.db"), 0
        for turn, cut in enumerate([*sorted(cuts), len(steps)]):
            part = steps[done : max(done, cut)]
            done = max(done, cut)
            if turn % 2:
                content = await OURS.run(service, shared, part)
            else:
                content = theirs.run(service, shared, part)
        assert content == ours_alone
