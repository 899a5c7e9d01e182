"""google-adk's own development server, `adk web`, in a separate process."""

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2

from tests.kit.oracle import adk_python
from tests.kit.patience import PATIENCE


@contextmanager
def adk_web(agents: Path, *options: str) -> Iterator[httpx2.Client]:
    """Yield a client of `adk web` on a folder of agents, started with these options."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    command = [str(adk_python()), "-W", "ignore", "-m", "google.adk.cli", "web", str(agents)]
    command += ["--port", str(port), "--no-reload", *options]
    environment = {**os.environ, "HOME": str(agents.parent), "ADK_DISABLE_LOAD_DOTENV": "1"}
    with (
        (agents.parent / "adk-web.log").open("w") as log,
        subprocess.Popen(command, stdout=log, stderr=log, env=environment) as process,
        # When agent code raises, the server closes a connection that the client would reuse.
        httpx2.Client(
            base_url=f"http://127.0.0.1:{port}",
            headers={"Connection": "close"},
            verify=False,
            timeout=PATIENCE,
        ) as client,
    ):
        try:
            _wait_for(client, process)
            yield client
        finally:
            process.terminate()


def _wait_for(client: httpx2.Client, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < deadline:
        try:
            client.get("/health")
        except httpx2.TransportError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("`adk web` did not start: see adk-web.log")
