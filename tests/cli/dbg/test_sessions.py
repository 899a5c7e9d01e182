"""`devui dbg` reads sessions, annotates, forks and rewinds them."""

import json
import re

from tests.kit.debugged_run import DebuggedRun


def test_an_ambiguous_or_unknown_session_is_an_error(terminal, client, held):
    other = DebuggedRun(client, "count").start()
    other.settled()
    unclear = terminal("dbg", "step")
    assert unclear.returncode == 2
    assert f"{held.key} (count)" in unclear.stderr
    assert terminal("dbg", "step", "-s", other.session).returncode == 0
    missing = terminal("dbg", "step", "-s", "nobody")
    assert missing.returncode == 5
    assert "no session with number or id 'nobody'" in missing.stderr


def test_blame_lists_the_writes_of_a_key(terminal, held, client):
    held.tell("continue")
    blame = terminal("dbg", "blame", "n", "--at", "3", "-s", str(held.key))
    assert (blame.returncode, blame.stderr) == (0, "")
    assert blame.stdout.splitlines() == [
        "#2 count",
        "      n: nothing → 1",
        "#3 count",
        "      n: 1 → 2",
    ]
    nobody = terminal("dbg", "blame", "city", "-s", str(held.key))
    assert nobody.stdout == "no writes of city\n"


def prompts_are_shown(terminal, there):
    """Check `devui dbg prompt` in a session of the weather app."""
    prompt = terminal("dbg", "prompt", "4", *there).stdout
    assert prompt.startswith("scripted  asked by forecaster  streaming\nsystem\n  ")
    assert "\ntools\n  weather(city)\n" in prompt
    assert '\nuser\n  go\nmodel\n  {"functionCall": {' in prompt
    prompt_json = json.loads(terminal("dbg", "prompt", "4", "--json", *there).stdout)
    assert [each["role"] for each in prompt_json["sent"]["contents"]] == ["user", "model", "user"]
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
    """Check `devui dbg note` and `notes`."""
    assert terminal("dbg", "notes", *there).stdout == "no notes\n"
    terminal("dbg", "note", "0", "a trip", *there)
    done = terminal("dbg", "note", "2", "odd", "--star", "--as", "Ada", *there)
    assert (done.returncode, done.stdout) == (0, "★ #2      odd  Ada\n")
    terminal("dbg", "note", "2", "--no-star", "--as", "Bob", *there)
    [trip, odd] = terminal("dbg", "notes", *there).stdout.splitlines()
    assert trip.startswith("  session a trip")
    assert odd == "  #2      odd  Bob"
    assert terminal("dbg", "note", "2", *there).returncode == 2
    assert terminal("dbg", "note", "99", "none", *there).returncode == 5


def tags_find_sessions(terminal, there):
    """Check `devui dbg tag`, `tags` and `sessions --tag`."""
    assert terminal("dbg", "tags").stdout == "no tags\n"
    assert terminal("dbg", "sessions", "--tag", "bug").stdout == "no sessions\n"
    assert terminal("dbg", "tag", "bug", "needs review", *there).stdout == "bug\nneeds review\n"
    assert terminal("dbg", "tags").stdout == "bug  1\nneeds review  1\n"
    [line] = terminal("dbg", "sessions", "--tag", "BUG").stdout.splitlines()
    assert line.endswith("[bug, needs review]")
    wrong = terminal("dbg", "tag", "a,b", *there)
    assert (wrong.returncode, "can't contain commas" in wrong.stderr) == (2, True)
    done = terminal("dbg", "tag", "--remove", "Bug", "--json", *there)
    assert json.loads(done.stdout) == {"tags": ["needs review"]}


def an_event_is_edited_in_a_fork(terminal, there, event):
    """Check `devui dbg fork --event` at the user's message."""
    assert terminal("dbg", "fork", "1", "--event", "no", *there).returncode == 2
    lacks = terminal("dbg", "fork", "1", "--event", "{}", *there)
    assert (lacks.returncode, "event.author: Field required" in lacks.stderr) == (2, True)
    event["content"]["parts"][0]["text"] = "stop"
    fork = terminal("dbg", "fork", "1", "--event", json.dumps(event), "--run", *there)
    assert fork.stdout.partition("\n")[0].endswith(" at #1 (edited)"), fork.stderr


