"""Plays a test that was written from the page, as `devui test` does in a terminal."""

import asyncio
import sys
from pathlib import Path
from typing import Final

from devui.web.panels.tests.parts import Played
from devui.web.text.visible import visible

PATIENCE: Final = 120.0
"""Seconds after which a test that is still running is ended."""
_SHOWN: Final = 20_000
"""Characters of its output that are shown, the last ones."""


async def play(file: Path) -> Played:
    """Run the test in a process of its own, in the folder the server was started in."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "devui", "test", str(file)),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(PATIENCE):
            output, _ = await process.communicate()
    except TimeoutError:
        return Played("stopped", f"The test was stopped after {PATIENCE:.0f} s.")
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    text = visible(output.decode("utf-8", "replace")[-_SHOWN:].strip())
    word = {0: "passed", 1: "failed"}.get(process.returncode or 0, "not run")
    return Played(word, text)
