"""`devui dbg` starts runs, steps them, and shows and edits what is held."""

import json
import re

from tests.kit.debugged_run import DebuggedRun


def test_a_run_is_stepped_to_its_end(terminal, held):
    first = terminal("dbg", "step")
    assert (first.returncode, first.stderr) == (0, "")
    assert "#1    user        user             hello" in first.stdout
    assert "Paused after the commit of #1" in first.stdout
    half = terminal("dbg", "half").stdout
    assert "Paused before the commit" in half
    assert "n: nothing → 1" in half
    last = terminal("dbg", "continue").stdout
    assert [line[:2] for line in last.splitlines()] == ["#2", "#3", "#4", "do"]
    assert held.settled()["status"] == "done"
    log = terminal("dbg", "log", "--last", "2").stdout.splitlines()
    assert log == ["      stdout: saw 2", "      stdout: saw 3"]


def test_finish_ends_a_run_with_the_held_event(terminal, held):
    terminal("dbg", "step")
    terminal("dbg", "half")
    last = terminal("dbg", "finish")
    assert (last.returncode, last.stdout[:2]) == (0, "#2")
    assert held.settled()["status"] == "stopped"
    assert held.kept()["state"] == {"n": 1}


def test_json_is_the_whole_position_in_one_line(terminal, held):
    [line] = terminal("dbg", "step", "--json", "--as", "Ada").stdout.splitlines()
    position = json.loads(line)
    assert position == held.settled()
    assert position["lastCommand"]["actor"] == "Ada"


def test_a_command_for_an_older_position_is_refused_with_the_new_one(terminal, held):
    held.tell("step_event")
    done = terminal("dbg", "step", "--position", "1")
    assert done.returncode == 6
    assert "moved from position 1 to 3: api chose 'Step'" in done.stderr
    assert "Paused after the commit of #1" in done.stdout
    assert len(held.kept()["events"]) == 1


def test_a_message_to_a_held_run_is_refused_with_what_to_do(terminal, held):
    refusal = terminal("dbg", "start", "and then?", "-s", held.session)
    assert refusal.returncode == 6
    assert "which is held; continue it or stop it" in refusal.stderr
    misread = terminal("dbg", "events", "--filter", "kind:nothing")
    assert misread.returncode == 2
    assert "filter, character 1: Unknown kind" in misread.stderr


def test_the_same_key_steps_once(terminal, held):
    at = str(held.position["position"])
    for _ in range(2):
        assert terminal("dbg", "step", "--position", at, "--key", "k").returncode == 0
    assert terminal("dbg", "step", "--key", "k").returncode == 0
    assert len(held.kept()["events"]) == 1
    for _ in range(2):
        done = terminal("dbg", "continue", "--key", "last")
        assert (done.returncode, done.stdout.splitlines()[-1].strip()) == (0, "done"), done.stderr
    assert terminal("dbg", "continue", "--key", "another").returncode == 6


def test_a_held_call_is_edited_and_mocked(terminal, client):
    debugged = DebuggedRun(client, "weather").start()
    debugged.settled()
    debugged.tell("run_to", like={"gate": "before_tool"})
    assert 'weather(city="Oslo")' in terminal("dbg", "where").stdout
    wrong = terminal("dbg", "edit", "{city")
    assert (wrong.returncode, "not valid JSON" in wrong.stderr) == (2, True)
    unfit = terminal("dbg", "edit", '["city"]')
    assert (unfit.returncode, "the change doesn't fit" in unfit.stderr) == (2, True)
    lines = terminal("dbg", "edit", '{"city": "Tromsø"}').stdout.splitlines()
    assert [line.strip() for line in lines if line.strip().startswith(("-", "+"))] == [
        '-  "city": "Oslo"',
        '+  "city": "Tromsø"',
    ]
    typo = terminal("dbg", "mock", '{"sky": "rain"')
    assert (typo.returncode, "not valid JSON" in typo.stderr) == (2, True)
    mocked = terminal("dbg", "mock", "rain", "--as", "Ada").stdout
    assert ("Mock by Ada" in mocked, '+"rain"' in mocked, "Tromsø" in mocked) == (True, True, False)
    assert 'weather → "rain"  mocked by Ada' in terminal("dbg", "continue").stdout
    [edit] = client.get(f"/api/sessions/{debugged.key}/edits").json()["edits"]
    assert (edit["action"], edit["after"], edit["actor"]) == ("mock", "rain", "Ada")


