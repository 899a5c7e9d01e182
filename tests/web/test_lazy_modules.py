"""Modules that the server loads only when they are needed."""

import re
import subprocess
import sys
from inspect import iscoroutinefunction

import httpx2
import pytest

from devui.web import routes
from devui.web.lazy_modules import ENDPOINTS, LazyModule
from tests.kit.server import SAMPLES
from tests.source import ROOT

OURS, ALL = 208, 560
"""How many modules a server may have loaded after its first page. Each additional one of ours costs
every start at least a millisecond and 30 kB: load it with the first request that needs it."""

NOT_AT_START = {
    *("pydantic", "markdown_it", "pygments", "nh3", "httpx", "difflib", "google", "authlib"),
    "anyio.lowlevel",
    *("devui.web.panels.session.page", "devui.web.panels.session.page"),
    *("devui.debugger.replays.replays", "devui.debugger.recovery.fork_maker", "devui.wire.codecs"),
    *("devui.debugger.events.shape", "devui.web.security.unredactable_words"),
}


def test_every_route_has_its_view() -> None:
    names = [route.endpoint for route in routes.routes if route.endpoint in ENDPOINTS]
    assert len(names) > 100
    for lazy_module, view in map(ENDPOINTS.__getitem__, names):
        assert iscoroutinefunction(getattr(lazy_module.load(), view)), view


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The modules that a server has loaded after its first page, according to the interpreter."""
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


def test_the_start_page_does_not_load_what_only_sessions_need(loaded: set[str]) -> None:
    assert not loaded & NOT_AT_START


def test_a_server_starts_with_few_modules(loaded: set[str]) -> None:
    ours = sorted(name for name in loaded if name.split(".")[0] == "devui")
    assert 50 < len(ours) <= OURS, "\n".join(ours)
    assert len(loaded) <= ALL, "\n".join(sorted(loaded))


def test_the_modules_that_are_not_loaded_at_start_exist() -> None:
    for name in NOT_AT_START:
        assert LazyModule(name).load()
