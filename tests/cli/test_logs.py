"""The server's log on the terminal (R21)."""

import subprocess
import sys

import pytest

from tests.kit.server import ROOT

LOGS = r"""
import logging
from devui.cli.logs import log_to_terminal

log_to_terminal("info")
HOSTILE = "\x1b]0;title\x07 \x9b2J one\rtwo\nERROR devui.runs: forged\u2028\u202e \x1b[8m"
logging.getLogger("devui.runs").info("said %s", HOSTILE)
try:
    raise ValueError(HOSTILE)
except ValueError:
    logging.getLogger("devui.runs").exception("failed")
logging.getLogger("devui.runs").debug("not wanted")
"""


@pytest.mark.req("R21")
def test_what_is_logged_cannot_drive_the_terminal_or_forge_a_record():
    done = subprocess.run(
        [sys.executable, "-c", LOGS], capture_output=True, text=True, cwd=ROOT, check=True
    )
    controls = {c for c in done.stderr if ord(c) < 32 or 127 <= ord(c) < 160} - {"\n"}
    assert controls == set()
    assert "\u202e" not in done.stderr
    records = [line for line in done.stderr.split("\n") if line and not line.startswith(" ")]
    assert [line[:18] for line in records] == ["INFO devui.runs: s", "ERROR devui.runs: "]
    assert "forged" not in "".join(records)
    assert done.stderr.count("    ERROR devui.runs: forged") == 2
