"""`devui dbg`: a run driven from the terminal, by a real child process on a real server."""

import getpass
import json
import os
import re
import time

import pytest

from tests.api.test_calls import results
from tests.api.test_stepping import COUNT, WEATHER
from tests.kit.debugged import Debugged
from tests.kit.patience import PATIENCE
from tests.kit.server import TOKEN, Server, running, write_app
from tests.kit.terminal import Terminal

SLOW = """import asyncio

from devui.runtime.agents import Agent
from devui.runtime.models import Call, Rule, ScriptedLlm


async def wait() -> str:
    print("began")
    await asyncio.Event().wait()


model = ScriptedLlm(rules=[Rule(then=Call("wait"))])
root_agent = Agent(name="waiter", model=model, tools=[wait])
"""


@pytest.fixture
def server(tmp_path):
    write_app(tmp_path / "agents", "count", COUNT)
    write_app(tmp_path / "agents", "slow", SLOW)
    write_app(tmp_path / "agents", "weather", WEATHER)
    with running(tmp_path / "agents", tmp_path / "data") as started:
        yield started


@pytest.fixture
def held(client):
    debugged = Debugged(client, "count").start("hello")
    assert debugged.settled()["status"] == "held"
    return debugged


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


def test_a_run_is_finished_with_the_event_that_is_held(terminal, held):
    terminal("dbg", "step")
    terminal("dbg", "half")
    last = terminal("dbg", "finish")
    assert (last.returncode, last.stdout[:2]) == (0, "#2")
    assert held.settled()["status"] == "stopped"
    assert held.kept()["state"] == {"n": 1}


def test_json_has_the_whole_position_in_one_line(terminal, held):
    [line] = terminal("dbg", "step", "--json", "--as", "Ada").stdout.splitlines()
    position = json.loads(line)
    assert position == held.settled()
    assert position["lastCommand"]["actor"] == "Ada"


def test_a_command_that_was_decided_upon_an_older_position_is_refused_with_the_new_one(
    terminal, held
):
    held.tell("step_event")
    done = terminal("dbg", "step", "--position", "1")
    assert done.returncode == 6
    assert "gone on from position 1 to 3: api said 'Step'" in done.stderr
    assert "Paused after the commit of #1" in done.stdout
    assert len(held.kept()["events"]) == 1


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


def test_what_is_held_is_changed(terminal, client):
    debugged = Debugged(client, "weather").start()
    debugged.settled()
    debugged.tell("run_to", like={"gate": "before_tool"})
    assert 'weather(city="Oslo")' in terminal("dbg", "where").stdout
    wrong = terminal("dbg", "edit", "{city")
    assert (wrong.returncode, "not JSON" in wrong.stderr) == (2, True)
    assert "Mock by Ada" in terminal("dbg", "mock", "rain", "--as", "Ada").stdout
    assert 'weather → "rain"  mocked by Ada' in terminal("dbg", "continue").stdout
    [edit] = client.get(f"/api/sessions/{debugged.key}/edits").json()["edits"]
    assert (edit["action"], edit["after"], edit["actor"]) == ("mock", "rain", "Ada")


def test_the_state_is_shown_now_with_what_is_pending_and_as_of_an_event(terminal, held):
    for _ in range(4):
        terminal("dbg", "half")
    assert terminal("dbg", "state").stdout.splitlines() == ["n = 1  #2", "n: 1 → 2  pending"]
    terminal("dbg", "continue")
    assert terminal("dbg", "state", "n", "--at", "3").stdout == "n = 2  #3\n"
    told = json.loads(terminal("dbg", "state", "other", "--json").stdout)
    assert told == {"at": None, "values": [], "pending": []}
    differs = terminal("dbg", "state", "--from", "2", "--at", "3").stdout
    assert differs == "n: 1 → 2  #3\n"
    assert terminal("dbg", "state", "--from", "3", "--at", "3").stdout == "nothing differs\n"
    missing = terminal("dbg", "state", "--at", "9")
    assert (missing.returncode, "it has 4" in missing.stderr) == (5, True)


def test_why_says_what_a_run_waits_for_and_where_in_the_code(terminal, client):
    Debugged(client, "slow").start(pause=False)
    with terminal.open("dbg", "attach") as opened:
        opened.until("stdout: began")
    said = terminal("dbg", "why").stdout
    assert re.search(r"^call \d+  tool wait  \{\}  by waiter", said, re.MULTILINE)
    assert "slow/agent.py:9 in wait  await asyncio.Event().wait()" in said
    told = json.loads(terminal("dbg", "why", "--json").stdout)
    assert [call["name"] for call in told["calls"]] == ["wait"]
    terminal("dbg", "stop")
    assert terminal("dbg", "why").stdout.splitlines() == ["stopped", "nothing is waited for"]


