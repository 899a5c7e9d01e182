"""One server over agents that misbehave."""

import pytest

from tests.faults.misbehaving_agents import AGENTS
from tests.kit.server import running, write_app


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("faulty")
    agents = folder / "agents"
    for name, code in AGENTS.items():
        write_app(agents, name, code)
    with running(agents, folder / "data") as server:
        yield server


@pytest.fixture
def client(server):
    with server.client() as client:
        yield client