def is_found_by_its_number(client, debugged):
    """Check `GET /api/sessions?key=`."""
    [row] = client.get("/api/sessions", params={"key": debugged.key}).json()["sessions"]
    assert row["id"] == debugged.session
    assert client.get("/api/sessions", params={"key": 999}).json()["sessions"] == []


def test_a_session_is_annotated_forked_rewound_counted_and_traced(terminal, client):
    debugged = DebuggedRun(client, "weather").start(pause=False)
    debugged.settled()
    there = ("-s", str(debugged.key))
    prompts_are_shown(terminal, there)
    notes_are_kept(terminal, there)
    tags_find_sessions(terminal, there)
    forked = terminal("dbg", "fork", "2", "--state", '{"city": "Rome"}', "--note", "why", *there)
    assert (forked.returncode, forked.stderr) == (0, "")
    key = int(re.match(r"session (\d+), a fork of session \d+ at #2\n", forked.stdout)[1])
    state = client.get(f"/api/sessions/{key}/state").json()["values"]
    assert [(each["key"], each["value"]) for each in state] == [("city", "Rome")]
    again = terminal("dbg", "fork", "1", "--message", "--run", "--guard", "recorded", *there)
    _, _, message, *answers, end = again.stdout.splitlines()
    assert message.startswith("#1 ")
    assert (len(answers) > 0, end) == (True, "done")
    assert terminal("dbg", "fork", "1", "--state", "[]", *there).returncode == 2
    an_event_is_edited_in_a_fork(terminal, there, debugged.kept()["events"][0])
    assert terminal("dbg", "fork", "99", *there).returncode == 5
    back = terminal("dbg", "rewind", "1", "hello again", "--guard", "run", *there)
    assert (back.returncode, back.stderr) == (0, "")
    rewind, again, *answers, end = back.stdout.splitlines()
    assert rewind.endswith("rewound the session")
    assert again.endswith("hello again")
    assert (len(answers) > 0, end) == (True, "done")
    assert "hello again" in debugged.texts()
    trace = terminal("dbg", "trace", *there).stdout
    spans = json.loads(trace)["resourceSpans"][0]["scopeSpans"][0]["spans"]
    assert "execute_tool weather" in [span["name"] for span in spans]
    assert "answers 1 " in terminal("dbg", "usage", "--at", "2", *there).stdout
    is_found_by_its_number(client, debugged)
    used = terminal("dbg", "usage", *there)
    assert (used.returncode, used.stderr) == (0, "")
    assert re.fullmatch(
        r"forecaster  scripted  answers 4  prompt \d+ \(cached 0\)  output \d+ \(thinking 0\)  "
        r"cost unknown\ntotal cost unknown, excluding 4 answers with unknown prices; "
        r"prices of \d{4}-\d\d-\d\d\n",
        used.stdout,
    )


def test_the_exit_status_says_whether_the_run_failed_or_did_not_start(terminal, client):
    debugged = DebuggedRun(client, "weather").start(pause=False)
    debugged.settled()
    at_the_call = ("dbg", "fork", "2", "-s", str(debugged.key), "--run", "--guard", "run", "--json")
    refusal = terminal(*at_the_call)
    [fork] = map(json.loads, refusal.stdout.splitlines())
    [call] = fork["unknown"]
    assert (refusal.returncode, fork["run"]) == (6, None)
    assert f"isn't running. Continue it with `devui resume {fork['key']}" in refusal.stderr
    assert f"--call {call['id']}=WHAT" in refusal.stderr
    event = debugged.kept()["events"][1]
    event["content"]["parts"][0]["functionCall"]["args"]["city"] = ""
    failed = terminal(*at_the_call, "--event", json.dumps(event))
    [_, end] = map(json.loads, failed.stdout.splitlines())
    assert (failed.returncode, end["status"]) == (1, "failed"), failed.stderr
    over = terminal("dbg", "fork", "4", "-s", str(debugged.key), "--run")
    assert over.returncode == 6
    assert "send it a message" in over.stderr


def test_a_session_with_any_id_can_be_selected(terminal, client):
    for name in ("a/b", "..a", "%2F", "a b?c#d;e", "--help", "ünï🦊", "'\"", "n" * 200):
        path = "/apps/count/users/odd%2Fuser/sessions"
        assert client.post(path, json={"sessionId": name}).status_code == 200
        done = terminal("dbg", "state", "--json", f"--session={name}")
        assert (done.returncode, done.stderr) == (0, ""), name
