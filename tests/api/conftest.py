"""One server over the sample agents, shared by all API tests."""

import pytest

from devui.runtime.models.scripted_llm import SPEED_VARIABLE
from tests.kit.server import SAMPLES, running


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    data = tmp_path_factory.mktemp("api") / "data"
    with running(SAMPLES, data, **{SPEED_VARIABLE: "10"}) as server:
        yield server


@pytest.fixture
def client(server):
    with server.client() as client:
        yield client
