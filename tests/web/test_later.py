"""What the server loads only when it is needed."""

import re
import subprocess
import sys
from inspect import iscoroutinefunction

import httpx2
import pytest

from devui.web import routes
from devui.web.later import ENDPOINTS, Later
from tests.kit.server import SAMPLES
from tests.source import ROOT

OURS, ALL = 207, 558
"""How many modules a server has loaded when it has shown its first page. Another one of ours costs
each start a millisecond and 30 kB, or more: let it come with the first request for it."""

NOT_AT_START = {
    *("pydantic", "markdown_it", "pygments", "nh3", "httpx", "difflib", "google", "authlib"),
    "anyio.lowlevel",
    *("devui.web.panels.session.page", "devui.web.panels.session.page"),
    *("devui.debugger.replays.replays", "devui.debugger.recovery.forking", "devui.wire.codecs"),
    *("devui.debugger.events.shape", "devui.web.security.ownwords"),
}


def test_every_route_has_its_view() -> None:
    names = [route.endpoint for route in routes.routes if route.endpoint in ENDPOINTS]
    assert len(names) > 100
    for later, view in map(ENDPOINTS.__getitem__, names):
        assert iscoroutinefunction(getattr(later.load(), view)), view


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """What a server has loaded when it has shown its first page, as the interpreter tells it."""
    folder = tmp_path_factory.mktemp("started")
    command = [sys.executable, "-X", "importtime", "-m", "devui", str(SAMPLES), "--no-browser"]
    command += ["--no-auth", "--port", "0", "--data-dir", str(folder / "data")]
    log = folder / "told"
    with (
        log.open("w") as err,
        subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=err, text=True) as child,
    ):
        assert child.stdout is not None
        link = re.search(r"http://\S+", child.stdout.readline())
        assert link, log.read_text()
        assert "Apps" in httpx2.get(link[0]).text
        child.terminate()
    return set(re.findall(r"^import time:.*\| +(\S+)$", log.read_text(), re.MULTILINE))


def test_the_start_page_is_there_without_what_sessions_need(loaded: set[str]) -> None:
    assert not loaded & NOT_AT_START


def test_a_server_starts_with_few_modules(loaded: set[str]) -> None:
    ours = sorted(name for name in loaded if name.split(".")[0] == "devui")
    assert 50 < len(ours) <= OURS, "\n".join(ours)
    assert len(loaded) <= ALL, "\n".join(sorted(loaded))


def test_not_at_start_names_modules_that_there_are() -> None:
    for name in NOT_AT_START:
        assert Later(name).load()
