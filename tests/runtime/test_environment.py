"""Commands in a local environment end with the process or call that started them."""

import asyncio
import signal
import subprocess
import sys
import tempfile
import time

import psutil
import pytest

from devui.runtime.environment import LocalEnvironment
from tests.kit.patience import PATIENCE
from tests.source import ROOT

ASKING = """
import asyncio
from devui.runtime.environment import LocalEnvironment

async def main():
    environment = LocalEnvironment()
    await environment.initialize()
    await environment.execute("echo $$ > {path}; sleep 600 & sleep 600")

asyncio.run(main())
"""


def pid_in(path) -> int:
    """Return the process id in the file, as soon as it has been written."""
    patience = time.monotonic() + PATIENCE
    while not path.exists() or not path.read_text().strip():
        assert time.monotonic() < patience, f"{path} was not written"
        time.sleep(0.02)
    return int(path.read_text())


def is_over(pid: int) -> bool:
    """Whether the process ends soon; a zombie counts as ended."""
    patience = time.monotonic() + PATIENCE
    try:
        while psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
            if time.monotonic() > patience:
                return False
            time.sleep(0.02)
    except psutil.NoSuchProcess:
        return True
    return True


def test_a_command_ends_when_the_process_that_started_it_is_killed(tmp_path):
    path = tmp_path / "pid"
    program = ASKING.format(path=path)
    asking = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT)
    pid = pid_in(path)

    asking.send_signal(signal.SIGKILL)

    assert asking.wait() == -signal.SIGKILL
    assert is_over(pid)


async def test_a_command_ends_when_its_call_is_cancelled(tmp_path):
    environment = LocalEnvironment(working_dir=tmp_path)
    await environment.initialize()
    execution = asyncio.ensure_future(environment.execute("echo $$ > pid; sleep 600 & sleep 600"))
    pid = await asyncio.to_thread(pid_in, tmp_path / "pid")

    execution.cancel()

    with pytest.raises(asyncio.CancelledError):
        await execution
    assert is_over(pid)
    assert tmp_path.exists()


async def test_a_command_that_times_out_is_killed_with_its_children(tmp_path):
    environment = LocalEnvironment(working_dir=tmp_path)

    command, seconds = "echo begun; sleep 600 & echo $! > pid; wait", 1

    while not (result := await environment.execute(command, timeout=seconds)).stdout:
        seconds *= 4  # too short for the command to start

    assert (result.stdout, result.timed_out) == ("begun\n", True)
    assert is_over(pid_in(tmp_path / "pid"))


async def test_concurrent_initialization_creates_one_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    environment = LocalEnvironment()
    await asyncio.gather(environment.initialize(), environment.initialize())
    assert [environment.working_dir] == list(tmp_path.iterdir())
    await environment.close()
    assert list(tmp_path.iterdir()) == []
