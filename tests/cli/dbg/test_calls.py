"""`devui dbg` ends and answers calls under way, and tries single tools."""

import getpass
import json
import time

from tests.api.test_calls import results
from tests.kit.debugged_run import DebuggedRun
from tests.kit.patience import PATIENCE


def begun(client):
    return DebuggedRun(client, "slow").start(pause=False).wait_for_output("began")


def has_results(debugged, count: int) -> None:
    """Wait until the session has the results of this many calls."""
    until = time.monotonic() + PATIENCE
    while len(results(debugged)) < count:
        assert time.monotonic() < until


def test_hanging_calls_are_answered_and_ended_by_name(terminal, client):
    debugged = begun(client)
    answer = ("dbg", "end", "wait", '{"waited": 3}', "--as", "Ada", "--no-wait", "--key", "once")
    done = terminal(*answer)
    assert (done.returncode, done.stderr) == (0, "")
    has_results(debugged, 1)
    until = time.monotonic() + PATIENCE
    while "tool wait" not in terminal("dbg", "why").stdout:
        assert time.monotonic() < until
    ended = terminal("dbg", "end", "wait", "--why", "no more of it", "--no-wait", "--json")
    assert json.loads(ended.stdout)["lastCommand"]["command"] == "end"
    has_results(debugged, 2)
    assert terminal(*answer).returncode == 0  # this call has ended,
    terminal("dbg", "stop")
    assert terminal(*answer).returncode == 0  # and now its run has, too
    first, second = results(debugged)[:2]
    assert first == {"waited": 3}
    assert second["error"].endswith("no more of it")


def test_ending_a_call_that_is_not_under_way_is_refused(terminal, client):
    begun(client)
    refusal = terminal("dbg", "end", "12345")
    assert (refusal.returncode, "already ended" in refusal.stderr) == (6, True)
    unknown = terminal("dbg", "end", "other")
    assert (unknown.returncode, "no call 'other' is in progress" in unknown.stderr) == (6, True)
    both = terminal("dbg", "end", "wait", "1", "--why", "x")
    assert (both.returncode, "--why and VALUE" in both.stderr) == (2, True)
    terminal("dbg", "stop")
    assert terminal("dbg", "end", "wait").returncode in {5, 6}


def test_a_tool_with_unknown_effects_is_tried_only_with_sure(terminal, client):
    debugged = DebuggedRun(client, "weather").start(pause=False)
    debugged.settled()
    there = ("-s", str(debugged.key))
    assert "weather  unknown  forecaster" in terminal("dbg", "tools", *there).stdout
    unsure = terminal("dbg", "try", "weather", '{"city": "Rome"}', *there)
    assert unsure.returncode != 0
    assert "may have side effects: add --yes to run it" in unsure.stderr
    trial = terminal("dbg", "try", "weather", '{"city": "Rome"}', "--yes", *there)
    assert trial.stdout.splitlines() == ['"sunny in Rome"', '      would write city: "Rome"']
    assert debugged.kept()["state"] == {"city": "Oslo"}
    assert terminal("dbg", "try", "weather", "{", *there).returncode == 2
    failure = terminal("dbg", "try", "weather", '{"city": ""}', "--yes", *there)
    assert (failure.returncode, failure.stdout) == (1, "ValueError: which city?\n")
    a_tool_is_said_to_be_harmless(terminal, there)


def a_tool_is_said_to_be_harmless(terminal, there):
    """Check `devui dbg tools` in a session of the weather app, whose tool nobody has marked."""
    done = terminal("dbg", "tools", "weather", "--is", "read_only", *there)
    name = f"terminal ({getpass.getuser()})"
    assert done.stdout == f"weather  read_only, set by {name}  forecaster\n", done.stderr
    assert terminal("dbg", "try", "weather", '{"city": "Rome"}', *there).returncode == 0
    back = terminal("dbg", "tools", "weather", "--is", "as_in_code", *there).stdout
    assert back == terminal("dbg", "tools", "weather", *there).stdout
    assert back == "weather  unknown  forecaster\n"
    nowhere = terminal("dbg", "tools", "wether", "--is", "effects", *there)
    assert (nowhere.returncode, nowhere.stderr) == (
        5,
        "Error: weather has no tool wether; run `devui dbg tools --app weather` to list them\n",
    )
    assert terminal("dbg", "tools", "--is", "effects", *there).returncode == 2