def begun(terminal, client):
    debugged = Debugged(client, "slow").start(pause=False)
    with terminal.open("dbg", "attach") as opened:
        opened.until("stdout: began")
    return debugged


def test_calls_that_do_not_return_are_answered_and_ended_by_their_name(terminal, client):
    debugged = begun(terminal, client)
    answer = ("dbg", "end", "wait", '{"waited": 3}', "--as", "Ada", "--no-wait", "--key", "once")
    done = terminal(*answer)
    assert (done.returncode, done.stderr) == (0, "")
    until = time.monotonic() + PATIENCE
    while len(results(debugged)) < 1 or "tool wait" not in terminal("dbg", "why").stdout:
        assert time.monotonic() < until
    shown = terminal("dbg", "end", "wait", "--why", "no more of it", "--no-wait", "--json")
    assert json.loads(shown.stdout)["lastCommand"]["command"] == "end"
    assert terminal(*answer).returncode == 0  # the same call is not under way any more,
    terminal("dbg", "stop")
    assert terminal(*answer).returncode == 0  # nor is its run
    first, second = results(debugged)[:2]
    assert first == {"waited": 3}
    assert second["error"].endswith("no more of it")


def test_a_call_that_is_not_under_way_is_refused_with_where_the_run_stands(terminal, client):
    begun(terminal, client)
    gone = terminal("dbg", "end", "12345")
    assert (gone.returncode, "ended meanwhile" in gone.stderr) == (6, True)
    unknown = terminal("dbg", "end", "other")
    assert (unknown.returncode, "no call 'other' is under way" in unknown.stderr) == (6, True)
    both = terminal("dbg", "end", "wait", "1", "--why", "x")
    assert (both.returncode, "leave --why away" in both.stderr) == (2, True)
    terminal("dbg", "stop")
    assert terminal("dbg", "end", "wait").returncode in {5, 6}


def test_breakpoints_are_made_listed_switched_and_deleted(terminal, client):
    add = ("dbg", "break", "add", "--app", "count")
    made = terminal(*add, "state:n", "--if", "new == 2", "--after")
    assert made.stdout == "   1  on   count  state:n  after  if new == 2\n"
    assert terminal("dbg", "break", "disable", "1").stdout.startswith("   1  off")
    assert terminal("dbg", "break", "enable", "1").stdout.startswith("   1  on ")
    assert "off for ada" in terminal("dbg", "break", "disable", "1", "--user", "ada").stdout
    debugged = Debugged(client, "count").start(pause=False)
    assert debugged.settled()["holds"][0]["breakpoint"] == 1
    assert "breakpoint 1" in terminal("dbg", "where").stdout
    assert "met once" in terminal("dbg", "break", "list").stdout
    change = ("dbg", "break", "change", "1")
    changed = terminal(*change, "event:call", "--if", "", "--before", "--hits", "% 2").stdout
    assert changed.startswith("   1  on   count  event:call  hits % 2  ")
    wrong = terminal(*change, "--if", "new =")
    assert (wrong.returncode, "column 5" in wrong.stderr) == (2, True)
    assert terminal(*change).returncode == 2
    assert terminal("dbg", "break", "change", "9", "--log", "x").returncode == 5
    assert terminal("dbg", "break", "rm", "1").stdout == "breakpoint 1 is deleted\n"
    assert terminal("dbg", "break", "list", "--json").stdout == ""
    assert terminal("dbg", "break", "rm", "1").returncode == 5


def test_a_condition_that_is_wrong_is_refused_with_the_place(terminal):
    done = terminal("dbg", "break", "add", "tool:x", "--app", "count", "--if", "args.city ==")
    assert done.returncode == 2
    assert "column 13" in done.stderr
    unclear = terminal("dbg", "break", "add", "tool:x")
    assert (unclear.returncode, "count, slow, weather" in unclear.stderr) == (2, True)


def test_attach_follows_a_session_until_ctrl_c_which_leaves_the_run_alone(terminal, held):
    with terminal.open("dbg", "attach") as opened:
        opened.until("Paused before the commit")
        held.tell("step_event")
        opened.until("#1    user        user             hello")
        opened.until("Paused after the commit of #1")
        held.tell("step_half")
        opened.until("n: nothing → 1")
        status, said = opened.interrupt()
    shown = [line for line in opened.lines if line.startswith("Paused after the commit of #1")]
    assert len(shown) == 1
    assert (status, "the run goes on without you" in said) == (130, True)
    assert held.settled()["status"] == "held"
    held.tell("continue")


