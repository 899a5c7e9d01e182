"""A replay executes a recorded run without its models and tools, and gives the same events."""

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.kit.debugged_run import DebuggedRun
from tests.kit.replayed_apps import team
from tests.kit.server import running, write_app

FAITHFUL = {"identical": True, "live": 0, "resultsDiffer": False, "notes": [], "divergence": None}

APPS = {"team": {}, "broken": {"last": 'agent("broken")'}, "free": {"known": "enough"}}
"""In `free`, prompts don't depend on the results of tools."""

KEYLESS = """
from devui.runtime.agents import Agent
from devui.runtime.models import Call, Rule, ScriptedLlm


def look(tool_context) -> str:
    return tool_context.state["trip"]


model = ScriptedLlm(model="scripted", rules=[Rule(then=Call("look"))])
root_agent = Agent(name="keyless", model=model, tools=[look])
"""


class Stage:
    """A server with the apps, and the log of live calls."""

    def __init__(self, folder: Path, client: Any, data: Path) -> None:
        self.folder, self.client, self.data = folder, client, data
        self.log = folder / "live.log"

    def write(self, manner: str) -> None:
        """Tell the writer how to write."""
        (self.folder / "manner.txt").write_text(manner)

    def live(self) -> list[str]:
        return self.log.read_text().split() if self.log.exists() else []

    def recorded(self, app: str = "team") -> DebuggedRun:
        self.write("well")
        debugged = DebuggedRun(self.client, app).start(pause=False)
        debugged.settled()
        return debugged

    def replay(self, of: DebuggedRun, **more: Any) -> tuple[DebuggedRun, dict[str, Any]]:
        """Replay the session's newest run to its end or first hold."""
        answer = self.client.post(f"/api/sessions/{of.key}/replays", json=more)
        assert answer.status_code == 201, answer.text
        again = DebuggedRun.__new__(DebuggedRun)
        again.client, again.app = self.client, of.app
        again.run, again.key = answer.json()["run"], answer.json()["session"]
        again.settled()
        return again, self.verdict(again)

    def verdict(self, of: DebuggedRun) -> dict[str, Any]:
        report = self.client.get(f"/api/runs/{of.run}/replay").json()
        return report["verdict"]

    def stream(self, of: DebuggedRun) -> list[tuple[Any, ...]]:
        """Events and fragments as in the journal, without ids and times."""
        with closing(sqlite3.connect(self.data / "journal.db")) as connection:
            events = connection.execute(
                "SELECT data FROM events WHERE session = ? ORDER BY seq", (of.key,)
            ).fetchall()
            chunks = connection.execute(
                "SELECT data FROM chunks WHERE session = ? ORDER BY position", (of.key,)
            ).fetchall()
        rows = [plain(json.loads(text)) for (text,) in events]
        parts = sorted(str(plain(json.loads(text))) for (text,) in chunks)
        return [*rows, *parts]


def plain(event: dict[str, Any]) -> Any:
    """The event without ids and times; branches and paths contain generated ids, too."""
    fields = {k: v for k, v in event.items() if k not in {"id", "timestamp", "invocationId"}}
    for part in (fields.get("content") or {}).get("parts") or []:
        for name in ("functionCall", "functionResponse"):
            part.get(name, {}).pop("id", None)
    return fields


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    folder = tmp_path_factory.mktemp("replays")
    for name, changes in APPS.items():
        write_app(folder / "agents", name, team(folder, **changes))
    write_app(folder / "agents", "keyless", KEYLESS)
    with running(folder / "agents", folder / "data") as server, server.client() as client:
        yield Stage(folder, client, server.data)


def test_a_replay_gives_the_same_stream_without_live_calls(stage: Stage) -> None:
    recorded = stage.recorded()
    assert recorded.position["status"] == "done"
    before = stage.live()
    assert len(before) > 8
    again, verdict = stage.replay(recorded)
    assert stage.live() == before
    assert verdict == {**FAITHFUL, "events": 12, "recorded": 12, "calls": 10}
    assert stage.stream(again) == stage.stream(recorded)
    assert any(isinstance(each, str) for each in stage.stream(again))


HEADLESS = """
import asyncio, json, sys
from pathlib import Path
from dataclasses import asdict
from devui.worker.loading import load
from devui.worker.replay.headless import read_recording, replay_headless

replayed = asyncio.run(
    replay_headless(load(Path(sys.argv[1]), "team"), read_recording(Path(sys.argv[2])))
)
wire = {"mode": "json", "by_alias": True, "exclude_none": True}
events = [event.model_dump(**wire) for event in replayed.events]
print(json.dumps({"verdict": asdict(replayed.verdict), "events": events, "state": replayed.state}))
"""


