"""Runs a test that was written from the page, as `devui test` does in a terminal."""

import asyncio
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

from devui.web.panels.tests.parts import TestOutcome
from devui.web.text.deceptive_characters import visible

PATIENCE: Final = 120.0
"""Seconds after which a test that is still running is killed."""
_OUTPUT_LENGTH: Final = 20_000
"""Characters of its output that are shown, from the end."""

_RESULTS: Final[dict[int, Literal["passed", "failed"]]] = {0: "passed", 1: "failed"}
"""By the exit status of `devui test`."""


def command_of(file: str, python: Path | None) -> list[str]:
    """Return the command that runs a test with the Python that the server uses for agents."""
    return ["devui", "test", *(["--python", str(python)] if python else []), file]


async def run_test(file: Path, python: Path | None) -> TestOutcome:
    """Run the test in a process of its own, in the server's working directory."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", *command_of(str(file), python)),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(PATIENCE):
            output, _ = await process.communicate()
    except TimeoutError:
        return TestOutcome("stopped", f"The test was stopped after {PATIENCE:.0f} s.")
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # pytest is one of its children
            await process.wait()
    text = visible(output.decode("utf-8", "replace")[-_OUTPUT_LENGTH:].strip())
    return TestOutcome(_RESULTS.get(process.returncode or 0, "not run"), text)