def test_attach_begins_with_the_last_events_and_shows_what_is_printed(terminal, held):
    held.tell("run_to", like={"agent": "count"})
    held.tell("step_event")
    with terminal.open("dbg", "attach", str(held.key), "--last", "1") as opened:
        opened.until("Paused after the commit of #2")
        held.tell("continue")
        opened.until("stdout: saw 3")
        assert opened.until("done") == "done"
        status, said = opened.interrupt()
    assert (status, said.strip()) == (130, "left")
    assert not [line for line in opened.lines if line.startswith("#1")]
    assert [line[:2] for line in opened.lines if line[0] == "#"] == ["#2", "#3", "#4"]


def test_attach_tells_everything_as_json(terminal, held):
    with terminal.open("dbg", "attach", "--json") as opened:
        news = json.loads(opened.until("position"))
        assert news["holds"][0]["gate"] == "before_commit"
        held.tell("continue")
        last = json.loads(opened.until('"status": "done"'))
    assert last["run"] == held.run
    assert [json.loads(line)["type"] for line in opened.lines].count("event") == 4


def test_attach_ends_with_its_server(terminal, held):
    with terminal.open("dbg", "attach") as opened:
        opened.until("Paused before the commit")
        terminal.server.stop()
        status, said = opened.ended()
    assert status == 3
    assert "the server ends" in said


@pytest.mark.req("R20")
@pytest.mark.req("R21")
def test_what_an_agent_says_cannot_drive_the_terminal(terminal, client):
    debugged = Debugged(client, "count").start("\x1b[2J\u202egnp\rhidden")
    debugged.settled()
    said = terminal("dbg", "where").stdout
    assert "\\u001b[2J" in said
    assert "\x1b" not in said
    assert "\u202e" not in said
    assert "\r" not in said


def test_a_run_that_is_over_cannot_be_stepped(terminal, held):
    held.tell("continue")
    done = terminal("dbg", "step", "--session", str(held.key))
    assert (done.returncode, "the run is over: it is done" in done.stderr) == (6, True)
    nothing = terminal("dbg", "step")
    assert (nothing.returncode, "no run goes on" in nothing.stderr) == (5, True)


def test_a_session_is_named_when_several_run_and_when_there_is_none_of_that_name(
    terminal, client, held
):
    other = Debugged(client, "count").start()
    other.settled()
    unclear = terminal("dbg", "step")
    assert unclear.returncode == 2
    assert f"{held.key} (count)" in unclear.stderr
    assert terminal("dbg", "step", "-s", other.session).returncode == 0
    missing = terminal("dbg", "step", "-s", "nobody")
    assert (missing.returncode, "no session 'nobody'" in missing.stderr) == (5, True)


def test_a_run_is_started_held_from_the_terminal(terminal, client):
    debugged = Debugged(client, "count")
    done = terminal("dbg", "start", "go", "-s", str(debugged.key))
    assert "Paused before the commit" in done.stdout
    assert terminal("dbg", "stop").stdout.startswith("stopped")
    done = terminal("dbg", "start", "go", "-s", str(debugged.key), "--no-pause")
    said = done.stdout.splitlines()
    assert (said[0].startswith("#1"), said[-1]) == (True, "done")


def test_a_run_is_started_in_a_new_session_of_an_app(terminal, client):
    before = Debugged(client, "count")
    done = terminal("dbg", "start", "go", "--new", "count")
    assert "Paused before the commit" in done.stdout
    newest = client.get("/api/sessions").json()["sessions"][0]
    assert (newest["key"] > before.key, newest["app"], newest["user"]) == (True, "count", "user")
    assert terminal("dbg", "stop").stdout.startswith("stopped")
    missing = terminal("dbg", "start", "go", "--new", "nothing")
    assert (missing.returncode, "nothing" in missing.stderr) == (5, True)
    both = terminal("dbg", "start", "go", "--new", "count", "-s", str(before.key))
    assert both.returncode == 2


def test_without_a_server_it_is_said_what_to_do(tmp_path):
    nobody = Terminal(Server(tmp_path, tmp_path / "nothing"))
    done = nobody("dbg", "where")
    assert done.returncode == 3
    assert "`devui AGENTS_DIR`" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_address_of_a_server_that_was_killed_is_known_to_be_stale(terminal, held):
    pid = terminal.server.pid
    terminal.server.kill()
    done = terminal("dbg", "where")
    assert done.returncode == 3
    assert f"process {pid} left its address there and is gone" in done.stderr
    terminal.server.start()
    assert terminal("dbg", "where").stdout.startswith("interrupted")


