"""`devui dbg` adds, changes and deletes breakpoints, and refuses invalid conditions."""

from tests.kit.debugged_run import DebuggedRun


def test_breakpoints_are_added_listed_switched_changed_and_deleted(terminal, client):
    add = ("dbg", "break", "add", "--app", "count")
    done = terminal(*add, "state:n", "--if", "new == 2", "--after")
    assert done.stdout == "   1  on   count  state:n  after  if new == 2\n"
    assert terminal("dbg", "break", "disable", "1").stdout.startswith("   1  off")
    assert terminal("dbg", "break", "enable", "1").stdout.startswith("   1  on ")
    assert "off for ada" in terminal("dbg", "break", "disable", "1", "--user", "ada").stdout
    debugged = DebuggedRun(client, "count").start(pause=False)
    assert debugged.settled()["holds"][0]["breakpoint"] == 1
    assert "breakpoint 1" in terminal("dbg", "where").stdout
    assert "hit once" in terminal("dbg", "break", "list").stdout
    change = ("dbg", "break", "change", "1")
    changed = terminal(*change, "event:call", "--if", "", "--before", "--hits", "% 2").stdout
    assert changed.startswith("   1  on   count  event:call  hits % 2  ")
    wrong = terminal(*change, "--if", "new =")
    assert (wrong.returncode, "column 5" in wrong.stderr) == (2, True)
    assert terminal(*change).returncode == 2
    assert terminal("dbg", "break", "change", "9", "--log", "x").returncode == 5
    assert terminal("dbg", "break", "rm", "1").stdout == "deleted breakpoint 1\n"
    assert terminal("dbg", "break", "list", "--json").stdout == ""
    assert terminal("dbg", "break", "rm", "1").returncode == 5


def test_an_invalid_condition_is_refused_with_the_position(terminal):
    done = terminal("dbg", "break", "add", "tool:x", "--app", "count", "--if", "args.city ==")
    assert done.returncode == 2
    assert "column 13" in done.stderr
    unclear = terminal("dbg", "break", "add", "tool:x")
    assert (unclear.returncode, "count, slow, weather" in unclear.stderr) == (2, True)