def headless(stage: Stage, recording: Path) -> dict[str, Any]:
    command = [sys.executable, "-c", HEADLESS, str(stage.folder / "agents"), str(recording)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_recording_in_a_file_is_replayed_without_a_server(stage: Stage, tmp_path: Path) -> None:
    recorded = stage.recorded()
    second = recorded.start("and again", pause=False)
    second.settled()
    answer = stage.client.get(f"/api/sessions/{recorded.key}/recording")
    assert answer.status_code == 200, answer.text
    file = tmp_path / "recording.json"
    file.write_text(json.dumps(answer.json(), indent=1, sort_keys=True))
    before = stage.live()
    report = headless(stage, file)
    report["verdict"]["resultsDiffer"] = report["verdict"].pop("results_differ")
    assert report["verdict"] == {**FAITHFUL, "events": 12, "recorded": 12, "calls": 10}
    assert stage.live() == before
    session = second.kept()
    assert [plain(e) for e in report["events"]] == [plain(e) for e in session["events"][12:]]
    state = {k: v for k, v in report["state"].items() if not k.startswith("temp:")}
    assert state == session["state"]


def test_a_replay_of_a_failed_run_fails_the_same_way(stage: Stage) -> None:
    recorded = stage.recorded("broken")
    assert recorded.position["status"] == "failed"
    before = stage.live()
    again, verdict = stage.replay(recorded)
    assert again.position["status"] == "failed"
    assert again.position["error"]["message"] == "the model is down"
    assert verdict == {**FAITHFUL, "events": 13, "recorded": 13, "calls": 11}
    assert stage.live() == before


def test_a_replayed_tool_reading_a_missing_key_fails_the_same_way(stage: Stage) -> None:
    recorded = stage.recorded("keyless")
    assert recorded.position["status"] == "failed"
    again, verdict = stage.replay(recorded)
    assert again.position["error"]["message"] == recorded.position["error"]["message"]
    assert (verdict["identical"], verdict["divergence"]) == (True, None)


def test_a_replay_ends_at_the_first_difference_and_explains_it(stage: Stage) -> None:
    recorded = stage.recorded()
    before = stage.live()
    stage.write("badly")
    again, verdict = stage.replay(recorded)
    assert again.position["status"] == "failed"
    assert again.position["error"]["type"] == "ReplayDiverged"
    assert not verdict["identical"]
    divergence = verdict["divergence"]
    assert (divergence["what"], divergence["agent"]) == ("model", "writer")
    assert [each["field"] for each in divergence["differences"]] == ["system"]
    assert "Write well." in divergence["differences"][0]["expected"]
    assert "Write badly." in divergence["differences"][0]["actual"]
    assert again.position["error"]["message"] == divergence["message"]
    assert stage.live() == before


def test_tools_may_be_live_while_models_are_replayed(stage: Stage) -> None:
    recorded = stage.recorded("free")
    before = stage.live()
    again, verdict = stage.replay(recorded, liveTools=True, guard="run")
    assert verdict["divergence"] is None
    assert again.position["status"] == "done"
    assert sorted(stage.live()[len(before) :]) == ["note", "search", "search"]
    assert (verdict["identical"], verdict["resultsDiffer"], verdict["live"]) == (False, True, 3)
    message = "search returned a different result to researcher than recorded: "
    assert any(note.startswith(message) for note in verdict["notes"])


def test_a_verdict_of_an_earlier_journal_is_read(stage: Stage) -> None:
    recorded = stage.recorded("free")
    again, verdict = stage.replay(recorded, liveTools=True, guard="run")
    with closing(sqlite3.connect(stage.data / "journal.db", timeout=30)) as journal, journal:
        query = "SELECT verdict FROM replays WHERE run = ?"
        stored = json.loads(journal.execute(query, (again.run,)).fetchone()[0])
        stored["strayed"] = stored.pop("results_differ")
        update = "UPDATE replays SET verdict = ? WHERE run = ?"
        journal.execute(update, (json.dumps(stored), again.run))
    answer = stage.client.get(f"/api/runs/{again.run}/replay").json()["verdict"]
    assert answer["resultsDiffer"] is True
    assert answer == verdict


def test_a_replay_is_stepped_like_any_run(stage: Stage) -> None:
    recorded = stage.recorded()
    before = stage.live()
    again, verdict = stage.replay(recorded, pause=True)
    assert verdict is None
    gates = [again.hold()["gate"], *(gate for gate, _ in again.gates("step_into", "step_into"))]
    assert gates[0] == "before_commit"
    assert len(set(gates)) > 1
    assert again.tell("continue")["status"] == "done"
    assert stage.verdict(again)["identical"]
    assert stage.live() == before
    assert stage.stream(again) == stage.stream(recorded)
