"""What talks to the server of a test."""

import pytest

from tests.kit.terminal import Terminal


@pytest.fixture
def client(server):
    with server.client() as opened:
        yield opened


@pytest.fixture
def terminal(server):
    return Terminal(server)