def test_an_address_where_nobody_listens_is_no_server(tmp_path):
    terminal = Terminal(Server(tmp_path, tmp_path / "data"))
    (tmp_path / "data").mkdir()
    told = {"pid": os.getpid(), "url": "http://127.0.0.1:9"}
    (tmp_path / "data" / "server.json").write_text(json.dumps(told))
    done = terminal("dbg", "where")
    assert (done.returncode, "left its address there and is gone" in done.stderr) == (3, True)
    done = terminal("dbg", "where", "--url", told["url"])
    assert (done.returncode, "no server answers at" in done.stderr) == (3, True)


@pytest.mark.req("R07")
def test_a_wrong_token_is_told_from_a_missing_server(terminal, held):
    for wrong in (["--token", "x" * 20], []):
        done = terminal("dbg", "where", *wrong, DEVUI_TOKEN="y" * 20)
        assert done.returncode == 4
        assert "refuses the token" in done.stderr
    url = ["--url", terminal.server.url]
    assert terminal("dbg", "where", *url, DEVUI_TOKEN=TOKEN).returncode == 0
    assert terminal("dbg", "where", *url).returncode == 4


def test_who_wrote_a_key_is_told_write_by_write(terminal, held, client):
    held.tell("continue")
    told = terminal("dbg", "blame", "n", "--at", "3", "-s", str(held.key))
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.splitlines() == [
        "#2 count",
        "      n: nothing → 1",
        "#3 count",
        "      n: 1 → 2",
    ]
    nobody = terminal("dbg", "blame", "city", "-s", str(held.key))
    assert nobody.stdout == "nobody has written city\n"


def test_a_tool_is_tried_by_itself_when_one_is_sure(terminal, client):
    asked = Debugged(client, "weather").start(pause=False)
    asked.settled()
    there = ("-s", str(asked.key))
    assert "weather  unknown (nobody)  forecaster" in terminal("dbg", "tools", *there).stdout
    unsure = terminal("dbg", "try", "weather", '{"city": "Rome"}', *there)
    assert unsure.returncode != 0
    assert "may have effects" in unsure.stderr
    told = terminal("dbg", "try", "weather", '{"city": "Rome"}', "--sure", *there)
    assert told.stdout.splitlines() == ['"sunny in Rome"', '      would write city: "Rome"']
    assert asked.kept()["state"] == {"city": "Oslo"}
    assert terminal("dbg", "try", "weather", "{", *there).returncode == 2
    a_tool_is_said_to_be_harmless(terminal, there)


def a_tool_is_said_to_be_harmless(terminal, there):
    """`devui dbg tools` in a session of the weather app, whose tool nobody has marked."""
    said = terminal("dbg", "tools", "weather", "--is", "read_only", *there)
    name = f"terminal ({getpass.getuser()})"
    assert said.stdout == f"weather  read_only, said by {name}  forecaster\n", said.stderr
    assert terminal("dbg", "try", "weather", '{"city": "Rome"}', *there).returncode == 0
    back = terminal("dbg", "tools", "weather", "--is", "as_in_code", *there).stdout
    assert back == terminal("dbg", "tools", "weather", *there).stdout
    assert back == "weather  unknown (nobody)  forecaster\n"
    nowhere = terminal("dbg", "tools", "wether", "--is", "effects", *there)
    assert (nowhere.returncode, nowhere.stderr) == (5, "Error: weather has no tool wether\n")
    assert terminal("dbg", "tools", "--is", "effects", *there).returncode == 2


def prompts_are_shown(terminal, there):
    """`devui dbg prompt` in a session of the weather app."""
    shown = terminal("dbg", "prompt", "4", *there).stdout
    assert shown.startswith("scripted  asked by forecaster  streaming\nsystem\n  ")
    assert "\ntools\n  weather(city)\n" in shown
    assert '\nuser\n  go\nmodel\n  {"functionCall": {' in shown
    told = json.loads(terminal("dbg", "prompt", "4", "--json", *there).stdout)
    assert [each["role"] for each in told["sent"]["contents"]] == ["user", "model", "user"]
    tool = terminal("dbg", "prompt", "3", *there).stdout.splitlines()
    assert tool[:3] == ["weather  called by forecaster", "arguments", '  {"city": "Oslo"}']
    differs = terminal("dbg", "prompt", "4", "--diff", *there).stdout.splitlines()
    assert differs[:4] == [
        "compared with #2",
        "The cached prefix holds: 2 new messages.",
        "= system instruction and 1 unchanged message",
        "+ model #2",
    ]
    back = terminal("dbg", "prompt", "2", "--with", "4", *there).stdout.splitlines()
    assert (back[0], "- model #2" in back) == ("compared with #4", True)
    assert terminal("dbg", "prompt", "2", "--diff", *there).returncode == 5
    assert terminal("dbg", "prompt", "3", "--diff", *there).returncode == 2
    assert terminal("dbg", "prompt", "1", *there).returncode == 5


