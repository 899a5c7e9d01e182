"""Commands in an environment of this machine end with what asked for them."""

import asyncio
import signal
import subprocess
import sys
import time

import psutil
import pytest

from devui.runtime.environment import LocalEnvironment
from tests.source import ROOT

ASKING = """
import asyncio
from devui.runtime.environment import LocalEnvironment

async def main():
    environment = LocalEnvironment()
    await environment.initialize()
    await environment.execute("echo $$ > {path}; sleep 60 & sleep 60")

asyncio.run(main())
"""
TRIES = 500


def pid_in(path) -> int:
    """The process that has written its id into the file."""
    for _ in range(TRIES):
        if path.exists() and path.read_text().strip():
            return int(path.read_text())
        time.sleep(0.02)
    raise TimeoutError(f"{path} was not written")


def is_over(pid: int) -> bool:
    """Whether the process ends, in a while; that nobody has asked how does not matter."""
    try:
        psutil.Process(pid).wait(timeout=10)
    except psutil.NoSuchProcess:
        return True
    except psutil.TimeoutExpired:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    return True


def test_a_command_ends_when_who_asked_for_it_is_killed(tmp_path):
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
    asked = asyncio.ensure_future(environment.execute("echo $$ > pid; sleep 60 & sleep 60"))
    pid = await asyncio.to_thread(pid_in, tmp_path / "pid")

    asked.cancel()

    with pytest.raises(asyncio.CancelledError):
        await asked
    assert is_over(pid)
    assert tmp_path.exists()


async def test_a_command_that_takes_too_long_is_ended_with_what_it_started(tmp_path):
    environment = LocalEnvironment(working_dir=tmp_path)

    ended = await environment.execute("echo begun; sleep 60 & echo $! > pid; wait", timeout=2)

    assert (ended.stdout, ended.timed_out) == ("begun\n", True)
    assert is_over(pid_in(tmp_path / "pid"))
