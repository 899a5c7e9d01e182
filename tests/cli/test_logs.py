"""The server's log on the terminal (R21)."""

import os
import subprocess
import sys

import pytest

from tests.kit.server import ROOT, SAMPLES, make_session, running

LOGS = r"""
import logging
from pathlib import Path
from devui.cli.web import log_to_terminal

log_to_terminal("info", Path.cwd())
HOSTILE = "\x1b]0;title\x07 \x9b2J one\rtwo\nERROR devui.runs: forged\u2028\u202e \x1b[8m"
logging.getLogger("devui.runs").info("said %s", HOSTILE)
try:
    raise ValueError(HOSTILE)
except ValueError:
    logging.getLogger("devui.runs").exception("failed")
logging.getLogger("devui.runs").debug("not wanted")
logging.getLogger("devui.runs").warning("the agent said hunter2-hunter2 and sk-ant-%s", "a1B2" * 9)
"""


@pytest.mark.req("R21")
@pytest.mark.req("R64")
def test_log_messages_are_escaped_and_redacted():
    done = subprocess.run(
        [sys.executable, "-c", LOGS],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
        env={**os.environ, "SERVICE_PASSWORD": "hunter2-hunter2"},
    )
    assert "the agent said [redacted] and [redacted]" in done.stderr
    assert "hunter2" not in done.stderr
    controls = {c for c in done.stderr if ord(c) < 32 or 127 <= ord(c) < 160} - {"\n"}
    assert controls == set()
    assert "\u202e" not in done.stderr
    records = [line for line in done.stderr.split("\n") if line and not line.startswith(" ")]
    assert [line[:18] for line in records] == [
        "INFO devui.runs: s",
        "ERROR devui.runs: ",
        "WARNING devui.runs",
    ]
    assert "forged" not in "".join(records)
    assert done.stderr.count("    ERROR devui.runs: forged") == 2


@pytest.mark.req("R64")
def test_an_export_with_secrets_is_logged(tmp_path):
    with running(SAMPLES, tmp_path / "data") as server, server.client() as client:
        for _ in range(2):
            make_session(client, "summary")
        assert client.get("/api/sessions/1/export").status_code == 200
        export = client.get("/api/sessions/2/export", params={"secrets": "keep"})
        assert export.status_code == 200
        warning = server.printed(r"WARNING devui.*: session (\d+) was exported with its secrets")
        assert "session 2 was" in warning
