"""A process that waits for the next app, so that no user waits for its start (R57)."""

import venv
from contextlib import suppress

import psutil
import pytest

from tests.api.test_apps import answer
from tests.kit.oracle import adk_python, needs_adk
from tests.kit.patience import wait_until
from tests.kit.server import ROOT, Server, running, write_app

WHO = """
import os

from google.genai import types
from {runtime}.agents import BaseAgent
from {runtime}.events import Event

print("imported by", os.getpid())


class Who(BaseAgent):
    async def _run_async_impl(self, ctx):
        text = f"{{os.getpid()}} {{os.environ['NAME']}} {word}"
        yield Event(author=self.name, content=types.ModelContent(text))


root_agent = Who(name="who")
"""


def write(agents, word: str, runtime: str = "devui.runtime") -> None:
    write_app(agents, "who", WHO.format(runtime=runtime, word=word))
    (agents / "who" / ".env").write_text("NAME=Ada\n", encoding="utf-8")


def spares(server: Server) -> list[int]:
    """The ids of the processes that are, or were, spare workers."""
    pids = []
    for child in psutil.Process(server.pid).children():
        with suppress(psutil.NoSuchProcess):  # it has just exited
            pids += [child.pid] if "--preload" in child.cmdline() else []
    return pids


def spare(server: Server, *but: int) -> int:
    """The id of the spare worker, other than these."""
    wait_until(lambda: set(spares(server)) - {*but})
    [pid] = set(spares(server)) - {*but}
    return pid


@pytest.mark.parametrize("runtime", ["devui.runtime", pytest.param("google.adk", marks=needs_adk)])
def test_the_spare_worker_takes_the_first_app_and_its_next_version(tmp_path, runtime):
    agents = tmp_path / "agents"
    write(agents, "one", runtime)
    options = ["--python", str(adk_python())] if runtime == "google.adk" else []
    with running(agents, tmp_path / "data", *options, spare=True) as server:
        first = spare(server)
        with server.client() as client:
            assert answer(client, "who") == f"{first} Ada one"
            page = client.get("/apps/who", headers={"Accept": "text/html"}).text
            assert f"imported by {first}" in page
            second = spare(server, first)
            write(agents, "two", runtime)
            assert answer(client, "who") == f"{second} Ada two"
        third = spare(server, first, second)
    wait_until(lambda: not psutil.pid_exists(third))


def test_a_killed_spare_worker_is_replaced_by_a_regular_worker(tmp_path):
    agents = tmp_path / "agents"
    write(agents, "one")
    with running(agents, tmp_path / "data", spare=True) as server, server.client() as client:
        psutil.Process(spare(server)).kill()
        assert answer(client, "who").endswith("Ada one")


@needs_adk
def test_a_spare_worker_started_before_an_installation_is_not_used(tmp_path):
    agents, environment = tmp_path / "agents", tmp_path / "env"
    write(agents, "one")
    venv.create(environment)
    [packages] = environment.glob("lib/python*/site-packages")
    [site_packages] = adk_python().parent.parent.glob("lib/python*/site-packages")
    (packages / "known.pth").write_text(f"{site_packages}\n", encoding="utf-8")
    options = ["--python", str(environment)]
    with running(agents, tmp_path / "data", *options, spare=True) as server:
        waiting = spare(server)
        (packages / "newer").mkdir()
        with server.client() as client:
            assert answer(client, "who").endswith("Ada one")
            assert not answer(client, "who").startswith(f"{waiting} ")


def test_the_spare_worker_ends_when_its_server_is_killed(tmp_path):
    agents = tmp_path / "agents"
    write(agents, "one")
    server = Server(agents, tmp_path / "data", spare=True).start()
    waiting = spare(server)
    server.kill()
    wait_until(lambda: not psutil.pid_exists(waiting))


def test_choosing_another_engine_starts_another_spare_worker(tmp_path):
    agents = tmp_path / "agents"
    write(agents, "one")
    with running(agents, tmp_path / "data", spare=True) as server, server.client() as client:
        waiting = spare(server)
        page = {"Origin": server.url}
        client.post("/apps/who/engine", data={"engine": "devui"}, headers=page)
        assert answer(client, "who").endswith("Ada one")
        assert not answer(client, "who").startswith(f"{waiting} ")
        wait_until(lambda: waiting not in spares(server))
        second = spare(server)
        write(agents, "two")
        assert answer(client, "who") == f"{second} Ada two"


def test_another_spare_worker_starts_after_an_app_that_fails_to_load(tmp_path):
    agents = tmp_path / "agents"
    write(agents, "one")
    with running(agents, tmp_path / "data", spare=True) as server, server.client() as client:
        first = spare(server)
        assert answer(client, "who") == f"{first} Ada one"
        second = spare(server, first)
        write(agents, "{")
        assert answer(client, "who") == f"{first} Ada one"
        third = spare(server, first, second)
        write(agents, "two")
        assert answer(client, "who") == f"{third} Ada two"


def test_a_broken_runtime_does_not_affect_apps_of_the_other(tmp_path):
    agents = tmp_path / "agents"
    write(agents, "one")
    for package in ("google", "google/adk"):
        folder = tmp_path / "broken" / package
        folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("raise TypeError('not today')", encoding="utf-8")
    path = {"PYTHONPATH": f"{tmp_path / 'broken'}:{ROOT}"}
    with running(agents, tmp_path / "data", spare=True, **path) as server:
        waiting = spare(server)
        with server.client() as client:
            assert answer(client, "who") == f"{waiting} Ada one"
