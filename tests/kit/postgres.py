"""A PostgreSQL server for as long as a test needs it."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.kit.oracle import adk_has
from tests.kit.patience import PATIENCE

PASSWORD = "pass@word/of:a?server"
_NOBODY = "nobody"
"""The user that runs it if the tests run as root, which PostgreSQL refuses."""


def _missing() -> str:
    """Return why there can be no server that google-adk writes to; "" if there can."""
    if not all(map(shutil.which, ("initdb", "pg_ctl", "postgres"))):
        return "no PostgreSQL: put initdb, pg_ctl and postgres on the PATH"
    if not adk_has("asyncpg"):
        return "google-adk's Python has no asyncpg: install it there"
    return ""


needs_postgres = pytest.mark.skipif(bool(_missing()), reason=_missing() or "there is one")


@contextmanager
def postgres() -> Iterator[str]:
    """Yield the address of a server: `devui:…@127.0.0.1:PORT/postgres`, without a scheme."""
    with tempfile.TemporaryDirectory(prefix="devui-postgres-") as name:
        folder = Path(name)
        secret, data = folder / "password", str(folder / "data")
        secret.write_text(PASSWORD)
        if os.geteuid() == 0:
            for path in (folder, secret):
                shutil.chown(path, _NOBODY)
        _do(
            folder,
            "initdb",
            "-D",
            data,
            "-U",
            "devui",
            "-A",
            "scram-sha-256",
            "-N",
            "--pwfile",
            secret,
        )
        port = _free_port()
        options = f"-h 127.0.0.1 -p {port} -k {name} -F"
        _do(folder, "pg_ctl", "start", "-w", "-D", data, "-l", folder / "log", "-o", options)
        try:
            yield f"devui:{quote(PASSWORD, safe='')}@127.0.0.1:{port}/postgres"
        finally:
            _do(folder, "pg_ctl", "stop", "-m", "fast", "-w", "-D", data)


def _do(folder: Path, *command: str | Path) -> None:
    who = {"user": _NOBODY} if os.geteuid() == 0 else {}
    # The server that pg_ctl leaves behind keeps its streams open, so they can't be our pipes.
    with (folder / "said").open("w+") as log:
        done = subprocess.run(
            list(map(str, command)), cwd=folder, stdout=log, stderr=log, timeout=PATIENCE, **who
        )
    assert done.returncode == 0, (folder / "said").read_text()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])
