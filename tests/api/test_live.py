"""`/run_live`, which devui does not support: clients are told what to use instead."""

import pytest
from websockets.exceptions import ConnectionClosedError, InvalidStatus
from websockets.sync.client import connect

from tests.kit.server import TOKEN

BEARER = {"Authorization": f"Bearer {TOKEN}"}
QUERY = "?app_name=summary&user_id=u&session_id=s"


def address(server, path="/run_live" + QUERY):
    return server.url.replace("http", "ws", 1) + path


def test_a_socket_is_closed_with_the_reason(server):
    with (
        connect(address(server), additional_headers=BEARER) as socket,
        pytest.raises(ConnectionClosedError) as closed,
    ):
        socket.recv()
    assert closed.value.rcvd.code == 1011
    assert "/run_sse" in closed.value.rcvd.reason


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/run_live", {}),
        ("/run_live", {**BEARER, "Origin": "http://evil.example"}),
        ("/elsewhere", BEARER),
    ],
)
def test_other_connections_are_refused(server, path, headers):
    with (
        pytest.raises(InvalidStatus) as refused,
        connect(address(server, path), additional_headers=headers),
    ):
        pass
    assert refused.value.response.status_code == 403


def test_a_plain_http_request_is_told_what_to_use(client):
    answer = client.get("/run_live" + QUERY)
    assert answer.status_code == 501
    assert "/run_sse" in answer.json()["detail"]