def test_an_edit_is_merged_into_the_held_event(terminal, held):
    held.tell("run_to", like={"agent": "count"})
    wrong = terminal("dbg", "edit", '{"x": 1}')
    assert (wrong.returncode, "an event has no member 'x'" in wrong.stderr) == (2, True)
    done = terminal("dbg", "edit", '{"actions": {"stateDelta": {"n": 7}}}')
    assert "(edited: the code wrote 1)" in done.stdout
    terminal("dbg", "edit", '{"actions": {"stateDelta": {"more": true}}}')
    terminal("dbg", "half")
    event = held.kept()["events"][-1]
    assert (event["author"], event["actions"]["stateDelta"]) == ("count", {"n": 7, "more": True})


def test_the_state_is_shown_with_pending_writes_and_as_of_an_event(terminal, held):
    for _ in range(4):
        terminal("dbg", "half")
    assert terminal("dbg", "state").stdout.splitlines() == ["n = 1  #2", "n: 1 → 2  pending"]
    terminal("dbg", "continue")
    assert terminal("dbg", "state", "n", "--at", "3").stdout == "n = 2  #3\n"
    answer = json.loads(terminal("dbg", "state", "other", "--json").stdout)
    assert answer == {"at": None, "values": [], "pending": []}
    differs = terminal("dbg", "state", "--from", "2", "--at", "3").stdout
    assert differs == "n: 1 → 2  #3\n"
    assert terminal("dbg", "state", "--from", "3", "--at", "3").stdout == "no differences\n"
    missing = terminal("dbg", "state", "--at", "9")
    assert (missing.returncode, "its last event is #4" in missing.stderr) == (5, True)


def test_why_says_what_a_run_waits_for_and_where_in_the_code(terminal, client):
    DebuggedRun(client, "slow").start(pause=False).wait_for_output("began")
    reasons = terminal("dbg", "why").stdout
    assert re.search(r"^call \d+  tool wait  \{\}  by waiter", reasons, re.MULTILINE)
    assert "slow/agent.py:9 in wait  await asyncio.Event().wait()" in reasons
    reasons_json = json.loads(terminal("dbg", "why", "--json").stdout)
    assert [call["name"] for call in reasons_json["calls"]] == ["wait"]
    terminal("dbg", "stop")
    assert terminal("dbg", "why").stdout.splitlines() == ["stopped", "not waiting for anything"]


def test_a_finished_run_cannot_be_stepped(terminal, held):
    held.tell("continue")
    done = terminal("dbg", "step", "--session", str(held.key))
    assert (done.returncode, "the run is already done" in done.stderr) == (6, True)
    nothing = terminal("dbg", "step")
    assert (nothing.returncode, "no run is active" in nothing.stderr) == (5, True)


def test_a_run_is_started_held_or_without_a_pause(terminal, client):
    debugged = DebuggedRun(client, "count")
    done = terminal("dbg", "start", "go", "-s", str(debugged.key))
    assert "Paused before the commit" in done.stdout
    assert terminal("dbg", "stop").stdout.startswith("stopped")
    done = terminal("dbg", "start", "go", "-s", str(debugged.key), "--no-pause")
    lines = done.stdout.splitlines()
    assert (lines[0].startswith("#1"), lines[-1]) == (True, "done")


def test_a_run_is_started_in_a_new_session_of_an_app(terminal, client):
    before = DebuggedRun(client, "count")
    done = terminal("dbg", "start", "go", "--new", "count")
    assert "Paused before the commit" in done.stdout
    newest = client.get("/api/sessions").json()["sessions"][0]
    assert (newest["key"] > before.key, newest["app"], newest["user"]) == (True, "count", "user")
    assert terminal("dbg", "stop").stdout.startswith("stopped")
    missing = terminal("dbg", "start", "go", "--new", "nothing")
    assert (missing.returncode, "nothing" in missing.stderr) == (5, True)
    both = terminal("dbg", "start", "go", "--new", "count", "-s", str(before.key))
    assert both.returncode == 2
