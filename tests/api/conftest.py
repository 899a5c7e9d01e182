"""One server over the sample agents for all tests of the API."""

import pytest

from tests.kit.server import SAMPLES, running


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    with running(SAMPLES, tmp_path_factory.mktemp("api") / "data") as started:
        yield started


@pytest.fixture
def client(server):
    with server.client() as opened:
        yield opened
