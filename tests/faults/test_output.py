"""The output of agents is bounded (R50)."""

import psutil
import pytest

from tests.faults.seen import ends, log_of, session_page, shown, still_serves
from tests.kit.server import make_session, run

pytestmark = pytest.mark.req("R50")


@pytest.mark.parametrize("app", ["floods", "closes"])
def test_an_agent_may_print_a_gigabyte_or_close_its_streams(client, server, app):
    before = psutil.Process(server.pid).memory_info().rss
    last, session = ends(client, app)
    assert session["state"]["after"] is True, last
    assert psutil.Process(server.pid).memory_info().rss - before < 100_000_000
    shown(client, session, "begun", "after")
    still_serves(client)


def test_any_number_of_short_lines_is_bounded(client, server):
    session = make_session(client, "chatters")
    run(client, "chatters", session["id"], "go")
    page = session_page(client, session)
    assert "The run failed" not in page
    lines = log_of(client, session).splitlines()
    assert len(lines) < 20_000
    assert "output truncated" in lines[-1]


def test_the_log_has_the_last_line_and_the_output_of_threads(client):
    session = make_session(client, "mumbles")
    run(client, "mumbles", session["id"], "go")
    log = log_of(client, session)
    for words in ("from a thread", "whole line", "no end"):
        assert words in log
