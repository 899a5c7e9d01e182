"""A MariaDB server for as long as a test needs it."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.kit.oracle import adk_has
from tests.kit.patience import PATIENCE
from tests.kit.postgres import PASSWORD

_USER = "nobody"
"""The user that runs it if the tests run as root."""


def _missing() -> str:
    """Return why there can be no server that google-adk writes to; "" if there can."""
    if not all(map(shutil.which, ("mariadb-install-db", "mariadbd", "mariadb"))):
        return "no MariaDB: put mariadb-install-db, mariadbd and mariadb on the PATH"
    if not adk_has("aiomysql"):
        return "google-adk's Python has no aiomysql: install it there"
    return ""


needs_mariadb = pytest.mark.skipif(bool(_missing()), reason=_missing() or "there is one")


@contextmanager
def mariadb() -> Iterator[str]:
    """Yield the address of a server: `devui:…@127.0.0.1:PORT/adk`, without a scheme."""
    with tempfile.TemporaryDirectory(prefix="devui-mariadb-") as name:
        folder = Path(name)
        data, link = folder / "data", folder / "socket"
        data.mkdir()
        root = os.geteuid() == 0
        who = {"user": _USER} if root else {}
        if root:
            for path in (folder, data):
                shutil.chown(path, _USER)
        plain = ["--no-defaults", f"--datadir={data}"]
        make = ["mariadb-install-db", *plain, "--auth-root-authentication-method=normal"]
        subprocess.run(make, check=True, capture_output=True, timeout=PATIENCE, **who)
        port = _free_port()
        where = [f"--port={port}", "--bind-address=127.0.0.1", f"--socket={link}"]
        log = (folder / "log").open("wb")
        server = subprocess.Popen(["mariadbd", *plain, *where], stdout=log, stderr=log, **who)
        try:
            _make_database(link)
            yield f"devui:{quote(PASSWORD, safe='')}@127.0.0.1:{port}/adk"
        finally:
            server.terminate()
            server.wait(PATIENCE)
            log.close()


def _make_database(link: Path) -> None:
    """Create the database and its user, as soon as the server answers."""
    sql = (
        "CREATE DATABASE adk CHARACTER SET utf8mb4;"
        f"CREATE USER devui@'127.0.0.1' IDENTIFIED BY '{PASSWORD}';"
        "GRANT ALL ON adk.* TO devui@'127.0.0.1'; DROP USER IF EXISTS ''@localhost"
    )
    command = ["mariadb", "--no-defaults", f"--socket={link}", "--user=root", f"--execute={sql}"]
    until = time.monotonic() + PATIENCE
    while True:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return
        assert time.monotonic() < until, done.stderr
        time.sleep(0.1)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])