def notes_are_kept(terminal, there):
    """`devui dbg note` and `notes`."""
    assert terminal("dbg", "notes", *there).stdout == "there are no notes\n"
    terminal("dbg", "note", "0", "a trip", *there)
    made = terminal("dbg", "note", "2", "odd", "--star", "--as", "Ada", *there)
    assert (made.returncode, made.stdout) == (0, "★ #2      odd  Ada\n")
    terminal("dbg", "note", "2", "--no-star", "--as", "Bob", *there)
    [trip, odd] = terminal("dbg", "notes", *there).stdout.splitlines()
    assert trip.startswith("  session a trip")
    assert odd == "  #2      odd  Bob"
    assert terminal("dbg", "note", "2", *there).returncode == 2
    assert terminal("dbg", "note", "99", "none", *there).returncode == 5


def an_event_is_edited_in_a_fork(terminal, there, said):
    """`devui dbg fork --event` at the user's message."""
    assert terminal("dbg", "fork", "1", "--event", "no", *there).returncode == 2
    lacks = terminal("dbg", "fork", "1", "--event", "{}", *there)
    assert (lacks.returncode, "event.author: Field required" in lacks.stderr) == (2, True)
    said["content"]["parts"][0]["text"] = "stop"
    edited = terminal("dbg", "fork", "1", "--event", json.dumps(said), "--run", *there)
    assert edited.stdout.partition("\n")[0].endswith(" at #1, edited"), edited.stderr


def is_found_by_its_number(client, asked):
    """`GET /api/sessions?key=`."""
    [found] = client.get("/api/sessions", params={"key": asked.key}).json()["sessions"]
    assert found["id"] == asked.session
    assert client.get("/api/sessions", params={"key": 999}).json()["sessions"] == []


def test_a_session_is_read_annotated_forked_rewound_counted_and_traced(terminal, client):
    asked = Debugged(client, "weather").start(pause=False)
    asked.settled()
    there = ("-s", str(asked.key))
    prompts_are_shown(terminal, there)
    notes_are_kept(terminal, there)
    forked = terminal("dbg", "fork", "2", "--state", '{"city": "Rome"}', "--note", "why", *there)
    assert (forked.returncode, forked.stderr) == (0, "")
    key = int(re.match(r"session (\d+), a fork of session \d+ at #2\n", forked.stdout)[1])
    state = client.get(f"/api/sessions/{key}/state").json()["values"]
    assert [(each["key"], each["value"]) for each in state] == [("city", "Rome")]
    again = terminal("dbg", "fork", "1", "--message", "--run", "--guard", "recorded", *there)
    assert again.stdout.splitlines()[-1].startswith("done")
    assert terminal("dbg", "fork", "1", "--state", "[]", *there).returncode == 2
    an_event_is_edited_in_a_fork(terminal, there, asked.kept()["events"][0])
    assert terminal("dbg", "fork", "99", *there).returncode == 5
    back = terminal("dbg", "rewind", "1", "hello again", "--guard", "run", *there)
    assert (back.returncode, back.stderr) == (0, "")
    assert back.stdout.startswith("done")
    assert "hello again" in asked.texts()
    told = terminal("dbg", "trace", *there).stdout
    spans = json.loads(told)["resourceSpans"][0]["scopeSpans"][0]["spans"]
    assert "execute_tool weather" in [span["name"] for span in spans]
    assert "answers 1 " in terminal("dbg", "usage", "--at", "2", *there).stdout
    is_found_by_its_number(client, asked)
    used = terminal("dbg", "usage", *there)
    assert (used.returncode, used.stderr) == (0, "")
    assert re.fullmatch(
        r"forecaster  scripted  answers 4  prompt \d+ \(cached 0\)  output \d+ \(thinking 0\)  "
        r"cost unknown\ntogether cost unknown, without 4 answers of unknown price; "
        r"prices of \d{4}-\d\d-\d\d\n",
        used.stdout,
    )
