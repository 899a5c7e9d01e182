"""`devui dbg attach` follows a session, and escapes control characters."""

import json

import pytest

from tests.kit.debugged_run import DebuggedRun


def test_attach_follows_a_session_and_ctrl_c_leaves_the_run_alone(terminal, held):
    with terminal.open("dbg", "attach") as attach:
        attach.until("Paused before the commit")
        held.tell("step_event")
        attach.until("#1    user        user             hello")
        attach.until("Paused after the commit of #1")
        held.tell("step_half")
        attach.until("n: nothing → 1")
        status, errors = attach.interrupt()
    pauses = [line for line in attach.lines if line.startswith("Paused after the commit of #1")]
    assert len(pauses) == 1
    assert (status, "the run continues" in errors) == (130, True)
    assert held.settled()["status"] == "held"
    held.tell("continue")


def test_attach_starts_with_the_last_events_and_shows_output(terminal, held):
    held.tell("run_to", like={"agent": "count"})
    held.tell("step_event")
    with terminal.open("dbg", "attach", str(held.key), "--last", "1") as attach:
        attach.until("Paused after the commit of #2")
        held.tell("continue")
        attach.until("stdout: saw 3")
        assert attach.until("done") == "done"
        status, errors = attach.interrupt()
    assert (status, errors.strip()) == (130, "detached")
    assert not [line for line in attach.lines if line.startswith("#1")]
    assert [line[:2] for line in attach.lines if line[0] == "#"] == ["#2", "#3", "#4"]


def test_attach_prints_everything_as_json(terminal, held):
    with terminal.open("dbg", "attach", "--json") as attach:
        news = json.loads(attach.until("position"))
        assert news["holds"][0]["gate"] == "before_commit"
        held.tell("continue")
        last = json.loads(attach.until('"status": "done"'))
    assert last["run"] == held.run
    assert [json.loads(line)["type"] for line in attach.lines].count("event") == 4


def test_attach_ends_with_its_server(terminal, held):
    with terminal.open("dbg", "attach") as attach:
        attach.until("Paused before the commit")
        terminal.server.stop()
        status, errors = attach.ended()
    assert status == 3
    assert "the server is shutting down" in errors


@pytest.mark.req("R20")
@pytest.mark.req("R21")
def test_control_characters_from_an_agent_are_escaped(terminal, client):
    debugged = DebuggedRun(client, "count").start("\x1b[2J\u202egnp\rhidden")
    debugged.settled()
    output = terminal("dbg", "where").stdout
    assert "\\u001b[2J" in output
    assert "\x1b" not in output
    assert "\u202e" not in output
    assert "\r" not in output
