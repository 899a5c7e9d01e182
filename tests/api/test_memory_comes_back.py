"""A server that has served large answers shrinks to about its former size (Linux with glibc)."""

import platform
import time

import httpx2
import psutil
import pytest

from tests.kit.patience import PATIENCE
from tests.kit.server import SAMPLES, make_session, running

PATHS = ("/sessions/{key}", "/api/sessions/{key}/export", "/apps/summary/users/u/sessions/{id}")
MOST = 20_000_000
"""How much the server may have grown in the end, in bytes."""
STATE = {f"key {n}": ["some words " * 900] * 10 for n in range(150)}
"""About 15 MB."""


def create(client: httpx2.Client, name: str, state: dict[str, object]) -> dict[str, object]:
    make_session(client, "summary", sessionId=name, state=state)
    query = {"app": "summary", "user": "u", "id": name}
    [row] = client.get("/api/sessions", params=query).json()["sessions"]
    return {"id": name, "key": row["key"]}


def read(client: httpx2.Client, session: dict[str, object]) -> None:
    for path in PATHS:
        with client.stream("GET", path.format(**session), headers={"Accept": "text/html"}) as got:
            assert got.status_code == 200
            for _ in got.iter_raw():
                pass


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="no other library gives back")
def test_memory_of_large_exports_and_pages_is_released(tmp_path) -> None:
    with running(SAMPLES, tmp_path / "data") as server, server.client() as client:
        process = psutil.Process(server.pid)
        read(client, create(client, "small", {"a": 1}))
        before = process.memory_info().rss
        large = create(client, "large", STATE)
        for _ in range(3):
            read(client, large)
        until = time.monotonic() + PATIENCE
        while (grown := process.memory_info().rss - before) > MOST and time.monotonic() < until:
            time.sleep(0.2)
        assert grown <= MOST, f"it is {grown:,} bytes larger than before"
