"""A distribution's Firefox, as a browser that Playwright can start.

Playwright talks WebDriver BiDi to it, and first asks for media features, which Firefox may not
support yet. Run as a program, with a Firefox and its arguments, this module forwards everything
between the two, and reports success for an emulation that Firefox doesn't know: no test that runs
here depends on one.
"""

import asyncio
import json
import re
import shlex
import sys
from collections.abc import AsyncIterable
from pathlib import Path

from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import ServerConnection, serve

from tests.source import ROOT

_LONGEST_LINE = 2**20
"""The longest line that Firefox may write to its log, in bytes."""
_LISTENS = re.compile(r"WebDriver BiDi listening on (ws://\S+)")


def executable(firefox: str, folder: Path) -> Path:
    """Write a file to the folder that starts this Firefox for Playwright, and return its path."""
    file = folder / "firefox"
    command = shlex.join([sys.executable, "-m", __name__, firefox])
    file.write_text(f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(ROOT))} exec {command} "$@"\n')
    file.chmod(0o755)
    return file


class _Bridge:
    """Connects Playwright to a Firefox that listens at this address."""

    def __init__(self, address: str) -> None:
        self._address = address

    async def __call__(self, driver: ServerConnection) -> None:
        assert driver.request
        address = self._address + driver.request.path
        async with connect(address, max_size=None, ping_interval=None) as firefox:
            methods: dict[int, str] = {}
            await asyncio.gather(_ask(driver, firefox, methods), _answer(firefox, driver, methods))


async def _ask(
    driver: AsyncIterable[str | bytes], firefox: ClientConnection, methods: dict[int, str]
) -> None:
    async for text in driver:
        command = json.loads(text)
        methods[command["id"]] = command["method"]
        await firefox.send(text)
    await firefox.close()


async def _answer(
    firefox: AsyncIterable[str | bytes], driver: ServerConnection, methods: dict[int, str]
) -> None:
    async for text in firefox:
        answer = json.loads(text)
        method = methods.pop(answer.get("id"), "")
        if answer.get("error") == "unknown command" and method.startswith("emulation."):
            text = json.dumps({"type": "success", "id": answer["id"], "result": {}})
        await driver.send(text)
    await driver.close()


async def _run(command: list[str]) -> int:
    """Run Firefox to its end, and copy its log to ours, with our address instead of its own."""
    firefox = await asyncio.create_subprocess_exec(
        *command, stderr=asyncio.subprocess.PIPE, limit=_LONGEST_LINE
    )
    assert firefox.stderr
    async for line in firefox.stderr:
        text = line.decode(errors="replace")
        if listens := _LISTENS.search(text):
            bridge = _Bridge(listens[1])
            server = await serve(bridge, "127.0.0.1", 0, max_size=None, ping_interval=None)
            port = next(iter(server.sockets)).getsockname()[1]
            text = f"WebDriver BiDi listening on ws://127.0.0.1:{port}\n"
        sys.stderr.write(text)
        sys.stderr.flush()
    return await firefox.wait()


if __name__ == "__main__":
    sys.exit(asyncio.run(_run(sys.argv[1:])))
