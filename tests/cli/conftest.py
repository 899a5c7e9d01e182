"""Clients of a test's server."""

import pytest

from tests.kit.terminal import Terminal


@pytest.fixture
def client(server):
    with server.client() as client:
        yield client


@pytest.fixture
def terminal(server):
    return Terminal(server)
