"""Pages of PDFs as pictures, drawn by a child process (decisions/0025)."""

import asyncio
import os
import sys
from importlib.util import find_spec
from typing import Final, NamedTuple

_PATIENCE: Final = 20.0
"""Seconds for one page; the child ends itself after ten at work."""
_AT_A_TIME: Final = asyncio.Semaphore(2)
_ENVIRONMENT: Final = ("LD_LIBRARY_PATH", "PATH", "PYTHONPATH")
"""All that the child learns of the server's environment, which may hold keys."""
_RENDERER: Final = "devui.web.panels.artifacts.pdf_renderer"


class UnreadablePdf(ValueError):
    """The file is damaged, encrypted or too demanding, or has no such page."""


class DrawnPage(NamedTuple):
    """A page as a PNG, and how many `pages` the file has."""

    pages: int
    picture: bytes


def can_draw() -> bool:
    """Whether what draws is installed, and the system can set limits to it."""
    return all(find_spec(name) is not None for name in ("pypdfium2", "resource"))


async def draw(content: bytes, number: int) -> DrawnPage:
    """Draw a page, counted from 1. Raises UnreadablePdf."""
    environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    async with _AT_A_TIME:
        process = await asyncio.create_subprocess_exec(
            # -P: nothing in the folder where the server was started takes the place of a module.
            *(sys.executable, "-P", "-m", _RENDERER, str(number)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=environment,
        )
        try:
            async with asyncio.timeout(_PATIENCE):
                output, _ = await process.communicate(content)
        except TimeoutError:
            output = b""
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
    count, _, picture = output.partition(b"\n")
    if process.returncode or not count.isdigit():
        raise UnreadablePdf("This PDF can't be drawn: it is damaged, encrypted, or too large.")
    return DrawnPage(int(count), picture)
