"""Renders pages of PDFs as images in a child process (decisions/0025)."""

import asyncio
import os
import sys
from importlib.util import find_spec
from typing import Final, NamedTuple

_PATIENCE: Final = 20.0
"""The timeout for one page, in seconds; the child is limited to ten seconds of CPU time."""
_AT_A_TIME: Final = asyncio.Semaphore(2)
_ENVIRONMENT: Final = ("LD_LIBRARY_PATH", "PATH", "PYTHONPATH")
"""The only variables that the child gets from the server's environment, which may contain keys."""
_RENDERER: Final = "devui.web.panels.artifacts.pdf_renderer"


class UnreadablePdf(ValueError):
    """The file is damaged, encrypted or too complex, or has no such page."""


class RenderedPage(NamedTuple):
    """A page as a PNG, and the number of `pages` in the file."""

    pages: int
    picture: bytes


def can_draw() -> bool:
    """Return whether the renderer is installed, and the system can limit its resources."""
    return all(find_spec(name) is not None for name in ("pypdfium2", "resource"))


async def draw(content: bytes, number: int) -> RenderedPage:
    """Render a page, counted from 1. Raises UnreadablePdf."""
    environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    async with _AT_A_TIME:
        process = await asyncio.create_subprocess_exec(
            # -P: keeps files in the server's working directory from replacing modules.
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
    return RenderedPage(int(count), picture)
